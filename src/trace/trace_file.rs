//! Trace events in their JSON form → events: a line of a trace, or an element of a labelled case.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::json::{LineError, Number, RawUsage, Text, with_parsed};
use super::{Event, EventKind, FileState, LifecycleEvent, StopReason, Usage};

/// What is carried from event to event of one trace.
#[derive(Debug, Clone, Copy, Default)]
pub struct TraceReader {
    last_at: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(default)]
    at: Number,
    #[serde(borrow, default)]
    agent: Option<Text<'a>>,
    #[serde(default)]
    turn: Number,
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(default)]
    synthetic: Option<bool>,
    #[serde(borrow, default)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stop_reason: Option<Text<'a>>,
    #[serde(default)]
    partial: Option<bool>,
    #[serde(default)]
    usage: Option<RawUsage>,
    #[serde(borrow, default)]
    call_id: Option<Text<'a>>,
    #[serde(borrow, default)]
    tool: Option<Text<'a>>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<Text<'a>>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(borrow, default)]
    files: Option<Files<'a>>,
    #[serde(borrow, default)]
    blocked_by: Option<Text<'a>>,
    #[serde(borrow, default)]
    path: Option<Text<'a>>,
    #[serde(borrow, default)]
    hash_before: Option<Text<'a>>,
    #[serde(borrow, default)]
    hash_after: Option<Text<'a>>,
}

/// What every event has; all that is read of a lifecycle event, whose other fields may have any name and shape.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(default)]
    at: Number,
    #[serde(borrow, default)]
    agent: Option<Text<'a>>,
    #[serde(borrow, default)]
    event: Option<Text<'a>>,
}

impl TraceReader {
    /// Reads the JSON text of one event. Seconds become milliseconds.
    pub fn read(&mut self, line: &[u8], mut sink: impl FnMut(&Event<'_>)) -> Result<(), LineError> {
        // The word may also stand in a text, hence the parse; without it no event is a lifecycle event.
        if memchr::memmem::find(line, b"\"lifecycle\"").is_some() {
            let mut spare = String::new();
            if let Ok(true) = with_parsed(line, &mut spare, |head: Head<'_>| self.lifecycle(&head, line, &mut sink)) {
                return Ok(());
            }
        }
        let mut spare = String::new();
        with_parsed(line, &mut spare, |line: Line<'_>| self.event(&line, &mut sink))?
    }

    fn lifecycle(&mut self, head: &Head<'_>, line: &[u8], sink: &mut impl FnMut(&Event<'_>)) -> bool {
        if &*head.kind != "lifecycle" {
            return false;
        }
        let kind = EventKind::Lifecycle {
            event: LifecycleEvent::parse(head.event.as_deref().unwrap_or_default()),
            fields: &String::from_utf8_lossy(line),
        };
        sink(&Event { at: self.time(head.at), agent: head.agent.as_deref(), kind });
        true
    }

    fn event(&mut self, line: &Line<'_>, sink: &mut impl FnMut(&Event<'_>)) -> Result<(), LineError> {
        let turn = line.turn.whole().and_then(|turn| u32::try_from(turn).ok()).unwrap_or_default();
        let thinking;
        let files: Vec<FileState<'_>>;
        let kind = match &*line.kind {
            "user" => {
                EventKind::User { text: or_empty(line.text.as_ref()), synthetic: line.synthetic.unwrap_or_default() }
            }
            "assistant" if line.partial == Some(true) => {
                EventKind::AssistantChunk { turn, text: or_empty(line.text.as_ref()) }
            }
            "assistant" => {
                thinking = Thinking::of(line.thinking);
                let text = or_empty(line.text.as_ref());
                let (text, thinking) = match &thinking {
                    Thinking::IsTheText => ("", text),
                    Thinking::Own(own) => (text, &**own),
                };
                EventKind::Assistant {
                    turn,
                    text,
                    thinking,
                    stop_reason: StopReason::parse(or_empty(line.stop_reason.as_ref())),
                    usage: line.usage.map(Usage::from),
                }
            }
            "tool_call" => EventKind::ToolCall {
                turn,
                call_id: or_empty(line.call_id.as_ref()),
                tool: or_empty(line.tool.as_ref()),
                args: line.args.map_or("{}", RawValue::get),
            },
            "tool_result" => {
                let states = line.files.as_ref().map_or(&[][..], |files| &files.0);
                files = states.iter().map(|(path, hash)| FileState { path, hash }).collect();
                EventKind::ToolResult {
                    turn,
                    call_id: or_empty(line.call_id.as_ref()),
                    tool: or_empty(line.tool.as_ref()),
                    output: or_empty(line.output.as_ref()),
                    is_error: line.is_error.unwrap_or_default(),
                    files: &files,
                    blocked_by: line.blocked_by.as_deref(),
                }
            }
            "file_change" => EventKind::FileChange {
                path: or_empty(line.path.as_ref()),
                hash_before: line.hash_before.as_deref(),
                hash_after: line.hash_after.as_deref(),
            },
            other => return Err(LineError(format!("not usable: no event type \"{other}\""))),
        };
        sink(&Event { at: self.time(line.at), agent: line.agent.as_deref(), kind });
        Ok(())
    }

