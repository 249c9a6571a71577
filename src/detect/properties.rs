//! Properties of the whole engine on random runs: what a verdict may not depend on, what clears it, and that it is what
//! a detector without any cleverness would say.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Confidence;
use super::engine::Engine;
use super::incident::Severity;
use super::naive::{Moment, Naive, Nature, Step};
use crate::detector::Detector;
use crate::policy::Config;
use crate::trace::{Event, EventKind, FileState, LifecycleEvent, StopReason, Usage};

// Runs told in a small language ---------------------------------------------------------------------------------------

/// One call of the alphabet and its answer.
#[derive(Debug, Clone, Copy)]
struct Call {
    word: usize,
    answer: u8,
}

#[derive(Debug, Clone)]
enum Chapter {
    User,
    Program(u8),
    Says(Option<u8>),
    /// A batch, with the words before it.
    Calls(Vec<Call>, Option<u8>),
}

struct Word {
    /// Tool and arguments; a file's content follows for edits.
    tool: &'static str,
    /// Takes the number of the round, for what is new each time.
    args: fn(u32) -> Value,
    nature: Nature,
    fails: bool,
}

const LOOK: Nature = Nature { acts: false, polls: false, typecheck: false };

/// What the agent of the random runs can do. Few words, so that they come again.
const WORDS: [Word; 10] = [
    Word { tool: "bash", args: |_| json!({ "command": "rg TOKEN src", "timeout": 5 }), nature: LOOK, fails: true },
    Word { tool: "bash", args: |_| json!({ "command": "git status" }), nature: LOOK, fails: false },
    Word {
        tool: "read",
        args: |_| json!({ "path": "src/a.rs", "offset": 1, "limit": 40 }),
        nature: LOOK,
        fails: false,
    },
    Word { tool: "bash", args: |_| json!({ "command": "npm test" }), nature: LOOK, fails: true },
    Word {
        tool: "bash",
        args: |_| json!({ "command": "npx tsc --noEmit" }),
        nature: Nature { typecheck: true, ..LOOK },
        fails: true,
    },
    Word {
        tool: "bash",
        args: |_| json!({ "command": "gh run view 7" }),
        nature: Nature { polls: true, ..LOOK },
        fails: false,
    },
    Word {
        tool: "bash",
        args: |_| json!({ "command": "./deploy.sh" }),
        nature: Nature { acts: true, ..LOOK },
        fails: false,
    },
    Word {
        tool: "bash",
        args: |_| json!({ "command": "python load.py" }),
        nature: Nature { acts: true, ..LOOK },
        fails: false,
    },
    Word {
        tool: "edit",
        args: |_| json!({ "path": "src/a.rs", "oldText": "x", "newText": "y" }),
        nature: LOOK,
        fails: false,
    },
    Word {
        tool: "bash",
        args: |round| json!({ "command": format!("cat notes/{round}.md") }),
        nature: LOOK,
        fails: false,
    },
];
const EDIT: usize = 8;
/// Always another question, so always news.
const FRESH: usize = 9;

const ANSWERS: [&str; 3] = ["an apple", "a pear and a plum", "nothing but cherries"];
const TEXTS: [&str; 3] = ["The parser is broken.", "The tests are green.", "All is well."];

fn call() -> impl Strategy<Value = Call> {
    (prop_oneof![5 => 0..EDIT + 1, 1 => Just(FRESH)], prop_oneof![8 => Just(0_u8), 2 => 1..3_u8])
        .prop_map(|(word, answer)| Call { word, answer })
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    // Distinct actions in a batch: what two answers of one action in one round mean is the batch's own affair.
    let distinct = |mut calls: Vec<Call>| {
        calls.sort_by_key(|call| call.word);
        calls.dedup_by_key(|call| call.word);
        calls
    };
    prop_oneof![6 => call().prop_map(|call| vec![call]), 1 => prop::collection::vec(call(), 2..4).prop_map(distinct)]
}

