//! Families told as traces: lifecycle findings by what was seen of each agent, on a clock that the story moves.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{CROWD, ChildInfo, Family, MEMBERS};
use crate::detect::{Finding, Severity};
use crate::detector::Detector;
use crate::policy::Config;
use crate::trace::{Event, EventKind, FileState, StopReason, Usage};

/// A trace that is being told, with all that was found about it.
struct Tale {
    detector: Detector,
    /// Seconds.
    now: f64,
    turn: u32,
    found: Vec<Finding>,
}

impl Tale {
    fn new() -> Self {
        Self::with(&Config::default())
    }

    fn with(config: &Config) -> Self {
        let mut tale = Self { detector: Detector::new(config), now: 0.0, turn: 0, found: Vec::new() };
        tale.user("go");
        tale
    }

    fn event(&mut self, agent: &str, kind: &EventKind<'_>) {
        let agent = (agent != "main").then_some(agent);
        self.found.extend(self.detector.observe(&Event { at: self.now * 1000.0, agent, kind: kind.clone() }));
    }

    fn after(&mut self, seconds: f64) -> &mut Self {
        self.now += seconds;
        self
    }

    /// Time passes, and the clock ticks every five seconds as it does in Pi.
    fn pass(&mut self, seconds: f64) -> &mut Self {
        let end = self.now + seconds;
        while self.now < end {
            self.now = (self.now + 5.0).min(end);
            self.found.extend(self.detector.tick(self.now * 1000.0));
        }
        self
    }

    fn user(&mut self, text: &str) -> &mut Self {
        self.event("main", &EventKind::User { text, synthetic: false });
        self
    }

    fn says(&mut self, agent: &str, text: &str, stop_reason: StopReason) -> &mut Self {
        self.turn += 1;
        self.event(agent, &EventKind::Assistant { turn: self.turn, text, thinking: "", stop_reason, usage: None });
        self
    }

