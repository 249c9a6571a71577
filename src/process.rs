//! Processes of this machine: when one started, whose it is, and who started it. A process id alone names nothing, since
//! ids recur; with the start time it names one process. What cannot be told is `None`, and proves nothing.

/// Ancestors looked at; a chain of shells and agents is far shorter.
#[cfg(target_os = "linux")]
const MOST_ANCESTORS: usize = 64;
/// Bytes of a command line that are of use.
#[cfg(target_os = "linux")]
const COMMAND: usize = 4000;

/// A process by its id and its start time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Process {
    pub pid: u32,
    /// When it started, in whatever form the system tells it; empty where it could not be told.
    pub start: String,
}

impl Process {
    pub fn of(pid: u32) -> Self {
        Self { pid, start: start_of(pid).unwrap_or_default() }
    }

    pub fn this() -> Self {
        Self::of(std::process::id())
    }

    /// The process with this id, if it is the one that started then and belongs to the user of this process.
    pub fn verified(pid: u32, start: &str) -> Option<Self> {
        let found = start_of(pid).filter(|found| found == start && owned(pid))?;
        Some(Self { pid, start: found })
    }

    /// The process with this id, if this process started it, itself or through others.
    pub fn below_this(pid: u32) -> Option<Self> {
        let line = ancestry(pid);
        let this = std::process::id();
        let below = line.iter().skip(1).any(|(process, _)| process.pid == this);
        line.into_iter().next().map(|(process, _)| process).filter(|process| below && owned(process.pid))
    }
}

/// Whether a process belongs to the user that this process runs as.
pub fn owned(pid: u32) -> bool {
    owner_of(pid).is_some_and(|owner| owner_of(std::process::id()) == Some(owner))
}

#[cfg(target_os = "linux")]
fn owner_of(pid: u32) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    Some(std::fs::metadata(format!("/proc/{pid}")).ok()?.uid())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn owner_of(pid: u32) -> Option<u32> {
    answer(std::process::Command::new("ps").args(["-o", "uid=", "-p", &pid.to_string()]))?.parse().ok()
}

/// Windows ends no process of another user for this one.
#[cfg(not(unix))]
fn owner_of(_pid: u32) -> Option<u32> {
    Some(0)
}

/// A process, and those above it as far as they are known, each with its command line.
#[cfg(target_os = "linux")]
pub fn ancestry(pid: u32) -> Vec<(Process, String)> {
    let mut line = Vec::new();
    let mut next = pid;
    while next > 0 && line.len() < MOST_ANCESTORS {
        let Some((start, parent)) = stat(next) else { break };
        line.push((Process { pid: next, start }, command_of(next)));
        next = parent;
    }
    line
}

/// Nothing, where the system has to be asked by a program of its own.
#[cfg(not(target_os = "linux"))]
pub fn ancestry(_pid: u32) -> Vec<(Process, String)> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn command_of(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = bytes[..bytes.len().min(COMMAND)].split(|byte| *byte == 0).collect();
    words.iter().map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

/// When a process that runs started, and the id of its parent. One that ended and was not waited for is none.
#[cfg(target_os = "linux")]
fn stat(pid: u32) -> Option<(String, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything. Behind it: state and parent, then numbers; the start is the 20th field.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    Some(((*fields.get(19)?).to_owned(), fields.get(1)?.parse().ok()?))
}

/// When a process that runs started; nothing when there is none.
#[cfg(target_os = "linux")]
pub fn start_of(pid: u32) -> Option<String> {
    stat(pid).map(|(start, _)| start)
}

#[cfg(all(unix, not(target_os = "linux")))]
pub fn start_of(pid: u32) -> Option<String> {
    // The start is written in local time: in Greenwich it does not change with the seasons.
    let text = answer(std::process::Command::new("ps").env("LC_ALL", "C").env("TZ", "UTC").args([
        "-o",
        "stat=,lstart=",
        "-p",
        &pid.to_string(),
    ]))?;
    let (state, start) = text.split_once(char::is_whitespace)?;
    (!state.starts_with('Z')).then(|| start.trim().to_owned())
}

#[cfg(windows)]
pub fn start_of(pid: u32) -> Option<String> {
    let script = format!("(Get-Process -Id {pid} -ErrorAction Stop).StartTime.ToFileTimeUtc()");
    answer(std::process::Command::new("powershell").args(["-NoProfile", "-NonInteractive", "-Command", &script]))
}

#[cfg(not(target_os = "linux"))]
fn answer(command: &mut std::process::Command) -> Option<String> {
    let output = command.stdin(std::process::Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn sleeping() -> std::process::Child {
        std::process::Command::new("sleep").arg("60").spawn().unwrap()
    }

    #[test]
    fn a_process_is_verified_by_its_start_and_a_later_one_with_its_id_is_not() {
        let mut child = sleeping();
        let process = Process::of(child.id());
        assert_eq!(Process::verified(process.pid, &process.start), Some(process.clone()));
        assert_eq!(Process::verified(process.pid, "1"), None);
        assert_eq!(Process::verified(process.pid, ""), None);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(Process::verified(process.pid, &process.start), None);
    }

    #[test]
    fn what_this_process_started_is_below_it_and_nothing_else_is() {
        let mut child = sleeping();
        assert_eq!(Process::below_this(child.id()), Some(Process::of(child.id())));
        for other in [std::process::id(), std::os::unix::process::parent_id(), 1, 0, u32::MAX] {
            assert_eq!(Process::below_this(other), None, "{other}");
        }
        let line = ancestry(child.id());
        assert_eq!(line[1].0, Process::this());
        // Its command line is there once the program has been loaded.
        assert!(std::iter::repeat_with(|| ancestry(child.id())).any(|line| line[0].1 == "sleep 60"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(Process::below_this(child.id()), None);
    }

    #[test]
    fn a_process_of_another_user_is_not_owned() {
        assert!(owned(std::process::id()));
        assert!(!owned(u32::MAX));
        // Whoever runs the tests, a process of another user is there or not to be had.
        let own = owner_of(std::process::id());
        let other = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .find(|pid| owner_of(*pid).is_some_and(|uid| Some(uid) != own));
        assert!(other.is_none_or(|pid| !owned(pid) && Process::verified(pid, &Process::of(pid).start).is_none()));
    }
}