    /// Milliseconds, kept to the microsecond so that 46.800000000000004 s is 46800 ms. Never before the event before.
    fn time(&mut self, seconds: Number) -> f64 {
        let at = seconds.0.filter(|at| at.is_finite()).map_or(self.last_at, |at| (at * 1e6).round() / 1e3);
        self.last_at = self.last_at.max(at);
        self.last_at
    }
}

fn or_empty<'b>(text: Option<&'b Text<'_>>) -> &'b str {
    text.map_or("", |text| text)
}

/// `thinking` is the thinking itself, or `true`: the text is thinking.
enum Thinking<'a> {
    IsTheText,
    Own(Text<'a>),
}

impl<'a> Thinking<'a> {
    fn of(raw: Option<&'a RawValue>) -> Self {
        match raw.map(RawValue::get) {
            Some("true") => Self::IsTheText,
            Some(json) => Self::Own(serde_json::from_str(json).unwrap_or_default()),
            None => Self::Own(Text::default()),
        }
    }
}

/// Path → content hash, in file order; entries without a hash are left out.
struct Files<'a>(Vec<(Text<'a>, Text<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Files<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FilesVisitor;
        impl<'de> Visitor<'de> for FilesVisitor {
            type Value = Files<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of path and content hash")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut files = Vec::new();
                while let Some((path, hash)) = map.next_entry::<Text<'de>, Option<Text<'de>>>()? {
                    files.extend(hash.map(|hash| (path, hash)));
                }
                Ok(Files(files))
            }
        }
        deserializer.deserialize_map(FilesVisitor)
    }
}

