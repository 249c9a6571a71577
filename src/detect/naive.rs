//! Test support: repetition, cycles, type checks and messages, recomputed from the whole history at every event, as
//! slowly as the rules' descriptions read. Shares no code with the rules; the incremental engine is held equal to it.

use std::collections::HashSet;

use crate::policy::Config;

/// What a call is; the naive detector is told and does not guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nature {
    pub acts: bool,
    pub polls: bool,
    pub typecheck: bool,
}

/// One thing that happened, in order.
#[derive(Debug, Clone)]
pub enum Moment {
    User,
    /// A program wrote text number so and so.
    Input(u8),
    /// A message without a call; `None`: an empty one.
    Message(Option<u8>),
    Step(Step),
    /// All calls of the round have their results; the message that asked for them.
    RoundEnd {
        said: Option<u8>,
    },
}

#[derive(Debug, Clone)]
pub struct Step {
    pub action: u32,
    pub outcome: u8,
    pub is_error: bool,
    pub nature: Nature,
    /// Seconds.
    pub at: u32,
    /// The file that was edited has content it never had.
    pub new_state: bool,
}

#[derive(Debug, Default)]
pub struct Naive {
    /// Every moment with the number of its turn.
    history: Vec<(u32, Moment)>,
}

/// A finished round: what was asked and answered, whether it only polled, and when it ended.
type Round = (Vec<(u32, u8)>, bool, u32);

