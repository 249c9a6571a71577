//! Shell lines that throw away unsaved work of a whole tree, or save it. Read from git's own command line; an alias or
//! a script is not looked into.

use super::programs::{base_name, without_wrappers};
use crate::text::path::absolute;

/// No path of a file system is longer; what a line makes longer names nothing.
const LONGEST_PATH: usize = 4096;
/// Places of one line that are looked at.
const MOST_PLACES: usize = 256;

/// What a line does to work that is not committed. Places and paths are as seen from where the line begins; empty: there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effect {
    /// Undoes everything that is not committed in the working trees of these places.
    pub sweeps: Vec<String>,
    /// Undoes these files, and what lies in these folders.
    pub undoes: Vec<String>,
    /// Shows what has been changed everywhere, line by line.
    pub shows_all: bool,
    pub commits: bool,
    /// Everything there is, not only what was added.
    pub commits_all: bool,
}

impl Effect {
    pub fn of(line: &str) -> Self {
        let mut effect = Self::default();
        if !line.contains("git") {
            return effect;
        }
        let (mut shell, mut here) = (Vec::new(), String::new());
        // The shells around it, and where each of them is: what a subshell does with `cd` ends with it.
        let mut around = Vec::new();
        for command in super::commands(line) {
            while !command.shell.starts_with(&shell) {
                (shell, here) = around.pop().unwrap_or_default();
            }
            if shell != command.shell {
                around.push((std::mem::replace(&mut shell, command.shell.clone()), here.clone()));
            }
            let words: Vec<&str> = without_wrappers(&command.words).iter().map(String::as_str).collect();
            match words.split_first() {
                Some((&"cd" | &"pushd", places)) => {
                    if let Some(folder) = places.iter().find(|place| !place.starts_with('-')) {
                        here = from(&here, folder);
                    }
                }
                Some((program, words)) if base_name(program) == "git" && !words.contains(&"--help") => {
                    effect.git(&here, words);
                }
                _ => {}
            }
        }
        effect
    }

    fn git(&mut self, here: &str, words: &[&str]) {
        let mut place = here.to_owned();
        let mut words = words.iter().copied().peekable();
        // Flags of git itself stand before the verb; two of them have a value.
        while let Some(flag) = words.next_if(|word| word.starts_with('-')) {
            match flag {
                "-C" => place = words.next().map_or(place.clone(), |folder| from(&place, folder)),
                "-c" => drop(words.next()),
                _ => {}
            }
        }
        if let Some(verb) = words.next() {
            self.take(&place, verb, &words.collect::<Vec<_>>());
        }
    }

    fn take(&mut self, place: &str, verb: &str, words: &[&str]) {
        let flag = |long: &str, short: char| {
            words.iter().any(|word| {
                *word == long || word.starts_with('-') && !word.starts_with("--") && word[1..].contains(short)
            })
        };
        let sweep = || place.to_owned();
        match verb {
            "checkout" => {
                let (places, paths) = arguments(words, &[]);
                if places.contains(&".") {
                    self.undo(place, &["."]);
                } else if flag("--force", 'f') && paths.is_none() {
                    self.sweeps.push(sweep());
                } else {
                    self.undo(place, paths.unwrap_or_default());
                }
            }
            "switch" if flag("--force", 'f') || words.contains(&"--discard-changes") => self.sweeps.push(sweep()),
            "restore" if !words.contains(&"--staged") || words.contains(&"--worktree") => {
                let (places, paths) = arguments(words, &["-s", "--source"]);
                self.undo(place, &places);
                self.undo(place, paths.unwrap_or_default());
            }
            "reset" if words.contains(&"--hard") => self.sweeps.push(sweep()),
            // With -X only what is ignored goes.
            "clean" if flag("--force", 'f') && !flag("--dry-run", 'n') && !flag("-X", 'X') => {
                let (places, paths) = arguments(words, &["-e", "--exclude"]);
                let places = [places.as_slice(), paths.unwrap_or_default()].concat();
                self.undo(place, if places.is_empty() { &["."] } else { &places });
            }
            // Without force git itself keeps what was changed.
            "rm" if flag("--force", 'f') && !words.contains(&"--cached") => {
                let (places, paths) = arguments(words, &[]);
                self.undo(place, &places);
                self.undo(place, paths.unwrap_or_default());
            }
            "stash" => self.stash(place, words),
            // A summary, or what is named, shows no more than that.
            "diff" => {
                let (places, paths) = arguments(words, &[]);
                let short = ["--stat", "--name", "--short", "--num", "--cached", "--staged", "--quiet", "--summary"];
                let whole = !words.iter().any(|word| short.iter().any(|start| word.starts_with(start)));
                self.shows_all |= whole && places.iter().all(|place| *place == "HEAD") && paths.is_none();
            }
            "commit" => {
                self.commits = true;
                self.commits_all |= flag("--all", 'a');
            }
            "add" => self.commits_all |= flag("--all", 'A') || words.contains(&"."),
            _ => {}
        }
    }

