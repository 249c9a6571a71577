//! Any sequence of events through the detector: structured ones from a small world in which things do repeat, and
//! lines of a trace as they are. Findings must be well-formed, the same at every run, and the same for a copy.

#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use pi_watchdog_supervisor::detect::{Detector, Finding, Severity, StuckAnalysis};
use pi_watchdog_supervisor::policy::Config;
use pi_watchdog_supervisor::trace::TraceReader;
use serde_json::{Value, json};

const AGENTS: [&str; 4] = ["main", "a", "b", ""];
const TOOLS: [&str; 10] = ["bash", "read", "edit", "write", "grep", "find", "ls", "subagent", "wait", "nosuch"];
const PATHS: [&str; 4] = ["src/a.rs", "/p/src/a.rs", "b.ts", "../\u{e9} x"];
const COMMANDS: [&str; 14] = [
    "npm test",
    "cargo check 2>&1 | tail -5",
    "cd /p && tsc --noEmit",
    "sleep 30; gh run view 1",
    "rg TOKEN src",
    "cat src/a.rs",
    "sed -n '10,40p' src/a.rs",
    "head -n 99999999999999999999 b.ts",
    "git checkout . ; git status",
    "for i in $(seq 1 9); do echo $i; done",
    "X=1 Y='a b' env -i sh -c \"ls | wc\" &",
    "echo \"unclosed",
    "cat <<'EOF' > b.ts\nx\nEOF",
    "",
];
const OUTPUTS: [&str; 14] = [
    "",
    "(no output)",
    "no match",
    "41 failed, 3 passed in 1.23s\n\nCommand exited with code 1",
    "41 failed, 3 passed in 9.87s\n\nCommand exited with code 1",
    "2 failed\n\nCommand exited with code 1",
    "error TS2345: no\nsrc/a.ts:1:2\n\nCommand exited with code 2",
    "Tool nosuch not found",
    "Error: ENOENT: no such file or directory, open 'x'",
    "429 Too Many Requests, retry after 10s",
    "Permission denied by user",
    "Successfully replaced text in src/a.rs.",
    "line 1\nline 2\nline 3\n",
    "queued",
];
const TEXTS: [&str; 8] = [
    "",
    "Let me look at the file now.",
    "I will run the tests.",
    "Done.",
    "The same thing over and over again. ",
    "1. step\n2. step\n",
    "```rust\nfn main() {}\n```",
    "Still waiting for the build to finish.",
];
const REASONS: [&str; 7] = ["stop", "length", "toolUse", "error", "aborted", "", "new"];
const LIFECYCLE: [&str; 22] = [
    "agent_start",
    "agent_end",
    "agent_settled",
    "auto_retry_start",
    "auto_retry_end",
    "provider_retry",
    "provider_limit",
    "compaction_start",
    "compaction_end",
    "session_start",
    "session_shutdown",
    "stop_hook",
    "tick",
    "tool_update",
    "usage",
    "user_abort",
    "permission_ask",
    "permission_reply",
    "subagent_spawn",
    "subagent_end",
    "process",
    "new",
];

#[derive(Arbitrary, Debug)]
enum Words {
    Known(u8),
    Own(String),
}

impl Words {
    fn of<'a>(&'a self, known: &'a [&'a str]) -> &'a str {
        match self {
            Self::Known(index) => known[usize::from(*index) % known.len()],
            Self::Own(text) => text,
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// A call and its answer: what sessions are mostly made of.
    Round {
        tool: u8,
        subject: Words,
        output: Words,
        is_error: bool,
        hash: u8,
        detail: u16,
    },
    /// The last rounds again.
    Again {
        rounds: u8,
        times: u8,
    },
    Call {
        call: u8,
        tool: u8,
        subject: Words,
        detail: u16,
    },
    Result {
        call: u8,
        tool: u8,
        output: Words,
        is_error: bool,
        hash: u8,
        blocked: bool,
    },
    User {
        text: Words,
        synthetic: bool,
    },
    Assistant {
        text: Words,
        thinking: Words,
        reason: u8,
        partial: bool,
        tokens: u32,
    },
    File {
        path: Words,
        hash: u8,
    },
    Lifecycle {
        event: Words,
        agent: u8,
        text: Words,
        tokens: u32,
    },
    Agent(u8),
    Wait(u16),
    /// Time as a broken clock tells it.
    At(f64),
    Tick(f64),
    Line(Vec<u8>),
}