    fn spends(&mut self, agent: &str, usd: f64) -> &mut Self {
        self.turn += 1;
        let usage = Some(Usage { cost_usd: usd, ..Usage::default() });
        let (turn, stop_reason) = (self.turn, StopReason::ToolUse);
        self.event(agent, &EventKind::Assistant { turn, text: "", thinking: "", stop_reason, usage });
        let args = format!(r#"{{"command":"look at {usd}"}}"#);
        self.event(agent, &EventKind::ToolCall { turn, call_id: "look", tool: "bash", args: &args });
        self.gets(agent, "look", "bash", false, &[])
    }

    fn calls(&mut self, agent: &str, call_id: &str, tool: &str, args: &Value) -> &mut Self {
        self.turn += 1;
        self.event(agent, &EventKind::ToolCall { turn: self.turn, call_id, tool, args: &args.to_string() });
        self
    }

    fn gets(&mut self, agent: &str, call_id: &str, tool: &str, is_error: bool, files: &[(&str, &str)]) -> &mut Self {
        let files: Vec<FileState<'_>> = files.iter().map(|(path, hash)| FileState { path, hash }).collect();
        let (turn, output, blocked_by) = (self.turn, "ok", None);
        self.event(agent, &EventKind::ToolResult { turn, call_id, tool, output, is_error, files: &files, blocked_by });
        self
    }

    fn does(&mut self, agent: &str, tool: &str, args: &Value) -> &mut Self {
        let call = format!("c{}", self.turn + 1);
        self.calls(agent, &call, tool, args).after(0.1).gets(agent, &call, tool, false, &[])
    }

    fn edits(&mut self, agent: &str, path: &str) -> &mut Self {
        let args = json!({"path": path, "content": format!("{}", self.turn)});
        self.does(agent, "write", &args)
    }

    fn reads(&mut self, agent: &str, path: &str) -> &mut Self {
        self.does(agent, "read", &json!({"path": path}))
    }

    fn life(&mut self, agent: &str, event: &str, fields: &Value) -> &mut Self {
        self.event(
            agent,
            &EventKind::Lifecycle { event: crate::trace::LifecycleEvent::parse(event), fields: &fields.to_string() },
        );
        self
    }

    fn spawns(&mut self, agent: &str, parent: &str, background: bool) -> &mut Self {
        let task = format!("task of {agent}");
        self.life(agent, "subagent_spawn", &json!({"parent": parent, "background": background, "task": task}))
    }

    fn ends(&mut self, agent: &str) -> &mut Self {
        self.life(agent, "subagent_end", &json!({"status": "completed"}))
    }

    /// What was found since it was last asked: kind, agent and severity.
    fn told(&mut self) -> Vec<(String, String, Severity)> {
        let short = |finding: Finding| {
            let rule = finding.rule.trim_start_matches("intervention:").to_owned();
            (rule, finding.agent.unwrap_or_else(|| "main".to_owned()), finding.severity)
        };
        std::mem::take(&mut self.found).into_iter().map(short).collect()
    }

    /// Kinds and agents of everything that is more than a remark.
    fn warned(&mut self) -> Vec<String> {
        let told = self.told().into_iter().filter(|(_, _, severity)| *severity != Severity::Info);
        told.map(|(rule, agent, _)| format!("{rule} {agent}")).collect()
    }

    fn reasons(&self) -> Vec<&str> {
        self.found.iter().filter_map(|found| Some(found.intervention.as_ref()?.reason.as_str())).collect()
    }
}

const NONE: [String; 0] = [];

#[test]
fn a_silent_model_is_told_with_the_age_that_the_rule_used() {
    let mut tale = Tale::new();
    tale.pass(175.0);
    assert_eq!(tale.warned(), NONE);
    tale.pass(5.0);
    assert_eq!(tale.reasons(), ["no sign of it for 3 min, and nothing is open"]);
    assert_eq!(tale.warned(), ["unresponsive main", "timeout main"]);
    tale.pass(175.0);
    assert_eq!(tale.warned(), NONE, "again only when it has doubled");
    tale.pass(10.0);
    assert_eq!(tale.warned(), ["unresponsive main", "timeout main"]);
    tale.says("main", "here I am", StopReason::Stop).pass(10_000.0);
    assert_eq!(tale.warned(), NONE, "an idle agent is not silent");
}

#[test]
fn a_tool_that_runs_within_its_bound_is_no_alarm_and_one_past_its_own_time_is() {
    let mut tale = Tale::new();
    tale.calls("main", "c", "bash", &json!({"command": "make", "timeout": 1200})).pass(1229.0);
    assert_eq!(tale.warned(), NONE);
    tale.pass(1.0);
    assert_eq!(tale.warned(), ["unresponsive main", "timeout main"]);
    let mut tale = Tale::new();
    tale.calls("main", "c", "bash", &json!({"command": "make"})).pass(595.0);
    assert_eq!(tale.warned(), NONE);
    tale.pass(5.0);
    assert_eq!(tale.warned(), ["timeout main"], "long, but nobody said how long it may take");
}

#[test]
fn thinking_dialogs_compaction_streams_and_named_resets_are_no_silence() {
    let mut tale = Tale::new();
    tale.life("main", "thinking_level", &json!({"level": "xhigh"})).pass(1795.0);
    assert_eq!(tale.warned(), NONE);

    let mut tale = Tale::new();
    tale.life("main", "ui_prompt_start", &json!({})).pass(5000.0);
    tale.life("main", "ui_prompt_end", &json!({})).pass(170.0);
    assert_eq!(tale.warned(), NONE);

    let mut tale = Tale::new();
    tale.life("main", "compaction_start", &json!({})).pass(590.0);
    assert_eq!(tale.warned(), NONE);

    let mut tale = Tale::new();
    for _ in 0..20 {
        tale.event("main", &EventKind::AssistantChunk { turn: 1, text: "x" });
        tale.pass(100.0);
    }
    assert_eq!(tale.warned(), NONE);

    let mut tale = Tale::new();
    let error = json!({"attempt": 1, "delayMs": 2000, "errorMessage": "429, try again in 25 minutes"});
    tale.life("main", "auto_retry_start", &error).pass(1600.0);
    assert_eq!(tale.warned(), NONE);
    tale.pass(100.0);
    assert_eq!(tale.warned(), ["unresponsive main", "timeout main"], "it did not come back after the reset");
}

#[test]
fn a_parent_whose_child_works_is_not_silent_and_a_silent_child_is_told_once_for_both() {
    let mut tale = Tale::new();
    tale.calls("main", "p", "subagent", &json!({"prompt": "x"})).spawns("kid", "main", false);
    for n in 0..20 {
        tale.after(60.0).does("kid", "bash", &json!({"command": format!("step {n}")})).pass(60.0);
    }
    assert_eq!(tale.warned(), NONE);
    tale.calls("kid", "t", "bash", &json!({"command": "dotnet test"})).pass(590.0);
    assert_eq!(tale.warned(), NONE, "a child in a long tool is at work");
    tale.gets("kid", "t", "bash", false, &[]).pass(185.0);
    let warned = tale.warned();
    assert!(warned.iter().all(|told| told.ends_with("kid")), "{warned:?}");
    assert!(warned.contains(&"timeout kid".to_owned()));
}

#[test]
fn a_child_that_never_started_and_one_that_never_returned_are_told() {
    let mut tale = Tale::new();
    tale.spawns("idle", "main", true).spawns("done", "main", true);
    tale.after(100.0).says("done", "all five files are written", StopReason::Stop).pass(180.0);
    let reasons = tale.reasons();
    assert!(reasons.iter().any(|reason| reason.starts_with("it has not done anything since")), "{reasons:?}");
    assert!(reasons.contains(&"it finished its work 3 min ago and has not returned"), "{reasons:?}");
    tale.ends("idle").ends("done").told();
    tale.pass(50.0);
    assert_eq!(tale.warned(), NONE, "nothing is said of who has ended");
}

#[test]
fn age_is_a_remark_for_who_works_and_a_warning_for_who_is_also_silent() {
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true);
    for n in 0..80 {
        tale.does("kid", "bash", &json!({"command": format!("step {n}")})).pass(9.9);
    }
    let remarks: Vec<_> = tale.told().into_iter().filter(|(kind, ..)| kind == "timeout").collect();
    assert_eq!(remarks, vec![("timeout".to_owned(), "kid".to_owned(), Severity::Info); 2]);
    tale.pass(190.0);
    assert_eq!(tale.warned(), ["unresponsive kid", "timeout kid", "timeout kid"]);
}

