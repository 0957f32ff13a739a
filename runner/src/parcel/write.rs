//! Writes parcels: the same parts give the same bytes.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::index::{Index, Kind, Member, Trailer};
use super::{Executable, MAX_MEMBERS, Parcel, ParcelError, check_name};

/// Strength of compression. A parcel is made once and sent often.
const LEVEL: i32 = 19;

/// The executable in front of a new parcel: that of a file, without what the file carries.
#[derive(Debug)]
pub struct Base {
    path: PathBuf,
    executable: Executable,
    parcel: Option<Parcel>,
}

impl Base {
    /// Looks at a file.
    pub fn of(path: &Path) -> Result<Base, ParcelError> {
        let parcel = Parcel::of(path)?;
        let executable = match &parcel {
            Some(parcel) => {
                parcel.check_base()?;
                *parcel.executable()
            }
            None => {
                let mut file = File::open(path).map_err(ParcelError::io(path, "open the file"))?;
                let found = Executable::read(&mut file).map_err(ParcelError::io(path, "read the file"))?;
                found.ok_or_else(|| ParcelError::NoExecutable {
                    path: path.to_owned(),
                    reason: "not an executable for Linux (ELF, little-endian)".to_owned(),
                })?
            }
        };
        Ok(Base { path: path.to_owned(), executable, parcel })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its headers tell.
    pub fn executable(&self) -> &Executable {
        &self.executable
    }

    /// What the file carries.
    pub fn parcel(&self) -> Option<&Parcel> {
        self.parcel.as_ref()
    }

    /// The executable alone, from its beginning.
    pub fn program(&self) -> Result<io::Take<File>, ParcelError> {
        let file = File::open(&self.path).map_err(ParcelError::io(&self.path, "open the file"))?;
        Ok(file.take(self.executable.end_bytes))
    }
}

/// What becomes a member.
#[derive(Debug)]
pub struct Material<'a> {
    /// Its name.
    pub name: String,
    /// How it is kept.
    pub kind: Kind,
    /// Where it comes from.
    pub from: Origin<'a>,
}

/// Where the content of a member comes from.
#[derive(Debug)]
pub enum Origin<'a> {
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// A file. With a hash it must have this content.
    File(PathBuf, Option<[u8; 32]>),
    /// A member of the same name in another parcel, as it lies there; its kind is kept.
    Parcel(&'a Parcel),
}

impl<'a> Material<'a> {
    /// Bytes, compressed.
    pub fn bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Material { name: name.into(), kind: Kind::Zstd, from: Origin::Bytes(bytes.into()) }
    }

    /// A file, compressed.
    pub fn file(name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Material { name: name.into(), kind: Kind::Zstd, from: Origin::File(path.into(), None) }
    }

    /// A file as it is: weights hardly get smaller.
    pub fn stored(name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Material { kind: Kind::Stored, ..Material::file(name, path) }
    }

    /// A member of another parcel.
    pub fn carried(parcel: &'a Parcel, member: &Member) -> Self {
        Material { name: member.name.clone(), kind: member.kind, from: Origin::Parcel(parcel) }
    }
}

