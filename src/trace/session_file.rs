//! Lines of a Pi session file → events. One line at a time and one path of the tree: which lines belong to a path,
//! and in what order, is the caller's business. The mapping is described in `docs/trace.md`.

use std::borrow::Cow;
use std::cell::RefCell;

use serde::{Deserialize, Serialize};

use super::json::{Block, Content, LineError, Number, RawUsage, Text, with_parsed};
use super::long_text::Buffers;
use super::time::parse_iso_ms;
use super::{Event, EventKind, LifecycleEvent, StopReason, Usage};

/// Where a path of the tree stands. Cheap to copy, so that branches can start from it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Path {
    /// Assistant messages so far.
    turn: u32,
    /// Time of the latest event.
    at: f64,
}

impl Path {
    /// Gives the next event of the path its turn and its time, which never decreases, whatever the clock did.
    pub fn settle(&mut self, event: &mut Event<'_>) {
        self.at = self.at.max(event.at);
        event.at = self.at;
        match &mut event.kind {
            EventKind::Assistant { turn, .. } => {
                self.turn = self.turn.saturating_add(1);
                *turn = self.turn;
            }
            EventKind::ToolCall { turn, .. } | EventKind::ToolResult { turn, .. } => *turn = self.turn,
            _ => {}
        }
    }
}

/// What a line held besides its events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntryRead {
    /// Id of the entry; empty in version 1 files.
    pub id: Box<str>,
    /// Id of the session, on its `session` line.
    pub session_id: Option<Box<str>>,
    /// Usage that Pi counts for the session: of messages, tools, summaries and `usage` entries.
    pub usage: Usage,
}

/// Types that mean something here. A line of another type is none of our business, even when a field of it has an
/// unexpected shape.
const KNOWN_TYPES: [&str; 7] =
    ["session", "message", "custom_message", "compaction", "branch_summary", "context_edit", "usage"];

/// Begins the types of the watchdog's own messages.
const OWN_MESSAGE: &str = "watchdog-";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow, default, rename = "customType")]
    custom_type: Option<Text<'a>>,
    #[serde(borrow, default)]
    id: Option<Text<'a>>,
    #[serde(borrow, default)]
    timestamp: Option<Text<'a>>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(default)]
    usage: Option<RawUsage>,
    #[serde(default)]
    tokens_before: Number,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow, default)]
    role: Option<Text<'a>>,
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(default)]
    timestamp: Number,
    #[serde(default)]
    usage: Option<RawUsage>,
    #[serde(borrow, default)]
    stop_reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    tool_call_id: Option<Text<'a>>,
    #[serde(borrow, default)]
    tool_name: Option<Text<'a>>,
    #[serde(default)]
    is_error: Option<bool>,
}

