//! Reads parcels. Nothing is believed before its hash is right, and nothing is set aside on the word of a header.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::index::{FORMAT, Index, Kind, MAX_INDEX_BYTES, Member, TRAILER_BYTES, Trailer};
use super::{Executable, ParcelError};

/// Largest window that a compressed member may ask for, as a power of two: 64 MiB.
const MAX_WINDOW_LOG: u32 = 26;

/// A file with members behind an executable.
#[derive(Debug)]
pub struct Parcel {
    path: PathBuf,
    index: Index,
    executable: Executable,
}

impl Parcel {
    /// The parcel of a file; `None` where the file is whole and carries nothing.
    pub fn of(path: &Path) -> Result<Option<Parcel>, ParcelError> {
        let mut file = File::open(path).map_err(ParcelError::io(path, "open the file"))?;
        let length = file.metadata().map_err(ParcelError::io(path, "examine the file"))?.len();
        let read = ParcelError::io(path, "read the file");
        match within(&mut file, length, path) {
            Err(Fault::Io(error)) => Err(read(error)),
            Err(Fault::Parcel(error)) => Err(error),
            Ok(found) => Ok(found),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The executable in front.
    pub fn executable(&self) -> &Executable {
        &self.executable
    }

    /// Bytes of the executable in front.
    pub fn base_bytes(&self) -> u64 {
        self.index.base_bytes
    }

    /// The members, in the order in which they lie.
    pub fn members(&self) -> &[Member] {
        &self.index.members
    }

    /// The member of a name.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.index.members.iter().find(|member| member.name == name)
    }

    /// Whether any member's name begins so.
    pub fn has(&self, prefix: &str) -> bool {
        self.index.members.iter().any(|member| member.name.starts_with(prefix))
    }

    /// Hashes the executable in front and compares.
    pub fn check_base(&self) -> Result<(), ParcelError> {
        let mut file = self.at(0)?.take(self.index.base_bytes);
        let mut hash = Hashing(Sha256::new());
        let bytes = io::copy(&mut file, &mut hash).map_err(ParcelError::io(&self.path, "read the file"))?;
        let same = bytes == self.index.base_bytes && hash.0.finalize()[..] == self.index.base_sha256;
        if same {
            Ok(())
        } else {
            Err(ParcelError::damaged(&self.path, "the program in it is not as packed"))
        }
    }

    /// The content of a member as a stream. Its end is an error of kind `InvalidData` unless length and hash are right,
    /// so whatever is read must be read to the end before it is believed.
    pub fn open(&self, name: &str) -> Result<Content, ParcelError> {
        let (member, at) = self.place(name)?;
        let kept = BufReader::new(self.at(at)?.take(member.kept_bytes));
        let broken = ParcelError::io(&self.path, "unpack the file");
        let inner: Box<dyn Read + Send> = match member.kind {
            Kind::Stored => Box::new(kept),
            Kind::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(kept).map_err(broken)?;
                decoder
                    .window_log_max(MAX_WINDOW_LOG)
                    .map_err(ParcelError::io(&self.path, "unpack the file"))?;
                Box::new(decoder)
            }
        };
        Ok(Content { inner, left: member.bytes, hash: Some(Sha256::new()), sha256: member.sha256 })
    }

    /// The whole content of a member that has at most so many bytes.
    pub fn bytes(&self, name: &str, most: u64) -> Result<Vec<u8>, ParcelError> {
        let (member, _) = self.place(name)?;
        if member.bytes > most {
            let reason = format!("{name} has {} bytes, more than {most}", member.bytes);
            return Err(ParcelError::damaged(&self.path, reason));
        }
        let mut bytes = Vec::new();
        let read = self.open(name)?.read_to_end(&mut bytes);
        read.map_err(|error| self.unreadable(name, error))?;
        Ok(bytes)
    }

    /// Writes the content of a member to `out`, checked at its end. `progress` hears how many bytes are done; what is
    /// wrong with `out` is told as its own error.
    pub fn copy(
        &self,
        name: &str,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<io::Result<()>, ParcelError> {
        let mut content = self.open(name)?;
        let mut piece = vec![0; 1 << 20];
        let mut done = 0;
        loop {
            let count = match content.read(&mut piece) {
                Ok(0) => return Ok(out.flush()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.unreadable(name, error)),
            };
            if let Err(error) = out.write_all(&piece[..count]) {
                return Ok(Err(error));
            }
            done += count as u64;
            progress(done);
        }
    }

    /// A stretch of a stored member, unchecked; `None` where it is compressed or ends before.
    pub fn stretch(&self, name: &str, offset: u64, bytes: u64) -> Result<Option<Vec<u8>>, ParcelError> {
        let (member, at) = self.place(name)?;
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= member.bytes);
        if member.kind != Kind::Stored || !inside {
            return Ok(None);
        }
        let mut found = Vec::new();
        let read = self.at(at + offset)?.take(bytes).read_to_end(&mut found);
        read.map_err(|error| self.unreadable(name, error))?;
        Ok((found.len() as u64 == bytes).then_some(found))
    }

