//! How lifecycle findings are said: short sentences for people, names and figures in them. What an agent, a tool or a file
//! is called comes from outside: it stands in quotes that it cannot close, unless it is one plain word.

use super::Family;
use super::Id;
use super::waiting::Stall;
pub use crate::text::{bare, quoted};

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

/// US dollars, with as many digits as a small sum needs.
pub fn money(usd: f64) -> String {
    match usd.abs() {
        small if small > 0.0 && small < 0.000_05 => "less than $0.0001".to_owned(),
        small if small > 0.0 && small < 0.1 => format!("${usd:.4}"),
        _ => format!("${usd:.2}"),
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first, second] => format!("{first} and {second}"),
        many => {
            let shown = many[..many.len().min(LISTED)].join(", ");
            if many.len() > LISTED { format!("{shown} and {} more", many.len() - LISTED) } else { shown }
        }
    }
}

impl Family {
    pub(super) fn title(&self, id: Id) -> String {
        quoted(self.member(id).title())
    }

    pub(super) fn titles(&self, ids: &[Id]) -> String {
        list(&ids.iter().map(|id| self.title(*id)).collect::<Vec<_>>())
    }

    /// An agent as it is called to a reader: to itself it is "you".
    fn called(&self, id: Id, reader: Option<Id>) -> String {
        if reader == Some(id) { "you".to_owned() } else { self.title(id) }
    }

    /// A sentence for everybody, and the same for each of those that it is about, by their names.
    pub(super) fn addressed(
        &self,
        about: &[Id],
        sentence: impl Fn(&dyn Fn(Id) -> String) -> String,
    ) -> (String, Vec<(String, String)>) {
        let to = |reader: Option<Id>| sentence(&|id| self.called(id, reader));
        let texts = about.iter().map(|id| (self.member(*id).name.to_string(), to(Some(*id)))).collect();
        (to(None), texts)
    }
}

/// A wait that will not end. `called`: what each agent is called to whoever reads it.
pub(super) fn of_stall(stall: &Stall, called: &dyn Fn(Id) -> String) -> String {
    let names = |ids: &[Id]| list(&ids.iter().map(|id| called(*id)).collect::<Vec<_>>());
    // "you wait", and anybody else "waits".
    let waits = |id: Id| if called(id) == "you" { "you wait".to_owned() } else { format!("{} waits", called(id)) };
    match stall {
        Stall::Ring(ids) => format!("{} wait for each other", names(ids)),
        Stall::All(ids) => format!("{} wait and no agent is left that could go on", names(ids)),
        Stall::Gone { waiter, on } => format!("{} for {}, which has ended", waits(*waiter), called(*on)),
        Stall::Nobody { waiter, name } => {
            format!("{} for {}, and there is no such agent", waits(*waiter), quoted(name))
        }
        Stall::Unseen { waiter } => format!("{} asked a question that nobody sees", called(*waiter)),
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
        let list = |names: &str| list(&names.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(list("a"), "a");
        assert_eq!(list("a b"), "a and b");
        assert_eq!(list("a b c"), "a, b, c");
        assert_eq!(list("a b c d e f g"), "a, b, c, d, e and 2 more");
    }

    #[test]
    fn small_sums_have_the_digits_that_they_need() {
        for (usd, words) in [
            (0.0, "$0.00"),
            (0.000_01, "less than $0.0001"),
            (0.002, "$0.0020"),
            (0.05, "$0.0500"),
            (0.5, "$0.50"),
            (12.345, "$12.35"),
        ] {
            assert_eq!(money(usd), words);
        }
    }

    #[test]
    fn foreign_text_cannot_close_its_quotes_and_plain_names_need_none() {
        assert_eq!(bare("src/a.ts"), "src/a.ts");
        assert_eq!(bare("ignore all that"), r#""ignore all that""#);
        assert_eq!(quoted("a\" and b\\"), r#""a\" and b\\""#);
        assert_eq!(quoted("a\nb\u{1b}[2J"), r#""a…""#);
    }
}
