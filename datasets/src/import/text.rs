//! Bytes of a file to text that can be trusted: the byte-order mark is dropped, UTF-16 is named, a byte that is no
//! UTF-8 is placed by line and offset, and the file is hashed as it passes. Streaming: one buffer, whatever the size.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// Bytes read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// What a file's bytes do wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadText {
    #[error("the file is UTF-16 ({0} endian); save it as UTF-8")]
    Utf16(&'static str),
    #[error("line {line}, byte {byte} of the file: not UTF-8; save the file as UTF-8")]
    NotUtf8 { line: u64, byte: u64 },
    #[error(
        "line {line}, byte {byte} of the file: a NUL byte; the file is no text, is UTF-16 without a mark, or was damaged"
    )]
    Nul { line: u64, byte: u64 },
    #[error(
        "line {line}: the quoted cell that begins here is never closed; the file is not complete, or needs quoting off"
    )]
    OpenQuote { line: u64 },
}

/// How quotes work in the file, so that one that is never closed is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// They mean nothing; line ends are left as they are.
    None,
    /// They open a cell after this delimiter or a line end; `\r\n` becomes `\n`.
    Cells { delimiter: u8 },
    /// They mean nothing; `\r\n` becomes `\n`.
    Plain,
}

/// What was seen on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Bytes of a byte-order mark.
    pub(super) mark_bytes: u64,
    /// Line ends of two characters that became one.
    pub(super) crlf: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Start,
    Open,
    Quoted,
    Closing,
}

/// A reader that passes on checked text only.
pub(super) struct Checked<R> {
    inner: R,
    quotes: Quotes,
    hash: Sha256,
    seen: Seen,
    started: bool,
    ended: bool,
    /// Bytes not passed on yet because what follows them matters.
    held: Vec<u8>,
    ready: Vec<u8>,
    given: usize,
    line: u64,
    byte: u64,
    cell: Cell,
    cell_line: u64,
    /// Bytes passed on in all.
    passed: u64,
    /// Before which passed byte a carriage return was taken out, once for each.
    removed: Vec<u64>,
}

impl<R: Read> Checked<R> {
    pub(super) fn new(inner: R, quotes: Quotes) -> Self {
        Checked {
            inner,
            quotes,
            hash: Sha256::new(),
            seen: Seen::default(),
            started: false,
            ended: false,
            held: Vec::new(),
            ready: Vec::new(),
            given: 0,
            line: 1,
            byte: 0,
            cell: Cell::Start,
            cell_line: 1,
            passed: 0,
            removed: Vec::new(),
        }
    }

    /// Where in the file the byte stands that was passed on as number `passed`, at the beginning of a line.
    pub(super) fn place(&self, passed: u64) -> u64 {
        self.seen.mark_bytes + passed + self.removed.partition_point(|&before| before < passed) as u64
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen
    }

    /// SHA-256 of the bytes read so far, in hex.
    pub(super) fn sha256(&self) -> String {
        super::hex(&self.hash.clone().finalize())
    }

