//! What a shell line or a tool call is for, as far as the rules need it: does it poll or wait, type-check, or change
//! something. Read from program names and flags that are the same everywhere; an unknown program is none of these.

use serde_json::Value;

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
        for command in line.split(['\n', ';', '|', '&']) {
            let words = Words::of(command);
            let program = words.program();
            if program.is_empty() {
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
            if understood.subject == 0 && !matches!(program, "cd" | "echo" | "export" | "set" | "source" | "." | "true")
            {
                understood.subject = fast(program.as_bytes());
            }
        }
        understood.mutates |= redirects_to_file(line);
        understood.looks &= !understood.mutates;
        understood
    }
}

/// Words of one simple command, without environment prefixes and wrappers.
struct Words<'a> {
    words: Vec<&'a str>,
    /// First word after the program that is no flag, and no value of a flag that says where to work.
    verb: &'a str,
}

/// Flags between a program and its verb that take a value in a word of its own.
const PLACE_FLAGS: [&str; 20] = [
    "-C",
    "-n",
    "-R",
    "-c",
    "-f",
    "-p",
    "-w",
    "-H",
    "--namespace",
    "--context",
    "--kubeconfig",
    "--repo",
    "--prefix",
    "--manifest-path",
    "--file",
    "--filter",
    "--workspace",
    "--cwd",
    "--dir",
    "--project-name",
];

const WRAPPERS: [&str; 13] =
    ["sudo", "time", "env", "nice", "nohup", "command", "exec", "npx", "bunx", "pnpx", "uvx", "stdbuf", "then"];

/// Stands before a program and is none: an assignment, a wrapper, a flag of a wrapper.
fn is_prefix(word: &str) -> bool {
    let assignment = word
        .split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
    assignment || word.is_empty() || WRAPPERS.contains(&word) || word.starts_with('-')
}

/// See [`Words::verb`].
fn verb<'a>(words: &[&'a str]) -> &'a str {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        if PLACE_FLAGS.contains(word) {
            words.next();
        } else if *word == "compose" {
            // `docker compose up`: a program within a program.
        } else if !word.starts_with(['-', '+']) {
            return word;
        }
    }
    ""
}

