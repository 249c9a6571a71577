//! What a shell line or a tool call is for, as far as the rules need it: does it poll or wait, type-check, or change
//! something. Read from program names and flags that are the same everywhere; an unknown program is none of these.

use serde_json::Value;

use crate::shell;
use crate::shell::programs::Program;
use crate::text::fast;

/// What is understood of a shell line: true when it holds for any of its commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Line {
    pub polls: bool,
    pub typecheck: bool,
    /// Runs tests, a linter or a build.
    pub check: bool,
    pub mutates: bool,
    pub searches: bool,
    /// All its commands only look.
    pub looks: bool,
    /// Changes something also when it fails.
    pub stops_midway: bool,
    /// One of its commands may do something.
    pub acts: bool,
    /// Sleeps, or blocks until something happens.
    pub pauses: bool,
    /// Hash of the paths that it names; 0: none.
    pub target: u128,
    /// Hash of the first program that does something.
    pub subject: u128,
}

impl Line {
    pub fn understand(line: &str) -> Self {
        let mut understood = Self { looks: true, ..Self::default() };
        for command in &shell::commands(line) {
            let words = Program::of(command);
            let program = words.program();
            if program.is_empty() && !words.mutates() {
                continue;
            }
            understood.polls |= words.polls();
            understood.typecheck |= words.typechecks();
            understood.check |= words.checks();
            understood.mutates |= words.mutates();
            understood.searches |= words.searches();
            understood.looks &= words.looks();
            understood.pauses |= words.pauses();
            understood.acts |= words.acts();
            understood.stops_midway |= words.stops_midway();
            understood.target =
                words.paths().fold(understood.target, |sum, path| sum.wrapping_add(fast(path.as_bytes())));
            if understood.subject == 0
                && !matches!(program, "" | "cd" | "echo" | "export" | "set" | "source" | "." | "true")
            {
                understood.subject = fast(program.as_bytes());
            }
        }
        understood.looks &= !understood.mutates;
        understood
    }
}

/// Words of a tool name that mark a call as asking how something is getting on.
const POLL_WORDS: [&str; 8] = ["poll", "wait", "await", "sleep", "status", "monitor", "watch", "output"];

/// Whether an argument is a statement of a query language that defines or changes something.
pub fn statement_writes(args: &Value) -> bool {
    const WRITES: [&str; 15] = [
        "insert", "update", "delete", "create", "alter", "drop", "truncate", "merge", "grant", "revoke", "replace",
        "begin", "commit", "rollback", "copy",
    ];
    ["sql", "query", "statement"].iter().filter_map(|name| args.get(*name)?.as_str()).any(|text| {
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default().trim_end_matches(';').to_ascii_lowercase();
        // In upper case or with its object: "create table …" is a statement, "update of the docs" a question.
        let statement = text.trim_start().starts_with(|c: char| c.is_ascii_uppercase())
            || words.next().is_some_and(|word| {
                matches!(word.to_ascii_lowercase().as_str(), "into" | "from" | "table" | "index" | "view" | "schema")
            });
        WRITES.contains(&first.as_str()) && statement
    })
}

/// Words of a tool name that say that it does something, rather than ask.
const ACT_WORDS: [&str; 26] = [
    "click", "press", "type", "fill", "scroll", "send", "set", "update", "create", "delete", "insert", "execute",
    "run", "apply", "navigate", "move", "rename", "add", "remove", "upload", "save", "submit", "drag", "tap", "swipe",
    "key",
];

pub fn tool_acts(tool: &str) -> bool {
    words_of_name(tool).any(|word| ACT_WORDS.contains(&word.as_str()))
}

pub fn tool_pauses(tool: &str) -> bool {
    words_of_name(tool).any(|word| matches!(word.as_str(), "sleep" | "wait" | "await"))
}

/// A tool that is no shell: polls by its own name, or because it is asked to.
pub fn tool_polls(tool: &str, args: &Value) -> bool {
    let asked = ["action", "op", "operation", "mode", "method"].iter().any(|name| {
        args.get(*name)
            .and_then(Value::as_str)
            .is_some_and(|what| POLL_WORDS.contains(&what.to_ascii_lowercase().as_str()))
    });
    asked || words_of_name(tool).any(|word| POLL_WORDS.contains(&word.as_str()))
}

pub fn is_check_tool(tool: &str) -> bool {
    is_typecheck_tool(tool)
        || words_of_name(tool)
            .any(|word| matches!(word.as_str(), "test" | "tests" | "lint" | "build" | "compile" | "diagnostics"))
}

pub fn is_search_tool(tool: &str) -> bool {
    words_of_name(tool)
        .any(|word| matches!(word.as_str(), "search" | "grep" | "find" | "glob" | "lookup" | "query" | "rg" | "recall"))
}