fn chapter() -> impl Strategy<Value = Chapter> {
    let text = || prop::option::weighted(0.9, 0..3_u8);
    prop_oneof![
        1 => Just(Chapter::User),
        2 => (0..3_u8).prop_map(Chapter::Program),
        3 => text().prop_map(Chapter::Says),
        30 => (calls(), prop::option::weighted(0.4, 0..2_u8)).prop_map(|(calls, said)| Chapter::Calls(calls, said)),
    ]
}

/// Random chapters, some stretches of which come again and again: pure chance makes few loops.
fn run() -> impl Strategy<Value = Vec<Chapter>> {
    let stretch = (prop::collection::vec(chapter(), 1..10), prop_oneof![2 => 1..2_usize, 1 => 2..7_usize]);
    prop::collection::vec(stretch, 1..12).prop_map(|stretches| {
        stretches.into_iter().flat_map(|(chapters, times)| std::iter::repeat_n(chapters, times).flatten()).collect()
    })
}

/// How a run is told; none of it may change what is found.
#[derive(Debug, Clone)]
struct NewReport {
    origin: f64,
    agent: Option<&'static str>,
    call_id: &'static str,
    prefix: &'static str,
    reversed_keys: bool,
    noise: Option<u64>,
}

const PLAIN: NewReport =
    NewReport { origin: 0.0, agent: None, call_id: "call_", prefix: "", reversed_keys: false, noise: Some(0) };

impl NewReport {
    fn args(&self, value: &Value) -> String {
        let Value::Object(fields) = value else { return value.to_string() };
        let mut fields: Vec<String> = fields
            .iter()
            .map(|(name, value)| {
                let value = match value.as_str() {
                    Some(text) => json!(text.replace("src/", &format!("{}src/", self.prefix))),
                    None => value.clone(),
                };
                format!("{}:{value}", json!(name))
            })
            .collect();
        if self.reversed_keys {
            fields.reverse();
        }
        format!("{{{}}}", fields.join(","))
    }

    fn output(&self, answer: &str, at: f64) -> String {
        let Some(seed) = self.noise else { return answer.to_owned() };
        // The seed picks the noise; seed 0 is the same noise everywhere.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small positive numbers")]
        let n = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_mul(1 + at as u64) >> 40;
        let (minute, second, pid, hex) =
            (n % 60, n / 60 % 60, 1000 + n % 50_000, n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        format!(
            "{answer}\nat 2026-03-14T09:{minute:02}:{second:02}Z in 3.{:02}s (pid {pid}) /tmp/run-{hex:08x}/log",
            n % 100
        )
    }
}

struct Teller<'a> {
    telling: &'a NewReport,
    detector: Detector,
    found: Vec<Found>,
    at: f64,
    turn: u32,
    states: u32,
}

/// What a finding says, without names and times: position, rule, severity, evidence, ordinal.
type Found = (f64, &'static str, Severity, Vec<(&'static str, u32, u32)>, u32);

fn told(run: &[Chapter], telling: &NewReport) -> (Vec<Found>, Confidence) {
    let mut teller =
        Teller { telling, detector: Detector::new(&Config::default()), found: Vec::new(), at: 0.0, turn: 0, states: 0 };
    for chapter in run {
        teller.chapter(chapter);
    }
    let confidence = teller.detector.analysis(telling.agent).confidence;
    (teller.found, confidence)
}