#[test]
fn only_auto_kill_lets_something_be_done_and_only_to_who_is_old_and_silent() {
    for (auto_kill, busy, expected) in [(true, false, 1), (false, false, 0), (true, true, 0)] {
        let mut tale = Tale::with(&Config::of(json!({ "autoKill": auto_kill })));
        tale.spawns("kid", "main", true);
        for n in 0..90 {
            if busy || n < 2 {
                tale.does("kid", "bash", &json!({"command": format!("step {n}")}));
            }
            tale.pass(9.9);
        }
        let done = tale.found.iter().filter(|found| found.intervention.as_ref().is_some_and(|it| it.auto_execute));
        assert_eq!(done.count(), expected, "autoKill {auto_kill}, busy {busy}");
    }
}

#[test]
fn a_limit_counts_the_whole_tree_and_is_told_before_the_next_request() {
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).spends("main", 0.3).spends("kid", 0.3);
    assert_eq!(tale.told(), [("excessive_cost".into(), "main".into(), Severity::Info)]);
    tale.spends("kid", 0.39);
    tale.spends("kid", 0.02);
    assert_eq!(tale.reasons().last(), Some(&"$1.01 was used, the limit is $1.00 (\"kid\" $0.71, \"main\" $0.30)"));
    let told: Vec<_> = tale.told().into_iter().map(|told| told.2).collect();
    assert_eq!(told, [Severity::Info, Severity::Warning]);
}

#[test]
fn two_running_agents_that_change_one_file_are_told_with_who_what_and_when() {
    let mut tale = Tale::new();
    tale.spawns("a", "main", true).spawns("b", "main", true);
    tale.life("a", "session_start", &json!({"cwd": "/repo"})).life("b", "session_start", &json!({"cwd": "/repo/src"}));
    tale.edits("a", "src/state.ts").after(20.0).edits("b", "state.ts");
    let reason = "\"b\" changed /repo/src/state.ts over what \"a\" had changed 20 s before, without reading it";
    assert_eq!(tale.reasons(), [reason]);
    assert_eq!(tale.found[0].intervention.as_ref().unwrap().parties, ["a"]);
    assert_eq!(tale.warned(), ["file_conflict b"]);
}

#[test]
fn worktrees_readers_and_finished_agents_are_no_conflict() {
    let mut tale = Tale::new();
    tale.spawns("a", "main", true).spawns("b", "main", true);
    tale.life("a", "session_start", &json!({"cwd": "/wt/a"})).life("b", "session_start", &json!({"cwd": "/wt/b"}));
    tale.edits("a", "x.ts").edits("b", "x.ts").edits("a", "x.ts");
    assert_eq!(tale.warned(), NONE, "worktrees");

    let mut tale = Tale::new();
    tale.spawns("a", "main", true).spawns("b", "main", true);
    tale.edits("a", "x.ts").reads("b", "x.ts").edits("b", "x.ts");
    tale.edits("a", "y.ts").does("b", "bash", &json!({"command": "cat y.ts"})).edits("b", "y.ts");
    tale.edits("a", "w.ts").does("b", "bash", &json!({"command": "git diff"})).edits("b", "w.ts");
    assert_eq!(tale.warned(), NONE, "it read what the other had made of it");
    tale.edits("a", "z.ts").ends("a").edits("b", "z.ts");
    assert_eq!(tale.warned(), NONE, "who has ended is no party");

    let mut tale = Tale::new();
    tale.edits("main", "x.ts").calls("main", "p", "subagent", &json!({})).spawns("a", "main", false);
    tale.edits("a", "x.ts");
    assert_eq!(tale.warned(), NONE, "what was there before an agent began is its ground");
}