pub fn is_read_tool(tool: &str) -> bool {
    words_of_name(tool).any(|word| matches!(word.as_str(), "read" | "view" | "open" | "cat" | "show"))
}

pub fn is_typecheck_tool(tool: &str) -> bool {
    let words: Vec<String> = words_of_name(tool).collect();
    words.iter().any(|word| word == "typecheck" || word == "tsc")
        || words.windows(2).any(|pair| pair == ["type", "check"])
}

/// `checkStatus`, `check_status` and `check-status` are the words check and status.
pub(super) fn words_of_name(name: &str) -> impl Iterator<Item = String> + '_ {
    let mut starts: Vec<usize> = vec![0];
    let bytes = name.as_bytes();
    for index in 1..bytes.len() {
        let boundary = !bytes[index].is_ascii_alphanumeric()
            || !bytes[index - 1].is_ascii_alphanumeric()
            || (bytes[index].is_ascii_uppercase() && bytes[index - 1].is_ascii_lowercase());
        if boundary && name.is_char_boundary(index) {
            starts.push(index);
        }
    }
    starts.push(name.len());
    (0..starts.len() - 1)
        .map(move |i| name[starts[i]..starts[i + 1]].to_ascii_lowercase())
        .filter(|word| word.bytes().any(|b| b.is_ascii_alphanumeric()))
        .collect::<Vec<_>>()
        .into_iter()
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::text::growth;

    #[test]
    fn understanding_a_line_costs_what_it_is_long() {
        growth::is_linear(|line| {
            black_box(Line::understand(line));
        });
        growth::grows(
            "flags",
            |size| format!("npm run{}", " -s".repeat(size / 3)),
            |line: &String| {
                black_box(Line::understand(line));
            },
        );
    }

    #[test]
    fn reading_a_tool_name_costs_what_it_is_long() {
        growth::is_linear(|name| {
            black_box((tool_acts(name), tool_polls(name, &Value::Null), is_typecheck_tool(name)));
        });
        growth::is_linear(|text| {
            let args = serde_json::json!({ "sql": text, "action": text });
            black_box((statement_writes(&args), tool_polls("a", &args)));
        });
    }

    #[test]
    fn waiting_and_looking_after_a_process_is_polling() {
        for line in [
            "sleep 30 && gh run view 5",
            "gh run view 81",
            "gh pr checks 12",
            "kubectl get pods -n app",
            "docker logs --tail 5 web",
            "curl -fsS localhost:5173/health",
            "systemctl status nginx",
            "tail -5 build.log",
            "FOO=1 timeout 20 ps aux | grep node",
            "kubectl --context prod -n app get pods",
            "gh -R acme/app run view 3",
            "docker compose -f ci.yaml ps",
        ] {
            assert!(Line::understand(line).polls, "{line}");
        }
        for line in [
            "git status",
            "ls",
            "rg TOKEN src",
            "npm test",
            "gh pr create --fill",
            "docker run x",
            "echo sleep",
            "npm test 2>&1 | tail -20",
            "cargo build | tail -n 5",
            "curl -X POST localhost/jobs",
        ] {
            assert!(!Line::understand(line).polls, "{line}");
        }
    }

    /// Names of programs and operators as words of a question are no programs and no operators.
    #[test]
    fn what_stands_in_quotes_says_nothing_of_what_a_line_does() {
        for inside in ["retry|watch", "npm run build|tsc", "a; sleep 9", "x && rm -rf y", "b > c", "gh run view 5"] {
            for quote in ['"', '\''] {
                let line = format!("rg {quote}{inside}{quote} src");
                let Line { polls, typecheck, mutates, searches, looks, acts, pauses, .. } = Line::understand(&line);
                assert_eq!((polls, typecheck, mutates, acts, pauses), (false, false, false, false, false), "{line}");
                assert!(searches && looks, "{line}");
            }
        }
        let commit = Line::understand("git commit -m \"fix: stop; wait\"");
        assert!(commit.mutates && !commit.polls && !commit.pauses);
    }

    #[test]
    fn a_loop_that_asks_and_sleeps_is_a_wait_and_what_it_runs_is_known() {
        for line in [
            "until curl -fsS localhost:80; do sleep 2; done",
            "while ! docker ps | grep -q up\ndo sleep 1\ndone",
            "for i in $(seq 30); do gh run view 5 && break; sleep 2; done",
            "bash -c 'until nc -z db 5432; do sleep 1; done'",
        ] {
            let understood = Line::understand(line);
            assert!(understood.polls && understood.pauses, "{line}");
        }
        assert!(Line::understand("if true; then rm -rf build; fi").mutates);
        assert!(Line::understand("bash -lc 'npm ci'").mutates);
        assert!(Line::understand("find . -name x | xargs rm").mutates);
        assert!(Line::understand("tar xzf a.tgz").mutates && !Line::understand("tar tzf a.tgz").mutates);
        assert!(!Line::understand("git reset --hard --help").mutates);
        assert!(!Line::understand("cat <<EOF\nrm -rf build\nEOF").mutates);
    }

    #[test]
    fn type_checkers_are_known_behind_wrappers() {
        for line in [
            "tsc --noEmit",
            "npx tsc -p .",
            "cd web && npm run typecheck",
            "cargo check",
            "mypy src",
            "NODE_ENV=x pnpm type-check",
            "time -p tsc --noEmit",
            "time tsc",
            "command tsc",
            "bash -euo pipefail -c 'tsc | head'",
        ] {
            assert!(Line::understand(line).typecheck, "{line}");
        }
        for line in
            ["npm run build", "cargo test", "cat tsc.log", "go build ./...", "command -v tsc", "command -V mypy"]
        {
            assert!(!Line::understand(line).typecheck, "{line}");
        }
    }

    #[test]
    fn lines_that_change_something_are_told_from_lines_that_look() {
        for line in [
            "git commit -am x",
            "sed -i s/a/b/ f",
            "echo x > out.txt",
            "npm ci",
            "rm -rf build",
            "cat a >> b",
            "make 2>&1 > log.txt",
            "git -C ../lib commit -m x",
            "git -c user.name=x bisect good",
            "npm --prefix web install",
            "docker compose up -d",
        ] {
            assert!(Line::understand(line).mutates, "{line}");
        }
        for line in [
            "git status",
            "cat a",
            "rg 'a > b' src",
            "make 2>&1",
            "ls > /dev/null",
            "awk '$1>3' f",
            "sed -n 3p f",
            "git log",
        ] {
            assert!(!Line::understand(line).mutates, "{line}");
        }
    }

    #[test]
    fn tools_poll_by_name_or_because_they_are_asked_to() {
        let none = Value::Null;
        for tool in ["CheckStatus", "bash_output", "wait-for-job", "get_subagent_status"] {
            assert!(tool_polls(tool, &none), "{tool}");
        }
        assert!(tool_polls("process", &serde_json::json!({"action": "poll"})));
        for tool in ["read", "list_files", "outputs", "statusbar"] {
            assert!(!tool_polls(tool, &none), "{tool}");
        }
        assert!(
            is_typecheck_tool("TypeCheck")
                && is_typecheck_tool("run_typecheck")
                && !is_typecheck_tool("check_types_of")
        );
    }

    #[test]
    fn any_bytes_are_survived() {
        for line in ["", "\u{0}", "é>ü", "🦀 > 🦀", "'", "\"", "=", "> ", "A=", "timeout", "timeout 5"] {
            let _ = Line::understand(line);
            let _ = tool_polls(line, &Value::Null);
        }
    }

    #[test]
    fn a_sleep_of_some_length_is_a_pause() {
        for line in ["sleep 30", "sleep 5s; cat x", "sleep 1m", "watch -g cat x"] {
            assert!(Line::understand(line).pauses, "{line}");
        }
        for line in ["sleep 1", "sleep 0.5; cat x", "echo sleep 30", "ls"] {
            assert!(!Line::understand(line).pauses, "{line}");
        }
    }

    #[test]
    fn what_is_not_known_to_look_check_or_wait_may_do_something() {
        for line in ["python load.py 3", "./build.sh", "npm test && ./deploy.sh", "tmux send-keys -t a Enter"] {
            assert!(Line::understand(line).acts, "{line}");
        }
        for line in ["ls", "cd web && npm test", "sleep 9; gh run view 1", "rg x | wc -l", "cat a"] {
            assert!(!Line::understand(line).acts, "{line}");
        }
    }

    #[test]
    fn lines_about_the_same_paths_have_the_same_target() {
        let target = |line| Line::understand(line).target;
        assert_eq!(target("git status --short"), 0);
        assert_eq!(target("git diff --stat"), 0);
        assert_eq!(target("stat -c %a etc/a.conf"), target("head -1 etc/a.conf"));
        assert_ne!(target("stat -c %a etc/a.conf"), target("stat -c %a etc/b.conf"));
    }

    #[test]
    fn statements_that_write_are_told_from_questions() {
        for sql in ["CREATE TABLE a (id int)", "insert into a values (1)", "DROP INDEX x;"] {
            assert!(statement_writes(&serde_json::json!({ "query": sql })), "{sql}");
        }
        for sql in ["SELECT 1", "update of the roadmap", "create react app", ""] {
            assert!(!statement_writes(&serde_json::json!({ "query": sql })), "{sql}");
        }
    }
}