impl Teller<'_> {
    fn tell(&mut self, kind: EventKind<'_>) {
        let event = Event { at: self.telling.origin + self.at, agent: self.telling.agent, kind };
        for finding in self.detector.observe(&event) {
            let evidence = finding.analysis.evidence.iter().map(|e| (e.kind.name(), e.count, e.period)).collect();
            self.found.push((self.at, finding.rule, finding.severity, evidence, finding.ordinal));
        }
    }

    fn chapter(&mut self, chapter: &Chapter) {
        self.at += 3000.0;
        match chapter {
            Chapter::User => self.tell(EventKind::User { text: "go on", synthetic: false }),
            Chapter::Program(text) => {
                self.tell(EventKind::User { text: TEXTS[usize::from(*text)], synthetic: true });
            }
            Chapter::Says(text) => {
                self.turn += 1;
                let text = text.map_or("", |text| TEXTS[usize::from(text)]);
                self.tell(assistant(self.turn, text, StopReason::Stop));
            }
            Chapter::Calls(calls, said) => {
                self.turn += 1;
                if let Some(said) = said {
                    self.tell(assistant(self.turn, TEXTS[usize::from(*said)], StopReason::ToolUse));
                }
                let turn = self.turn;
                let ids: Vec<String> =
                    (0..calls.len()).map(|n| format!("{}{turn}_{n}", self.telling.call_id)).collect();
                for (call, id) in calls.iter().zip(&ids) {
                    let word = &WORDS[call.word];
                    let args = self.telling.args(&(word.args)(self.turn));
                    self.tell(EventKind::ToolCall { turn, call_id: id, tool: word.tool, args: &args });
                }
                for (call, id) in calls.iter().zip(&ids) {
                    let word = &WORDS[call.word];
                    let output = self.telling.output(ANSWERS[usize::from(call.answer)], self.at);
                    let path = format!("{}src/a.rs", self.telling.prefix);
                    let state = format!("state{}", if call.answer == 2 { self.states } else { u32::from(call.answer) });
                    let files = [FileState { path: &path, hash: &state }];
                    let edited = call.word == EDIT;
                    self.states += u32::from(edited) + 3;
                    self.tell(EventKind::ToolResult {
                        turn,
                        call_id: id,
                        tool: word.tool,
                        output: &output,
                        is_error: word.fails,
                        files: if edited { &files } else { &[] },
                        blocked_by: None,
                    });
                }
            }
        }
    }
}

fn assistant(turn: u32, text: &str, stop_reason: StopReason) -> EventKind<'_> {
    let usage = Some(Usage { input: 100.0, output: 10.0, ..Usage::default() });
    EventKind::Assistant { turn, text, thinking: "", stop_reason, usage }
}

// What a verdict may not depend on ------------------------------------------------------------------------------------

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn verdicts_depend_on_no_origin_of_time_no_names_no_prefix_and_no_key_order(run in run(), pick in 0..5_usize) {
        let other = match pick {
            0 => NewReport { origin: 1_773_480_751_000.0, ..PLAIN },
            1 => NewReport { agent: Some("child-7"), call_id: "toolu_01", ..PLAIN },
            2 => NewReport { prefix: "/home/dev/work/", ..PLAIN },
            3 => NewReport { reversed_keys: true, ..PLAIN },
            _ => NewReport {
                origin: 8e11, agent: Some("x"), call_id: "z", prefix: "/srv/app-2/", reversed_keys: true, ..PLAIN
            },
        };
        prop_assert_eq!(told(&run, &PLAIN), told(&run, &other));
    }

    #[test]
    fn verdicts_depend_on_no_noise_in_outputs(run in run(), seed in 1..u64::MAX) {
        prop_assert_eq!(told(&run, &PLAIN), told(&run, &NewReport { noise: Some(seed), ..PLAIN }));
    }

    #[test]
    fn quiet_is_quiet_with_noise_and_without(run in run()) {
        let with = told(&run, &PLAIN).0.len();
        let without = told(&run, &NewReport { noise: None, ..PLAIN }).0.len();
        prop_assert_eq!(with == 0, without == 0);
    }
}

// Progress clears -----------------------------------------------------------------------------------------------------

#[derive(Debug, Clone, Copy)]
enum Loop {
    Failing,
    Looking,
    Alternating,
    Circle,
    Typecheck,
    Errors,
    Searches,
    Edits,
}