#[test]
fn a_sweeping_git_command_is_told_while_others_have_unsaved_work() {
    let mut tale = Tale::new();
    tale.spawns("a", "main", true).spawns("b", "main", true).edits("a", "a.ts").edits("b", "b.ts");
    tale.calls("b", "s", "bash", &json!({"command": "git stash"}));
    assert_eq!(tale.reasons(), ["\"git stash\" would undo what \"a\" has not committed: a.ts"]);
    assert_eq!(tale.warned(), ["file_conflict b"]);
    tale.does("a", "bash", &json!({"command": "git add a.ts && git commit -m a"}));
    tale.calls("b", "s", "bash", &json!({"command": "git reset --hard"}));
    assert_eq!(tale.warned(), NONE, "it was committed");
}

#[test]
fn a_command_puts_at_risk_what_it_names_in_the_tree_where_it_is_run() {
    for (line, told) in [
        ("git stash push -- b.ts", false),
        ("git restore src/b/", false),
        ("git clean -fd src/b", false),
        ("git -C /tmp/old reset --hard", false),
        ("cd /tmp/old && git checkout . && git stash", false),
        ("cd .trees/c && git reset --hard", false),
        ("git restore src/a/", true),
        ("git clean -fd src", true),
        ("cd src && git stash", true),
        ("git -C /repo checkout .", true),
    ] {
        let mut tale = Tale::new();
        tale.spawns("a", "main", true).spawns("b", "main", true).spawns("c", "main", true);
        for agent in ["a", "b"] {
            tale.life(agent, "session_start", &json!({"cwd": "/repo", "worktree": "/repo"}));
        }
        tale.life("c", "session_start", &json!({"cwd": "/repo/.trees/c", "worktree": "/repo/.trees/c"}));
        tale.edits("a", "src/a/x.ts").calls("b", "s", "bash", &json!({"command": line}));
        assert_eq!(!tale.warned().is_empty(), told, "{line}");
    }
    let mut tale = Tale::new();
    tale.spawns("c", "main", true).life("main", "session_start", &json!({"cwd": "/repo", "worktree": "/repo"}));
    tale.life("c", "session_start", &json!({"cwd": "/repo/.trees/c", "worktree": "/repo/.trees/c"}));
    tale.edits("c", "x.ts").calls("main", "s", "bash", &json!({"command": "git stash"}));
    assert_eq!(tale.warned(), NONE, "a worktree within the tree is not of it");
}

#[test]
fn who_works_on_does_not_wait_and_who_waits_for_an_answer_is_not_silent() {
    let mut tale = Tale::new();
    tale.spawns("a", "main", true).spawns("b", "main", true);
    tale.life("a", "message_send", &json!({"to": "b", "replyWanted": true}));
    for n in 0..30 {
        tale.does("b", "bash", &json!({"command": format!("step {n}")})).pass(20.0);
    }
    assert_eq!(tale.warned(), NONE, "b is at work");
    tale.does("a", "bash", &json!({"command": "ls"})).ends("b").pass(100.0);
    assert_eq!(tale.warned(), NONE, "a went on without the answer");
    tale.pass(100.0);
    assert_eq!(tale.warned(), ["unresponsive a", "timeout a", "timeout a"], "and is then as silent as anybody");

    let mut tale = Tale::new();
    tale.spawns("a", "main", true).says("main", "it works", StopReason::Stop).after(5.0);
    tale.life("a", "message_send", &json!({"to": "main", "replyWanted": true})).pass(200.0);
    assert_eq!(tale.warned(), ["unresponsive a", "timeout a"], "the main agent has not heard of it");
    tale.event("main", &EventKind::User { text: "a asks", synthetic: true });
    tale.says("main", "which one?", StopReason::Stop).pass(5000.0);
    assert_eq!(tale.warned(), NONE, "the user is asked");
}

#[test]
fn a_childs_question_that_the_main_session_shows_is_seen() {
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).life("kid", "permission_ask", &json!({"requestId": "p"}));
    tale.after(1.0).life("main", "ui_prompt_start", &json!({"requestId": "q"})).pass(3000.0);
    assert_eq!(tale.warned(), NONE);
    tale.life("main", "ui_prompt_end", &json!({"requestId": "q"})).pass(20.0);
    assert_eq!(tale.reasons(), ["\"kid\" asked a question that nobody sees"], "it was closed without an answer");
}

#[test]
fn a_dialog_that_was_answered_is_over_under_its_id() {
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).life("kid", "ui_prompt_start", &json!({"requestId": "p"}));
    tale.after(60.0).life("kid", "ui_prompt_end", &json!({"requestId": "p"}));
    for n in 0..30 {
        tale.does("kid", "bash", &json!({"command": format!("step {n}")})).pass(20.0);
    }
    assert_eq!(tale.warned(), NONE);
}

