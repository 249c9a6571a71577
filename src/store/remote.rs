//! A session that another process watches: that process has the engine, here is what it reports. Takes compact events
//! made elsewhere into the ring, each once, counts those that never came, and holds the verdict as it was told.
//!
//! What comes in was written by a process that may be broken or hostile: every text is cut, every time is clamped to
//! `now`, and a field of the wrong shape costs its event and no more. Nothing here starts, steers or ends anything.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::declared::Declared;
use super::event::Kind;
use super::passed::{Calls, Passed, classed};
use super::target::{Target, VERDICT};
use crate::catalog;
use crate::detect::compact::{CompactEvent, action};
use crate::detect::{Confidence, Evidence, StuckAnalysis};
use crate::trace::Usage;

/// Events of one batch at most; what is beyond counts as lost.
const MOST_ITEMS: usize = 4096;
const MOST_EVIDENCE: usize = 20;
/// Bytes kept of a text.
const LINE: usize = 400;
const KEY: usize = 2000;
const PREVIEW: usize = 8000;

/// What is known of the watch in the other process.
#[derive(Debug, Default)]
pub struct Remote {
    /// Names one life of the process; its numbers begin anew with every life.
    run: Box<str>,
    /// Number of the latest event taken.
    taken: u64,
    lost: u64,
    contact_at: f64,
    connected: bool,
    analysis: StuckAnalysis,
    /// What it says that it used, and what of it counts by now.
    declared: Usage,
    usage: Usage,
    repeated: (u64, u64),
    /// Calls and edits as that process counts them; the target's own counts are sums over its lives.
    counted: (u64, u64),
    /// What the family has not been shown yet.
    passed: Vec<Passed>,
    calls: Calls,
}

impl Remote {
    pub fn run(&self) -> &str {
        &self.run
    }
    pub fn taken(&self) -> u64 {
        self.taken
    }
    /// Events that were made and never came, over all lives.
    pub fn lost(&self) -> u64 {
        self.lost
    }
    pub fn contact_at(&self) -> f64 {
        self.contact_at
    }
    pub fn connected(&self) -> bool {
        self.connected
    }
    pub fn analysis(&self) -> &StuckAnalysis {
        &self.analysis
    }
    pub fn usage(&self) -> Usage {
        self.usage
    }
    pub fn repeated(&self) -> (u64, u64) {
        self.repeated
    }
    /// What came since it was last asked, and the calls that are open.
    pub(super) fn take_passed(&mut self) -> (Vec<Passed>, &mut Calls) {
        (std::mem::take(&mut self.passed), &mut self.calls)
    }
}