impl Loop {
    /// Laps that are told, at the latest.
    fn enough(self) -> u32 {
        match self {
            Self::Searches => 8,
            Self::Errors => 4,
            _ => 3,
        }
    }

    fn lap(self, n: u32, tell: &mut impl FnMut(&str, Value, &str, bool)) {
        match self {
            Self::Failing => tell("bash", json!({ "command": "make" }), "ld: undefined symbol f", true),
            Self::Looking => tell("read", json!({ "path": "b.rs" }), "text", false),
            Self::Alternating | Self::Circle => {
                for name in if matches!(self, Self::Circle) { &["a", "b", "c"][..] } else { &["a", "b"] } {
                    tell("bash", json!({ "command": format!("git show {name}") }), name, false);
                }
            }
            Self::Typecheck => tell("bash", json!({ "command": "tsc" }), "a.ts(1,1): error TS2304: x", true),
            Self::Errors => tell("bash", json!({ "command": format!("x --n {n}") }), "ImportError: no yaml", true),
            Self::Searches => tell("grep", json!({ "pattern": format!("p{n}") }), "No matches found", false),
            Self::Edits => {
                tell("edit", json!({ "path": "a.rs", "oldText": n, "newText": "y" }), "Could not find it", true);
            }
        }
    }
}

/// Rounds of a run that get a verdict.
fn verdicts(laps: u32, kind: Loop, progress_before: Option<u32>) -> usize {
    let mut engine = Engine::new(Arc::default());
    let (mut turn, mut found) = (0, 0);
    let mut tell = |tool: &str, args: Value, output: &str, is_error: bool, state: Option<&str>| {
        turn += 1;
        let at = f64::from(turn) * 3000.0;
        let args = args.to_string();
        let files: Vec<FileState<'_>> = state.map(|hash| FileState { path: "a.rs", hash }).into_iter().collect();
        for kind in [
            EventKind::ToolCall { turn, call_id: "c", tool, args: &args },
            EventKind::ToolResult { turn, call_id: "c", tool, output, is_error, files: &files, blocked_by: None },
        ] {
            let findings = engine.observe(at, &kind).findings;
            found += findings.iter().filter(|f| f.severity > Severity::Info && f.intervention.is_none()).count();
        }
    };
    for n in 0..laps {
        if progress_before == Some(n) {
            tell("edit", json!({ "path": "a.rs", "oldText": "k", "newText": "new" }), "done", false, Some("new"));
        }
        kind.lap(n, &mut |tool, args, output, is_error| tell(tool, args, output, is_error, None));
    }
    found
}

proptest! {
    #[test]
    fn real_progress_before_the_threshold_clears(
        kind in prop::sample::select(vec![
            Loop::Failing, Loop::Looking, Loop::Alternating, Loop::Circle, Loop::Typecheck, Loop::Errors,
            Loop::Searches, Loop::Edits,
        ]),
        before in 1..8_u32,
        after in 0..8_u32,
    ) {
        let enough = kind.enough();
        prop_assert!(verdicts(enough, kind, None) > 0, "the loop itself is found");
        // Laps in circles: the lap in which the progress lies counts for neither side.
        let (before, after) = (1 + before % (enough - 1), after % enough);
        prop_assert_eq!(verdicts(before + after.min(enough - 1), kind, Some(before)), 0);
    }
}

// The naive twin ------------------------------------------------------------------------------------------------------

