//! What a simple command is for, as far as the rules need it: does it poll or wait, check, look, search, or change something.
//! Read from program names and flags that are the same everywhere; an unknown program is none of these.

use super::Command;

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

/// Programs that run another one, which they are given as arguments. Each with its flags that take a value in a word of its
/// own.
const WRAPPERS: [(&str, &[&str]); 18] = [
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-D", "--user", "--group"]),
    ("doas", &["-u", "-C"]),
    ("env", &["-u", "-C", "-S", "--unset", "--chdir"]),
    ("nice", &["-n", "--adjustment"]),
    ("ionice", &["-c", "-n"]),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("xargs", &["-I", "-n", "-P", "-L", "-d", "-a", "-E", "-s"]),
    ("npx", &["-p", "--package"]),
    ("time", &["-f", "-o"]),
    ("exec", &["-a"]),
    ("nohup", &[]),
    ("setsid", &[]),
    ("command", &[]),
    ("builtin", &[]),
    ("bunx", &[]),
    ("pnpx", &[]),
    ("uvx", &["--from"]),
];

/// The words from the program on that does the work: without assignments and without the programs that only run it.
pub fn without_wrappers(words: &[String]) -> &[String] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if is_assignment(word) {
            at += 1;
            continue;
        }
        let name = base_name(word);
        let Some((_, valued)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) else { break };
        let mut next = at + 1;
        // `command -v make` asks where make is, and runs nothing.
        let asks = |flag: &String| flag.starts_with('-') && !flag.starts_with("--") && flag.contains(['v', 'V']);
        if name == "command" && words.get(next).is_some_and(asks) {
            break;
        }
        while let Some(flag) = words.get(next).filter(|word| word.starts_with('-') || is_assignment(word)) {
            next += 1 + usize::from(valued.contains(&flag.as_str()));
        }
        // `timeout 60 make`: the bound is no program.
        if name == "timeout" && words.get(next).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
            next += 1;
        }
        if next >= words.len() {
            break;
        }
        at = next;
    }
    &words[at.min(words.len())..]
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// The name of a program without the folder it is in.
pub fn base_name(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

/// A command and what it is for.
pub struct Program<'a> {
    words: Vec<&'a str>,
    /// First word after the program that is no flag, and no value of a flag that says where to work.
    verb: &'a str,
    /// Files that it is redirected into, those that keep nothing left out.
    writes: bool,
    looped: bool,
}

/// See [`Program::verb`].
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

impl<'a> Program<'a> {
    pub fn of(command: &'a Command) -> Self {
        let words: Vec<&str> = without_wrappers(&command.words).iter().map(String::as_str).collect();
        let verb = verb(&words);
        let writes = command.writes.iter().any(|file| !file.starts_with("/dev/"));
        Self { words, verb, writes, looped: command.looped }
    }

    pub fn program(&self) -> &'a str {
        self.words.first().map_or("", |word| base_name(word))
    }

    fn verb(&self) -> &'a str {
        self.verb
    }

    /// Only says how it is used.
    fn explains(&self) -> bool {
        self.operands().any(|word| word == "--help") || self.verb == "help"
    }

    /// The words behind the program.
    fn operands(&self) -> impl Iterator<Item = &'a str> {
        self.words.iter().skip(1).copied()
    }

    /// Does something, as far as is known: neither looks nor checks nor waits.
    pub fn acts(&self) -> bool {
        !(self.looks() || self.checks() || self.typechecks() || self.polls() || self.pauses())
    }

    /// Operands that look like a path.
    pub fn paths(&self) -> impl Iterator<Item = &'a str> {
        self.operands().filter(|word| {
            !word.starts_with('-') && word.contains(['/', '.']) && word.contains(|c: char| c.is_alphanumeric())
        })
    }

    pub fn pauses(&self) -> bool {
        match self.program() {
            // In a loop it is a wait however short. Elsewhere a short one is a breath between two calls.
            "sleep" => {
                self.looped
                    || self.verb().trim_end_matches('s').parse::<f64>().is_ok_and(|seconds| seconds >= 5.0)
                    || self.verb().ends_with(['m', 'h'])
            }
            "watch" | "wait" | "inotifywait" => true,
            _ => false,
        }
    }

    fn has(&self, flags: &[&str]) -> bool {
        self.operands().any(|word| flags.contains(&word))
    }

    pub fn polls(&self) -> bool {
        if self.explains() {
            return false;
        }
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

    pub fn typechecks(&self) -> bool {
        if self.explains() {
            return false;
        }
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

    pub fn checks(&self) -> bool {
        const SCRIPTS: [&str; 8] = ["test", "lint", "build", "check", "t", "vet", "clippy", "verify"];
        if self.explains() {
            return false;
        }
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

    pub fn searches(&self) -> bool {
        match self.program() {
            "rg" | "grep" | "egrep" | "fgrep" | "ag" | "ack" | "fd" | "find" | "locate" | "which" | "type"
            | "command" => true,
            "git" => self.verb() == "grep",
            _ => false,
        }
    }

    pub fn looks(&self) -> bool {
        if self.explains() {
            return true;
        }
        match self.program() {
            "cd" | "ls" | "cat" | "head" | "tail" | "wc" | "stat" | "file" | "du" | "df" | "pwd" | "echo" | "true"
            | "test" | "[" | "[[" | "env" | "printenv" | "date" | "whoami" | "id" | "uname" | "sort" | "uniq"
            | "cut" | "tr" | "jq" | "tree" | "less" | "more" | "basename" | "dirname" | "realpath" | "readlink"
            | "diff" | "cmp" | "md5sum" | "sha256sum" | "hexdump" | "xxd" | "strings" | "awk" | "nl" | "column"
            | "hostname" => true,
            "sed" => !self.changes(),
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

    pub fn mutates(&self) -> bool {
        self.writes || !self.explains() && self.changes()
    }

    fn changes(&self) -> bool {
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
    pub fn stops_midway(&self) -> bool {
        self.program() == "git"
            && matches!(self.verb(), "rebase" | "merge" | "cherry-pick" | "am" | "revert" | "pull" | "bisect")
    }
}