/// One event on its way in: a compact event, or one of the agent's life, which the ring does not keep.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    q: u64,
    at: f64,
    /// Name of a lifecycle event.
    life: Option<String>,
    fields: Option<Box<RawValue>>,
    timeout_ms: Option<f64>,
    #[serde(rename = "type")]
    kind: Option<String>,
    summary: Option<String>,
    command_key: Option<String>,
    output_hash: Option<String>,
    output_preview: Option<String>,
    turn: Option<u32>,
    call_id: Option<String>,
    tool: Option<String>,
    is_error: Option<bool>,
    path: Option<String>,
    error_class: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    last_active_at: Option<f64>,
    analysis: Option<Analysis>,
    usage: Option<Spent>,
    tool_call_count: Option<u64>,
    patch_count: Option<u64>,
    repeated_command_count: Option<u64>,
    repeated_message_count: Option<u64>,
    last_command: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Analysis {
    likely_stuck: bool,
    confidence: String,
    evidence: Vec<Shown>,
    evidence_key: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    #[serde(rename = "type")]
    kind: String,
    summary: String,
    count: u32,
    period: Option<u32>,
    command: Option<String>,
    first_at: f64,
    last_at: f64,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Spent {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
    usd: f64,
}

impl Target {
    /// The session is watched by the process whose life `run` names. A new life counts from where the last one ended.
    pub fn attach(&mut self, run: &str, now: f64) {
        match self.remote.take() {
            Some(remote) if *remote.run == *run => self.remote = Some(remote),
            before => {
                let mut remote = Box::new(Remote { run: cut(run, LINE).into(), ..Remote::default() });
                if let Some(over) = before {
                    remote.lost = over.lost;
                    self.keep_figures(&over);
                } else {
                    // Whatever followed the session so far saw a part of what the process itself counts.
                    self.restart();
                }
                self.remote = Some(remote);
            }
        }
        self.contact(now, true);
    }

    /// The session goes on in this process, where its engine is from now on.
    pub fn detach(&mut self) {
        if let Some(over) = self.remote.take() {
            self.keep_figures(&over);
        }
    }

    fn keep_figures(&mut self, over: &Remote) {
        self.used_before += over.usage;
        self.repeated_before.0 += over.repeated.0;
        self.repeated_before.1 += over.repeated.1;
    }

    /// Something was heard of the process, or the connection to it is gone.
    pub fn contact(&mut self, now: f64, connected: bool) {
        if let Some(remote) = &mut self.remote {
            remote.connected = connected;
            if connected {
                remote.contact_at = remote.contact_at.max(now);
            }
        }
    }

    /// Takes a batch: the JSON text of an array. Events that were taken before are passed over, those that are missing
    /// in between are counted. The number of the latest event taken; `None` without [`Self::attach`] or for a text that
    /// is no array.
    pub fn import(&mut self, now: f64, items: &str) -> Option<u64> {
        self.remote.as_ref()?;
        let items: Vec<&RawValue> = serde_json::from_str(items).ok()?;
        for raw in items.into_iter().take(MOST_ITEMS) {
            if let Ok(item) = serde_json::from_str::<Item>(raw.get())
                && let Some(remote) = &mut self.remote
                && item.q > remote.taken
            {
                remote.lost = remote.lost.saturating_add(item.q - remote.taken - 1);
                remote.taken = item.q;
                if !self.take_in(now, &item)
                    && let Some(remote) = &mut self.remote
                {
                    remote.lost = remote.lost.saturating_add(1);
                }
            }
        }
        self.remote.as_ref().map(|remote| remote.taken)
    }

    /// The one place that every imported event passes, in order and once. Lifecycle events are not kept by the ring.
    fn take_in(&mut self, now: f64, item: &Item) -> bool {
        // Before it was announced nothing of it is known here; an older time would be its own tale of how long it works.
        let at = time(item.at, now).max(self.started_at);
        if self.ended_at.is_some() {
            return false;
        }
        self.last_active_at = self.last_active_at.max(at);
        if let Some(life) = &item.life {
            let fields = item.fields.as_ref().map_or_else(String::new, |fields| cut(fields.get(), KEY).to_owned());
            self.pass(Passed::life(at, life, fields));
            return true;
        }
        let Some(kind) = item.kind.as_deref().and_then(Kind::parse) else { return false };
        let summary = item.summary.as_deref().unwrap_or_default();
        let of_tool = matches!(kind, Kind::ToolCall | Kind::ToolResult | Kind::Edit | Kind::Patch);
        let shown = of_tool.then(|| {
            let mut shown = action(&CompactEvent {
                kind: kind.name(),
                summary: cut(summary, LINE),
                command_key: item.command_key.as_deref().map(|key| cut(key, KEY)),
                tool: item.tool.as_deref().map(|tool| cut(tool, LINE)),
                ..CompactEvent::default()
            });
            shown.path = item.path.as_deref().map(|path| cut(path, KEY).into());
            shown.social.timeout_ms = item.timeout_ms.filter(|ms| ms.is_finite() && *ms > 0.0);
            Arc::new(classed(shown, kind))
        });
        self.pass(Some(Passed::Event {
            at,
            kind,
            action: shown.clone(),
            turn: item.turn.unwrap_or(0),
            call_id: item.call_id.as_deref().map(|id| cut(id, LINE)).unwrap_or_default().to_owned(),
            is_error: item.is_error.unwrap_or(false),
        }));
        self.push(at, kind, |event| {
            event.action = shown;
            event.text = if of_tool { Box::default() } else { cut(summary, LINE).into() };
            event.hash = item.output_hash.as_deref().and_then(bytes);
            event.preview = item.output_preview.as_deref().map(|text| cut(text, PREVIEW).into());
            event.turn = item.turn;
            event.call_id = item.call_id.as_deref().map(|id| cut(id, LINE).into());
            event.is_error = item.is_error.unwrap_or(false);
            event.error_class = item.error_class.as_deref().map(|class| cut(class, LINE).into());
        });
        true
    }

    fn pass(&mut self, passed: Option<Passed>) {
        if let (Some(remote), Some(passed)) = (&mut self.remote, passed) {
            remote.passed.push(passed);
        }
    }

    /// The verdict and the counts as that process has them. What is absent stays as it was.
    pub fn import_state(&mut self, now: f64, state: &str, declared: &mut Declared) -> u32 {
        let Ok(state) = serde_json::from_str::<State>(state) else { return 0 };
        if self.ended_at.is_some() {
            return 0;
        }
        let Some(remote) = &mut self.remote else { return 0 };
        let mut signal = 0;
        if let Some(analysis) = state.analysis {
            let analysis = analysis.shown(now);
            if analysis != remote.analysis {
                signal |= VERDICT;
            }
            remote.analysis = analysis;
        }
        if let Some(usage) = state.usage {
            // What was spent is not given back: a smaller figure is a mistake.
            remote.declared = most(remote.declared, usage.into());
        }
        let mut grown = |before: &mut u64, said: Option<u64>| {
            let more = declared.counts(said.unwrap_or(0).saturating_sub(*before), now);
            *before += more;
            more
        };
        grown(&mut remote.repeated.0, state.repeated_command_count);
        grown(&mut remote.repeated.1, state.repeated_message_count);
        let calls = grown(&mut remote.counted.0, state.tool_call_count);
        let patches = grown(&mut remote.counted.1, state.patch_count);
        self.tool_calls = self.tool_calls.saturating_add(calls);
        self.patches = self.patches.saturating_add(patches);
        if let Some(at) = state.last_active_at {
            self.last_active_at = self.last_active_at.max(time(at, now));
        }
        if let Some(command) = state.last_command.filter(|command| !command.is_empty()) {
            self.last_command = Some(cut(&command, KEY).into());
        }
        self.catch_up(now, declared);
        self.show_totals();
        signal
    }

    /// What was declared and did not count so far counts as far as it may by now.
    pub fn catch_up(&mut self, now: f64, declared: &mut Declared) {
        let Some(remote) = self.remote.as_mut().filter(|_| self.ended_at.is_none()) else { return };
        remote.usage += declared.usage(remote.declared - remote.usage, now);
    }
}

/// The greater figure of each kind.
fn most(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.max(other.input),
        output: one.output.max(other.output),
        cache_read: one.cache_read.max(other.cache_read),
        cache_write: one.cache_write.max(other.cache_write),
        cost_usd: one.cost_usd.max(other.cost_usd),
    }
}