/// Makes events of steps.
#[derive(Default)]
struct Script {
    lines: Vec<Line>,
    at: f64,
    turn: u32,
    agent: u8,
}

enum Line {
    Event(Vec<u8>),
    Tick(f64),
}

/// More is slow and shows nothing new.
const MOST_LINES: usize = 300;

impl Script {
    fn push(&mut self, mut event: Value) {
        self.at += 1.0;
        event["at"] = json!(self.at);
        if self.agent > 0 && event.get("agent").is_none() {
            event["agent"] = json!(AGENTS[usize::from(self.agent) % AGENTS.len()]);
        }
        self.lines.push(Line::Event(event.to_string().into_bytes()));
    }

    fn call(&mut self, call: &str, tool: &str, subject: &Words, detail: u16) {
        let path = subject.of(&PATHS);
        let args = match tool {
            "bash" => json!({ "command": subject.of(&COMMANDS), "timeout": detail }),
            "read" => json!({ "path": path, "offset": detail % 97, "limit": detail / 97 }),
            "edit" => json!({ "path": path, "edits": [{ "oldText": "a", "newText": detail % 3 }] }),
            "write" => json!({ "path": path, "content": detail % 3 }),
            _ => json!({ "pattern": subject.of(&COMMANDS), "path": path }),
        };
        self.push(json!({ "type": "tool_call", "turn": self.turn, "callId": call, "tool": tool, "args": args }));
    }

    fn result(&mut self, call: &str, tool: &str, output: &Words, is_error: bool, hash: u8, blocked: bool) {
        let mut event = json!({
            "type": "tool_result", "turn": self.turn, "callId": call, "tool": tool,
            "output": output.of(&OUTPUTS), "isError": is_error,
        });
        if hash % 4 > 0 {
            event["files"] = json!({ PATHS[usize::from(hash) % PATHS.len()]: format!("h{}", hash % 16 / 4) });
        }
        if blocked {
            event["blockedBy"] = json!("guard");
        }
        self.push(event);
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Round { tool, subject, output, is_error, hash, detail } => {
                let tool = TOOLS[usize::from(*tool) % TOOLS.len()];
                self.turn += 1;
                self.push(json!({ "type": "assistant", "turn": self.turn, "text": "", "stopReason": "toolUse" }));
                let call = format!("c{}", self.turn);
                self.call(&call, tool, subject, *detail);
                self.result(&call, tool, output, *is_error, *hash, false);
            }
            // Done where the steps are known.
            Step::Again { .. } => {}
            Step::Call { call, tool, subject, detail } => {
                self.call(&call.to_string(), TOOLS[usize::from(*tool) % TOOLS.len()], subject, *detail);
            }
            Step::Result { call, tool, output, is_error, hash, blocked } => {
                let tool = TOOLS[usize::from(*tool) % TOOLS.len()];
                self.result(&call.to_string(), tool, output, *is_error, *hash, *blocked);
            }
            Step::User { text, synthetic } => {
                self.push(json!({ "type": "user", "text": text.of(&TEXTS), "synthetic": synthetic }));
            }
            Step::Assistant { text, thinking, reason, partial, tokens } => {
                self.turn += u32::from(!partial);
                let reason = REASONS[usize::from(*reason) % REASONS.len()];
                self.push(json!({
                    "type": "assistant", "turn": self.turn, "text": text.of(&TEXTS), "thinking": thinking.of(&TEXTS),
                    "stopReason": reason, "partial": partial, "usage": { "input": tokens, "cost": { "total": 0.1 } },
                }));
            }
            Step::File { path, hash } => {
                self.push(
                    json!({ "type": "file_change", "path": path.of(&PATHS), "hashAfter": format!("h{}", hash % 4) }),
                );
            }
            Step::Lifecycle { event, agent, text, tokens } => {
                let text = text.of(&TEXTS);
                let agent = AGENTS[usize::from(*agent) % AGENTS.len()];
                self.push(json!({
                    "type": "lifecycle", "event": event.of(&LIFECYCLE), "agent": agent, "parent": "main",
                    "task": text, "status": "failed", "error": text, "reply": text, "tool": "bash", "tokensBefore": tokens,
                    "inFlight": [text], "usage": { "output": tokens },
                }));
            }
            Step::Agent(agent) => self.agent = *agent,
            Step::Wait(seconds) => self.at += f64::from(*seconds),
            Step::At(at) => self.at = *at,
            Step::Tick(at) => self.lines.push(Line::Tick(*at)),
            Step::Line(line) => self.lines.push(Line::Event(line.clone())),
        }
    }

    fn of(steps: &[Step]) -> Vec<Line> {
        let mut script = Self::default();
        for (index, step) in steps.iter().enumerate() {
            if let Step::Again { rounds, times } = step {
                let from = index.saturating_sub(1 + usize::from(rounds % 9));
                for _ in 0..=*times % 12 {
                    steps[from..index].iter().for_each(|step| script.step(step));
                }
            } else {
                script.step(step);
            }
            if script.lines.len() > MOST_LINES {
                break;
            }
        }
        script.lines
    }
}