#[test]
fn a_task_is_given_again_only_while_nothing_has_changed() {
    for (between, told) in [("nothing", true), ("itself", true), ("parent", false), ("other", false), ("user", false)] {
        let mut tale = Tale::new();
        tale.spawns("other", "main", true);
        for n in 0..4 {
            let kid = format!("kid{n}");
            let task = json!({"parent": "main", "task": "review it", "background": true});
            tale.after(1.0).life(&kid, "subagent_spawn", &task).reads(&kid, &format!("{n}.ts"));
            if between == "itself" {
                tale.edits(&kid, &format!("{kid}.ts"));
            }
            tale.after(1.0).ends(&kid).after(1.0);
            match between {
                "parent" => tale.edits("main", &format!("main{n}.ts")),
                "other" => tale.edits("other", &format!("other{n}.ts")),
                "user" => tale.user("once more"),
                _ => &mut tale,
            };
        }
        let told_of = tale.warned().iter().filter(|warned| warned.starts_with("spawn_depth")).count();
        assert_eq!(told_of, usize::from(told), "{between}");
    }
}

#[test]
fn a_task_whose_results_were_worthless_may_be_given_again() {
    let mut tale = Tale::new();
    for kid in ["a", "b", "c", "d"] {
        let task = json!({"parent": "main", "task": "find it", "background": true});
        tale.after(1.0).life(kid, "subagent_spawn", &task).says(kid, "", StopReason::Error).ends(kid);
    }
    assert_eq!(tale.warned(), ["empty_result a", "empty_result b", "empty_result c", "empty_result d"]);
}

#[test]
fn a_sweep_in_a_script_of_several_rows_is_one_too() {
    let mut tale = Tale::new();
    tale.spawns("a", "main", true).spawns("b", "main", true).edits("a", "a.ts").edits("b", "b.ts");
    tale.calls("b", "s", "bash", &json!({"command": "set -e\ngit stash\nnpm test"}));
    assert_eq!(tale.warned(), ["file_conflict b"]);
    tale.does("a", "bash", &json!({"command": "git add a.ts\ngit commit -m a"}));
    tale.calls("b", "s", "bash", &json!({"command": "npm test\ngit reset --hard"}));
    assert_eq!(tale.warned(), NONE, "it was committed");
}

#[test]
fn parent_and_child_that_wait_for_each_other_are_a_deadlock_and_a_working_child_is_none() {
    let mut tale = Tale::new();
    tale.calls("main", "p", "subagent", &json!({"prompt": "x"})).spawns("kid", "main", false);
    tale.does("kid", "bash", &json!({"command": "ls"})).pass(100.0);
    assert_eq!(tale.warned(), NONE);
    tale.life("kid", "message_send", &json!({"to": "main", "replyWanted": true})).pass(60.0);
    assert_eq!(tale.reasons(), ["\"main\" and \"kid\" wait for each other"]);
    assert_eq!(tale.warned(), ["deadlock kid"]);
}

#[test]
fn a_ring_of_three_by_messages_is_a_deadlock_until_somebody_answers() {
    let mut tale = Tale::new();
    tale.spawns("a", "main", true).spawns("b", "main", true).spawns("c", "main", true);
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "a")] {
        tale.life(from, "message_send", &json!({"to": to, "replyWanted": true}));
    }
    tale.pass(60.0);
    assert_eq!(tale.warned(), ["deadlock c"]);

    let mut tale = Tale::new();
    tale.spawns("a", "main", true).spawns("b", "main", true);
    tale.life("a", "message_send", &json!({"to": "b", "replyWanted": true}));
    tale.life("b", "message_send", &json!({"to": "a", "replyWanted": true}));
    tale.pass(100.0);
    assert_eq!(tale.warned(), NONE, "the second message answers the first");
}

#[test]
fn waits_for_who_has_ended_or_never_was_and_unseen_questions_are_deadlocks() {
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).does("kid", "bash", &json!({"command": "ls"})).ends("kid");
    tale.calls("main", "w", "get_subagent_result", &json!({"agent_id": "kid", "wait": true})).pass(60.0);
    assert_eq!(tale.reasons(), ["\"main\" waits for \"kid\", which has ended"]);
    assert_eq!(tale.warned(), ["deadlock main"]);

    let mut tale = Tale::new();
    tale.calls("main", "w", "get_subagent_result", &json!({"agent_id": "ghost", "wait": true})).pass(60.0);
    assert_eq!(tale.reasons(), ["\"main\" waits for \"ghost\", and there is no such agent"]);

    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).does("kid", "bash", &json!({"command": "ls"}));
    tale.life("kid", "permission_ask", &json!({"requestId": "p"})).pass(170.0);
    assert_eq!(tale.warned(), NONE);
    tale.pass(20.0);
    assert_eq!(tale.reasons(), ["\"kid\" asked a question that nobody sees"]);
    tale.life("kid", "permission_reply", &json!({"requestId": "p"})).told();
    tale.pass(100.0);
    assert_eq!(tale.warned(), NONE);
}

