//! Which process a run belongs to, and whether that process is still there. Process ids recur, so each goes with its
//! start time; what another machine or container wrote cannot be judged here.

use std::collections::HashMap;

pub use crate::process::Process;
use crate::process::start_of;

/// The machine (or container) that process ids mean something on.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Host {
    /// Host name and, where there is one, the namespace of process ids.
    pub name: String,
    /// Changes with every start of the machine; empty where that cannot be told.
    pub boot: String,
}

impl Host {
    pub fn here(host_name: &str) -> Self {
        let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self {
            name: format!("{host_name} {}", namespace.display()).trim_end().to_owned(),
            boot: boot.trim().to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Running,
    Gone,
    /// On another machine, or in another container.
    Elsewhere,
}

/// Judges processes; asks the system once for each.
#[derive(Debug)]
pub struct Judge {
    here: Host,
    starts: HashMap<u32, Option<String>>,
}

impl Judge {
    pub fn new(here: Host) -> Self {
        Self { here, starts: HashMap::new() }
    }

    pub fn life(&mut self, process: &Process, host: &Host) -> Life {
        if host.name != self.here.name {
            // A machine that was started anew has a new namespace as well.
            let same_machine = host.name.split(' ').next() == self.here.name.split(' ').next();
            let restarted = !host.boot.is_empty() && !self.here.boot.is_empty() && host.boot != self.here.boot;
            return if same_machine && restarted { Life::Gone } else { Life::Elsewhere };
        }
        if host.boot != self.here.boot {
            return Life::Gone;
        }
        match self.starts.entry(process.pid).or_insert_with(|| start_of(process.pid)) {
            Some(start) if *start == process.start => Life::Running,
            // Something has this id; whether it is the same cannot be told, so nothing is claimed.
            Some(_) if process.start.is_empty() => Life::Elsewhere,
            None | Some(_) => Life::Gone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_a_later_one_with_its_id() {
        let here = Host::here("box");
        let mut judge = Judge::new(here.clone());
        let this = Process::this();
        assert!(!this.start.is_empty());
        assert_eq!(judge.life(&this, &here), Life::Running);
        assert_eq!(judge.life(&Process { start: "1".into(), ..this.clone() }, &here), Life::Gone);
        assert_eq!(judge.life(&Process { start: String::new(), ..this }, &here), Life::Elsewhere);
    }

    #[test]
    fn a_process_that_ended_is_gone_even_before_somebody_waits_for_it() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let here = Host::here("box");
        let process = Process::of(child.id());
        assert_eq!(Judge::new(here.clone()).life(&process, &here), Life::Running);
        child.kill().unwrap();
        let mut lives = std::iter::repeat_with(|| Judge::new(here.clone()).life(&process, &here));
        assert!(lives.any(|life| life == Life::Gone));
        child.wait().unwrap();
        assert_eq!(Judge::new(here.clone()).life(&process, &here), Life::Gone);
    }

    #[test]
    fn what_runs_on_another_machine_is_not_judged_and_what_ran_before_a_restart_is_gone() {
        let here = Host { name: "box pid:[1]".into(), boot: "b".into() };
        let mut judge = Judge::new(here.clone());
        let this = Process::this();
        let other = |name: &str, boot: &str| Host { name: name.into(), boot: boot.into() };
        assert_eq!(judge.life(&this, &other("other pid:[1]", "b")), Life::Elsewhere);
        assert_eq!(judge.life(&this, &other("other pid:[1]", "c")), Life::Elsewhere);
        assert_eq!(judge.life(&this, &other("box pid:[2]", "b")), Life::Elsewhere);
        assert_eq!(judge.life(&this, &other("box pid:[2]", "c")), Life::Gone);
        assert_eq!(judge.life(&this, &other("box pid:[1]", "c")), Life::Gone);
    }
}
