//! Why a file could not be replayed. Every message says what to do next; the caller adds the name of the file.

use std::{fmt, io};

#[derive(Debug)]
pub enum ReplayError {
    Io(io::Error),
    Directory,
    /// A pipe, a socket or a device.
    NotAFile,
    Empty,
    Unrecognised,
    /// Labelled cases where a session or a trace was wanted.
    HoldsCases,
    NoCases,
    /// Whoever started the replay has ended it.
    Cancelled,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => match error.kind() {
                io::ErrorKind::NotFound => f.write_str("there is no such file; check the path"),
                io::ErrorKind::PermissionDenied => f.write_str("you may not read this file; check its permissions"),
                _ => write!(f, "it cannot be read: {error}"),
            },
            Self::Directory => f.write_str("this is a directory; name the .jsonl files in it, or sum it up with scan"),
            Self::NotAFile => f.write_str(
                "this is not a regular file but a pipe, a socket or a device; save it to a file and name that",
            ),
            Self::Empty => f.write_str("the file is empty; there is nothing to replay"),
            Self::Unrecognised => f.write_str(
                "this is neither a Pi session file nor a trace: no line is a JSON object with a type that one of them \
                 has; Pi keeps its session files under ~/.pi/agent/sessions",
            ),
            Self::HoldsCases => f.write_str("the file holds labelled cases; replay it with --cases"),
            Self::NoCases => f.write_str(
                "no line is a labelled case (an object with id and events); leave --cases out for a session or a trace",
            ),
            Self::Cancelled => f.write_str("the replay was cancelled"),
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ReplayError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