/// Only the rules that the naive twin knows, at thresholds that random runs reach.
fn few_rules() -> Config {
    Config::of(
        json!({ "changingOutputThreshold": 4, "staleRevisitsThreshold": 0, "errorLoopThreshold": 0, "unknownToolThreshold": 0, "deniedThreshold": 0, "emptyResultThreshold": 0, "failingEditThreshold": 0, "editRevertThreshold": 0, "persistentFailureThreshold": 0, "rereadThreshold": 0, "narrationThreshold": 0, "pollingThreshold": 5 }),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_incremental_engine_says_what_a_naive_one_says(run in run()) {
        let config = Arc::new(few_rules());
        let mut engine = Engine::new(Arc::clone(&config.rules));
        let mut naive = Naive::default();
        let mut states = std::collections::HashSet::new();
        let (mut turn, mut seconds) = (0_u32, 0_u32);
        for (number, chapter) in run.iter().enumerate() {
            seconds += 3;
            let at = f64::from(seconds) * 1000.0;
            let mut hear = |kind: &EventKind<'_>| -> Vec<(&'static str, u32, u32)> {
                let mut said: Vec<_> =
                    engine.observe(at, kind).evidence.iter().map(|e| (e.kind.name(), e.count, e.period)).collect();
                said.sort_unstable();
                said
            };
            match chapter {
                Chapter::User => {
                    hear(&EventKind::User { text: "go on", synthetic: false });
                    naive.observe(turn, Moment::User, &config);
                }
                Chapter::Program(text) => {
                    let said = hear(&EventKind::User { text: TEXTS[usize::from(*text)], synthetic: true });
                    prop_assert_eq!(said, naive.observe(turn, Moment::Input(*text), &config), "{} {:?}", number, chapter);
                }
                Chapter::Says(text) => {
                    turn += 1;
                    let said = hear(&assistant(turn, text.map_or("", |t| TEXTS[usize::from(t)]), StopReason::Stop));
                    prop_assert_eq!(said, naive.observe(turn, Moment::Message(*text), &config), "{} {:?}", number, chapter);
                }
                Chapter::Calls(calls, words) => {
                    turn += 1;
                    if let Some(words) = words {
                        hear(&assistant(turn, TEXTS[usize::from(*words)], StopReason::ToolUse));
                    }
                    let ids: Vec<String> = (0..calls.len()).map(|n| n.to_string()).collect();
                    for (call, id) in calls.iter().zip(&ids) {
                        let word = &WORDS[call.word];
                        let args = (word.args)(turn).to_string();
                        hear(&EventKind::ToolCall { turn, call_id: id, tool: word.tool, args: &args });
                    }
                    for (index, (call, id)) in calls.iter().zip(&ids).enumerate() {
                        let word = &WORDS[call.word];
                        let edited = call.word == EDIT;
                        let state = format!("state{}", if call.answer == 2 { number } else { usize::from(call.answer) });
                        let files = [FileState { path: "src/a.rs", hash: &state }];
                        let said = hear(&EventKind::ToolResult {
                            turn,
                            call_id: id,
                            tool: word.tool,
                            output: ANSWERS[usize::from(call.answer)],
                            is_error: word.fails,
                            files: if edited { &files } else { &[] },
                            blocked_by: None,
                        });
                        let step = Step {
                            action: if call.word == FRESH { 100 + turn } else { u32::try_from(call.word).unwrap() },
                            outcome: call.answer,
                            is_error: word.fails,
                            nature: word.nature,
                            at: seconds,
                            new_state: edited && states.insert(state.clone()),
                        };
                        let mut expected = naive.observe(turn, Moment::Step(step), &config);
                        if index + 1 == calls.len() {
                            expected.extend(naive.observe(turn, Moment::RoundEnd { said: *words }, &config));
                            expected.sort_unstable();
                        }
                        prop_assert_eq!(said, expected, "chapter {}, {} {:?}", number, index, chapter);
                    }
                }
            }
        }
    }
}

// Whatever comes ------------------------------------------------------------------------------------------------------