/// Reads one line. Its events come without their place on a path: see [`Path::settle`].
pub fn read_entry(line: &[u8], mut sink: impl FnMut(&Event<'_>)) -> Result<EntryRead, LineError> {
    thread_local! {
        static BUFFERS: RefCell<Buffers> = RefCell::default();
    }
    let split = BUFFERS.with_borrow_mut(|buffers| {
        let (text, rest) = buffers.split(line)?;
        let mut entry = serde_json::from_str::<Entry<'_>>(rest).ok()?;
        let block = entry.message.as_mut()?.content.as_mut()?.0.first_mut()?;
        block.text = Some(Text(Cow::Borrowed(text)));
        Some(read_parsed(&entry, &mut sink))
    });
    if let Some(read) = split {
        return Ok(read);
    }
    let mut spare = String::new();
    let read = with_parsed(line, &mut spare, |entry: Entry<'_>| read_parsed(&entry, &mut sink));
    read.or_else(|error| if is_foreign(line) { Ok(EntryRead::default()) } else { Err(error) })
}

fn read_parsed(entry: &Entry<'_>, sink: &mut impl FnMut(&Event<'_>)) -> EntryRead {
    let message_time = entry.message.as_ref().and_then(|m| m.timestamp.0).filter(|at| at.is_finite());
    let at = entry.timestamp.as_deref().and_then(parse_iso_ms).or(message_time).unwrap_or(f64::NEG_INFINITY);
    let mut read = EntryRead {
        id: entry.id.as_deref().unwrap_or_default().into(),
        usage: entry.usage.map(Usage::from).unwrap_or_default(),
        session_id: None,
    };
    let mut emit = |kind: EventKind<'_>| sink(&Event { at, agent: None, kind });
    match &*entry.kind {
        "session" => read.session_id = entry.id.as_deref().map(Box::from),
        "message" => {
            if let Some(message) = &entry.message {
                read.usage += message.usage.map(Usage::from).unwrap_or_default();
                read_message(message, emit);
            }
        }
        // The watchdog's own words are no input of the agent; an answer to them is an answer to something new.
        "custom_message" if entry.custom_type.as_deref().is_some_and(|kind| kind.starts_with(OWN_MESSAGE)) => {
            emit(EventKind::Lifecycle { event: LifecycleEvent::Notice, fields: "{}" });
        }
        "custom_message" => emit(EventKind::User { text: &visible(entry.content.as_ref()), synthetic: true }),
        "compaction" => {
            emit(EventKind::Lifecycle {
                event: LifecycleEvent::CompactionEnd,
                fields: &json(&CompactionFields { tokens_before: entry.tokens_before.whole() }),
            });
        }
        _ => {}
    }
    read
}

fn read_message(message: &Message<'_>, mut emit: impl FnMut(EventKind<'_>)) {
    // The path knows it.
    let turn = 0;
    let content = message.content.as_ref();
    match message.role.as_deref().unwrap_or_default() {
        "user" => emit(EventKind::User { text: &visible(content), synthetic: false }),
        // `hookMessage` is what version 2 called `custom`.
        "custom" | "hookMessage" => emit(EventKind::User { text: &visible(content), synthetic: true }),
        "assistant" => {
            emit(EventKind::Assistant {
                turn,
                text: &joined(content, |block| block.text.as_deref().map(Cow::Borrowed)),
                thinking: &joined(content, |block| block.thinking.as_deref().map(Cow::Borrowed)),
                stop_reason: StopReason::parse(message.stop_reason.as_deref().unwrap_or_default()),
                usage: message.usage.map(Usage::from),
            });
            for call in content.map_or(&[][..], |c| &c.0).iter().filter(|b| b.kind.as_deref() == Some("toolCall")) {
                emit(EventKind::ToolCall {
                    turn,
                    call_id: call.id.as_deref().unwrap_or_default(),
                    tool: call.name.as_deref().unwrap_or_default(),
                    args: call.arguments.map_or("{}", serde_json::value::RawValue::get),
                });
            }
        }
        "toolResult" => emit(EventKind::ToolResult {
            turn,
            call_id: message.tool_call_id.as_deref().unwrap_or_default(),
            tool: message.tool_name.as_deref().unwrap_or_default(),
            output: &visible(content),
            is_error: message.is_error.unwrap_or_default(),
            files: &[],
            blocked_by: None,
        }),
        // Also a command that the user ran: no message to the agent, and no call of the agent's.
        _ => {}
    }
}

/// Text and images as one string.
fn visible<'b>(content: Option<&'b Content<'b>>) -> Cow<'b, str> {
    joined(content, |block| match block.kind.as_deref() {
        // Two images are told apart by their size; a screenshot that stays the same keeps it.
        Some("image") => Some(Cow::Owned(format!(
            "[{} {} bytes]",
            block.mime_type.as_deref().unwrap_or("image"),
            block.data.as_deref().unwrap_or_default().len()
        ))),
        _ => block.text.as_deref().map(Cow::Borrowed),
    })
}

/// The chosen parts of the blocks, one a line. One part, the usual case, is not copied.
fn joined<'b>(content: Option<&'b Content<'b>>, part: impl Fn(&'b Block<'b>) -> Option<Cow<'b, str>>) -> Cow<'b, str> {
    let mut parts = content.map_or(&[][..], |c| &c.0).iter().filter_map(part);
    let mut text = parts.next().unwrap_or_default();
    for part in parts {
        let text = text.to_mut();
        text.push('\n');
        text.push_str(&part);
    }
    text
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CompactionFields {
    tokens_before: Option<i64>,
}

fn json(fields: &impl Serialize) -> String {
    serde_json::to_string(fields).expect("strings and numbers always serialise")
}

