//! How lifecycle findings are said: short sentences for people, names and figures in them. What an agent is called
//! comes from outside; whoever shows a sentence makes it safe.

use super::Family;
use super::Id;
use super::clock::Silence;
use super::cost::Reached;
use super::waiting::Stall;

/// Names listed in one sentence.
const LISTED: usize = 5;

/// `2 min 5 s`, `3 h 20 min`.
pub fn time(ms: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times of a session")]
    let seconds = (ms.max(0.0) / 1000.0).round() as u64;
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes, rest) {
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first, second] => format!("{first} and {second}"),
        many => {
            let shown = many.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
            if many.len() > LISTED { format!("{shown} and {} more", many.len() - LISTED) } else { shown }
        }
    }
}

impl Family {
    pub(super) fn title(&self, id: Id) -> &str {
        self.member(id).title()
    }

    pub(super) fn titles(&self, ids: &[Id]) -> String {
        list(&ids.iter().map(|id| self.title(*id)).collect::<Vec<_>>())
    }

    pub(super) fn words_of_silence(&self, id: Id, silence: &Silence) -> String {
        let member = self.member(id);
        match silence {
            Silence::OpenTool { tool, for_ms, past_declared: true } => {
                format!("a call of {tool} has run for {}, longer than it said that it may take", time(*for_ms))
            }
            Silence::OpenTool { tool, for_ms, .. } => format!("a call of {tool} has run for {}", time(*for_ms)),
            Silence::Idle { for_ms } if !member.stirred => {
                format!("it has not done anything since it was started {} ago", time(*for_ms))
            }
            Silence::Idle { for_ms } if member.state == super::State::Finished => {
                format!("it finished its work {} ago and has not returned", time(*for_ms))
            }
            Silence::Idle { for_ms } => format!("no sign of it for {}, and nothing is open", time(*for_ms)),
        }
    }

    pub(super) fn words_of_cost(&self, reached: &Reached, of_tree: bool) -> String {
        let Reached { spent, limit, over } = *reached;
        let share = if over {
            format!("${spent:.2} was used, the limit is ${limit:.2}")
        } else {
            format!("${spent:.2} of ${limit:.2} was used")
        };
        let mut spenders: Vec<(f64, Id)> =
            self.ids().map(|id| (self.member(id).budget.spent.cost_usd, id)).filter(|(usd, _)| *usd >= 0.005).collect();
        if !of_tree || spenders.len() < 2 {
            return share;
        }
        spenders.sort_by(|a, b| b.0.total_cmp(&a.0));
        let parts: Vec<String> =
            spenders.iter().take(3).map(|(usd, id)| format!("{} ${usd:.2}", self.title(*id))).collect();
        format!("{share} ({})", parts.join(", "))
    }

    pub(super) fn words_of_stall(&self, stall: &Stall) -> String {
        match stall {
            Stall::Ring(ids) => format!("{} wait for each other", self.titles(ids)),
            Stall::All(ids) => format!("{} wait and no agent is left that could go on", self.titles(ids)),
            Stall::Gone { on, .. } => format!("it waits for {}, which has ended", self.title(*on)),
            Stall::Nobody { name, .. } => format!("it waits for {name}, and there is no such agent"),
            Stall::Unseen { .. } => "it asked a question that nobody sees".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_two_units_at_most() {
        for (ms, words) in [
            (0.0, "0 s"),
            (59_400.0, "59 s"),
            (120_000.0, "2 min"),
            (125_000.0, "2 min 5 s"),
            (3_600_000.0, "1 h"),
            (12_000_000.0, "3 h 20 min"),
        ] {
            assert_eq!(time(ms), words);
        }
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b"]), "a and b");
        assert_eq!(list(&["a", "b", "c"]), "a, b, c");
        assert_eq!(list(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e and 2 more");
    }
}
