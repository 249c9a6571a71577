//! What a tool is between agents: does it start one, wait for one, end its own run, or keep the plan. Read from the
//! words of its name and the fields that such tools share; a tool that is none of these has no role.

use std::sync::Arc;

use serde_json::Value;

use super::command::words_of_name;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    #[default]
    None,
    /// Starts a sub-agent, and mostly waits for it.
    Spawns,
    /// Asks after another agent, or waits for it.
    Waits,
    /// Says that the agent's own work is done.
    Finishes,
    /// Writes the plan; whether something in it is still to be done.
    Plans { open: bool },
}

/// What a call says to and of other agents.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Social {
    pub role: Role,
    /// The agent that the call is about, by whatever id the tool takes.
    pub addressee: Option<Arc<str>>,
    /// Milliseconds that the call says it may take.
    pub timeout_ms: Option<f64>,
}

const AGENTS: [&str; 6] = ["agent", "agents", "subagent", "subagents", "delegate", "dispatch"];
const ASKS: [&str; 10] = ["get", "wait", "await", "output", "result", "results", "status", "join", "list", "read"];
const ORDERS: [&str; 8] = ["steer", "stop", "kill", "cancel", "send", "message", "resume", "interrupt"];
const ADDRESS_FIELDS: [&str; 11] = [
    "agent_id",
    "agentId",
    "subagent_id",
    "subagentId",
    "run_id",
    "runId",
    "task_id",
    "taskId",
    "id",
    "to",
    "recipient",
];
/// An id is short; what is longer is a text.
const ADDRESS_BYTES: usize = 200;

impl Social {
    pub fn of(tool: &str, args: &Value, shell: bool) -> Self {
        let timeout_ms = timeout(args);
        if shell || !may_be_social(tool) {
            return Self { timeout_ms, ..Self::default() };
        }
        let role = role(tool, args);
        let addressee = match role {
            Role::Finishes | Role::Plans { .. } => None,
            _ => ADDRESS_FIELDS
                .iter()
                .find_map(|name| args.get(*name)?.as_str())
                .filter(|id| !id.is_empty() && id.len() <= ADDRESS_BYTES)
                .map(Arc::from),
        };
        Self { role, addressee, timeout_ms }
    }
}

/// Parts of the names of all tools that have a role or an addressee: most calls are of others and need no closer look.
const PARTS: [&str; 19] = [
    "agent", "task", "todo", "plan", "spawn", "delegate", "dispatch", "done", "finish", "complet", "submit", "message",
    "send", "ask", "contact", "wait", "await", "result", "intercom",
];

fn may_be_social(tool: &str) -> bool {
    let has =
        |part: &str| tool.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()));
    PARTS.into_iter().any(has)
}

fn role(tool: &str, args: &Value) -> Role {
    let words: Vec<String> = words_of_name(tool).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if has(&["todo", "todos", "plan", "todowrite"]) && !has(&["get", "list", "exit", "enter", "read"]) {
        return Role::Plans { open: has_open_items(args) };
    }
    let only_task = matches!(words.as_slice(), [word] if word == "task");
    if only_task || has(&AGENTS) || has(&["spawn"]) {
        if has(&ASKS) {
            return Role::Waits;
        }
        let finishes = has(&["done", "complete", "finish"]);
        return match (finishes, has(&ORDERS)) {
            (true, _) => Role::Finishes,
            (false, true) => Role::None,
            (false, false) => Role::Spawns,
        };
    }
    if has(&["task"]) && has(&ASKS) {
        return Role::Waits;
    }
    match words.as_slice() {
        [word] if word == "done" || word == "finish" => Role::Finishes,
        [first, second]
            if matches!(
                (first.as_str(), second.as_str()),
                ("attempt", "completion") | ("task", "complete" | "done") | ("complete", "task") | ("submit", "result")
            ) =>
        {
            Role::Finishes
        }
        _ => Role::None,
    }
}