    /// The bytes of a member as they lie in the file, for another parcel.
    pub(super) fn kept(&self, name: &str) -> Result<io::Take<File>, ParcelError> {
        let (member, at) = self.place(name)?;
        Ok(self.at(at)?.take(member.kept_bytes))
    }

    pub(super) fn base_sha256(&self) -> [u8; 32] {
        self.index.base_sha256
    }

    fn unreadable(&self, name: &str, error: io::Error) -> ParcelError {
        match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other => {
                ParcelError::damaged(&self.path, format!("{name}: {error}"))
            }
            _ => ParcelError::io(&self.path, "read the file")(error),
        }
    }

    fn place(&self, name: &str) -> Result<(&Member, u64), ParcelError> {
        let mut at = self.index.base_bytes;
        for member in &self.index.members {
            if member.name == name {
                return Ok((member, at));
            }
            at += member.kept_bytes;
        }
        Err(ParcelError::Absent { path: self.path.clone(), name: name.to_owned() })
    }

    fn at(&self, offset: u64) -> Result<File, ParcelError> {
        let mut file = File::open(&self.path).map_err(ParcelError::io(&self.path, "open the file"))?;
        file.seek(SeekFrom::Start(offset)).map_err(ParcelError::io(&self.path, "read the file"))?;
        Ok(file)
    }
}

enum Fault {
    Io(io::Error),
    Parcel(ParcelError),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Io(error)
    }
}

fn within(file: &mut File, length: u64, path: &Path) -> Result<Option<Parcel>, Fault> {
    let damaged = |reason: &str| Fault::Parcel(ParcelError::damaged(path, reason));
    let Some(executable) = Executable::read(file)? else {
        // What never was an executable of ours carries nothing; one that is cut in its headers looks the same.
        return Ok(None);
    };
    if executable.end_bytes > length {
        return Err(damaged("it ends inside the program"));
    }
    if executable.end_bytes == length {
        return Ok(None);
    }
    let trailer = match length - executable.end_bytes < TRAILER_BYTES as u64 {
        true => None,
        false => {
            let mut bytes = [0; TRAILER_BYTES];
            file.seek(SeekFrom::Start(length - TRAILER_BYTES as u64))?;
            file.read_exact(&mut bytes)?;
            Trailer::decode(&bytes)
        }
    };
    let trailer = trailer.ok_or_else(|| {
        damaged("what it carries does not end as it should: cut, or followed by other bytes")
    })?;
    if trailer.format != FORMAT {
        let path = path.to_owned();
        return Err(Fault::Parcel(ParcelError::Format { path, found: trailer.format, known: FORMAT }));
    }
    let ends = trailer
        .index_at
        .checked_add(trailer.index_bytes)
        .and_then(|end| end.checked_add(TRAILER_BYTES as u64));
    if ends != Some(length)
        || trailer.index_bytes > MAX_INDEX_BYTES
        || trailer.index_at < executable.end_bytes
    {
        return Err(damaged("its index does not lie where its end says"));
    }
    file.seek(SeekFrom::Start(trailer.index_at))?;
    let mut bytes = Vec::new();
    file.take(trailer.index_bytes).read_to_end(&mut bytes)?;
    if Sha256::digest(&bytes)[..] != trailer.index_sha256 {
        return Err(damaged("its index is not as packed"));
    }
    let index = Index::decode(&bytes).map_err(|reason| damaged(&reason))?;
    if index.base_bytes != executable.end_bytes || index.end_bytes() != Some(trailer.index_at) {
        return Err(damaged("the lengths in its index do not add up"));
    }
    Ok(Some(Parcel { path: path.to_owned(), index, executable }))
}

struct Hashing(Sha256);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The content of a member, checked at its end.
pub struct Content {
    inner: Box<dyn Read + Send>,
    left: u64,
    /// Taken away when the end was checked.
    hash: Option<Sha256>,
    sha256: [u8; 32],
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wrong = |text: &str| Err(io::Error::new(io::ErrorKind::InvalidData, text.to_owned()));
        if buffer.is_empty() {
            return Ok(0);
        }
        let Some(hash) = &mut self.hash else { return Ok(0) };
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if room > 0 {
            let count = self.inner.read(&mut buffer[..room])?;
            if count == 0 {
                return wrong("it ends too early");
            }
            hash.update(&buffer[..count]);
            self.left -= count as u64;
            return Ok(count);
        }
        let hash = self.hash.take().unwrap_or_default();
        if self.inner.read(&mut [0])? != 0 {
            return wrong("it is longer than packed");
        }
        if hash.finalize()[..] != self.sha256 {
            return wrong("its content is not as packed");
        }
        Ok(0)
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Content").field("left", &self.left).finish_non_exhaustive()
    }
}