/// Kind, count and period.
pub type Said = (&'static str, u32, u32);

impl Naive {
    /// What holds after one more moment, sorted.
    pub fn observe(&mut self, turn: u32, moment: Moment, config: &Config) -> Vec<Said> {
        self.history.push((turn, moment));
        let mut said = Vec::new();
        match &self.history[self.history.len() - 1].1 {
            Moment::User => {}
            Moment::Input(_) | Moment::Message(_) => said.extend(self.messages(config)),
            Moment::Step(step) => {
                said.extend(self.repetition(step, config));
                said.extend(self.typecheck(step, config));
            }
            Moment::RoundEnd { .. } => {
                said.extend(self.cycle(config));
                said.extend(self.messages(config));
            }
        }
        said.sort_unstable();
        said
    }

    fn steps(&self) -> impl DoubleEndedIterator<Item = (usize, u32, &Step)> {
        self.history.iter().enumerate().filter_map(|(index, (turn, moment))| match moment {
            Moment::Step(step) => Some((index, *turn, step)),
            _ => None,
        })
    }

    fn now(&self) -> (usize, u32) {
        (self.history.len() - 1, self.history[self.history.len() - 1].0)
    }

    /// Whether the step at `index` got an answer that its question never had.
    fn is_news(&self, index: usize, step: &Step) -> bool {
        self.steps()
            .take_while(|(i, ..)| *i < index)
            .all(|(_, _, s)| (s.action, s.outcome) != (step.action, step.outcome))
    }

    fn is_first(&self, index: usize, step: &Step) -> bool {
        self.steps().take_while(|(i, ..)| *i < index).all(|(_, _, s)| s.action != step.action)
    }

    /// Rounds before `round` whose first event of a kind comes after `index`.
    fn rounds_between(&self, index: usize, round: u32, of_that_kind: impl Fn(usize, &Step) -> bool) -> usize {
        let mut seen = HashSet::new();
        let mut between = 0;
        for (i, turn, step) in self.steps() {
            if turn < round && of_that_kind(i, step) && seen.insert(turn) && i > index {
                between += 1;
            }
        }
        between
    }

    fn news_between(&self, index: usize, round: u32) -> usize {
        self.rounds_between(index, round, |i, step| self.is_news(i, step))
    }

    /// A person spoke or the world changed after `index`, up to now.
    fn fresh_start_since(&self, index: usize) -> bool {
        self.history[index + 1..].iter().any(|(_, moment)| match moment {
            Moment::User => true,
            Moment::Step(step) => step.new_state,
            _ => false,
        })
    }

    /// Same action, same outcome; or, in rounds that follow each other, ever other outcomes.
    fn repetition(&self, step: &Step, config: &Config) -> Vec<Said> {
        let now = self.now();
        // All earlier calls of this action, the latest first, and this one.
        let mut calls: Vec<(usize, u32, &Step)> = self.steps().filter(|(.., s)| s.action == step.action).collect();
        calls.reverse();

        // How far back it is the same story.
        let continues = |earlier: &(usize, u32, &Step), later: &(usize, u32, &Step)| {
            let answered = {
                let done = |i: usize, s: &Step| s.nature.acts && !s.is_error && self.is_first(i, s);
                let moved = |i: usize, s: &Step| self.is_news(i, s) && !self.is_first(i, s);
                self.rounds_between(earlier.0, later.1, done) > 0
                    || step.nature.acts && !later.2.is_error && self.rounds_between(earlier.0, later.1, moved) > 0
            };
            let fresh = self.history[earlier.0 + 1..later.0].iter().any(|(_, moment)| match moment {
                Moment::User => true,
                Moment::Step(step) => step.new_state,
                _ => false,
            });
            // An edit that changes something starts its own repetition anew as well.
            !(answered || fresh || later.2.new_state || self.news_between(earlier.0, later.1) > 5)
        };
        let story = 1 + calls.windows(2).take_while(|pair| continues(&pair[1], &pair[0])).count();
        let calls = &calls[..story];

        let same = calls.iter().take_while(|(.., s)| s.outcome == step.outcome).count();
        let first = calls[same - 1];
        let interleaved = calls[..same].windows(2).any(|pair| pair[0].1 - pair[1].1 > 1);
        let wanted = if step.nature.polls {
            config.rules.repeat.repeat_threshold.max(config.rules.polling.polling_threshold)
        } else if interleaved && self.news_between(first.0, now.1) > 0 {
            config.rules.repeat.repeat_threshold * 2
        } else {
            config.rules.repeat.repeat_threshold + u32::from(interleaved)
        };
        // A poll that waited long enough is no repetition.
        let patient = |pair: &&[(usize, u32, &Step)]| step.nature.polls && pair[0].2.at - pair[1].2.at >= 20;
        let same = u32::try_from(same - calls[..same].windows(2).filter(patient).count()).unwrap();
        if same >= wanted {
            return vec![("repeated_command", same, 1), ("repeated_output", same, 1)];
        }
        let differ =
            |pair: &&[(usize, u32, &Step)]| pair[0].2.outcome != pair[1].2.outcome && pair[0].1 - pair[1].1 == 1;
        let changes = 1 + u32::try_from(calls.windows(2).take_while(differ).count()).unwrap();
        if changes >= config.rules.repeat.changing_output_threshold && !step.nature.polls {
            return vec![("repeated_command", changes, 1)];
        }
        Vec::new()
    }

    /// The same failing type check, nothing changed.
    fn typecheck(&self, step: &Step, config: &Config) -> Option<Said> {
        if !step.nature.typecheck || !step.is_error {
            return None;
        }
        let same = self
            .steps()
            .rev()
            .filter(|(.., s)| s.nature.typecheck)
            .take_while(|(index, _, s)| {
                s.is_error && (s.action, s.outcome) == (step.action, step.outcome) && !self.fresh_start_since(*index)
            })
            .count();
        let same = u32::try_from(same).unwrap();
        (same >= config.rules.typecheck.typecheck_repeat_threshold).then_some(("typecheck_loop", same, 1))
    }

    /// Finished rounds since a person spoke.
    fn rounds(&self) -> Vec<Round> {
        let since = self.history.iter().rposition(|(_, moment)| matches!(moment, Moment::User)).map_or(0, |i| i + 1);
        let mut rounds = Vec::new();
        let (mut steps, mut polls, mut at) = (Vec::new(), true, 0);
        for (_, moment) in &self.history[since..] {
            match moment {
                Moment::Step(step) => {
                    steps.push((step.action, step.outcome));
                    polls &= step.nature.polls;
                    at = step.at;
                }
                Moment::RoundEnd { .. } => {
                    steps.sort_unstable();
                    rounds.push((std::mem::take(&mut steps), std::mem::replace(&mut polls, true), at));
                }
                _ => {}
            }
        }
        rounds
    }

    /// The smallest lap that explains the latest rounds.
    fn cycle(&self, config: &Config) -> Option<Said> {
        let rounds = self.rounds();
        let last = rounds.len() - 1;
        // Rounds in a row that equal the one a lap before.
        let run =
            |period: usize| (period..rounds.len()).rev().take_while(|&i| rounds[i].0 == rounds[i - period].0).count();
        if run(1) > 0 && run(1) >= run(2) {
            return None;
        }
        for period in 2..=8 {
            let length = run(period);
            let laps = u32::try_from(1 + length / period).unwrap();
            let polls = rounds.iter().rev().take(period).all(|round| round.1);
            if polls && last >= period && rounds[last].2 - rounds[last - period].2 >= 20 {
                return None;
            }
            let wanted = if polls {
                config.rules.cycle.cycle_threshold.max(config.rules.polling.polling_threshold)
            } else {
                config.rules.cycle.cycle_threshold
            };
            if laps >= wanted {
                let kind = if period == 2 { "alternating" } else { "cycle" };
                return Some((kind, laps, u32::try_from(period).unwrap()));
            }
        }
        None
    }

    /// Equal messages in a row, from and to the agent, since there was news.
    fn messages(&self, config: &Config) -> Option<Said> {
        #[derive(PartialEq, Clone)]
        enum Spoken {
            Words(u8),
            WithCalls(u8, Vec<(u32, u8)>),
        }
        let (mut outputs, mut inputs): (Vec<Spoken>, Vec<u8>) = (Vec::new(), Vec::new());
        let mut reacted = true;
        let (mut steps, mut news, mut polls) = (Vec::new(), false, true);
        // Whether the latest moment added to a row.
        let (mut to_outputs, mut to_inputs) = (false, false);
        for (index, (_, moment)) in self.history.iter().enumerate() {
            (to_outputs, to_inputs) = (false, false);
            match moment {
                Moment::User => {
                    outputs.clear();
                    inputs.clear();
                }
                Moment::Input(text) => {
                    if reacted || inputs.is_empty() {
                        if !inputs.is_empty() && inputs.last() != Some(text) {
                            // What is said now answers something else.
                            outputs.clear();
                        }
                        inputs.push(*text);
                        to_inputs = true;
                        reacted = false;
                    }
                }
                Moment::Message(text) => {
                    reacted = true;
                    match text {
                        Some(text) => {
                            outputs.push(Spoken::Words(*text));
                            to_outputs = true;
                        }
                        None => outputs.clear(),
                    }
                }
                Moment::Step(step) => {
                    reacted = true;
                    steps.push((step.action, step.outcome));
                    news |= self.is_news(index, step);
                    polls &= step.nature.polls;
                }
                Moment::RoundEnd { said } => {
                    steps.sort_unstable();
                    let steps = std::mem::take(&mut steps);
                    let restart = news || polls;
                    (news, polls) = (false, true);
                    if restart {
                        outputs.clear();
                        inputs.clear();
                    } else if let Some(said) = said {
                        outputs.push(Spoken::WithCalls(*said, steps));
                        to_outputs = true;
                    }
                }
            }
        }
        let row = |count: usize| u32::try_from(count).unwrap();
        if to_outputs {
            let same = row(outputs.iter().rev().take_while(|words| Some(*words) == outputs.last()).count());
            return (same >= config.rules.llm.llm_repeat_threshold).then_some(("repeated_llm_output", same, 1));
        }
        if to_inputs {
            let same = row(inputs.iter().rev().take_while(|text| Some(*text) == inputs.last()).count());
            return (same >= config.rules.llm.llm_repeat_threshold).then_some(("repeated_llm_input", same, 1));
        }
        None
    }
}