#[test]
fn an_idle_parent_that_was_not_told_of_its_children_is_a_deadlock() {
    let mut tale = Tale::new();
    tale.spawns("a", "main", true).says("main", "I go on when it reports", StopReason::Stop);
    tale.life("main", "agent_settled", &json!({})).after(90.0).ends("a").pass(65.0);
    assert_eq!(tale.reasons(), ["it waits, and does not know that \"a\" has ended 1 min ago"]);
    tale.told();
    tale.pass(1000.0);
    assert_eq!(tale.warned(), NONE, "once");

    let mut tale = Tale::new();
    tale.spawns("a", "main", true).says("main", "I go on when it reports", StopReason::Stop).after(90.0).ends("a");
    tale.event("main", &EventKind::User { text: "a has ended", synthetic: true });
    tale.pass(300.0);
    assert_eq!(tale.warned(), NONE, "it was told");
}

#[test]
fn a_session_that_nobody_answers_for_may_be_there_and_never_be_asked() {
    let mut tale = Tale::new();
    tale.says("main", "done", StopReason::Stop);
    tale.life("side", "session_start", &json!({"cwd": "/r"})).pass(10_000.0);
    assert_eq!(tale.warned(), NONE);
    tale.does("side", "bash", &json!({"command": "ls"})).says("side", "done", StopReason::Stop).pass(10_000.0);
    assert_eq!(tale.warned(), NONE, "nor is it known that it should return");
}

#[test]
fn after_the_user_stopped_it_a_parent_need_not_be_told_of_its_children() {
    let mut tale = Tale::new();
    tale.spawns("a", "main", true).life("main", "agent_start", &json!({})).life("main", "user_abort", &json!({}));
    tale.life("main", "agent_settled", &json!({})).after(90.0).ends("a").pass(300.0);
    assert_eq!(tale.warned(), NONE);
}

#[test]
fn what_outlives_its_owner_is_an_orphan() {
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).life("kid", "process", &json!({"pid": 7, "alive": true}));
    assert_eq!(tale.warned(), NONE);
    tale.ends("kid").life("kid", "process", &json!({"pid": 7, "owner": "kid", "alive": true}));
    assert_eq!(tale.reasons(), ["process 7 runs on although \"kid\" has ended"]);
    tale.told();
    tale.life("kid", "process", &json!({"pid": 7, "owner": "kid", "alive": false}));
    assert_eq!(tale.warned(), NONE);

    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).life("main", "user_abort", &json!({}));
    tale.after(0.5).does("kid", "bash", &json!({"command": "ls"}));
    assert_eq!(tale.warned(), NONE, "it was on its way");
    tale.after(5.0).does("kid", "bash", &json!({"command": "ls -l"}));
    assert_eq!(tale.warned(), ["orphan kid"]);
}

#[test]
fn deep_nesting_and_the_task_of_an_ancestor_are_told() {
    let mut tale = Tale::with(&Config::of(json!({ "maxSpawnDepth": 2 })));
    tale.spawns("a", "main", true).spawns("b", "a", true);
    assert_eq!(tale.warned(), NONE);
    tale.spawns("c", "b", true);
    assert_eq!(tale.warned(), ["spawn_depth c"]);

    let mut tale = Tale::new();
    for (agent, parent) in [("a", "main"), ("b", "a")] {
        tale.life(agent, "subagent_spawn", &json!({"parent": parent, "agentType": "x", "task": "find it"}));
    }
    assert_eq!(tale.warned(), ["spawn_depth b"]);

    let mut tale = Tale::new();
    for agent in ["a", "b", "c"] {
        tale.life(agent, "subagent_spawn", &json!({"parent": "main", "task": "find it", "background": true}));
    }
    assert_eq!(tale.warned(), NONE, "the same task for three at once is a choice");
}

#[test]
fn a_child_that_is_said_to_be_done_after_a_failed_request_has_a_worthless_result() {
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).says("kid", "", StopReason::Error).ends("kid");
    assert_eq!(tale.warned(), ["empty_result kid"]);
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).says("kid", "", StopReason::Error).after(5.0);
    tale.says("kid", "done after all", StopReason::Stop).ends("kid");
    assert_eq!(tale.warned(), NONE);
}