/// Whether a plan holds something that is not done; one that does not say so has no end either.
fn has_open_items(args: &Value) -> bool {
    match args {
        Value::String(text) => {
            matches!(text.as_str(), "pending" | "in_progress" | "in-progress" | "todo" | "open") || text.contains("[ ]")
        }
        Value::Array(items) => items.iter().any(has_open_items),
        Value::Object(fields) => fields.values().any(has_open_items),
        _ => false,
    }
}

/// `timeout` is in seconds, as in Pi's own tools, unless nobody would mean that many; `timeoutMs` says it itself.
fn timeout(args: &Value) -> Option<f64> {
    const LONGEST_SEC: f64 = 86_400.0;
    let number = |name: &str| args.get(name)?.as_f64().filter(|number| number.is_finite() && *number > 0.0);
    let seconds = number("timeout").or_else(|| number("timeoutSec")).or_else(|| number("timeout_sec"));
    let declared = seconds.map(|value| if value > LONGEST_SEC { value } else { value * 1000.0 });
    declared.or_else(|| number("timeoutMs")).or_else(|| number("timeout_ms"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_have_the_role_that_their_names_say() {
        let role = |tool: &str| super::role(tool, &json!({}));
        for tool in ["subagent", "Agent", "task", "Task", "spawn_agent", "delegate", "dispatch_agent"] {
            assert_eq!(role(tool), Role::Spawns, "{tool}");
        }
        for tool in ["get_subagent_result", "task_output", "wait_agent", "TaskOutput", "list_agents"] {
            assert_eq!(role(tool), Role::Waits, "{tool}");
        }
        for tool in ["subagent_done", "done", "attempt_completion", "task_complete"] {
            assert_eq!(role(tool), Role::Finishes, "{tool}");
        }
        for tool in ["bash", "read", "steer_subagent", "send_message", "user_agent_lookup_x", "multitask"] {
            assert!(!matches!(role(tool), Role::Finishes | Role::Plans { .. }), "{tool}");
        }
        assert_eq!(role("steer_subagent"), Role::None);
        assert_eq!(super::role("todo_write", &json!({"todos": [{"status": "pending"}]})), Role::Plans { open: true });
        assert_eq!(super::role("TodoWrite", &json!({"todos": [{"status": "completed"}]})), Role::Plans { open: false });
        assert_eq!(super::role("update_plan", &json!({"plan": "- [ ] one"})), Role::Plans { open: true });
        assert_eq!(role("exit_plan_mode"), Role::None);
    }

    #[test]
    fn a_name_that_has_a_role_is_never_passed_over() {
        for tool in [
            "subagent",
            "Agent",
            "TASK",
            "spawn_x",
            "delegate",
            "dispatch_agent",
            "get_subagent_result",
            "TaskOutput",
            "done",
            "Finish",
            "attempt_completion",
            "task_complete",
            "submit_result",
            "todo_write",
            "update_plan",
        ] {
            assert!(may_be_social(tool), "{tool}");
            assert_ne!(role(tool, &json!({})), Role::None, "{tool}");
        }
        assert!(["read", "bash", "edit", "grep", "ls", "write"].iter().all(|tool| !may_be_social(tool)));
    }

    #[test]
    fn a_declared_time_is_in_seconds_unless_it_says_otherwise() {
        let of = |args: Value| Social::of("bash", &args, true).timeout_ms;
        assert_eq!(of(json!({"timeout": 30})), Some(30_000.0));
        assert_eq!(of(json!({"timeout": 120_000})), Some(120_000.0));
        assert_eq!(of(json!({"timeoutMs": 500})), Some(500.0));
        assert_eq!(of(json!({"timeout": "soon"})), None);
        assert_eq!(of(json!({"timeout": -1})), None);
    }

    #[test]
    fn the_addressee_is_the_id_that_a_call_names() {
        let of = |args: Value| Social::of("get_subagent_result", &args, false).addressee;
        assert_eq!(of(json!({"agent_id": "a1"})).as_deref(), Some("a1"));
        assert_eq!(of(json!({"id": "x".repeat(300)})), None);
        assert_eq!(of(json!({})), None);
    }
}
