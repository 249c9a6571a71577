//! Shell lines that throw away unsaved work of a whole tree, or save it. Read from git's own command line; an alias or
//! a script is not looked into.

/// What a line does to work that is not committed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effect {
    /// Undoes everything below a folder that is not committed.
    pub sweeps: bool,
    /// Undoes these paths.
    pub undoes: Vec<String>,
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
        for command in line.split(['\n', ';', '|', '&']) {
            let mut words = command.split_whitespace().skip_while(|word| word.contains('=') || *word == "sudo");
            if words.next().is_none_or(|program| program.rsplit('/').next() != Some("git")) {
                continue;
            }
            let mut words = words.peekable();
            // Flags of git itself stand before the verb; two of them have a value.
            while let Some(flag) = words.next_if(|word| word.starts_with('-')) {
                if matches!(flag, "-C" | "-c") {
                    words.next();
                }
            }
            let Some(verb) = words.next() else { continue };
            effect.take(verb, &words.map(|word| word.trim_matches(['"', '\''])).collect::<Vec<_>>());
        }
        effect
    }

    fn take(&mut self, verb: &str, words: &[&str]) {
        let flag = |long: &str, short: char| {
            words.iter().any(|word| {
                *word == long || word.starts_with('-') && !word.starts_with("--") && word[1..].contains(short)
            })
        };
        let places: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
        match verb {
            "checkout" => {
                let separated = words.iter().position(|word| *word == "--");
                let paths = separated.map_or(&[][..], |index| &words[index + 1..]);
                if flag("--force", 'f') && paths.is_empty() || places.contains(&".") {
                    self.sweeps = true;
                } else {
                    self.undo(paths);
                }
            }
            "restore" if !words.contains(&"--staged") || words.contains(&"--worktree") => self.undo(&places),
            "reset" => self.sweeps |= words.contains(&"--hard"),
            "clean" => self.sweeps |= flag("--force", 'f') && !flag("--dry-run", 'n'),
            "stash" => self.sweeps |= matches!(places.first(), None | Some(&("push" | "save"))),
            "commit" => {
                self.commits = true;
                self.commits_all |= flag("--all", 'a');
            }
            "add" => self.commits_all |= flag("--all", 'A') || places.contains(&"."),
            _ => {}
        }
    }

    fn undo(&mut self, paths: &[&str]) {
        for path in paths {
            // A folder or a pattern holds what others may have there.
            if path.contains('*') || path.ends_with('/') || *path == "." || *path == ":/" {
                self.sweeps = true;
            } else {
                self.undoes.push((*path).to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeping_commands_are_known() {
        for line in [
            "git checkout -- . && git clean -fd test",
            "git checkout .",
            "cd repo && git checkout -f",
            "git restore .",
            "git restore src/",
            "git -C /repo reset --hard HEAD~1",
            "git clean -xdf",
            "git stash",
            "git stash push -m wip",
            "GIT_DIR=x git stash -u",
        ] {
            assert!(Effect::of(line).sweeps, "{line}");
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
            "git reset HEAD~1",
            "git restore --staged .",
            "git status",
            "echo git checkout .",
            "rg 'git stash'",
            "git log --format=%f",
        ] {
            assert!(!Effect::of(line).sweeps, "{line}");
        }
    }

    #[test]
    fn named_files_are_undone_one_by_one() {
        let effect = Effect::of("git checkout HEAD -- src/a.ts 'src/b.ts'");
        assert_eq!((effect.sweeps, effect.undoes), (false, vec!["src/a.ts".to_owned(), "src/b.ts".to_owned()]));
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