/// Reads one labelled case: its id and the JSON text of each event. The labels are not read: a detector that is
/// judged by them must not know them.
pub fn read_case<R>(line: &[u8], then: impl FnOnce(&str, &[&str]) -> R) -> Result<R, LineError> {
    #[derive(Deserialize)]
    struct Case<'a> {
        #[serde(borrow)]
        id: Text<'a>,
        #[serde(borrow)]
        events: Vec<&'a RawValue>,
    }
    let mut spare = String::new();
    with_parsed(line, &mut spare, |case: Case<'_>| {
        let events: Vec<&str> = case.events.iter().map(|event| event.get()).collect();
        then(&case.id, &events)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> String {
        let mut seen = String::new();
        TraceReader::default().read(line.as_bytes(), |event| seen = format!("{event:?}")).unwrap();
        seen
    }

    fn shown(at: f64, agent: Option<&str>, kind: EventKind<'_>) -> String {
        format!("{:?}", Event { at, agent, kind })
    }

    #[test]
    fn every_type_is_read() {
        let usage = Usage { input: 1.0, cost_usd: 0.5, ..Usage::default() };
        let files = [FileState { path: "a.rs", hash: "h1" }];
        let cases = [
            (
                r#"{"at":1.5,"type":"user","text":"go","synthetic":true}"#,
                shown(1500.0, None, EventKind::User { text: "go", synthetic: true }),
            ),
            (
                r#"{"at":46.800000000000004,"type":"assistant","turn":2,"text":"a","thinking":"b","stopReason":"stop","usage":{"input":1,"cost":0.5},"agent":"sub"}"#,
                shown(
                    46800.0,
                    Some("sub"),
                    EventKind::Assistant {
                        turn: 2,
                        text: "a",
                        thinking: "b",
                        stop_reason: StopReason::Stop,
                        usage: Some(usage),
                    },
                ),
            ),
            (
                r#"{"at":1,"type":"assistant","turn":2,"text":"a","thinking":true}"#,
                shown(
                    1000.0,
                    None,
                    EventKind::Assistant {
                        turn: 2,
                        text: "",
                        thinking: "a",
                        stop_reason: StopReason::Unknown,
                        usage: None,
                    },
                ),
            ),
            (
                r#"{"at":1,"type":"assistant","turn":2,"text":"a","partial":true}"#,
                shown(1000.0, None, EventKind::AssistantChunk { turn: 2, text: "a" }),
            ),
            (
                r#"{"at":1,"type":"tool_call","turn":2,"callId":"c","tool":"bash","args":{"command":"ls"}}"#,
                shown(
                    1000.0,
                    None,
                    EventKind::ToolCall { turn: 2, call_id: "c", tool: "bash", args: r#"{"command":"ls"}"# },
                ),
            ),
            (
                r#"{"at":1,"type":"tool_result","turn":2,"callId":"c","tool":"bash","output":"o\n","isError":true,"files":{"a.rs":"h1","b.rs":null},"blockedBy":"g"}"#,
                shown(
                    1000.0,
                    None,
                    EventKind::ToolResult {
                        turn: 2,
                        call_id: "c",
                        tool: "bash",
                        output: "o\n",
                        is_error: true,
                        files: &files,
                        blocked_by: Some("g"),
                    },
                ),
            ),
            (
                r#"{"at":1,"type":"file_change","path":"p","hashAfter":"h"}"#,
                shown(1000.0, None, EventKind::FileChange { path: "p", hash_before: None, hash_after: Some("h") }),
            ),
            (
                r#"{"at":1,"type":"lifecycle","event":"usage","usage":[],"files":7}"#,
                shown(
                    1000.0,
                    None,
                    EventKind::Lifecycle {
                        event: LifecycleEvent::Usage,
                        fields: r#"{"at":1,"type":"lifecycle","event":"usage","usage":[],"files":7}"#,
                    },
                ),
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(one(line), expected, "{line}");
        }
    }

    #[test]
    fn an_unknown_type_and_a_wrong_shape_are_named() {
        let error = |line: &str| TraceReader::default().read(line.as_bytes(), |_| {}).unwrap_err().0;
        assert_eq!(error(r#"{"at":1,"type":"dream"}"#), "not usable: no event type \"dream\"");
        assert!(error(r#"{"at":1,"type":"user","text":5}"#).contains("expected a string"));
    }

    #[test]
    fn time_never_goes_back() {
        let mut reader = TraceReader::default();
        let mut times = Vec::new();
        for at in ["5", "3", "null", "7"] {
            let line = format!(r#"{{"type":"user","text":"","at":{at}}}"#);
            reader.read(line.as_bytes(), |event| times.push(event.at)).unwrap();
        }
        assert_eq!(times, [5000.0, 5000.0, 5000.0, 7000.0]);
    }

    #[test]
    fn a_case_gives_its_id_and_events_and_nothing_of_its_label() {
        let line = br#"{"id":"x","label":"stuck","events":[{"type":"user","at":0},{"type":"tick"}]}"#;
        let read = read_case(line, |id, events| format!("{id} {events:?}")).unwrap();
        assert_eq!(read, r#"x ["{\"type\":\"user\",\"at\":0}", "{\"type\":\"tick\"}"]"#);
        assert!(read_case(b"{}", |_, _| ()).is_err());
    }
}