fn feed(detector: &mut Detector, reader: &mut TraceReader, line: &Line) -> Vec<Finding> {
    match line {
        Line::Tick(at) => detector.tick(*at),
        Line::Event(line) => {
            let mut found = Vec::new();
            // A broken line is an error, told to whoever wrote it.
            let _ = reader.read(line, |event| found = detector.observe(event));
            found
        }
    }
}

fn check_analysis(analysis: &StuckAnalysis) {
    assert_eq!(analysis.likely_stuck, !analysis.evidence.is_empty());
    assert_eq!(analysis.evidence_key.len(), if analysis.likely_stuck { 16 } else { 0 });
    for evidence in &analysis.evidence {
        assert!(!evidence.summary.is_empty() && !evidence.summary.contains('\n'), "{:?}", evidence.summary);
        assert!(evidence.first_at <= evidence.last_at);
        assert!(evidence.count > 0);
    }
}

fn check(finding: &Finding) {
    assert!(!finding.over);
    assert_eq!(finding.rule.starts_with("intervention:"), finding.intervention.is_some());
    if finding.intervention.is_none() {
        assert!(finding.analysis.likely_stuck, "a finding has evidence");
        assert!(!finding.incident.is_empty());
    }
    // A remark comes before the first notice.
    assert!(finding.ordinal >= 1 || finding.severity == Severity::Info);
    assert!(finding.severity != Severity::Critical || finding.ordinal > 1, "critical: a warning was ignored");
    let cost = finding.cost;
    assert!(cost.tokens >= 0.0 && cost.usd >= 0.0 && cost.wall_ms >= 0.0);
    check_analysis(&finding.analysis);
}

fuzz_target!(|data: &[u8]| {
    let mut source = Unstructured::new(data);
    let Ok(steps) = Vec::<Step>::arbitrary(&mut source) else { return };
    let lines = Script::of(&steps);
    let config = Config::default();
    let (mut first, mut reader) = (Detector::new(&config), TraceReader::default());
    let (mut second, mut second_reader) = (Detector::new(&config), TraceReader::default());
    for (index, line) in lines.iter().enumerate() {
        let found = feed(&mut first, &mut reader, line);
        found.iter().for_each(check);
        assert_eq!(feed(&mut second, &mut second_reader, line), found, "the same history, the same findings");
        if index == lines.len() / 2 {
            // A branch of a session begins with a copy.
            second = first.clone();
        }
    }
    check_analysis(&first.analysis(None));
    let usage = first.usage();
    assert!(usage.total_tokens() >= 0.0);
    first.finish().iter().for_each(check);
    first.reset();
    assert!(!first.analysis(None).likely_stuck);
});