/// Writes base and members to `out`: beside it under a temporary name, forced to the device, then renamed, executable.
/// Gives the index that was written. `progress` hears the bytes of the file so far.
pub fn write(
    base: &Base,
    members: Vec<Material<'_>>,
    out: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Member>, ParcelError> {
    write_unless(base, members, out, progress, &|| false)
}

/// The same, given up as soon as `stopped` says so: nothing is left of it then.
pub fn write_unless(
    base: &Base,
    members: Vec<Material<'_>>,
    out: &Path,
    progress: &mut dyn FnMut(u64),
    stopped: &dyn Fn() -> bool,
) -> Result<Vec<Member>, ParcelError> {
    check(&members)?;
    let new = temporary(out);
    let made = compose(base, members, &new, progress, stopped);
    let made = made.and_then(|index| {
        std::fs::rename(&new, out).map_err(ParcelError::io(out, "put the file in its place"))?;
        Ok(index)
    });
    if made.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    made
}

fn check(members: &[Material<'_>]) -> Result<(), ParcelError> {
    let fail = |name: &str, reason: String| Err(ParcelError::Unwritable { name: name.to_owned(), reason });
    let mut names = HashSet::new();
    for member in members {
        if let Err(reason) = check_name(&member.name) {
            return fail(&member.name, format!("the name {reason}"));
        }
        if !names.insert(member.name.as_str()) {
            return fail(&member.name, "the name stands twice".to_owned());
        }
    }
    match members.get(MAX_MEMBERS) {
        Some(member) => fail(&member.name, format!("a file carries at most {MAX_MEMBERS} members")),
        None => Ok(()),
    }
}

fn temporary(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    out.with_file_name(name)
}

fn compose(
    base: &Base,
    members: Vec<Material<'_>>,
    new: &Path,
    progress: &mut dyn FnMut(u64),
    stopped: &dyn Fn() -> bool,
) -> Result<Vec<Member>, ParcelError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // A file that is still incomplete cannot be started.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(new).map_err(ParcelError::io(new, "make the file"))?;
    let mut out = Counted { inner: BufWriter::with_capacity(1 << 20, file), bytes: 0, progress, stopped };
    let (_, base_sha256) = hashed(&mut base.program()?, &base.path, &mut out, new)?;
    let base_bytes = out.bytes;
    if base_bytes != base.executable.end_bytes
        || base.parcel.as_ref().is_some_and(|old| old.base_sha256() != base_sha256)
    {
        return Err(ParcelError::damaged(&base.path, "it changed while it was read"));
    }
    let mut written = Vec::new();
    for member in members {
        written.push(add(member, &mut out, new)?);
    }
    let index = Index { base_bytes, base_sha256, members: written };
    let frame = index.encode().map_err(|reason| ParcelError::Unwritable { name: "index".into(), reason })?;
    let trailer = Trailer::of(out.bytes, &frame);
    let failed = || ParcelError::io(new, "write the file");
    out.write_all(&frame).and_then(|()| out.write_all(&trailer.encode())).map_err(failed())?;
    let file = out.inner.into_inner().map_err(|error| failed()(error.into_error()))?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .map_err(ParcelError::io(new, "make the file executable"))?;
    file.sync_all().map_err(ParcelError::io(new, "force the file to the device"))?;
    Ok(index.members)
}

fn add(member: Material<'_>, out: &mut Counted<'_>, new: &Path) -> Result<Member, ParcelError> {
    let before = out.bytes;
    let Material { name, kind, from } = member;
    let (bytes, sha256, expected) = match from {
        Origin::Parcel(parcel) => {
            let found = parcel
                .member(&name)
                .cloned()
                .ok_or_else(|| ParcelError::Absent { path: parcel.path().to_owned(), name: name.clone() })?;
            // What is carried on is checked first: damage must not travel under a new hash of the index.
            parcel
                .copy(&name, &mut io::sink(), &mut |_| ())?
                .map_err(ParcelError::io(new, "write the file"))?;
            copy(&mut parcel.kept(&name)?, parcel.path(), out, new)?;
            return Ok(found);
        }
        Origin::Bytes(content) => {
            let (bytes, sha256) =
                pack(&mut &content[..], Path::new(&name), content.len() as u64, kind, out, new)?;
            (bytes, sha256, None)
        }
        Origin::File(path, expected) => {
            let mut file = File::open(&path).map_err(ParcelError::io(&path, "open the file"))?;
            let length = file.seek(SeekFrom::End(0)).map_err(ParcelError::io(&path, "read the file"))?;
            file.rewind().map_err(ParcelError::io(&path, "read the file"))?;
            let (bytes, sha256) = pack(&mut file, &path, length, kind, out, new)?;
            if bytes != length {
                return Err(ParcelError::Unwritable {
                    name,
                    reason: "the file changed while it was read".into(),
                });
            }
            (bytes, sha256, expected)
        }
    };
    if expected.is_some_and(|expected| expected != sha256) {
        return Err(ParcelError::Unwritable {
            name,
            reason: "the file changed after it was looked at".into(),
        });
    }
    Ok(Member { name, kind, kept_bytes: out.bytes - before, bytes, sha256 })
}

/// Writes content in its form; gives its length and hash.
fn pack(
    content: &mut dyn Read,
    path: &Path,
    length: u64,
    kind: Kind,
    out: &mut Counted<'_>,
    new: &Path,
) -> Result<(u64, [u8; 32]), ParcelError> {
    if kind == Kind::Stored {
        return hashed(content, path, out, new);
    }
    let failed = || ParcelError::io(new, "compress into the file");
    let mut encoder = zstd::stream::write::Encoder::new(out, LEVEL).map_err(failed())?;
    encoder.set_pledged_src_size(Some(length)).map_err(failed())?;
    let done = hashed(content, path, &mut encoder, new)?;
    encoder.finish().map_err(failed())?;
    Ok(done)
}

/// Copies; gives length and hash.
fn hashed(
    from: &mut dyn Read,
    path: &Path,
    to: &mut dyn Write,
    new: &Path,
) -> Result<(u64, [u8; 32]), ParcelError> {
    let mut tee = Tee { inner: from, hash: Sha256::new(), bytes: 0 };
    copy(&mut tee, path, to, new)?;
    Ok((tee.bytes, tee.hash.finalize().into()))
}

/// Copies, and tells a fault of the source from one of the target.
fn copy(from: &mut dyn Read, path: &Path, to: &mut dyn Write, new: &Path) -> Result<(), ParcelError> {
    let mut piece = vec![0; 1 << 20];
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(ParcelError::io(path, "read the file")(error)),
        };
        to.write_all(&piece[..count]).map_err(ParcelError::io(new, "write the file"))?;
    }
}

struct Tee<'a> {
    inner: &'a mut dyn Read,
    hash: Sha256,
    bytes: u64,
}

impl Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(&buffer[..count]);
        self.bytes += count as u64;
        Ok(count)
    }
}

struct Counted<'a> {
    inner: BufWriter<File>,
    bytes: u64,
    progress: &'a mut dyn FnMut(u64),
    stopped: &'a dyn Fn() -> bool,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.stopped)() {
            return Err(io::Error::other("stopped on request"));
        }
        let count = self.inner.write(bytes)?;
        self.bytes += count as u64;
        (self.progress)(self.bytes);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
