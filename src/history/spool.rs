//! What a process could not write before it ended, because another one held the database: a file beside it, one row a
//! line, which the next writer takes in. Rows say what is, not what to add, so one that is taken in twice does no harm.

use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::apply::{Row, apply};
use super::owner::Host;

const END: &str = ".unwritten-";
/// Bytes of a file that is taken in; far more than a process leaves.
const LARGEST: u64 = 64 << 20;
/// Files taken in at a time.
const FILES: usize = 64;

#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    host: Host,
    row: Row,
}

/// Keeps rows for the next writer. Returns how many were kept.
pub fn put(database: &Path, rows: &[Row], host: &Host) -> std::io::Result<usize> {
    let Some(folder) = database.parent() else { return Ok(0) };
    super::database::make_folder(folder)?;
    let name = database.file_name().unwrap_or_default().to_string_lossy();
    for number in 0..FILES {
        let path = folder.join(format!("{name}{END}{}-{number}", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = match options.open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
            other => other?,
        };
        let mut file = BufWriter::new(file);
        for row in rows {
            serde_json::to_writer(&mut file, &Line { host: host.clone(), row: row.clone() })?;
            file.write_all(b"\n")?;
        }
        file.flush()?;
        return Ok(rows.len());
    }
    Ok(0)
}

/// Files that wait beside the database.
pub fn waiting(database: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (database.parent(), database.file_name()) else { return Vec::new() };
    let begins = format!("{}{END}", name.to_string_lossy());
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let files = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&begins));
    // Not what a link leads to, and no pipe.
    let files = files.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).take(FILES).collect();
    files.sort();
    files
}

/// Takes a file in, within a transaction of the caller. A line that is damaged costs itself only.
pub fn take(connection: &Connection, file: &Path) -> rusqlite::Result<()> {
    let small = fs::metadata(file).is_ok_and(|found| found.len() <= LARGEST);
    let bytes = if small { fs::read(file).unwrap_or_default() } else { Vec::new() };
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(Line { host, row }) = serde_json::from_slice(line) {
            apply(connection, &row, &host)?;
        }
    }
    Ok(())
}