#[test]
fn a_request_that_is_sent_again_after_a_pause_is_no_silence_of_a_child() {
    let config = Config::of(json!({ "idleTimeoutSec": 10.0 }));
    let fails = |message: &str| {
        let mut tale = Tale::with(&config);
        tale.spawns("kid", "main", true).says("main", "started", StopReason::Stop).says("kid", "", StopReason::Error);
        tale.life("kid", "provider_limit", &json!({"errorMessage": message})).life("kid", "agent_end", &json!({}));
        tale
    };
    let mut tale = fails("overloaded");
    assert_eq!(tale.pass(65.0).warned(), NONE, "Pi may wait for a minute");
    assert_eq!(tale.pass(10.0).warned(), ["unresponsive kid", "timeout kid"]);
    let mut tale = fails("limit reached, try again in 20 minutes");
    assert_eq!(tale.pass(1205.0).warned(), NONE);
    assert_eq!(tale.pass(10.0).warned(), ["unresponsive kid", "timeout kid"]);
    let mut tale = fails("limit reached, try again in 20 minutes");
    tale.event("kid", &EventKind::User { text: "try now", synthetic: false });
    assert_eq!(tale.pass(15.0).warned(), ["unresponsive kid", "timeout kid"], "a person asked anew");
}

#[test]
fn the_end_of_an_agent_says_enough_of_the_end_of_its_silence() {
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).says("main", "started", StopReason::Stop).pass(200.0);
    assert_eq!(tale.warned(), ["unresponsive kid", "timeout kid"]);
    tale.ends("kid");
    assert_eq!(tale.told(), []);
}

#[test]
fn waits_count_sooner_where_silence_does() {
    let config = Config::of(json!({ "idleTimeoutSec": 5.0 }));
    let mut tale = Tale::with(&config);
    tale.spawns("a", "main", true).ends("a");
    tale.calls("main", "w", "get_subagent_result", &json!({"agent_id": "a"})).pass(10.0);
    assert!(tale.warned().contains(&"deadlock main".to_owned()));
}

#[test]
fn names_that_refer_to_each_other_in_circles_are_survived() {
    let mut tale = Tale::new();
    tale.spawns("a", "b", true).spawns("b", "a", true).spawns("a", "a", true).spawns("main", "a", true);
    tale.pass(1000.0).ends("a").ends("b").pass(1000.0);
}

proptest::proptest! {
    /// Whatever comes, in whatever order: no panic, and memory that is bounded by what is there.
    #[test]
    fn any_events_are_survived(steps in proptest::collection::vec((0_u8..12, 0_usize..5, 0_usize..5), 0..120)) {
        let names = ["main", "a", "b", "c", "d"];
        let mut tale = Tale::new();
        for (what, agent, other) in steps {
            let (agent, other) = (names[agent], names[other]);
            match what {
                0 => tale.spawns(agent, other, true),
                1 => tale.spawns(agent, other, false),
                2 => tale.ends(agent),
                3 => tale.edits(agent, "x.ts"),
                4 => tale.reads(agent, "x.ts"),
                5 => tale.life(agent, "message_send", &json!({"to": other, "replyWanted": true})),
                6 => tale.calls(agent, "w", "get_subagent_result", &json!({"id": other})),
                7 => tale.life(agent, "user_abort", &json!({})),
                8 => tale.life(agent, "process", &json!({"pid": 9, "owner": other, "alive": true})),
                9 => tale.says(agent, "done", StopReason::Stop),
                10 => tale.life(agent, "subagent_resume", &json!({})),
                _ => tale.pass(400.0),
            };
        }
    }
}

#[test]
fn agents_beyond_those_that_are_remembered_cost_money_and_cause_nothing_else() {
    let mut family = Family::new("main", Arc::default());
    let ids: Vec<_> = (0..MEMBERS + 10).map(|n| family.join(&format!("a{n}"), &ChildInfo::default(), 0.0)).collect();
    assert_eq!(ids.iter().filter(|id| **id == CROWD).count(), 11);
    assert_eq!(family.id_of("a5000"), None);
    let usage = Usage { input: 1.0, ..Usage::default() };
    let stop_reason = StopReason::Stop;
    let answer = EventKind::Assistant { turn: 1, text: "", thinking: "", stop_reason, usage: Some(usage) };
    family.observe(CROWD, 1.0, &answer, None);
    family.leave(CROWD, "completed", 2.0);
    assert!((family.spent().input - 1.0).abs() < f64::EPSILON);
    family.tick(1e9);
    assert!(family.take().iter().all(|finding| finding.agent.as_deref() != Some("")));
    // There is room again when one has ended.
    family.leave(ids[0], "completed", 3.0);
    assert_ne!(family.join("late", &ChildInfo::default(), 4.0), CROWD);
}