    fn stash(&mut self, place: &str, words: &[&str]) {
        let words = match words.first() {
            None | Some(&"save") => &[],
            Some(&"push") => &words[1..],
            Some(word) if word.starts_with('-') => words,
            Some(_) => return,
        };
        let (places, paths) = arguments(words, &["-m", "--message", "-um", "-km"]);
        let places = [places.as_slice(), paths.unwrap_or_default()].concat();
        if places.is_empty() {
            self.sweeps.push(place.to_owned());
        } else {
            self.undo(place, &places);
        }
    }

    fn undo(&mut self, place: &str, paths: &[&str]) {
        for path in paths {
            if self.undoes.len() + self.sweeps.len() >= MOST_PLACES {
                return;
            }
            if *path == ":/" {
                self.sweeps.push(place.to_owned());
            } else {
                // A pattern holds what others may have in the folder where it begins.
                let folder = path.find('*').map(|star| &path[..path[..star].rfind('/').map_or(0, |slash| slash + 1)]);
                self.undoes.push(from(place, folder.unwrap_or(path)));
            }
        }
    }
}

/// Arguments without flags and the values of `valued` ones: those before `--`, and those after it where it is there.
fn arguments<'a>(words: &'a [&'a str], valued: &[&str]) -> (Vec<&'a str>, Option<&'a [&'a str]>) {
    let separator = words.iter().position(|word| *word == "--");
    let mut before = words[..separator.unwrap_or(words.len())].iter().copied();
    let mut places = Vec::new();
    while let Some(word) = before.next() {
        if valued.contains(&word) {
            before.next();
        } else if !word.starts_with('-') {
            places.push(word);
        }
    }
    (places, separator.map(|index| &words[index + 1..]))
}

