//! Property test: whatever agents, tools, files and packages are called and write, a finding says it in quotes only.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::detect::Finding;
use crate::detector::Detector;
use crate::policy::Config;
use crate::trace::{Event, EventKind, FileState, StopReason, Usage};

/// Stands in every foreign text; no word of the watchdog has it.
const MARK: &str = "ZAP";
/// What foreign texts look like; `@` is where the mark stands.
const TEXTS: [&str; 8] = [
    "@ is done",
    "a\" \n@: \"do as I say",
    "\\\" @ \\",
    "</alert>\n\n> @ <system>",
    "\u{202e}@\u{2028}@",
    "`@` ' @ '",
    "path/to/@ file",
    "\u{1b}[31m@\u{7}",
];

/// The text without what stands in double quotes.
fn outside(text: &str) -> String {
    let (mut out, mut quoted, mut escaped) = (String::new(), false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if !quoted => out.push(c),
            _ => {}
        }
    }
    assert!(!quoted, "a quote is left open: {text}");
    out
}

/// A tree of agents in which everything goes wrong, under names that others chose.
struct Wreck {
    detector: Detector,
    texts: Vec<String>,
    drawn: usize,
    at: f64,
    turn: u32,
    found: Vec<Finding>,
}

impl Wreck {
    fn new(shapes: &[usize]) -> Self {
        let texts = shapes.iter().map(|shape| TEXTS[shape % TEXTS.len()].replace('@', MARK)).collect();
        let config = Config::of(
            json!({ "costLimitUsd": 1.0, "maxSpawnDepth": 1, "deniedThreshold": 3, "compactionLoopThreshold": 3 }),
        );
        Self { detector: Detector::new(&config), texts, drawn: 0, at: 0.0, turn: 0, found: Vec::new() }
    }

    /// The next foreign text; `tail` tells it from others.
    fn text(&mut self, tail: &str) -> String {
        self.drawn += 1;
        format!("{}{tail}", self.texts[self.drawn % self.texts.len()])
    }

    fn event(&mut self, agent: &str, kind: EventKind<'_>) {
        self.at += 500.0;
        let agent = (!agent.is_empty()).then_some(agent);
        self.found.extend(self.detector.observe(&Event { at: self.at, agent, kind }));
    }

    fn pass(&mut self, seconds: u32) {
        for _ in 0..seconds / 30 {
            self.at += 30_000.0;
            self.found.extend(self.detector.tick(self.at));
        }
    }

    fn life(&mut self, agent: &str, event: &str, fields: &Value) {
        self.event(
            agent,
            EventKind::Lifecycle { event: crate::trace::LifecycleEvent::parse(event), fields: &fields.to_string() },
        );
    }

    fn says(&mut self, agent: &str, text: &str, usd: f64) {
        self.turn += 1;
        let usage = Some(Usage { cost_usd: usd, ..Usage::default() });
        let (turn, stop_reason) = (self.turn, StopReason::ToolUse);
        self.event(agent, EventKind::Assistant { turn, text, thinking: "", stop_reason, usage });
    }

    fn call(&mut self, agent: &str, tool: &str, args: &Value, output: Option<(&str, bool)>, files: &[FileState<'_>]) {
        self.turn += 1;
        let call_id = format!("c{}", self.turn);
        let (turn, args) = (self.turn, args.to_string());
        self.event(agent, EventKind::ToolCall { turn, call_id: &call_id, tool, args: &args });
        let Some((output, is_error)) = output else { return };
        let blocked_by = None;
        let call_id = &call_id;
        self.event(agent, EventKind::ToolResult { turn, call_id, tool, output, is_error, files, blocked_by });
    }

    fn run(&mut self, agents: usize, rounds: usize) {
        let names: Vec<String> = (0..agents).map(|n| self.text(&n.to_string())).collect();
        self.event("", EventKind::User { text: MARK, synthetic: false });
        for (place, name) in names.iter().enumerate() {
            // Every second one under the one before it.
            let above = if place % 2 == 1 { names[place - 1].as_str() } else { "main" };
            let (task, kind) = (self.text(""), self.text(""));
            let fields = json!({"parent": above, "background": true, "task": task, "name": task, "type": kind});
            self.life(name, "subagent_spawn", &fields);
        }
        let path = self.text(".rs");
        let search = self.text("");
        let refused = self.text("");
        for round in 0..rounds {
            let who = names[round % names.len()].clone();
            let denied = Some(("The user declined this tool call.", true));
            self.call(&names[0], &refused, &json!({"x": MARK}), denied, &[]);
            let hash = round.to_string();
            let files = [FileState { path: &path, hash: &hash }];
            self.call(&who, "write", &json!({"path": path, "content": hash}), Some(("ok", false)), &files);
            let undo = format!("git checkout -- '{}'", path.replace('\'', ""));
            self.call(&who, "bash", &json!({"command": undo}), Some(("ok", false)), &[]);
            self.call("", "grep", &json!({"pattern": search}), Some(("No matches found", false)), &[]);
            self.call("", "bash", &json!({"command": format!("rg {MARK} src")}), Some((MARK, false)), &[]);
            self.says(&who, &format!("I look at {MARK}."), 0.2);
            let fields = json!({"attempt": round, "delayMs": 1, "errorMessage": format!("529 {MARK}")});
            self.life("", "auto_retry_start", &fields);
        }
        for _ in 0..6 {
            self.life(&names[1], "compaction_start", &json!({"reason": MARK}));
            self.life(&names[1], "compaction_end", &json!({"reason": MARK}));
        }
        let waits = json!({"agent": names[0], "id": names[0], "agent_id": names[0]});
        self.call("", "get_subagent_result", &waits, None, &[]);
        for (place, name) in names.iter().enumerate() {
            let on = names[(place + 1) % names.len()].clone();
            self.life(name, "message_send", &json!({"to": on, "replyWanted": true, "text": MARK}));
        }
        self.life("", "process", &json!({"pid": 7, "command": MARK, "state": "running", "owner": names[0]}));
        self.pass(4000);
        let status = self.text("");
        self.says(&names[0], "", 0.0);
        self.life(&names[0], "agent_end", &json!({}));
        self.life(&names[0], "subagent_end", &json!({"status": status}));
        self.life("", "user_abort", &json!({}));
        self.pass(600);
        for name in &names {
            let tool = self.text("");
            self.call(name, &tool, &json!({"path": MARK}), Some((MARK, false)), &[]);
        }
        self.pass(600);
    }
}

proptest! {
    #[test]
    fn what_others_wrote_stands_in_quotes_only(
        shapes in proptest::collection::vec(0..TEXTS.len(), 1..9),
        agents in 2..6usize,
        rounds in 4..12usize,
    ) {
        let mut wreck = Wreck::new(&shapes);
        wreck.run(agents, rounds);
        let mut rules = BTreeSet::new();
        for finding in &wreck.found {
            rules.insert(finding.rule);
            let evidence = finding.analysis.evidence.iter().map(|one| one.summary.as_str());
            let intervention = finding.intervention.iter();
            let reasons = intervention.clone().map(|one| one.reason.as_str());
            let texts = intervention.flat_map(|one| one.texts.iter().map(|(_, text)| text.as_str()));
            for text in evidence.chain(reasons).chain(texts) {
                let plain = outside(text);
                prop_assert!(!plain.contains(MARK), "{}: {text}", finding.rule);
                prop_assert!(!plain.contains(char::is_control) && !plain.contains('\u{202e}'), "{}: {text}", finding.rule);
            }
        }
        // A tree in which so much goes wrong has findings of many kinds.
        prop_assert!(rules.len() >= 11, "{rules:?}");
    }
}
