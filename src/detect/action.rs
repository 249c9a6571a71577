//! What an agent did: the tool and its exact arguments, as one comparable hash, plus what the rules want to know of it.
//!
//! Arguments are compared exactly, in canonical key order; only fields that tell people why a call is made are left
//! out ([`COSMETIC`]). Paging a file with another `offset` is therefore another action.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::command::{self, Line};
use super::lines::Asked;
use super::role::Social;
use crate::text::{fast, normalize_command};

/// Rows of a shell line are kept up to so many bytes.
const ROWS_BYTES: usize = 4096;

/// Argument names that explain a call to people or bound its run time, and do not change what is asked.
const COSMETIC: [&str; 9] = [
    "description",
    "reason",
    "label",
    "timeout",
    "timeout_ms",
    "timeoutMs",
    "explanation",
    "justification",
    "rationale",
];

/// A shell line says itself what it does; a name beside it is for people.
const COSMETIC_OF_A_LINE: [&str; 3] = ["name", "title", "summary"];

/// Arguments that name what a call is about, most telling first.
const MAIN_ARGUMENTS: [&str; 12] =
    ["path", "file_path", "filePath", "file", "pattern", "query", "url", "uri", "regex", "name", "id", "prompt"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolClass {
    Shell,
    Edit,
    Other,
}

/// An action, shared by all steps that took it.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// Tool and canonical arguments. Equal hash: the same action.
    pub hash: u128,
    pub tool: Arc<str>,
    /// For people and for grouping: the normalised command, or tool and main argument.
    pub key: Arc<str>,
    pub class: ToolClass,
    /// The file that the call names.
    pub path: Option<Arc<str>>,
    /// Asks how something that runs by itself is getting on, or waits for it.
    pub polls: bool,
    /// Runs a type checker.
    pub typecheck: bool,
    /// Changes files, packages, a repository or a database.
    pub mutates: bool,
    /// Has changed something also when it failed.
    pub stops_midway: bool,
    /// May do something: is not known to only look, check or wait.
    pub acts: bool,
    /// Waits by itself, so that what comes next is asked after a pause.
    pub pauses: bool,
    /// Hash of the paths that a shell line names; 0: none.
    pub target: u128,
    pub edit: Option<EditShape>,
    /// Runs tests, a type check, a linter or a build.
    pub check: bool,
    /// Looks for something.
    pub search: bool,
    /// Only looks: known to change nothing.
    pub looks: bool,
    /// Lines that a read asks for.
    pub asked: Option<Asked>,
    /// The program of a shell line, else the tool: what a failure is a failure of.
    pub subject: u128,
    /// A shell line of several rows that may be git's, as it was given: in the key all white space is one.
    rows: Option<Arc<str>>,
    /// What the call is between agents, and how long it says that it may take.
    pub social: Social,
}

/// What an edit does, as far as its arguments tell: enough to see that a later one takes it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditShape {
    /// The change, and its inverse. For a whole-file write both are the hash of the content.
    pub forward: u128,
    pub backward: u128,
}

impl Action {
    /// `args`: JSON text. Text that is no JSON is taken as it stands.
    pub fn new(tool: &str, args: &str) -> Self {
        let value: Value = serde_json::from_str(args).unwrap_or_else(|_| Value::String(args.to_owned()));
        let mut canonical = Vec::with_capacity(args.len() + tool.len() + 1);
        canonical.extend_from_slice(tool.as_bytes());
        canonical.push(0);
        let line = shell_line(&value);
        write_canonical_top(&value, line.is_some(), &mut canonical);
        let hash = fast(&canonical);

        let class = classify(tool, line.is_some());
        let understood = line.map(Line::understand);
        let path = string_argument(&value, &MAIN_ARGUMENTS[..4]).map(Arc::from);
        let writes = line.is_none() && command::statement_writes(&value);
        Self {
            hash,
            tool: Arc::from(tool),
            key: Arc::from(key_of(tool, class, line, &value, hash)),
            class,
            polls: understood.as_ref().map_or_else(|| command::tool_polls(tool, &value), |line| line.polls),
            typecheck: understood.as_ref().map_or_else(|| command::is_typecheck_tool(tool), |line| line.typecheck),
            mutates: understood.as_ref().map_or(writes, |line| line.mutates),
            stops_midway: understood.as_ref().is_some_and(|line| line.stops_midway),
            acts: understood.as_ref().map_or_else(|| writes || command::tool_acts(tool), |line| line.acts),
            pauses: understood.as_ref().map_or_else(|| command::tool_pauses(tool), |line| line.pauses),
            target: understood.as_ref().map_or(0, |line| line.target),
            edit: if class == ToolClass::Edit { EditShape::of(path.as_deref(), &value) } else { None },
            check: understood
                .as_ref()
                .map_or_else(|| command::is_check_tool(tool), |line| line.check || line.typecheck),
            search: understood.as_ref().map_or_else(|| command::is_search_tool(tool) && !writes, |line| line.searches),
            looks: understood.as_ref().is_some_and(|line| line.looks),
            asked: match (&path, &understood) {
                (Some(_), None) if class == ToolClass::Other && command::is_read_tool(tool) => Some(Asked::of(&value)),
                _ => None,
            },
            subject: understood.as_ref().map_or_else(|| fast(tool.as_bytes()), |line| line.subject),
            rows: line
                .filter(|line| line.len() <= ROWS_BYTES && line.contains('\n') && line.contains("git"))
                .map(Arc::from),
            social: Social::of(tool, &value, understood.is_some()),
            path,
        }
    }
}