impl Analysis {
    /// As it is shown: what the process wrote is data, in quotes and cut, and nothing of it is in the future.
    fn shown(self, now: f64) -> StuckAnalysis {
        let evidence: Vec<Evidence> = self
            .evidence
            .into_iter()
            .take(MOST_EVIDENCE)
            .filter_map(|shown| {
                let first_at = time(shown.first_at, now);
                Some(Evidence {
                    kind: catalog::evidence_named(&shown.kind)?,
                    summary: format!("{:?}", crate::text::quote(&shown.summary, LINE, 1)),
                    count: shown.count,
                    period: shown.period.unwrap_or(0),
                    command: shown.command.map(|command| cut(&command, KEY).into()),
                    first_at,
                    last_at: time(shown.last_at, now).max(first_at),
                    trigger: 0,
                })
            })
            .collect();
        StuckAnalysis {
            likely_stuck: self.likely_stuck && !evidence.is_empty(),
            confidence: Confidence::parse(&self.confidence),
            evidence_key: cut(&self.evidence_key, 16).to_owned(),
            evidence,
        }
    }
}

impl From<Spent> for Usage {
    fn from(spent: Spent) -> Self {
        let sound = |value: f64| if value.is_finite() && value > 0.0 { value } else { 0.0 };
        Self {
            input: sound(spent.input),
            output: sound(spent.output),
            cache_read: sound(spent.cache_read),
            cache_write: sound(spent.cache_write),
            cost_usd: sound(spent.usd),
        }
    }
}

fn time(at: f64, now: f64) -> f64 {
    if at.is_finite() { at.clamp(0.0, now) } else { now }
}

fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

