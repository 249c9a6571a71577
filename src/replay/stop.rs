//! A flag that ends a replay from another thread, and how a file is opened without waiting for anybody.

use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ReplayError;

/// Set once, by whoever started a replay; every loop of it looks at the flag before each line.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn check(&self) -> Result<(), ReplayError> {
        if self.is_cancelled() { Err(ReplayError::Cancelled) } else { Ok(()) }
    }
}

/// For callers that never cancel.
pub static NEVER: Cancel = Cancel(AtomicBool::new(false));

/// Opens a regular file, and nothing else: a pipe would wait for its writer, a device may never end.
pub fn open(path: &Path) -> Result<(File, u64), ReplayError> {
    // Before it is opened: opening some devices has an effect.
    refuse_irregular(&fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NONBLOCK);
    let file = options.open(path)?;
    // And after: the path may name something else by now.
    let metadata = file.metadata()?;
    refuse_irregular(&metadata)?;
    Ok((file, metadata.len()))
}

/// `O_NONBLOCK`: a pipe that took the file's place is opened at once. It means nothing for a regular file.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NONBLOCK: i32 = 0o4000;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const NONBLOCK: i32 = 0x0004;

fn refuse_irregular(metadata: &fs::Metadata) -> Result<(), ReplayError> {
    if metadata.is_dir() {
        return Err(ReplayError::Directory);
    }
    if !metadata.is_file() {
        return Err(ReplayError::NotAFile);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Seek, SeekFrom};

    use super::*;
    use crate::detector::Detector;
    use crate::policy::Config;
    use crate::replay::lines::Lines;
    use crate::replay::{Cores, Scope, replay, traces};

    /// Repeats its lines without end, and cancels when so many bytes were read.
    struct Endless<'c> {
        head: Vec<u8>,
        block: Vec<u8>,
        at: u64,
        read: u64,
        cancel: &'c Cancel,
        cancel_after: u64,
    }

    impl<'c> Endless<'c> {
        fn new(head: &str, line: &str, cancel: &'c Cancel, cancel_after: u64) -> Self {
            let (head, block) = (head.as_bytes().to_vec(), line.as_bytes().to_vec());
            Self { head, block, at: 0, read: 0, cancel, cancel_after }
        }
    }

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(self.read < self.cancel_after + 64 * 1024 * 1024, "it reads on after it was cancelled");
            for byte in buffer.iter_mut() {
                let at = usize::try_from(self.at).unwrap();
                let repeated = || self.block[(at - self.head.len()) % self.block.len()];
                *byte = self.head.get(at).copied().unwrap_or_else(repeated);
                self.at += 1;
            }
            self.read += buffer.len() as u64;
            if self.read >= self.cancel_after {
                self.cancel.cancel();
            }
            Ok(buffer.len())
        }
    }

    impl Seek for Endless<'_> {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            if let SeekFrom::Start(at) = to {
                self.at = at;
            }
            Ok(self.at)
        }
    }

    const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";
    const ENTRY: &str = "{\"type\":\"label\",\"id\":\"a\",\"parentId\":\"a\",\"label\":\"x\"}\n";
    const BRANCH: &str = "{\"type\":\"label\",\"id\":\"a\",\"parentId\":null}\n";
    const USER: &str = "{\"at\":1,\"type\":\"user\",\"text\":\"x\"}\n";

    /// Every loop over lines: one path, the look at a tree, a trace, and what is no line at all.
    #[test]
    fn a_cancelled_replay_ends_wherever_it_is() {
        let branched = format!("{HEADER}{ENTRY}{BRANCH}");
        for (head, line) in [(HEADER, ENTRY), (&branched, ENTRY), ("", USER), ("", "\n"), (HEADER, "x"), ("", "x")] {
            for cores in [Cores::One, Cores::All] {
                for after in [1, 600_000] {
                    let cancel = Cancel::default();
                    let source = Endless::new(head, line, &cancel, after);
                    let scope = Scope { cores, cancel: &cancel, ..Scope::default() };
                    let ended = replay(source, u64::MAX >> 1, &Detector::new(&Config::default()), scope);
                    // Blank lines are given up on before.
                    let given_up = line == "\n" && matches!(ended, Err(ReplayError::Unrecognised));
                    assert!(given_up || matches!(ended, Err(ReplayError::Cancelled)), "{head:?} {line:?} {after}");
                }
            }
        }
    }

    #[test]
    fn cancelled_cases_end() {
        let cancel = Cancel::default();
        let case = "{\"id\":\"x\",\"events\":[]}\n";
        let lines = Lines::new(Endless::new("", case, &cancel, 1_000_000), u64::MAX >> 1, &cancel);
        let ended = traces::replay_cases(lines, &Detector::new(&Config::default()));
        assert!(matches!(ended, Err(ReplayError::Cancelled)));
    }

    #[test]
    fn a_replay_that_was_cancelled_before_opens_nothing() {
        let cancel = Cancel::default();
        cancel.cancel();
        let ended = crate::replay::replay_file(Path::new("/nowhere"), &Detector::new(&Config::default()), &cancel);
        assert!(matches!(ended, Err(ReplayError::Cancelled)));
    }

    /// A pipe without a writer: to open it would wait.
    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_opened_and_nothing_is_waited_for() {
        let folder = std::env::temp_dir().join(format!("watchdog-open-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let socket = folder.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let link = folder.join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &socket, &link, Path::new("/dev/zero"), Path::new("/dev/tty")] {
            let ended = open(path);
            // A container may have no terminal.
            let missing = !path.exists();
            assert!(missing || matches!(ended, Err(ReplayError::NotAFile)), "{}", path.display());
        }
        assert!(matches!(open(&folder), Err(ReplayError::Directory)));
        // What is opened when the pipe takes the file's place after the first look.
        let mut options = OpenOptions::new();
        options.read(true);
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NONBLOCK);
        let raced = options.open(&pipe).unwrap();
        assert!(matches!(refuse_irregular(&raced.metadata().unwrap()), Err(ReplayError::NotAFile)));
        fs::remove_dir_all(&folder).unwrap();
    }
}