impl Action {
    /// The shell line with its rows, where they may matter; else the key.
    pub fn line(&self) -> &str {
        self.rows.as_deref().unwrap_or(&self.key)
    }
}

impl EditShape {
    fn of(path: Option<&str>, args: &Value) -> Option<Self> {
        let path = path?;
        if let Some(content) = string_argument(args, &["content", "contents", "text", "file_text"]) {
            let hash = fast(content.as_bytes());
            return Some(Self { forward: hash, backward: hash });
        }
        let mut forward = path.as_bytes().to_vec();
        let mut backward = forward.clone();
        let mut known = false;
        let mut add = |edit: &Value| {
            let old = string_argument(edit, &["oldText", "old_text", "old_string", "old_str", "old"]);
            let new = string_argument(edit, &["newText", "new_text", "new_string", "new_str", "new"]);
            if let (Some(old), Some(new)) = (old, new) {
                known = true;
                for (buffer, from, to) in [(&mut forward, old, new), (&mut backward, new, old)] {
                    for part in [from, to] {
                        buffer.push(0);
                        buffer.extend_from_slice(part.as_bytes());
                    }
                }
            }
        };
        match args.get("edits") {
            Some(Value::Array(edits)) => edits.iter().for_each(&mut add),
            _ => add(args),
        }
        known.then(|| Self { forward: fast(&forward), backward: fast(&backward) })
    }
}

/// The published `commandKey` of a call; `args`: JSON text.
pub fn command_key(tool: &str, args: &str) -> Arc<str> {
    Action::new(tool, args).key
}

fn key_of(tool: &str, class: ToolClass, line: Option<&str>, args: &Value, hash: u128) -> String {
    if let Some(line) = line {
        return normalize_command(line);
    }
    let main = string_argument(args, &MAIN_ARGUMENTS).or_else(|| match args {
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| !COSMETIC.contains(&name.as_str())).find_map(|(_, value)| value.as_str())
        }
        Value::String(text) => Some(text),
        _ => None,
    });
    let mut key = match main {
        Some(main) => normalize_command(&format!("{tool} {main}")),
        None => tool.to_owned(),
    };
    if class == ToolClass::Edit {
        let _ = write!(key, " #{:08x}", hash >> 96);
    }
    key
}

fn classify(tool: &str, has_line: bool) -> ToolClass {
    let name = tool.to_ascii_lowercase();
    match name.as_str() {
        "edit" | "write" | "patch" | "multi_edit" | "multiedit" | "apply_patch" | "edit_file" | "write_file"
        | "create_file" | "str_replace" | "str_replace_editor" | "notebook_edit" | "notebookedit" => ToolClass::Edit,
        _ if has_line => ToolClass::Shell,
        _ => ToolClass::Other,
    }
}

/// The shell line of a call, by the argument that carries one in every tool seen so far.
fn shell_line(args: &Value) -> Option<&str> {
    match args.get("command").or_else(|| args.get("cmd"))? {
        Value::String(line) => Some(line),
        _ => None,
    }
}

fn string_argument<'a>(args: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| args.get(*name)?.as_str())
}