impl<'a> Words<'a> {
    fn of(command: &'a str) -> Self {
        let mut words = command
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '\'', '(', ')', '`', '{', '}']))
            .skip_while(|word| is_prefix(word))
            .peekable();
        // `timeout 60 cmd`: the bound is no command.
        if words.next_if(|word| *word == "timeout").is_some() {
            let bound = |word: &&str| word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit());
            while words.next_if(bound).is_some() {}
        }
        let words: Vec<&str> = words.collect();
        let verb = verb(&words);
        Self { words, verb }
    }

    fn program(&self) -> &'a str {
        self.words.first().map_or("", |word| word.rsplit(['/', '\\']).next().unwrap_or(word))
    }

    fn verb(&self) -> &'a str {
        self.verb
    }

    /// The words behind the program.
    fn operands(&self) -> impl Iterator<Item = &'a str> {
        self.words.iter().skip(1).copied()
    }

    /// Does something, as far as is known: neither looks nor checks nor waits.
    fn acts(&self) -> bool {
        !(self.looks() || self.checks() || self.typechecks() || self.polls() || self.pauses())
    }

    /// Operands that look like a path.
    fn paths(&self) -> impl Iterator<Item = &'a str> {
        self.operands().filter(|word| {
            !word.starts_with('-') && word.contains(['/', '.']) && word.contains(|c: char| c.is_alphanumeric())
        })
    }

    fn pauses(&self) -> bool {
        match self.program() {
            // Shorter than this is a breath in a busy loop.
            "sleep" => {
                self.verb().trim_end_matches('s').parse::<f64>().is_ok_and(|seconds| seconds >= 5.0)
                    || self.verb().ends_with(['m', 'h'])
            }
            "watch" | "wait" | "inotifywait" => true,
            _ => false,
        }
    }

    fn has(&self, flags: &[&str]) -> bool {
        self.operands().any(|word| flags.contains(&word))
    }

    fn polls(&self) -> bool {
        match self.program() {
            "sleep" | "watch" | "wait" | "wget" | "nc" | "ping" | "ps" | "pgrep" | "pidof" | "jobs" | "top"
            | "squeue" | "qstat" | "inotifywait" | "journalctl" | "lsof" | "ss" | "netstat" | "nvidia-smi" => true,
            // Behind a pipe it only shortens what another program says.
            "tail" => {
                self.operands().any(|word| !word.starts_with(['-', '+', '2', '>']) && word.parse::<u64>().is_err())
            }
            "curl" => !self.sends(),
            "gh" => matches!(self.verb(), "run" | "pr" | "workflow") && !self.has(&["create", "merge", "edit"]),
            "kubectl" | "oc" => matches!(self.verb(), "get" | "rollout" | "wait" | "logs" | "describe" | "top"),
            "docker" | "podman" | "docker-compose" => {
                matches!(self.verb(), "ps" | "logs" | "inspect" | "stats" | "wait")
            }
            "systemctl" | "service" | "supervisorctl" => self.has(&["status", "is-active"]),
            "tmux" => matches!(self.verb(), "capture-pane" | "list-sessions" | "ls"),
            _ => self.has(&["--watch", "--wait"]),
        }
    }

    fn typechecks(&self) -> bool {
        match self.program() {
            "tsc" | "vue-tsc" | "mypy" | "pyright" | "basedpyright" | "pyre" | "svelte-check" | "tsgo" | "flow" => true,
            "cargo" => matches!(self.verb(), "check" | "clippy"),
            "go" => self.verb() == "vet",
            "deno" => self.verb() == "check",
            "npm" | "pnpm" | "yarn" | "bun" => self
                .words
                .iter()
                .any(|word| matches!(*word, "typecheck" | "type-check" | "check-types" | "check:types" | "tsc")),
            _ => false,
        }
    }

    fn checks(&self) -> bool {
        const SCRIPTS: [&str; 8] = ["test", "lint", "build", "check", "t", "vet", "clippy", "verify"];
        let verb = self.verb();
        let script =
            |word: &str| SCRIPTS.contains(&word) || word.split([':', '-']).next().is_some_and(|w| SCRIPTS.contains(&w));
        match self.program() {
            "pytest" | "jest" | "vitest" | "mocha" | "ava" | "tox" | "nox" | "ctest" | "phpunit" | "rspec"
            | "eslint" | "biome" | "ruff" | "flake8" | "pylint" | "golangci-lint" | "shellcheck" | "rubocop"
            | "ninja" | "make" | "cmake" | "bazel" | "gradle" | "gradlew" | "mvn" | "ant" | "gcc" | "g++" | "clang"
            | "rustc" | "javac" | "swiftc" | "webpack" | "playwright" | "cypress" | "nextest" | "unittest" => true,
            "cargo" | "go" | "dotnet" | "swift" | "zig" | "mix" | "deno" | "npm" | "pnpm" | "yarn" | "bun" | "vite" => {
                script(verb) || verb == "run" && self.operands().skip(1).any(script)
            }
            "python" | "python3" => self
                .words
                .windows(2)
                .any(|pair| pair[0] == "-m" && matches!(pair[1], "pytest" | "unittest" | "mypy" | "ruff")),
            _ => false,
        }
    }

    fn searches(&self) -> bool {
        match self.program() {
            "rg" | "grep" | "egrep" | "fgrep" | "ag" | "ack" | "fd" | "find" | "locate" | "which" | "type" => true,
            "git" => self.verb() == "grep",
            _ => false,
        }
    }

    fn looks(&self) -> bool {
        match self.program() {
            "cd" | "ls" | "cat" | "head" | "tail" | "wc" | "stat" | "file" | "du" | "df" | "pwd" | "echo" | "true"
            | "test" | "[" | "[[" | "env" | "printenv" | "date" | "whoami" | "id" | "uname" | "sort" | "uniq"
            | "cut" | "tr" | "jq" | "tree" | "less" | "more" | "basename" | "dirname" | "realpath" | "readlink"
            | "diff" | "cmp" | "md5sum" | "sha256sum" | "hexdump" | "xxd" | "strings" | "awk" | "nl" | "column"
            | "hostname" => true,
            "sed" => !self.mutates(),
            "git" => matches!(
                self.verb(),
                "status"
                    | "diff"
                    | "log"
                    | "show"
                    | "ls-files"
                    | "branch"
                    | "blame"
                    | "rev-parse"
                    | "describe"
                    | "remote"
                    | "grep"
                    | "shortlog"
                    | "reflog"
                    | "cat-file"
                    | "ls-tree"
            ),
            _ => self.searches(),
        }
    }

    fn mutates(&self) -> bool {
        match self.program() {
            "mv" | "cp" | "rm" | "mkdir" | "rmdir" | "touch" | "ln" | "chmod" | "chown" | "tee" | "patch"
            | "install" | "rsync" | "unzip" | "dd" | "truncate" | "kill" | "pkill" | "killall" | "psql" | "sqlite3" => {
                true
            }
            "git" => matches!(
                self.verb(),
                "add"
                    | "commit"
                    | "checkout"
                    | "switch"
                    | "merge"
                    | "rebase"
                    | "reset"
                    | "stash"
                    | "apply"
                    | "am"
                    | "mv"
                    | "cherry-pick"
                    | "pull"
                    | "push"
                    | "clone"
                    | "rm"
                    | "restore"
                    | "tag"
                    | "revert"
                    | "init"
                    | "clean"
                    | "worktree"
                    | "bisect"
                    | "submodule"
                    | "fetch"
            ),
            "npm" | "pnpm" | "yarn" | "bun" | "pip" | "pip3" | "uv" | "apt" | "apt-get" | "brew" | "gem"
            | "composer" | "poetry" => matches!(
                self.verb(),
                "install"
                    | "add"
                    | "remove"
                    | "uninstall"
                    | "ci"
                    | "i"
                    | "update"
                    | "upgrade"
                    | "sync"
                    | "link"
                    | "publish"
            ),
            "cargo" => matches!(self.verb(), "add" | "remove" | "install" | "update" | "fix" | "new" | "init"),
            "sed" | "perl" | "ruby" => self.operands().any(|word| word.starts_with("-i") || word == "--in-place"),
            "tar" => self.words.get(1).is_some_and(|flags| flags.contains('x') || flags.contains('c')),
            "docker" | "podman" | "docker-compose" => matches!(
                self.verb(),
                "run" | "build" | "rm" | "start" | "stop" | "up" | "down" | "restart" | "kill" | "pull" | "create"
            ),
            "kubectl" => matches!(self.verb(), "apply" | "delete" | "create" | "scale" | "patch"),
            _ => false,
        }
    }

    /// `curl` that does not only ask.
    fn sends(&self) -> bool {
        self.operands().any(|word| {
            matches!(
                word,
                "POST" | "PUT" | "PATCH" | "DELETE" | "-d" | "-F" | "-T" | "--json" | "--form" | "--upload-file"
            ) || word.starts_with("--data")
                || matches!(word, "-XPOST" | "-XPUT" | "-XPATCH" | "-XDELETE")
        })
    }

    /// A `git` command that can stop midway, having changed something: at a conflict, at the next step.
    fn stops_midway(&self) -> bool {
        self.program() == "git"
            && matches!(self.verb(), "rebase" | "merge" | "cherry-pick" | "am" | "revert" | "pull" | "bisect")
    }
}

