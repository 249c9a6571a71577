//! A file as lines, read through one reused buffer that grows to the longest line and no further.

use std::io::{self, Read, Seek, SeekFrom};

use super::{Cancel, NEVER, ReplayError};

/// Enough that a system call costs nothing against its bytes, little enough to stay in the cache.
const BUFFER: usize = 256 * 1024;
/// JavaScript cannot hold a longer string, so no program that writes such files can have written a longer line.
const LONGEST_LINE: usize = 512 * 1024 * 1024;

pub struct Lines<'c, R> {
    source: R,
    cancel: &'c Cancel,
    /// End of what is read.
    size: u64,
    longest: usize,
    buffer: Vec<u8>,
    /// Unread part of the buffer.
    from: usize,
    to: usize,
    /// Position in the file of `buffer[to]`.
    position: u64,
    /// Number of the next line, from 1.
    number: u64,
}

/// Where a line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub offset: u64,
    pub number: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Without line end, byte order mark, and NULs or white space around it.
    pub bytes: &'a [u8],
    pub place: Place,
    /// False for a last line without a line end: the file may still be written.
    pub ended: bool,
    /// The line was longer than any that is held in memory; `bytes` is empty.
    pub too_long: bool,
}

impl<'c, R: Read + Seek> Lines<'c, R> {
    pub fn new(source: R, size: u64, cancel: &'c Cancel) -> Self {
        Self { cancel, ..Self::with_limits(source, size, BUFFER, LONGEST_LINE) }
    }

    fn with_limits(source: R, size: u64, buffer: usize, longest: usize) -> Self {
        Self { source, cancel: &NEVER, size, longest, buffer: vec![0; buffer], from: 0, to: 0, position: 0, number: 1 }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// Where the next line begins.
    pub fn place(&self) -> Place {
        Place { offset: self.position - (self.to - self.from) as u64, number: self.number }
    }

    pub fn go_to(&mut self, place: Place) -> io::Result<()> {
        self.number = place.number;
        let buffered_from = self.position - self.to as u64;
        if (buffered_from..=self.position).contains(&place.offset) {
            self.from = usize::try_from(place.offset - buffered_from).expect("within the buffer");
            return Ok(());
        }
        self.source.seek(SeekFrom::Start(place.offset))?;
        (self.from, self.to, self.position) = (0, 0, place.offset);
        Ok(())
    }

    pub fn cancel(&self) -> &'c Cancel {
        self.cancel
    }

    /// The next line, `None` at the end.
    pub fn next(&mut self) -> Result<Option<Line<'_>>, ReplayError> {
        self.cancel.check()?;
        let place = self.place();
        let mut searched = 0;
        let mut too_long = false;
        let (length, ended) = loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.from + searched..self.to]) {
                break (searched + at, true);
            }
            searched = self.to - self.from;
            if searched >= self.longest {
                too_long = true;
                (self.from, self.to, searched) = (0, 0, 0);
            }
            if !self.fill()? {
                if searched == 0 && !too_long {
                    return Ok(None);
                }
                break (searched, false);
            }
        };
        let too_long = too_long || length >= self.longest;
        self.number += 1;
        let line = self.from..self.from + length;
        self.from = line.end + usize::from(ended);
        let bytes = if too_long { &[][..] } else { trimmed(&self.buffer[line], place.offset == 0) };
        Ok(Some(Line { bytes, place, ended, too_long }))
    }

    /// Reads more behind what is unread. False at the end of the file.
    fn fill(&mut self) -> Result<bool, ReplayError> {
        // A line can be as long as the file.
        self.cancel.check()?;
        if self.from > 0 {
            self.buffer.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        if self.to == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let left = usize::try_from(self.size - self.position).unwrap_or(usize::MAX);
        let room = (self.buffer.len() - self.to).min(left);
        let read = loop {
            match self.source.read(&mut self.buffer[self.to..self.to + room]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.to += read;
        self.position += read as u64;
        Ok(read > 0)
    }
}

fn trimmed(mut bytes: &[u8], first: bool) -> &[u8] {
    if first {
        bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    }
    // NULs stand where a file system lost the end of a file at a power cut and a program appended later.
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    while let [first, rest @ ..] = bytes
        && blank(first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && blank(last)
    {
        bytes = rest;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], buffer: usize, longest: usize) -> Vec<(Vec<u8>, Place, bool, bool)> {
        let mut lines = Lines::with_limits(Cursor::new(bytes), bytes.len() as u64, buffer, longest);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((line.bytes.to_vec(), line.place, line.ended, line.too_long));
        }
        seen
    }

    #[test]
    fn line_ends_marks_and_nuls_are_cut_off() {
        let seen = read(b"\xef\xbb\xbfa\r\n\0\0b \n\n\xef\xbb\xbfc", 4, 100);
        let bytes: Vec<&[u8]> = seen.iter().map(|line| &line.0[..]).collect();
        assert_eq!(bytes, [&b"a"[..], b"b", b"", b"\xef\xbb\xbfc"]);
        assert_eq!(seen.iter().map(|line| line.2).collect::<Vec<_>>(), [true, true, true, false]);
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_and_the_next_one_read() {
        for long in [40, 41, 64, 1000] {
            let text = format!("a\n{}\nb\n{}", "x".repeat(long), "y".repeat(long));
            let seen = read(text.as_bytes(), 8, 40);
            assert_eq!(seen.iter().map(|line| line.3).collect::<Vec<_>>(), [false, true, false, true], "{long}");
            assert_eq!(seen[2].0, b"b");
            assert_eq!(seen[2].1, Place { offset: 2 + long as u64 + 1, number: 3 });
        }
    }

    proptest! {
        #[test]
        fn equals_a_plain_split_for_every_buffer_size(
            bytes in proptest::collection::vec(prop_oneof![4 => Just(b'x'), 1 => Just(b'\n')], 0..200),
            buffer in 1_usize..50,
        ) {
            let seen = read(&bytes, buffer, 1000);
            let mut expected: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            if expected.last() == Some(&&b""[..]) {
                expected.pop();
            }
            prop_assert_eq!(seen.iter().map(|line| &line.0[..]).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn every_place_can_be_returned_to(
            bytes in proptest::collection::vec(prop_oneof![4 => Just(b'x'), 1 => Just(b'\n')], 1..200),
            buffer in 1_usize..50,
            order in proptest::collection::vec(any::<proptest::sample::Index>(), 1..20),
        ) {
            let all = read(&bytes, buffer, 1000);
            let mut lines = Lines::with_limits(Cursor::new(&bytes), bytes.len() as u64, buffer, 1000);
            for index in order {
                let (expected, place, ..) = index.get(&all);
                lines.go_to(*place).unwrap();
                prop_assert_eq!(lines.place(), *place);
                let line = lines.next().unwrap().unwrap();
                prop_assert_eq!((line.bytes, line.place), (&expected[..], *place));
            }
        }
    }
}