fn is_foreign(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(rename = "type", borrow)]
        kind: Text<'a>,
    }
    serde_json::from_slice::<Kind<'_>>(line).is_ok_and(|entry| !KNOWN_TYPES.contains(&&*entry.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events_of(lines: &[&str]) -> Vec<String> {
        let mut path = Path::default();
        let mut seen = Vec::new();
        for line in lines {
            let mut events = Vec::new();
            let read = read_entry(line.as_bytes(), |event| {
                let mut event = event.clone();
                path.settle(&mut event);
                events.push(format!("{} {:?}", event.at, event.kind));
            });
            let id = read.unwrap().id;
            seen.extend(events.iter().map(|event| format!("{id} {event}")));
        }
        seen
    }

    #[test]
    fn an_assistant_message_gives_its_text_and_then_its_calls() {
        let lines = [
            r#"{"type":"message","id":"a","parentId":null,"timestamp":"1970-01-01T00:00:01.000Z","message":{"role":"user","content":"go"}}"#,
            r#"{"type":"message","id":"b","parentId":"a","timestamp":"1970-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm\n"},{"type":"text","text":"one"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls \"x\""}},{"type":"text","text":"two"},{"type":"toolCall","id":"c2","name":"read","arguments":{}}],"stopReason":"toolUse","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":10,"cost":{"input":1,"total":0.5}}}}"#,
            r#"{"type":"message","id":"c","parentId":"b","timestamp":"1970-01-01T00:00:03.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"x"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"isError":true}}"#,
        ];
        let usage = Usage { input: 1.0, output: 2.0, cache_read: 3.0, cache_write: 4.0, cost_usd: 0.5 };
        let call = |call_id, tool, args| EventKind::ToolCall { turn: 1, call_id, tool, args };
        let expected = [
            ("a 1000", EventKind::User { text: "go", synthetic: false }),
            (
                "b 2000",
                EventKind::Assistant {
                    turn: 1,
                    text: "one\ntwo",
                    thinking: "hm\n",
                    stop_reason: StopReason::ToolUse,
                    usage: Some(usage),
                },
            ),
            ("b 2000", call("c1", "bash", r#"{"command":"ls \"x\""}"#)),
            ("b 2000", call("c2", "read", "{}")),
            (
                "c 3000",
                EventKind::ToolResult {
                    turn: 1,
                    call_id: "c1",
                    tool: "bash",
                    output: "x\n[image/png 4 bytes]",
                    is_error: true,
                    files: &[],
                    blocked_by: None,
                },
            ),
        ];
        assert_eq!(events_of(&lines), expected.map(|(at, kind)| format!("{at} {kind:?}")));
    }

    #[test]
    fn what_a_program_wrote_is_synthetic() {
        let seen = events_of(&[
            r#"{"type":"custom_message","id":"a","customType":"reminder","content":"stop","display":true}"#,
            r#"{"type":"message","id":"b","message":{"role":"hookMessage","content":[{"type":"text","text":"old"}]}}"#,
            r#"{"type":"message","id":"c","message":{"role":"custom","content":null}}"#,
        ]);
        assert_eq!(
            seen,
            [
                r#"a 0 User { text: "stop", synthetic: true }"#,
                r#"b 0 User { text: "old", synthetic: true }"#,
                r#"c 0 User { text: "", synthetic: true }"#
            ]
        );
    }

    #[test]
    fn the_watchdogs_own_messages_are_no_input() {
        let seen = events_of(&[
            r#"{"type":"custom_message","id":"a","customType":"watchdog-rescue","content":"stop","display":true}"#,
            r#"{"type":"custom_message","id":"b","customType":"watchdog-alert","content":[],"display":true}"#,
        ]);
        let notice = r#"0 Lifecycle { event: Notice, fields: "{}" }"#;
        assert_eq!(seen, [format!("a {notice}"), format!("b {notice}")]);
    }

    #[test]
    fn state_and_foreign_entries_are_silent_whatever_their_fields_hold() {
        let seen = events_of(&[
            r#"{"type":"model_change","id":"a","provider":"p","modelId":"m"}"#,
            r#"{"type":"label","id":"b","targetId":"a","label":"x"}"#,
            r#"{"type":"custom","id":"c","customType":"t","data":{"type":"message"}}"#,
            r#"{"type":"of_the_future","id":"d","message":7,"usage":[],"content":{"x":1}}"#,
            r#"{"type":"message","id":"e","message":{"role":"system","content":"","sections":{"a":"b"}}}"#,
            r#"{"type":"message","id":"f","message":{"role":"of_the_future","content":"x"}}"#,
            r#"{"type":"message","id":"g","message":null}"#,
        ]);
        assert_eq!(seen, [""; 0]);
    }

    #[test]
    fn lifecycle_entries() {
        let seen = events_of(&[
            r#"{"type":"compaction","id":"a","summary":"s","firstKeptEntryId":"x","tokensBefore":5000}"#,
            r#"{"type":"branch_summary","id":"b","fromId":"a","summary":"s"}"#,
            r#"{"type":"context_edit","id":"c","targetId":"a","replacement":null}"#,
            r#"{"type":"message","id":"d","message":{"role":"bashExecution","command":"ls","output":"","exitCode":1}}"#,
        ]);
        assert_eq!(seen, [r#"a 0 Lifecycle { event: CompactionEnd, fields: "{\"tokensBefore\":5000}" }"#,]);
    }

    #[test]
    fn usage_is_counted_wherever_pi_writes_it() {
        let mut sum = Usage::default();
        for line in [
            r#"{"type":"usage","id":"a","usage":{"input":1,"cost":{"total":0.25}}}"#,
            r#"{"type":"compaction","id":"b","usage":{"output":2,"cost":0.25}}"#,
            r#"{"type":"message","id":"c","message":{"role":"toolResult","usage":{"cacheRead":4,"cost":null}}}"#,
            r#"{"type":"message","id":"d","message":{"role":"assistant","usage":{"cacheWrite":8,"input":-5}}}"#,
            r#"{"type":"message","id":"e","message":{"role":"assistant","usage":null}}"#,
        ] {
            sum += read_entry(line.as_bytes(), |_| {}).unwrap().usage;
        }
        assert_eq!((sum.total_tokens().to_bits(), sum.cost_usd.to_bits()), (15_f64.to_bits(), 0.5_f64.to_bits()));
    }

    #[test]
    fn times_never_go_back_and_fall_back_to_the_message() {
        let seen = events_of(&[
            r#"{"type":"message","id":"a","timestamp":"1970-01-01T00:00:05.000Z","message":{"role":"user","content":""}}"#,
            r#"{"type":"message","id":"b","timestamp":"1970-01-01T00:00:04.000Z","message":{"role":"user","content":""}}"#,
            r#"{"type":"message","id":"c","timestamp":"yesterday","message":{"role":"user","content":"","timestamp":7000}}"#,
            r#"{"type":"message","id":"d","message":{"role":"user","content":""}}"#,
        ]);
        let times: Vec<_> = seen.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
        assert_eq!(times, ["5000", "5000", "7000", "7000"]);
    }

    #[test]
    fn halves_of_characters_nuls_and_bad_bytes_cost_a_character_and_not_the_line() {
        let seen = events_of(&[
            r#"{"type":"message","id":"a","message":{"role":"user","content":"cut \ud83d"}}"#,
            "{\"type\":\"message\",\"id\":\"b\",\"message\":{\"role\":\"user\",\"content\":\"nul \0\"}}",
        ]);
        assert!(seen[0].contains("cut \u{fffd}"), "{}", seen[0]);
        assert!(seen[1].contains(r"nul \0"), "{}", seen[1]);
        for (line, expected) in [
            (&b"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"\xff!\"}}"[..], "\u{fffd}!"),
            (
                b"{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"toolCall\",\"arguments\":{\"\xff\":\"\xfe\"}}]}}",
                "{\\\"\u{fffd}\\\":\\\"\u{fffd}\\\"}",
            ),
        ] {
            let mut seen = Vec::new();
            read_entry(line, |event| seen.push(format!("{:?}", event.kind))).unwrap();
            let seen = seen.join(" ");
            assert!(seen.contains(expected), "{seen}");
        }
    }

    #[test]
    fn a_broken_line_says_what_is_wrong_with_it() {
        let error = |line: &str| read_entry(line.as_bytes(), |_| {}).unwrap_err().to_string();
        assert_eq!(
            error(r#"{"type":"message","message":{"role":"us"#),
            "not complete: the line ends in the middle of its JSON"
        );
        assert_eq!(error("nonsense"), "not usable: expected ident (column 2)");
        assert!(error(r#"{"type":"message","message":{"role":5}}"#).contains("expected a string"));
    }

    #[test]
    fn the_header_names_the_session() {
        let read = read_entry(br#"{"type":"session","version":3,"id":"s1","timestamp":"x","cwd":"/p"}"#, |_| {});
        assert_eq!(read.unwrap().session_id.as_deref(), Some("s1"));
    }
}
