//! What a session in another process did, as its family sees it: calls, results, signs of life. Only what an agent can
//! say of itself is passed on; words about other agents, processes and budgets from outside are not believed.

use std::collections::VecDeque;
use std::sync::Arc;

use super::event::Kind;
use crate::detect::{Action, ToolClass};
use crate::lifecycle::{Family, Id};
use crate::trace::{EventKind, LifecycleEvent};

/// Open calls remembered of one session.
const OPEN: usize = 256;
/// One thing that happened.
#[derive(Debug)]
pub enum Passed {
    Life { at: f64, event: LifecycleEvent, fields: String },
    Event { at: f64, kind: Kind, action: Option<Arc<Action>>, turn: u32, call_id: String, is_error: bool },
}

impl Passed {
    /// A lifecycle event, when it is one that a session may say of itself.
    pub fn life(at: f64, name: &str, fields: String) -> Option<Self> {
        let event = LifecycleEvent::parse(name);
        event.is_own().then_some(Self::Life { at, event, fields })
    }
}

/// Calls whose results have not come.
#[derive(Debug, Default)]
pub struct Calls(VecDeque<(String, Arc<Action>)>);

impl Calls {
    fn open(&mut self, call_id: &str, action: &Arc<Action>) {
        if self.0.len() >= OPEN {
            self.0.pop_front();
        }
        self.0.push_back((call_id.to_owned(), Arc::clone(action)));
    }

    fn close(&mut self, call_id: &str) -> Option<Arc<Action>> {
        let index = self.0.iter().rposition(|(id, _)| id == call_id)?;
        self.0.remove(index).map(|(_, action)| action)
    }
}

/// Shows what happened to the family, by the same door as what happens in this process.
pub fn show(family: &mut Family, member: Id, calls: &mut Calls, passed: Vec<Passed>) {
    for happened in passed {
        match happened {
            Passed::Life { at, event, fields } => {
                family.observe(member, at, &EventKind::Lifecycle { event, fields: &fields }, None);
            }
            Passed::Event { at, kind, action, turn, call_id, is_error } => {
                let (call_id, args) = (call_id.as_str(), "");
                match kind {
                    Kind::ToolCall | Kind::Edit | Kind::Patch => {
                        let Some(action) = action else { continue };
                        calls.open(call_id, &action);
                        let tool = &*action.tool;
                        family.observe(member, at, &EventKind::ToolCall { turn, call_id, tool, args }, Some(&action));
                    }
                    Kind::ToolResult => {
                        let action = calls.close(call_id);
                        let tool = action.as_ref().map_or("", |action| &*action.tool);
                        let (output, files, blocked_by) = ("", &[][..], None);
                        let result = EventKind::ToolResult { turn, call_id, tool, output, is_error, files, blocked_by };
                        family.observe(member, at, &result, action.as_deref());
                    }
                    Kind::LlmInput => {
                        family.observe(member, at, &EventKind::User { text: "", synthetic: true }, None);
                    }
                    Kind::LlmOutput => family.observe(member, at, &EventKind::AssistantChunk { turn, text: "" }, None),
                    _ => {}
                }
            }
        }
    }
}

/// The action of a call as its key tells it: the key of a shell line is the line, that of other tools begins with
/// their name.
pub fn classed(mut action: Action, kind: Kind) -> Action {
    let names_itself =
        action.key.strip_prefix(&*action.tool).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    action.class = match kind {
        Kind::Edit | Kind::Patch => ToolClass::Edit,
        _ if names_itself => ToolClass::Other,
        _ => ToolClass::Shell,
    };
    if action.class == ToolClass::Other {
        let timeout = action.social.timeout_ms;
        let named = Action::new(&action.tool, &serde_json::json!({ "path": action.path.as_deref() }).to_string());
        action.social = named.social;
        action.social.timeout_ms = timeout;
        action.asked = named.asked;
    }
    action
}