#[test]
fn a_child_within_the_bound_of_its_call_excuses_a_parent_that_has_nothing_open() {
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).calls("kid", "c", "bash", &json!({"command": "make"}));
    tale.does("main", "bash", &json!({"command": "ls"})).pass(400.0);
    assert_eq!(tale.warned(), NONE);
}

#[test]
fn a_parent_that_waits_for_a_child_is_never_silent_however_long_the_child_is() {
    let mut tale = Tale::new();
    tale.calls("main", "p", "subagent", &json!({"prompt": "x"})).spawns("kid", "main", false).pass(4000.0);
    let warned = tale.warned();
    assert!(warned.contains(&"timeout kid".to_owned()), "{warned:?}");
    assert!(!warned.iter().any(|found| found.ends_with(" main")), "{warned:?}");
}

#[test]
fn an_agent_of_which_nothing_can_be_seen_is_never_silent() {
    let mut family = Family::new("main", Arc::default());
    family.join("kid", &ChildInfo { ends: true, unseen: true, ..ChildInfo::default() }, 0.0);
    family.observe(0, 0.0, &EventKind::User { text: "go", synthetic: false }, None);
    for at in 1..500 {
        family.tick(f64::from(at) * 1000.0);
        family.observe(0, f64::from(at) * 1000.0, &EventKind::User { text: "", synthetic: true }, None);
    }
    assert!(family.take().iter().all(|found| found.rule != "intervention:timeout" || found.severity == Severity::Info));
}

#[test]
fn a_child_in_the_background_is_not_waited_for_by_the_call_that_runs_another() {
    let mut tale = Tale::new();
    tale.spawns("b", "main", true).calls("main", "p", "subagent", &json!({"prompt": "x"})).spawns("a", "main", false);
    tale.life("b", "message_send", &json!({"to": "main", "replyWanted": true}));
    for n in 0..20 {
        tale.does("a", "bash", &json!({"command": format!("step {n}")})).pass(10.0);
    }
    assert_eq!(tale.warned(), NONE);
}

#[test]
fn a_child_that_waits_as_its_provider_told_it_to_is_not_called_old() {
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).does("kid", "bash", &json!({"command": "ls"}));
    tale.life("kid", "provider_limit", &json!({"resetInSec": 2000})).pass(700.0);
    let found = tale.told();
    assert!(found.iter().all(|(rule, _, _)| rule != "timeout"), "{found:?}");
    tale.pass(2000.0);
    assert!(tale.told().iter().any(|(rule, agent, _)| rule == "timeout" && agent == "kid"), "later it is");
}

#[test]
fn a_new_cost_limit_has_levels_of_its_own() {
    let limit = |usd: f64| Config::of(json!({ "costLimitUsd": usd })).tree;
    let mut family = Family::new("main", limit(1.0));
    let spend = |family: &mut Family, usd: f64| {
        family.spend(0, Usage { cost_usd: usd, ..Usage::default() }, 0.0);
        family.take().iter().filter(|found| found.rule == "intervention:excessive_cost").count()
    };
    assert_eq!(spend(&mut family, 1.2), 1);
    assert_eq!(spend(&mut family, 0.3), 0, "reported, and not doubled");
    family.configure(limit(10.0));
    assert_eq!(spend(&mut family, 3.6), 1, "half of the new limit");
    family.configure(limit(10.0));
    assert_eq!(spend(&mut family, 0.1), 0, "the same limit again is no new one");
}

#[test]
fn a_file_that_changed_in_a_child_is_its_own_change_and_one_of_the_main_session_is_nobodys() {
    for (agent, warned) in [("a", vec!["file_conflict b".to_owned()]), ("main", vec![])] {
        let mut tale = Tale::new();
        tale.spawns("a", "main", true).spawns("b", "main", true).does("a", "bash", &json!({"command": "ls"}));
        tale.event(agent, &EventKind::FileChange { path: "/w/f", hash_before: None, hash_after: Some("1") });
        tale.after(1.0).edits("b", "/w/f");
        assert_eq!(tale.warned(), warned, "{agent}");
    }
}

#[test]
fn who_waits_for_another_agent_still_waits_for_an_answer() {
    let mut tale = Tale::new();
    tale.spawns("kid", "main", true).spawns("w", "main", true);
    tale.life("kid", "ui_prompt_start", &json!({"requestId": "q"}));
    tale.calls("kid", "c", "get_subagent_result", &json!({"agent_id": "w"}));
    for n in 0..30 {
        tale.does("w", "bash", &json!({"command": format!("step {n}")})).pass(10.0);
    }
    assert!(tale.warned().contains(&"deadlock kid".to_owned()));
}
