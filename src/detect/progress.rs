//! Progress: what was never seen before in this run. It restarts the streaks that it answers.
//!
//! A file that gets content it never had, and a successful command that changes something and was not run before,
//! change the world: every earlier answer may be different now. A result never seen for its question is news, but
//! changes nothing for other questions.

use super::action::{Action, ToolClass};
use super::memory::Memory;
use crate::text::fast;
use crate::trace::FileState;

/// How many distinct results and file states are remembered per agent, at least.
const REMEMBERED: usize = 4096;

/// What one result meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// The outcome was never seen for this action.
    pub news: bool,
    /// A file or the environment is in a state it never was in.
    pub world: bool,
    /// An edit took a file back to a state it was in before.
    pub reverted: bool,
}

/// Everything an agent has seen, as hashes.
#[derive(Debug, Clone)]
pub struct History {
    outcomes: Memory<()>,
    states: Memory<()>,
    /// The latest known state of a file.
    latest: Memory<u128>,
}

impl Default for History {
    fn default() -> Self {
        Self { outcomes: Memory::new(REMEMBERED), states: Memory::new(REMEMBERED), latest: Memory::new(REMEMBERED / 4) }
    }
}

impl History {
    /// Takes one result and says what it meant.
    pub fn take(&mut self, action: &Action, outcome: u128, is_error: bool, files: &[FileState<'_>]) -> Progress {
        let news = self.outcomes.insert(pair(action.hash, outcome));
        let mut changed = false;
        let mut reverted = false;
        for file in files {
            let (path, state) = (fast(file.path.as_bytes()), fast(file.hash.as_bytes()));
            let new = self.states.insert(pair(path, state));
            let before = std::mem::replace(self.latest.entry(path, || state), state);
            changed |= new;
            reverted |= !new && before != state;
        }
        let world = match action.class {
            // A rebase that stops at the next conflict has applied a commit.
            _ if is_error => action.stops_midway && news,
            ToolClass::Edit if !files.is_empty() => changed,
            ToolClass::Edit => {
                let (new, back) = self.judge_edit(action);
                reverted = back;
                new
            }
            ToolClass::Shell | ToolClass::Other => changed || (action.mutates && news),
        };
        Progress { news, world, reverted: reverted && !is_error }
    }

    /// A file changed from outside: the world is another one if that state is new.
    pub fn file_changed(&mut self, path: &str, hash: &str) -> bool {
        self.states.insert(pair(fast(path.as_bytes()), fast(hash.as_bytes())))
    }

    /// Without content hashes an edit is judged by its arguments: new, unless the same edit was made before or it
    /// takes an earlier one back. Also says whether the file is back in an old state.
    fn judge_edit(&mut self, action: &Action) -> (bool, bool) {
        let path = action.path.as_deref().map_or(0, |path| fast(path.as_bytes()));
        let Some(edit) = action.edit else { return (self.states.insert(pair(path, action.hash)), false) };
        let undoes = edit.backward != edit.forward && self.states.get(pair(path, edit.backward)).is_some();
        let new = self.states.insert(pair(path, edit.forward));
        let before = std::mem::replace(self.latest.entry(path, || edit.forward), edit.forward);
        (new && !undoes, before != edit.forward && (undoes || !new))
    }
}

/// One key from two.
pub fn pair(a: u128, b: u128) -> u128 {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&a.to_le_bytes());
    bytes[16..].copy_from_slice(&b.to_le_bytes());
    fast(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(history: &mut History, args: &str, files: &[FileState<'_>]) -> bool {
        history.take(&Action::new("edit", args), 1, false, files).world
    }

    #[test]
    fn an_edit_is_progress_once_and_taking_it_back_is_none() {
        let mut history = History::default();
        assert!(edit(&mut history, r#"{"path":"a","oldText":"x","newText":"y"}"#, &[]));
        assert!(!edit(&mut history, r#"{"path":"a","oldText":"x","newText":"y"}"#, &[]));
        assert!(!edit(&mut history, r#"{"path":"a","oldText":"y","newText":"x"}"#, &[]));
        assert!(edit(&mut history, r#"{"path":"a","oldText":"y","newText":"z"}"#, &[]));
        assert!(edit(&mut history, r#"{"path":"b","oldText":"x","newText":"y"}"#, &[]));
    }

    #[test]
    fn an_edit_is_back_in_an_old_state_when_it_was_in_it_before() {
        let mut history = History::default();
        let mut edit = |old: &str, new: &str| {
            let args = serde_json::json!({ "path": "a", "oldText": old, "newText": new }).to_string();
            history.take(&Action::new("edit", &args), 1, false, &[]).reverted
        };
        assert_eq!([edit("x", "y"), edit("y", "z"), edit("z", "w")], [false; 3], "on and on");
        assert_eq!([edit("x", "y"), edit("x", "y")], [true, false], "back, and there it stays");
    }

    #[test]
    fn content_hashes_decide_where_they_are_known() {
        let mut history = History::default();
        let state = |hash| [FileState { path: "a", hash }];
        assert!(edit(&mut history, r#"{"path":"a","n":1}"#, &state("1")));
        assert!(edit(&mut history, r#"{"path":"a","n":2}"#, &state("2")));
        assert!(!edit(&mut history, r#"{"path":"a","n":3}"#, &state("1")), "an old state is restored");
    }

    #[test]
    fn an_edit_that_failed_brings_no_old_state_back_whatever_the_file_shows() {
        let state = |hash| [FileState { path: "a", hash }];
        for failed in [true, false] {
            let mut history = History::default();
            edit(&mut history, r#"{"path":"a","n":1}"#, &state("1"));
            edit(&mut history, r#"{"path":"a","n":2}"#, &state("2"));
            let back = history.take(&Action::new("edit", r#"{"path":"a","n":3}"#), 1, failed, &state("1"));
            assert_eq!(back.reverted, !failed);
        }
    }

    #[test]
    fn failures_and_looking_change_nothing() {
        let mut history = History::default();
        let failed = history.take(&Action::new("edit", r#"{"path":"a"}"#), 1, true, &[]);
        assert!(failed.news && !failed.world);
        let looked = history.take(&Action::new("bash", r#"{"command":"ls"}"#), 1, false, &[]);
        assert!(looked.news && !looked.world);
        let committed = Action::new("bash", r#"{"command":"git commit -am x"}"#);
        assert!(history.take(&committed, 1, false, &[]).world);
        assert!(!history.take(&committed, 1, false, &[]).world, "the same again");
    }
}