/// Any event that a reader could hand over, made of any text.
fn any_event() -> impl Strategy<Value = (u8, u32, String, String, String, bool, f64)> {
    let text = || {
        prop_oneof![
            any::<String>(),
            "[ -~\n]{0,200}",
            Just("error: \u{0}\u{1b}[31m".to_owned()),
            Just("{\"command\":\"tail -f x | sed -n 's/a/b/p' > y; sleep 5\"}".to_owned()),
            Just("{\"path\":\"a\",\"offset\":18446744073709551615,\"limit\":18446744073709551615}".to_owned()),
            Just("{\"path\":\"a\",\"edits\":[{\"oldText\":\"\",\"newText\":\"\"}]}".to_owned()),
        ]
    };
    let tool = prop_oneof![any::<String>(), Just("read".to_owned()), Just("edit".to_owned()), Just("bash".to_owned())];
    let at = prop_oneof![0.0..1e15_f64, Just(f64::NAN), Just(f64::INFINITY), Just(-1.0)];
    (0..12_u8, prop_oneof![0..5_u32, any::<u32>()], text(), text(), tool, any::<bool>(), at)
}

proptest! {
    #[test]
    fn any_soup_of_events_is_survived(events in prop::collection::vec(any_event(), 1..60)) {
        let mut detector = Detector::new(&Config::of(json!({ "idleNoProgressSec": 1.0 })));
        for (kind, turn, text, other, tool, flag, at) in &events {
            let files = [FileState { path: other, hash: text }];
            let kind = match kind {
                0 => EventKind::User { text, synthetic: *flag },
                1 => EventKind::Assistant {
                    turn: *turn, text, thinking: other, stop_reason: StopReason::parse(tool), usage: None,
                },
                2 => assistant(*turn, text, StopReason::ToolUse),
                3 => EventKind::AssistantChunk { turn: *turn, text },
                4..=6 => EventKind::ToolCall { turn: *turn, call_id: other, tool, args: text },
                7..=8 => EventKind::ToolResult {
                    turn: *turn, call_id: other, tool, output: text, is_error: *flag,
                    files: if *flag { &[] } else { &files }, blocked_by: flag.then_some("guard"),
                },
                9 => EventKind::FileChange { path: other, hash_before: None, hash_after: flag.then_some(text) },
                10 => EventKind::Lifecycle { event: LifecycleEvent::ProviderRetry, fields: other },
                _ => EventKind::Lifecycle { event: LifecycleEvent::parse(["compaction_end", "tick", "agent_end", "subagent_end"][*turn as usize % 4]), fields: other },
            };
            let agent = flag.then_some(tool.as_str());
            detector.observe(&Event { at: *at, agent, kind });
        }
        detector.tick(1e12);
    }
}

/// What the engine remembers, as text: grows with whatever it holds.
fn weight(engine: &Engine) -> usize {
    format!("{engine:?}").len()
}

#[test]
fn memory_does_not_grow_with_the_run() {
    let mut engine = Engine::new(Arc::default());
    let mut weights = Vec::new();
    for n in 0..100_000_u32 {
        let (turn, at) = (n / 2, f64::from(n) * 1000.0);
        let (path, output) = (format!("src/{}/f{}.rs", turn % 977, turn), format!("line {turn} of the output"));
        let (tool, args) = match turn % 5 {
            0 => ("read", json!({ "path": path, "offset": turn % 1000, "limit": 3 })),
            1 => ("edit", json!({ "path": path, "oldText": "a", "newText": output })),
            2 => ("grep", json!({ "pattern": output, "path": path })),
            3 => ("bash", json!({ "command": format!("cargo test {turn}") })),
            _ => ("fetch", json!({ "url": format!("https://example.org/{turn}") })),
        };
        let args = args.to_string();
        let id = turn.to_string();
        if n % 2 == 0 {
            engine.observe(at, &EventKind::ToolCall { turn, call_id: &id, tool, args: &args });
        } else {
            let is_error = turn % 3 == 0;
            let kind = EventKind::ToolResult {
                turn,
                call_id: &id,
                tool,
                output: &output,
                is_error,
                files: &[],
                blocked_by: None,
            };
            engine.observe(at, &kind);
        }
        if n == 49_999 || n == 99_999 {
            weights.push(weight(&engine));
        }
    }
    // Two generations of every map: at one moment they are fuller than at another.
    assert!(weights[1] < weights[0] * 2, "{weights:?}");
}