fn bytes(hex: &str) -> Option<[u8; 32]> {
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    let mut out = [0; 32];
    for (index, byte) in out.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(out)
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // whole numbers
mod tests {
    use super::*;
    use crate::policy::Config;
    use crate::store::{Compact, Handle, Info, Store};

    fn said(target: &mut Target, now: f64, state: &str) -> u32 {
        target.import_state(now, state, &mut Declared::default())
    }

    fn linked(store: &mut Store) -> Handle {
        let handle = store.open("child", 0.0, Info::default(), Arc::new(Config::default()));
        store.get_mut(handle).unwrap().attach("life-1", 1.0);
        handle
    }

    fn calls(numbers: impl IntoIterator<Item = u64>) -> String {
        let items: Vec<_> = numbers
            .into_iter()
            .map(|q| serde_json::json!({"q": q, "at": q, "type": "tool_call", "tool": "bash", "commandKey": format!("ls {q}"), "turn": 1}))
            .collect();
        serde_json::Value::from(items).to_string()
    }

    #[test]
    fn what_is_sent_again_after_a_reconnect_is_taken_once_and_what_never_came_is_counted() {
        let mut store = Store::default();
        let handle = linked(&mut store);
        let target = store.get_mut(handle).unwrap();
        assert_eq!(target.import(9.0, &calls(1..=3)), Some(3));
        target.attach("life-1", 2.0);
        assert_eq!(target.import(9.0, &calls(2..=4)), Some(4));
        assert_eq!(target.import(9.0, &calls([7])), Some(7));
        let lines: Vec<String> = target.events(50, None).map(Compact::summary).collect();
        assert_eq!(lines, ["bash: ls 1", "bash: ls 2", "bash: ls 3", "bash: ls 4", "bash: ls 7"]);
        assert_eq!(target.remote.as_ref().unwrap().lost(), 2);
    }

    #[test]
    fn a_revived_process_counts_from_one_again_and_its_figures_are_added() {
        let mut store = Store::default();
        let handle = linked(&mut store);
        let target = store.get_mut(handle).unwrap();
        target.import(9.0, &calls(1..=3));
        let state = r#"{"toolCallCount":3,"repeatedCommandCount":1,"usage":{"input":10,"usd":0.5}}"#;
        said(target, 9.0, state);
        said(target, 9.0, state);
        assert_eq!((target.tool_calls, target.repetitions().0), (3, 1));
        target.attach("life-2", 9.0);
        assert_eq!(target.import(9.0, &calls(1..=2)), Some(2));
        said(target, 9.0, r#"{"toolCallCount":2,"repeatedCommandCount":1,"usage":{"input":4,"usd":0.25}}"#);
        assert_eq!((target.tool_calls, target.repetitions().0), (5, 2));
        assert_eq!((target.usage().input, target.usage().cost_usd), (14.0, 0.75));
        assert_eq!(target.event_count(), 5);
    }

    #[test]
    fn what_another_way_of_following_saw_is_not_counted_beside_it() {
        let mut store = Store::default();
        let handle = store.open("child", 0.0, Info::default(), Arc::new(Config::default()));
        let target = store.get_mut(handle).unwrap();
        let call = crate::trace::EventKind::ToolCall { turn: 1, call_id: "a", tool: "bash", args: "{}" };
        let spent = Usage { input: 5.0, ..Usage::default() };
        target.observe(1.0, &call);
        target.add_usage(spent);
        target.attach("life-1", 1.0);
        said(target, 9.0, r#"{"toolCallCount":1,"usage":{"input":5}}"#);
        target.observe(2.0, &call);
        target.add_usage(spent);
        assert_eq!((target.tool_calls, target.usage().input), (1, 5.0), "the process itself has counted both");
        target.detach();
        target.observe(3.0, &call);
        target.add_usage(spent);
        assert_eq!((target.tool_calls, target.usage().input), (2, 10.0), "it goes on here");
    }

    #[test]
    fn repetitions_of_an_earlier_life_of_the_process_go_on_counting() {
        let mut store = Store::default();
        let handle = linked(&mut store);
        let target = store.get_mut(handle).unwrap();
        said(target, 9.0, r#"{"repeatedCommandCount":3,"repeatedMessageCount":2}"#);
        target.attach("life-2", 10.0);
        said(target, 11.0, r#"{"repeatedCommandCount":1,"repeatedMessageCount":1}"#);
        target.attach("life-3", 12.0);
        assert_eq!(target.repetitions(), (4, 3));
    }

    #[test]
    fn a_verdict_is_shown_as_it_was_told_and_the_own_engine_is_not_asked() {
        let mut store = Store::default();
        let handle = linked(&mut store);
        let target = store.get_mut(handle).unwrap();
        let stuck = r#"{"analysis":{"likelyStuck":true,"confidence":"medium","evidenceKey":"abc","evidence":
            [{"type":"repeated_output","summary":"ls repeated","count":3,"firstAt":1,"lastAt":3}]}}"#;
        assert_eq!(said(target, 9.0, stuck), VERDICT);
        assert_eq!(said(target, 9.0, stuck), 0, "nothing new");
        assert!(target.stuck());
        assert_eq!(target.analysis().reasons().collect::<Vec<_>>(), ["\"ls repeated\""], "as data");
        let none = r#"{"analysis":{"likelyStuck":false,"confidence":"low","evidenceKey":"","evidence":[]}}"#;
        assert_eq!(said(target, 9.0, none), VERDICT);
        assert!(!target.stuck());
    }

    #[test]
    fn what_is_broken_costs_itself_and_nothing_else() {
        let mut store = Store::default();
        let handle = linked(&mut store);
        let target = store.get_mut(handle).unwrap();
        let mixed = r#"[{"q":1,"at":1e300,"type":"tool_call","tool":"bash"},{"q":"2"},7,null,
            {"q":3,"at":2,"type":"no such type"},{"q":4,"at":2,"type":"llm_output","summary":"done"}]"#;
        assert_eq!(target.import(9.0, mixed), Some(4));
        assert_eq!(target.event_count(), 2);
        assert_eq!(target.remote.as_ref().unwrap().lost(), 2, "numbers 2 and 3");
        assert!(target.last_active_at <= 9.0, "no time beyond now");
        assert_eq!(target.import(9.0, "garbage"), None);
        assert_eq!(said(target, 9.0, r#"{"usage":{"input":-1e9,"usd":"x"}}"#), 0);
        let long =
            serde_json::json!([{"q": 5, "at": 3, "type": "llm_output", "summary": "é".repeat(100_000)}]).to_string();
        target.import(9.0, &long);
        assert!(target.events(1, None).next().unwrap().summary().len() <= LINE);
    }

    #[test]
    fn nothing_comes_in_for_a_target_that_nobody_attached_or_that_has_ended() {
        let mut store = Store::default();
        let handle = store.open("local", 0.0, Info::default(), Arc::new(Config::default()));
        assert_eq!(store.get_mut(handle).unwrap().import(9.0, &calls(1..=3)), None);
        let linked = linked(&mut store);
        store.end(linked, 5.0, "stopped");
        let target = store.get_mut(linked).unwrap();
        target.import(9.0, &calls(1..=3));
        assert_eq!((target.event_count(), target.remote.as_ref().unwrap().lost()), (0, 3));
    }

    #[test]
    fn a_figure_never_falls_each_kind_for_itself() {
        let mut store = Store::default();
        let handle = linked(&mut store);
        let target = store.get_mut(handle).unwrap();
        said(
            target,
            9.0,
            r#"{"usage":{"input":10,"output":5,"cacheRead":3,"cacheWrite":2,"usd":2},"toolCallCount":4,"patchCount":2,"repeatedCommandCount":3,"repeatedMessageCount":2}"#,
        );
        // Cheaper with more tokens, fewer tokens and dearer, and less of everything.
        said(target, 9.0, r#"{"usage":{"input":20,"usd":1}}"#);
        said(target, 9.0, r#"{"usage":{"output":1,"usd":3},"toolCallCount":1,"patchCount":0}"#);
        said(target, 9.0, r#"{"usage":{},"repeatedCommandCount":1,"repeatedMessageCount":0}"#);
        assert_eq!(
            target.usage(),
            Usage { input: 20.0, output: 5.0, cache_read: 3.0, cache_write: 2.0, cost_usd: 3.0 }
        );
        assert_eq!((target.tool_calls, target.patches, target.repetitions()), (4, 2, (3, 2)));
        said(target, 9.0, r#"{"usage":{"usd":1e308},"toolCallCount":18446744073709551615}"#);
        assert_eq!((target.usage().cost_usd, target.tool_calls), (103.0, 1_000_004), "what no process can have used");
    }

    #[test]
    fn what_was_too_much_at_once_counts_as_time_allows_it_and_no_more_than_was_said() {
        let mut store = Store::default();
        let handle = linked(&mut store);
        let root = store.get(handle).unwrap().id.clone();
        store.import_state(handle, 1000.0, r#"{"usage":{"usd":130}}"#);
        let usd = |store: &Store| store.get(handle).unwrap().usage().cost_usd;
        assert_eq!(usd(&store), 100.0, "{root}");
        store.contact(handle, 11_000.0, true);
        assert_eq!(usd(&store), 110.0);
        // A smaller figure is a mistake, and takes nothing back of what is still to count.
        store.import_state(handle, 11_000.0, r#"{"usage":{"usd":1}}"#);
        store.contact(handle, 1e9, true);
        assert_eq!(usd(&store), 130.0);
        store.contact(handle, 2e9, true);
        assert_eq!(usd(&store), 130.0);
        store.end(handle, 3e9, "stopped");
        store.contact(handle, 3e9, true);
        assert_eq!(usd(&store), 130.0);
    }

    /// Notices of a cost limit that a tree with the limit of one dollar gets, each session doubling what it says.
    fn levels(sessions: usize, lives: usize, doublings: i32) -> (usize, f64) {
        let mut store = Store::default();
        let config = Arc::new(Config::of(serde_json::json!({ "costLimitUsd": 1.0 })));
        let root = store.open("root", 0.0, Info::default(), Arc::clone(&config));
        let mut told = 0;
        for session in 0..sessions {
            let info = Info { root_id: Some("root".into()), ..Info::default() };
            let handle = store.open(&format!("child-{session}"), 0.0, info, Arc::clone(&config));
            for life in 0..lives {
                store.get_mut(handle).unwrap().attach(&format!("life-{life}"), 1.0);
                for doubling in 0..doublings {
                    let state = serde_json::json!({"usage": {"usd": 2_f64.powi(doubling - 4)}}).to_string();
                    store.import_state(handle, 1.0, &state);
                    while store.take_tree_notice("root", 1.0).is_some() {
                        told += 1;
                    }
                }
            }
        }
        assert!(store.get(root).is_some());
        (told, store.tree_usage("root").cost_usd)
    }

    #[test]
    fn doubled_usage_brings_a_few_reports_however_many_sessions_and_lives_say_it() {
        let (one, _) = levels(1, 1, 12);
        assert!((2..=10).contains(&one), "{one}");
        for (sessions, lives) in [(1, 1), (1, 30), (60, 1), (20, 20)] {
            let (told, usd) = levels(sessions, lives, 1000);
            assert!((1..=12).contains(&told), "{sessions} sessions, {lives} lives: {told}");
            assert!(usd <= 100.0 + 1e-6, "{usd}");
        }
    }

    #[test]
    fn a_level_that_could_not_be_reported_is_reported_when_it_can() {
        let mut store = Store::default();
        let config = Arc::new(Config::of(serde_json::json!({ "costLimitUsd": 1.0 })));
        store.open("root", 0.0, Info::default(), Arc::clone(&config));
        let mut handles = Vec::new();
        for n in 0..12 {
            let info = Info { root_id: Some("root".into()), ..Info::default() };
            let handle = store.open(&format!("child-{n}"), 0.0, info, Arc::clone(&config));
            store.get_mut(handle).unwrap().attach("life", 1.0);
            store.import_state(handle, 1.0, r#"{"usage":{"usd":1.5}}"#);
            handles.push(handle);
        }
        let told = |store: &mut Store, at: f64| std::iter::from_fn(|| store.take_tree_notice("root", at)).count();
        let first = told(&mut store, 1.0);
        assert!(first < 12, "{first}");
        let late = *handles.last().unwrap();
        store.contact(late, 200_000.0, true);
        assert!(told(&mut store, 200_000.0) > 0, "its own limit");
        store.contact(late, 400_000.0, true);
        assert_eq!(told(&mut store, 400_000.0), 0, "once");
    }

    #[test]
    fn nothing_of_a_verdict_is_in_the_future() {
        let mut store = Store::default();
        let handle = linked(&mut store);
        let target = store.get_mut(handle).unwrap();
        said(
            target,
            9.0,
            r#"{"analysis":{"likelyStuck":true,"confidence":"medium","evidenceKey":"abc","evidence":
            [{"type":"repeated_output","summary":"x","count":3,"firstAt":1e300,"lastAt":-5}]}}"#,
        );
        let [evidence] = &target.analysis().evidence[..] else { panic!() };
        assert_eq!((evidence.first_at, evidence.last_at), (9.0, 9.0));
    }

    #[test]
    fn nothing_of_a_session_is_older_than_its_announcement() {
        let mut store = Store::default();
        let handle = store.open("late", 100.0, Info::default(), Arc::new(Config::default()));
        let target = store.get_mut(handle).unwrap();
        target.attach("life", 100.0);
        target.import(200.0, &calls([1]));
        assert_eq!(target.events(1, None).next().unwrap().at, 100.0);
        assert_eq!(target.last_active_at, 100.0);
        target.import(200.0, &calls([150]));
        assert_eq!(target.events(1, None).next().unwrap().at, 150.0);
    }
}