/// A `>` that writes a file: not a descriptor, not `/dev/null`, not a comparison inside quotes.
fn redirects_to_file(line: &str) -> bool {
    let mut quote = None;
    let mut previous = ' ';
    // End of the marks whose target was looked at: `>>>` has one.
    let mut looked_at = 0;
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) => quote = Some(open).filter(|open| c != *open),
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '>' && at >= looked_at && previous != '-' && previous != '=' && previous != '<' => {
                let target = line[at + 1..].trim_start_matches('>');
                looked_at = line.len() - target.len();
                let target = target.trim_start();
                if !(target.is_empty() || target.starts_with(['&', '=', '(']) || target.starts_with("/dev/")) {
                    return true;
                }
                // `2>&1 > file`: go on behind this one.
            }
            None => {}
        }
        previous = c;
    }
    false
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
    use proptest::prelude::*;

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

    proptest! {
        /// Marks in a row share a target; it is looked at once.
        #[test]
        fn a_redirect_is_what_a_look_at_every_mark_says(line in r#"[>\-=<&(" '/a]{0,12}(/dev/null| >|2>&1)?[> a]{0,6}"#) {
            let mut quote = None;
            let mut previous = ' ';
            let naive = line.char_indices().any(|(at, c)| {
                let quoted = quote.is_some();
                if quote == Some(c) {
                    quote = None;
                } else if !quoted && matches!(c, '"' | '\'') {
                    quote = Some(c);
                }
                let mark = !quoted && c == '>' && !matches!(previous, '-' | '=' | '<');
                previous = c;
                let target = line[at + c.len_utf8()..].trim_start_matches('>').trim_start();
                mark && !target.is_empty() && !target.starts_with(['&', '=', '(']) && !target.starts_with("/dev/")
            });
            prop_assert_eq!(redirects_to_file(&line), naive);
        }
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

    #[test]
    fn type_checkers_are_known_behind_wrappers() {
        for line in [
            "tsc --noEmit",
            "npx tsc -p .",
            "cd web && npm run typecheck",
            "cargo check",
            "mypy src",
            "NODE_ENV=x pnpm type-check",
        ] {
            assert!(Line::understand(line).typecheck, "{line}");
        }
        for line in ["npm run build", "cargo test", "cat tsc.log", "go build ./..."] {
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
