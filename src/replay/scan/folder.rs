//! The session files below a folder, one after the other. Lists nothing, so the number of files does not matter.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use walkdir::{DirEntry, WalkDir};

use crate::replay::ReplayError;

/// Why a folder could not be scanned at all. The caller adds its name.
#[derive(Debug)]
pub enum ScanError {
    Io(io::Error),
    NotAFolder,
    /// Whoever started the scan has ended it.
    Cancelled,
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => match error.kind() {
                io::ErrorKind::NotFound => f.write_str("there is no such folder; check the path"),
                io::ErrorKind::PermissionDenied => f.write_str("you may not read this folder; check its permissions"),
                _ => write!(f, "it cannot be read: {error}"),
            },
            Self::Cancelled => f.write_str("the scan was cancelled"),
            Self::NotAFolder => f.write_str("this is not a folder; single files are read by replay"),
        }
    }
}

impl std::error::Error for ScanError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::NotAFolder | Self::Cancelled => None,
        }
    }
}

pub struct SessionFile {
    pub path: PathBuf,
    /// When it was found: what is appended later is left for another time.
    pub size: u64,
    pub changed: Option<SystemTime>,
}

/// A file or folder that could not be looked at.
pub struct Warning {
    pub path: PathBuf,
    pub message: String,
}

pub struct Folder {
    path: PathBuf,
    /// Without links, to tell where those in it lead.
    real: PathBuf,
}

impl Folder {
    pub fn open(path: &Path) -> Result<Self, ScanError> {
        let real = path.canonicalize().map_err(ScanError::Io)?;
        if !real.is_dir() {
            return Err(ScanError::NotAFolder);
        }
        fs::read_dir(&real).map_err(ScanError::Io)?;
        Ok(Self { path: path.to_owned(), real })
    }

    /// All `.jsonl` files. Links are followed out of the folder; what they name within it is found without them.
    pub fn files(&self) -> impl Iterator<Item = Result<SessionFile, Warning>> + Send {
        let real = self.real.clone();
        let leads_back = move |entry: &DirEntry| {
            entry.depth() > 0
                && entry.path_is_symlink()
                && entry.path().canonicalize().is_ok_and(|target| target.starts_with(&real))
        };
        let entries = WalkDir::new(&self.path).follow_links(true).into_iter();
        entries.filter_entry(move |entry| !leads_back(entry)).filter_map(|entry| match entry {
            Ok(entry) => is_named_session(&entry).then(|| session_file(entry)),
            // A ring of links, each of whose folders has been visited.
            Err(error) if error.loop_ancestor().is_some() => None,
            Err(error) => {
                let path = error.path().unwrap_or(Path::new("")).to_owned();
                let message = match error.into_io_error() {
                    Some(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                        "you may not read it; check its permissions".to_owned()
                    }
                    Some(error) if error.kind() == io::ErrorKind::NotFound => "the link leads nowhere".to_owned(),
                    Some(error) => format!("it cannot be read: {error}"),
                    None => "it cannot be read".to_owned(),
                };
                Some(Err(Warning { path, message }))
            }
        })
    }
}

fn is_named_session(entry: &DirEntry) -> bool {
    !entry.file_type().is_dir() && entry.path().extension().is_some_and(|extension| extension == "jsonl")
}

fn session_file(entry: DirEntry) -> Result<SessionFile, Warning> {
    if !entry.file_type().is_file() {
        return Err(Warning { message: ReplayError::NotAFile.to_string(), path: entry.into_path() });
    }
    match entry.metadata() {
        Ok(metadata) => {
            Ok(SessionFile { path: entry.into_path(), size: metadata.len(), changed: metadata.modified().ok() })
        }
        Err(error) => Err(Warning { message: format!("it cannot be read: {error}"), path: entry.into_path() }),
    }
}