    fn fill(&mut self) -> io::Result<()> {
        let before = self.held.len();
        self.held.resize(before + CHUNK_BYTES, 0);
        let count = loop {
            match self.inner.read(&mut self.held[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = count.inspect_err(|_| self.held.truncate(before))?;
        self.held.truncate(before + count);
        self.hash.update(&self.held[before..]);
        self.ended = count == 0;
        if !self.started {
            if self.held.len() < 4 && !self.ended {
                return Ok(());
            }
            self.started = true;
            self.byte_order_mark()?;
        }
        let valid = match std::str::from_utf8(&self.held) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() && !self.ended => error.valid_up_to(),
            Err(error) => {
                return Err(self.bad(error.valid_up_to(), |line, byte| BadText::NotUtf8 { line, byte }));
            }
        };
        if let Some(at) = self.held[..valid].iter().position(|&byte| byte == 0) {
            return Err(self.bad(at, |line, byte| BadText::Nul { line, byte }));
        }
        self.pass(valid);
        if self.ended && self.cell == Cell::Quoted {
            return Err(io::Error::other(BadText::OpenQuote { line: self.cell_line }));
        }
        Ok(())
    }

    fn byte_order_mark(&mut self) -> io::Result<()> {
        let utf16 = match self.held.as_slice() {
            [0xFF, 0xFE, ..] => Some("little"),
            [0xFE, 0xFF, ..] => Some("big"),
            _ => None,
        };
        if let Some(order) = utf16 {
            return Err(io::Error::other(BadText::Utf16(order)));
        }
        if self.held.starts_with(&[0xEF, 0xBB, 0xBF]) {
            self.held.drain(..3);
            self.byte = 3;
            self.seen.mark_bytes = 3;
        }
        Ok(())
    }

    fn bad(&self, at: usize, make: impl Fn(u64, u64) -> BadText) -> io::Error {
        let lines = self.held[..at].iter().filter(|&&byte| byte == b'\n').count() as u64;
        io::Error::other(make(self.line + lines, self.byte + at as u64))
    }

    /// Makes the first `valid` held bytes ready, as far as what follows them is known.
    fn pass(&mut self, valid: usize) {
        let mut taken = valid;
        if self.quotes != Quotes::None && !self.ended && self.held[..valid].ends_with(b"\r") {
            taken -= 1;
        }
        for at in 0..taken {
            let byte = self.held[at];
            if byte == b'\r' && self.quotes != Quotes::None && self.held.get(at + 1) == Some(&b'\n') {
                self.seen.crlf += 1;
                self.removed.push(self.passed);
                continue;
            }
            self.follow(byte);
            self.line += u64::from(byte == b'\n');
            self.ready.push(byte);
            self.passed += 1;
        }
        self.byte += taken as u64;
        self.held.drain(..taken);
    }

    fn follow(&mut self, byte: u8) {
        let Quotes::Cells { delimiter } = self.quotes else { return };
        self.cell = match (self.cell, byte) {
            (Cell::Start, b'"') => {
                self.cell_line = self.line;
                Cell::Quoted
            }
            (Cell::Quoted, b'"') => Cell::Closing,
            (Cell::Quoted, _) | (Cell::Closing, b'"') => Cell::Quoted,
            (_, b'\n') => Cell::Start,
            (_, other) if other == delimiter => Cell::Start,
            _ => Cell::Open,
        };
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() {
            self.ready.clear();
            self.given = 0;
            if self.ended {
                return Ok(0);
            }
            self.fill()?;
        }
        let count = into.len().min(self.ready.len() - self.given);
        into[..count].copy_from_slice(&self.ready[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

/// A text with `\r\n` as `\n`; how many of those, and how many lone `\r` were left in it.
pub(super) fn one_line_end(text: &str) -> (String, u64, u64) {
    let pairs = text.matches("\r\n").count() as u64;
    let text = text.replace("\r\n", "\n");
    let lone = text.matches('\r').count() as u64;
    (text, pairs, lone)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, so that every border between reads is tried.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(1).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn text(bytes: &[u8], quotes: Quotes) -> Result<String, String> {
        let mut results = Vec::new();
        let mut out = String::new();
        results.push(Checked::new(bytes, quotes).read_to_string(&mut out).map(|_| out.clone()));
        out.clear();
        results.push(Checked::new(Drip(bytes), quotes).read_to_string(&mut out).map(|_| out.clone()));
        let mut results = results.into_iter().map(|result| result.map_err(|error| error.to_string()));
        let (whole, dripped) = (results.next().unwrap(), results.next().unwrap());
        assert_eq!(whole, dripped);
        whole
    }

    #[test]
    fn txt_03_marks_are_dropped_and_utf_16_is_named() {
        assert_eq!(text(b"\xEF\xBB\xBFid", Quotes::None).unwrap(), "id");
        assert_eq!(text(b"\xEF\xBB\xBF", Quotes::None).unwrap(), "");
        assert!(text(b"\xFF\xFEi\0d\0", Quotes::None).unwrap_err().contains("UTF-16 (little endian)"));
        assert!(text(b"\xFE\xFF\0i\0d", Quotes::None).unwrap_err().contains("UTF-16 (big endian)"));
        assert!(text(b"a\nb\0", Quotes::None).unwrap_err().contains("line 2, byte 3 of the file: a NUL"));
    }

    #[test]
    fn txt_02_a_byte_that_is_no_utf_8_is_placed() {
        assert!(
            text(b"ab\nc\xE6\xADd", Quotes::None)
                .unwrap_err()
                .starts_with("line 2, byte 4 of the file: not UTF-8")
        );
        assert!(text(b"\xEF\xBB\xBFx\xE6\xAD", Quotes::Plain).unwrap_err().starts_with("line 1, byte 4"));
        assert_eq!(
            text("\u{e9}\u{4e2d}\u{1F422}".as_bytes(), Quotes::Plain).unwrap(),
            "\u{e9}\u{4e2d}\u{1F422}"
        );
    }

    #[test]
    fn txt_05_line_ends_become_one_and_lone_ones_stay() {
        assert_eq!(text(b"a\r\nb\rc\r\r\nd\r", Quotes::Plain).unwrap(), "a\nb\rc\r\nd\r");
        assert_eq!(text(b"a\r\nb", Quotes::None).unwrap(), "a\r\nb");
        assert_eq!(one_line_end("a\r\nb\rc"), ("a\nb\rc".to_owned(), 1, 1));
    }

    #[test]
    fn a_quote_that_is_never_closed_is_placed() {
        let cells = Quotes::Cells { delimiter: b',' };
        assert!(text(b"a,b\n1,\"x\n2,y\n", cells).unwrap_err().starts_with("line 2: the quoted cell"));
        for fine in ["a,\"b\"\"c\",d\n", "5\" pipe,x\n", "\"x\"y\n", "\"\"\n"] {
            assert_eq!(text(fine.as_bytes(), cells).unwrap(), fine);
        }
    }
}
