//! What is wrong with a database, as a sentence for people that says what to do next.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// No folder, no file, no permission.
    Unreachable,
    ReadOnly,
    Locked,
    Full,
    Corrupt,
    Newer,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub kind: Kind,
    pub path: PathBuf,
    pub detail: String,
}

impl Problem {
    pub fn new(kind: Kind, path: &Path, detail: impl Into<String>) -> Self {
        Self { kind, path: path.to_owned(), detail: detail.into() }
    }

    pub fn of(path: &Path, error: &rusqlite::Error) -> Self {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Kind::Locked,
            Some(ErrorCode::ReadOnly) => Kind::ReadOnly,
            Some(ErrorCode::DiskFull) => Kind::Full,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Kind::Corrupt,
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Kind::Unreachable,
            _ => Kind::Other,
        };
        Self::new(kind, path, error.to_string())
    }

    /// For somebody who asked, and whom the watchdog's going on does not concern.
    pub fn asked(&self) -> String {
        let path = self.path.display();
        match self.kind {
            Kind::Unreachable => format!("the history {path} cannot be read: {}", self.detail),
            Kind::Locked => format!("the history {path} is locked by another program; try again"),
            Kind::Corrupt => {
                format!(
                    "the history {path} is damaged ({}); the next Pi sets it aside and begins a new one",
                    self.detail
                )
            }
            Kind::Newer => format!(
                "the history {path} was written by a newer version ({}); update pi-watchdog-supervisor",
                self.detail
            ),
            Kind::ReadOnly | Kind::Full | Kind::Other => format!("the history {path} cannot be used: {}", self.detail),
        }
    }

    /// It may pass: what was not written is kept and tried again.
    pub fn passes(&self) -> bool {
        matches!(self.kind, Kind::Locked | Kind::Full | Kind::Other)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, path, detail } = self;
        let path = path.display();
        let goes_on = "The watchdog goes on without a history";
        match kind {
            Kind::Unreachable => write!(
                f,
                "The history {path} cannot be opened ({detail}). {goes_on}; make its folder writable for you, or set \"history\": false."
            ),
            Kind::ReadOnly => write!(
                f,
                "The history {path} cannot be written: it, or its folder, is read-only. {goes_on}; make the file and its folder writable for you, or set \"history\": false."
            ),
            Kind::Locked => write!(
                f,
                "The history {path} is locked by another program. The watchdog goes on and writes when the lock is gone; close what holds the file open."
            ),
            Kind::Full => write!(
                f,
                "The history {path} cannot be written: the disk is full. The watchdog goes on and writes when there is room; free some space."
            ),
            Kind::Corrupt => write!(f, "The history {path} is damaged ({detail})."),
            Kind::Newer => write!(
                f,
                "The history {path} was written by a newer version ({detail}); it is left as it is. {goes_on}; update pi-watchdog-supervisor."
            ),
            Kind::Other => write!(
                f,
                "The history {path} cannot be written ({detail}). The watchdog goes on and tries again; if it stays so, move the file away."
            ),
        }
    }
}

impl std::error::Error for Problem {}