/// Canonical JSON without cosmetic fields, unless nothing else would be left to compare.
fn write_canonical_top(value: &Value, shell: bool, out: &mut Vec<u8>) {
    let cosmetic = |name: &str| COSMETIC.contains(&name) || shell && COSMETIC_OF_A_LINE.contains(&name);
    match value {
        Value::Object(fields) if fields.keys().any(|name| !cosmetic(name)) => {
            for (name, field) in fields.iter().filter(|(name, _)| !cosmetic(name)) {
                write_text(name, out);
                out.push(b':');
                write_canonical(field, out);
            }
        }
        _ => write_canonical(value, out),
    }
}

/// `serde_json` keeps object keys sorted, so writing in order is canonical.
fn write_canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(b'n'),
        Value::Bool(yes) => out.push(if *yes { b't' } else { b'f' }),
        Value::Number(number) => {
            out.push(b'#');
            out.extend_from_slice(number.to_string().as_bytes());
            out.push(b';');
        }
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for item in items {
                write_canonical(item, out);
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            out.push(b'{');
            for (name, field) in fields {
                write_text(name, out);
                out.push(b':');
                write_canonical(field, out);
            }
            out.push(b'}');
        }
    }
}

/// Length first, so that no text can imitate structure.
fn write_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(tool: &str, args: &str) -> u128 {
        Action::new(tool, args).hash
    }

    #[test]
    fn key_order_and_cosmetic_fields_do_not_make_another_action() {
        let plain = hash("read", r#"{"path":"a","limit":10}"#);
        assert_eq!(plain, hash("read", r#"{"limit":10,"path":"a"}"#));
        assert_eq!(plain, hash("read", r#"{"limit":10,"path":"a","reason":"look again"}"#));
        assert_eq!(hash("bash", r#"{"command":"ls"}"#), hash("bash", r#"{"command":"ls","timeout":5}"#));
    }

    #[test]
    fn any_other_difference_makes_another_action() {
        let plain = hash("read", r#"{"path":"a","offset":1}"#);
        for other in [
            r#"{"path":"a","offset":2}"#,
            r#"{"path":"a"}"#,
            r#"{"path":"a","offset":"1"}"#,
            r#"{"path":"a","offset":[1]}"#,
            r#"{"path":"a","offset":{"reason":1}}"#,
        ] {
            assert_ne!(plain, hash("read", other), "{other}");
        }
        assert_ne!(plain, hash("grep", r#"{"path":"a","offset":1}"#));
    }

    #[test]
    fn a_call_with_nothing_but_cosmetic_fields_is_compared_by_them() {
        assert_ne!(hash("ask", r#"{"reason":"a"}"#), hash("ask", r#"{"reason":"b"}"#));
    }

    #[test]
    fn keys_read_like_what_was_done() {
        assert_eq!(&*Action::new("bash", r#"{"command":"  rg   TOKEN\n src "}"#).key, "rg TOKEN src");
        assert_eq!(&*Action::new("read", r#"{"offset":3,"path":"src/a.rs"}"#).key, "read src/a.rs");
        assert_eq!(&*Action::new("ls", "{}").key, "ls");
        assert_eq!(&*Action::new("ls", "").key, "ls");
    }

    #[test]
    fn an_edit_key_tells_edits_apart() {
        let first = Action::new("Edit", r#"{"path":"a","oldText":"x","newText":"y"}"#);
        let again = Action::new("Edit", r#"{"newText":"y","oldText":"x","path":"a"}"#);
        let other = Action::new("Edit", r#"{"path":"a","oldText":"x","newText":"z"}"#);
        assert_eq!(first.key, again.key);
        assert_ne!(first.key, other.key);
        assert!(first.key.starts_with("Edit a #"));
    }

    #[test]
    fn an_edit_knows_its_inverse() {
        let there = Action::new("edit", r#"{"path":"a","edits":[{"oldText":"x","newText":"y"}]}"#).edit.unwrap();
        let back = Action::new("edit", r#"{"path":"a","oldText":"y","newText":"x"}"#).edit.unwrap();
        assert_eq!(there.backward, back.forward);
        assert_eq!(there.forward, back.backward);
    }

    #[test]
    fn arguments_that_are_no_json_are_compared_as_text() {
        assert_eq!(hash("bash", "{broken"), hash("bash", "{broken"));
        assert_ne!(hash("bash", "{broken"), hash("bash", "{broken2"));
    }
}
