//! Processes for the extension: who is at the other end of a socket, who started it, and an end that reaches only the
//! process that is meant. Node shows none of that; the calls of the system here are the ones that prove it.

use napi::Result;
use napi_derive::napi;

use super::strings::{Text, owned};
use crate::process::{self, Process};

/// A process that runs; with its start time it is no other one with the same id.
#[napi(object)]
pub struct JsProcess {
    pub pid: u32,
    pub start: String,
    /// Its command line, words with a space between; empty where it cannot be read.
    pub command: String,
}

/// The process at the other end of a connected local socket, when it is this user's and its start can be told.
#[napi(catch_unwind)]
pub fn socket_peer(descriptor: i32) -> Option<JsProcess> {
    let pid = u32::try_from(peer_of(descriptor)?).ok().filter(|pid| *pid > 0)?;
    let start = process::start_of(pid)?;
    process::owned(pid).then(|| JsProcess { pid, start, command: String::new() })
}

/// A process and those above it, as far as they can be seen.
#[napi(catch_unwind)]
pub fn process_ancestry(pid: u32) -> Vec<JsProcess> {
    let line = process::ancestry(pid).into_iter();
    line.map(|(Process { pid, start }, command)| JsProcess { pid, start, command }).collect()
}

/// When a process started; nothing when none runs under this id.
#[napi(catch_unwind)]
pub fn process_start(pid: u32) -> Option<String> {
    process::start_of(pid)
}

/// Asks a process to end (SIGTERM), when it is still the one that started then and belongs to this user.
#[napi(catch_unwind, ts_args_type = "pid: number, start: string")]
pub fn process_end(pid: u32, start: Text) -> Result<bool> {
    let start = owned(start)?;
    Ok(pid != std::process::id() && end(pid, &start))
}

#[cfg(target_os = "linux")]
fn peer_of(descriptor: i32) -> Option<i32> {
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = libc::socklen_t::try_from(size_of::<libc::ucred>()).ok()?;
    let into = (&raw mut found).cast();
    // SAFETY: `into` is a `ucred`, and `size` is its size; a wrong descriptor is an error of the call.
    let code = unsafe { libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_PEERCRED, into, &raw mut size) };
    (code == 0 && size as usize == size_of::<libc::ucred>()).then_some(found.pid)
}

#[cfg(target_os = "macos")]
fn peer_of(descriptor: i32) -> Option<i32> {
    let mut pid: libc::pid_t = 0;
    let mut size = libc::socklen_t::try_from(size_of::<libc::pid_t>()).ok()?;
    let into = (&raw mut pid).cast();
    // SAFETY: `into` is a `pid_t`, and `size` is its size; a wrong descriptor is an error of the call.
    let code = unsafe { libc::getsockopt(descriptor, libc::SOL_LOCAL, libc::LOCAL_PEERPID, into, &raw mut size) };
    (code == 0).then_some(pid)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn peer_of(_descriptor: i32) -> Option<i32> {
    None
}

#[cfg(target_os = "linux")]
fn end(pid: u32, start: &str) -> bool {
    use std::os::fd::{FromRawFd, OwnedFd};

    // SAFETY: no memory is passed; what comes back is a descriptor of our own or an error.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let Some(descriptor) = i32::try_from(opened).ok().filter(|descriptor| *descriptor >= 0) else {
        // A kernel before 5.3: between the look and the signal is the time of one call.
        return Process::verified(pid, start).is_some() && signal(pid);
    };
    // SAFETY: the call made it, and nobody else has it.
    let _closes = unsafe { OwnedFd::from_raw_fd(descriptor) };
    // Looked at after it was opened: whatever has the id now is what the descriptor means.
    if Process::verified(pid, start).is_none() {
        return false;
    }
    let none = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: the descriptor is open, and a null pointer stands for the usual contents.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, descriptor, libc::SIGTERM, none, 0) == 0 }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn end(pid: u32, start: &str) -> bool {
    Process::verified(pid, start).is_some() && signal(pid)
}

#[cfg(unix)]
fn signal(pid: u32) -> bool {
    // SAFETY: no memory is passed. An id of 0 would mean a group; it has no start and is never verified.
    i32::try_from(pid).is_ok_and(|pid| pid > 0 && unsafe { libc::kill(pid, libc::SIGTERM) } == 0)
}

#[cfg(not(unix))]
fn end(_pid: u32, _start: &str) -> bool {
    false
}