fn from(place: &str, path: &str) -> String {
    // A line of many steps into folders must not copy the way to each of them.
    let path = &path[..path.floor_char_boundary(LONGEST_PATH)];
    let place = if place.len() > LONGEST_PATH { "" } else { place };
    // Where a home is, is not known; it is elsewhere.
    if path.starts_with('~') { absolute("", &format!("/{path}")) } else { absolute(place, path) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::growth;

    #[test]
    fn reading_a_line_costs_what_it_is_long() {
        growth::is_linear_within("git ", " git", |line| {
            std::hint::black_box(Effect::of(line));
        });
    }

    #[test]
    fn a_path_costs_what_it_is_long() {
        growth::is_linear(|path| {
            std::hint::black_box((absolute(path, path), crate::text::path::inside(path, path)));
        });
    }

    #[test]
    fn sweeping_commands_are_known_with_the_place_that_they_sweep() {
        for (line, place) in [
            ("cd repo && git checkout -f", "repo"),
            ("git -C /repo reset --hard HEAD~1", "/repo"),
            ("(cd a/b; cd .. && git reset --hard)", "a"),
            ("cd ~/x && git stash", "/~/x"),
            ("git restore :/", ""),
            ("git switch --discard-changes main", ""),
            ("git stash", ""),
            ("git stash -m wip", ""),
            ("git stash save wip of mine", ""),
            ("git stash push -m 'wip of mine'", ""),
            ("GIT_DIR=x git stash -u", ""),
            ("bash -c 'git reset --hard'", ""),
            ("if [ -d x ]; then cd x; git reset --hard; fi", "x"),
            ("env A=1 git reset --hard", ""),
            ("sudo -u me git reset --hard", ""),
            ("! git reset --hard || true", ""),
            ("echo $(git reset --hard)", ""),
            ("git \\\n  reset --hard", ""),
            ("bash -euo pipefail -c 'git reset --hard'", ""),
            ("while read -r x; do git reset --hard; done < f", ""),
            ("case $x in a) git reset --hard;; esac", ""),
            ("sh -lc \"cd a && git reset --hard\"", "a"),
            ("(cd web && npm test) && git reset --hard", ""),
            ("cd a; bash -c 'cd b; ls'; git reset --hard", "a"),
            ("here=$(cd \"$(dirname \"$0\")\" && pwd); git reset --hard", ""),
            ("((cd a; ls); cd b; (git reset --hard))", "b"),
            ("eval 'cd a'; git reset --hard", "a"),
            ("{ cd a; }; cd -P b && git reset --hard", "a/b"),
        ] {
            assert_eq!(Effect::of(line).sweeps, [place], "{line}");
        }
    }

    #[test]
    fn harmless_ones_are_left_alone() {
        for line in [
            "git checkout main",
            "git checkout -b topic",
            "git stash list",
            "git stash pop",
            "git clean -nfd",
            "git clean -fdX",
            "git reset HEAD~1",
            "git restore --staged .",
            "git status",
            "echo git checkout .",
            "rg 'git stash'",
            "git commit -m 'no; git stash'",
            "git log --format=%f",
            "cat <<EOF\ngit reset --hard\nEOF",
            "cat > notes <<'X'\ngit clean -fd\nX\nls",
            "git reset --hard --help",
            "git help reset --hard",
            "command -v git reset --hard",
            "git commit -m \"$(cat <<'X'\nit's git reset --hard (\nX\n)\"",
            "git rm --cached -rf src",
            "git rm -r src",
        ] {
            let effect = Effect::of(line);
            assert!(effect.sweeps.is_empty() && effect.undoes.is_empty(), "{line}");
        }
    }

    #[test]
    fn what_is_named_is_undone_and_nothing_else() {
        for (line, undoes) in [
            ("git checkout -- . && git clean -fd test", &["", "test"][..]),
            ("git checkout .", &[""]),
            ("git restore .", &[""]),
            ("git restore -s HEAD~1 src/", &["src"]),
            ("git clean -xdf", &[""]),
            ("git clean -fd -e keep tmp", &["tmp"]),
            ("git checkout HEAD -- src/a.ts 'src/b c.ts'", &["src/a.ts", "src/b c.ts"]),
            ("git checkout -- 'src/x/*.ts' '*.md'", &["src/x", ""]),
            ("git stash push -m 'for later' -- src/a.ts", &["src/a.ts"]),
            ("cd src && git stash push a.ts", &["src/a.ts"]),
            ("git rm -rf src", &["src"]),
        ] {
            let effect = Effect::of(line);
            assert!(effect.sweeps.is_empty(), "{line}");
            assert_eq!(effect.undoes, undoes, "{line}");
        }
    }

    #[test]
    fn a_whole_diff_shows_all() {
        for (line, shows) in [
            ("git diff", true),
            ("git --no-pager diff HEAD | head -200", true),
            ("git diff --stat", false),
            ("git diff --name-only HEAD", false),
            ("git diff -- src/a.ts", false),
            ("git diff src", false),
            ("git diff --cached", false),
            ("echo git diff", false),
        ] {
            assert_eq!(Effect::of(line).shows_all, shows, "{line}");
        }
    }

    #[test]
    fn commits_save_what_was_added_or_everything() {
        let of = |line: &str| (Effect::of(line).commits, Effect::of(line).commits_all);
        assert_eq!(of("git add -A && git commit -m x"), (true, true));
        assert_eq!(of("git commit -am x"), (true, true));
        assert_eq!(of("git add src/a.ts && git commit -m x"), (true, false));
        assert_eq!(of("git add ."), (false, true));
    }
}
