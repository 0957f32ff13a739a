use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::index::{Index, Trailer};
use super::*;

/// An executable of 64 bits that holds `text`: a header, one segment that covers the whole.
fn elf(machine: u16, text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 120];
    bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    bytes[18..20].copy_from_slice(&machine.to_le_bytes());
    bytes[32..40].copy_from_slice(&64u64.to_le_bytes());
    bytes[54..56].copy_from_slice(&56u16.to_le_bytes());
    bytes[56..58].copy_from_slice(&1u16.to_le_bytes());
    bytes.extend(text);
    bytes[64..68].copy_from_slice(&1u32.to_le_bytes());
    let length = bytes.len() as u64;
    bytes[96..104].copy_from_slice(&length.to_le_bytes());
    bytes
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        fs::write(folder.at("base"), elf(183, b"program")).unwrap();
        folder
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn base(&self) -> Base {
        Base::of(&self.at("base")).unwrap()
    }

    fn wrote(&self, name: &str, members: Vec<Material<'_>>) -> PathBuf {
        let out = self.at(name);
        write(&self.base(), members, &out, &mut |_| ()).unwrap();
        out
    }
}

fn two() -> Vec<Material<'static>> {
    let mut weights = Material::bytes("bundle/model/w.gguf", *b"weights that are stored");
    weights.kind = Kind::Stored;
    vec![Material::bytes("level/v3", vec![7; 100_000]), weights]
}

fn refusal(path: &Path) -> String {
    let text = Parcel::of(path).expect_err("the file is refused").to_string();
    assert!(!text.contains('\n') && text.contains(&path.display().to_string()), "{text}");
    text
}

#[test]
fn members_come_back_whole_in_order_and_smaller() {
    let folder = Folder::new();
    let path = folder.wrote("out", two());
    let parcel = Parcel::of(&path).unwrap().expect("it carries something");
    let names: Vec<&str> = parcel.members().iter().map(|member| member.name.as_str()).collect();
    assert_eq!(names, ["level/v3", "bundle/model/w.gguf"]);
    assert_eq!(parcel.bytes("level/v3", 100_000).unwrap(), vec![7; 100_000]);
    assert!(parcel.member("level/v3").unwrap().kept_bytes < 1000);
    let mut copied = Vec::new();
    let mut heard = 0;
    parcel.copy("bundle/model/w.gguf", &mut copied, &mut |bytes| heard = bytes).unwrap().unwrap();
    assert_eq!(copied, b"weights that are stored");
    assert_eq!(heard, 23);
    assert_eq!(parcel.stretch("bundle/model/w.gguf", 8, 4).unwrap().unwrap(), b"that");
    assert_eq!(parcel.stretch("bundle/model/w.gguf", 20, 4).unwrap(), None);
    assert!(parcel.has(LEVELS) && parcel.has(BUNDLE) && !parcel.has("x"));
    assert!(matches!(parcel.bytes("none", 9), Err(ParcelError::Absent { .. })));
    assert!(parcel.bytes("level/v3", 99_999).is_err());
    assert_eq!(parcel.executable().machine, Machine::Aarch64);
    parcel.check_base().unwrap();
}

#[test]
fn the_executable_in_front_is_unchanged_and_the_file_can_be_started() {
    let folder = Folder::new();
    let path = folder.wrote("out", two());
    let (base, out) = (fs::read(folder.at("base")).unwrap(), fs::read(&path).unwrap());
    assert_eq!(out[..base.len()], base);
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions()) & 0o777,
        0o755
    );
}

#[test]
fn the_same_parts_give_the_same_bytes_and_nothing_else_is_left() {
    let folder = Folder::new();
    let (a, b) = (folder.wrote("a", two()), folder.wrote("b", two()));
    assert_eq!(fs::read(a).unwrap(), fs::read(b).unwrap());
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 3);
}

#[test]
fn writing_that_is_stopped_leaves_nothing() {
    let folder = Folder::new();
    folder.wrote("out", two());
    let base = Base::of(&folder.at("base")).unwrap();
    let before = fs::read_dir(folder.0.path()).unwrap().count();
    let stopped = write_unless(&base, two(), &folder.at("other"), &mut |_| (), &|| true);
    assert!(stopped.unwrap_err().to_string().contains("stopped on request"));
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), before);
}

#[test]
fn a_parcel_as_base_is_stripped_and_its_members_can_be_carried_on() {
    let folder = Folder::new();
    let old = folder.wrote("old", two());
    let base = Base::of(&old).unwrap();
    let parcel = base.parcel().unwrap();
    let carried = parcel.members().iter().filter(|member| member.name.starts_with(LEVELS));
    let mut members: Vec<Material<'_>> = carried.map(|member| Material::carried(parcel, member)).collect();
    members.push(Material::bytes("bundle/config.toml", *b"seed = 1"));
    let new = folder.at("new");
    write(&base, members, &new, &mut |_| ()).unwrap();
    let again = Parcel::of(&new).unwrap().unwrap();
    assert_eq!(again.members().len(), 2);
    assert_eq!(again.bytes("level/v3", 1 << 20).unwrap(), vec![7; 100_000]);
    assert_eq!(again.base_bytes(), fs::metadata(folder.at("base")).unwrap().len());
}

#[test]
fn a_file_that_carries_nothing_is_whole() {
    let folder = Folder::new();
    assert!(Parcel::of(&folder.at("base")).unwrap().is_none());
    fs::write(folder.at("text"), "hello").unwrap();
    assert!(Parcel::of(&folder.at("text")).unwrap().is_none());
    assert!(matches!(Base::of(&folder.at("text")), Err(ParcelError::NoExecutable { .. })));
    assert!(matches!(Parcel::of(&folder.at("none")), Err(ParcelError::Io { .. })));
}

#[test]
fn a_file_cut_anywhere_behind_its_header_is_refused_except_where_nothing_follows_the_program() {
    let folder = Folder::new();
    let whole = fs::read(folder.wrote("out", two())).unwrap();
    let program = fs::metadata(folder.at("base")).unwrap().len() as usize;
    let cut = folder.at("cut");
    for length in 64..whole.len() {
        fs::write(&cut, &whole[..length]).unwrap();
        if length == program {
            assert!(Parcel::of(&cut).unwrap().is_none());
        } else if length >= 120 {
            assert!(refusal(&cut).contains("damaged"), "cut to {length} bytes");
        } else {
            assert!(Parcel::of(&cut).is_ok_and(|found| found.is_none()), "cut to {length} bytes");
        }
    }
}

#[test]
fn bytes_behind_the_end_are_refused() {
    let folder = Folder::new();
    let path = folder.wrote("out", two());
    for more in [&b"\n"[..], &[0; 100]] {
        let longer = folder.at("longer");
        fs::copy(&path, &longer).unwrap();
        fs::OpenOptions::new().append(true).open(&longer).unwrap().write_all(more).unwrap();
        assert!(refusal(&longer).contains("followed by other bytes"));
    }
    fs::write(folder.at("plain"), [elf(62, b"x"), b"garbage".to_vec()].concat()).unwrap();
    assert!(refusal(&folder.at("plain")).contains("damaged"));
}

#[test]
fn a_changed_byte_anywhere_is_found_before_anything_is_believed() {
    let folder = Folder::new();
    let whole = fs::read(folder.wrote("out", two())).unwrap();
    let program = fs::metadata(folder.at("base")).unwrap().len() as usize;
    let changed = folder.at("changed");
    for place in 120..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        fs::write(&changed, &bytes).unwrap();
        let text = match Parcel::of(&changed) {
            Err(error) => error.to_string(),
            Ok(None) => panic!("byte {place}: taken for a file that carries nothing"),
            Ok(Some(parcel)) => {
                let read = |member: &Member| parcel.bytes(&member.name, 1 << 20);
                let contents: Result<Vec<_>, _> = parcel.members().iter().map(read).collect();
                match parcel.check_base().and(contents) {
                    Err(error) => error.to_string(),
                    // Compression has a bit that means nothing.
                    Ok(contents) => {
                        assert_eq!(contents, [vec![7; 100_000], b"weights that are stored".to_vec()]);
                        assert_eq!(place, program + 4);
                        continue;
                    }
                }
            }
        };
        assert!(text.contains("damaged") || text.contains("format"), "{text}");
    }
}

/// A file whose trailer and hash are right around an index that lies.
fn lying(folder: &Folder, content: &[u8], index: &Index) -> PathBuf {
    let mut bytes = fs::read(folder.at("base")).unwrap();
    bytes.extend(content);
    let frame = crate::frame::encode(index).unwrap();
    let trailer = Trailer::of(bytes.len() as u64, &frame);
    bytes.extend(frame);
    bytes.extend(trailer.encode());
    let path = folder.at("lying");
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn an_index_that_lies_is_refused_and_costs_no_memory() {
    let folder = Folder::new();
    let base_bytes = fs::metadata(folder.at("base")).unwrap().len();
    let member = |name: &str, kept_bytes: u64, bytes: u64| Member {
        name: name.to_owned(),
        kind: if kept_bytes == bytes { Kind::Stored } else { Kind::Zstd },
        kept_bytes,
        bytes,
        sha256: [0; 32],
    };
    let index = |members| Index { base_bytes, base_sha256: [0; 32], members };
    for (members, reason) in [
        (vec![member("../x", 4, 4)], "`..`"),
        (vec![member("/x", 4, 4)], "empty parts"),
        (vec![member("a\nb", 4, 4)], "control"),
        (vec![member("x", 2, 2), member("x", 2, 2)], "twice"),
        (vec![member("x", 5, 5)], "add up"),
        (vec![member("x", u64::MAX, u64::MAX), member("y", 6, 6)], "add up"),
        (vec![Member { kind: Kind::Stored, ..member("x", 4, 5) }], "contradicts"),
    ] {
        let text = refusal(&lying(&folder, b"four", &index(members)));
        assert!(text.contains(reason), "{text}");
    }
    let text = refusal(&lying(&folder, b"four", &Index { base_bytes: 3, ..index(vec![member("x", 4, 4)]) }));
    assert!(text.contains("add up"), "{text}");
    // A small member that claims to be huge, and one that is no compressed data at all.
    let small = zstd::encode_all(&[0u8; 50][..], 3).unwrap();
    let path = lying(&folder, &small, &index(vec![member("x", small.len() as u64, 1 << 60)]));
    let parcel = Parcel::of(&path).unwrap().unwrap();
    assert!(parcel.bytes("x", 1 << 61).unwrap_err().to_string().contains("ends too early"));
    let path = lying(&folder, b"four", &index(vec![member("x", 4, 9)]));
    let parcel = Parcel::of(&path).unwrap().unwrap();
    assert!(parcel.bytes("x", 9).unwrap_err().to_string().contains("damaged"));
    // One that unpacks to more than it claims is stopped there.
    let bomb = zstd::encode_all(&vec![0u8; 1 << 20][..], 3).unwrap();
    let path = lying(&folder, &bomb, &index(vec![member("x", bomb.len() as u64, 10)]));
    let parcel = Parcel::of(&path).unwrap().unwrap();
    let mut read = Vec::new();
    assert!(parcel.open("x").unwrap().read_to_end(&mut read).unwrap_err().to_string().contains("longer"));
    assert_eq!(read.len(), 10);
}

#[test]
fn what_cannot_be_written_is_said_and_leaves_nothing() {
    let folder = Folder::new();
    let out = folder.at("out");
    let fails = |members| write(&folder.base(), members, &out, &mut |_| ()).unwrap_err().to_string();
    assert!(fails(vec![Material::bytes("a/../b", *b"x")]).contains("`..`"));
    assert!(fails(vec![Material::bytes("a", *b"x"), Material::bytes("a", *b"y")]).contains("twice"));
    assert!(fails(vec![Material::file("a", folder.at("none"))]).contains("none: cannot open"));
    let other =
        Material { from: Origin::File(folder.at("base"), Some([1; 32])), ..Material::bytes("a", *b"") };
    assert!(fails(vec![other]).contains("changed"));
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 1);
}

#[test]
fn headers_of_this_very_program_tell_its_processor_and_its_end() {
    let own = std::env::current_exe().unwrap();
    let mut file = fs::File::open(&own).unwrap();
    let found = Executable::read(&mut file).unwrap().expect("an executable");
    assert_eq!(Some(found.machine), Machine::own());
    assert_eq!(found.end_bytes, fs::metadata(&own).unwrap().len());
}

#[test]
fn headers_that_make_no_sense_are_no_executable() {
    let read = |bytes: Vec<u8>| Executable::read(&mut std::io::Cursor::new(bytes)).unwrap();
    let whole = elf(62, b"text");
    assert!(read(whole.clone()).is_some());
    for (place, value) in [(0, 0), (4, 3), (5, 2), (39, 255), (54, 1)] {
        let mut bytes = whole.clone();
        bytes[place] = value;
        assert_eq!(read(bytes), None, "byte {place}");
    }
    assert_eq!(read(whole[..40].to_vec()), None);
    assert_eq!(Machine::named("aarch64-unknown-linux-gnu"), Some(Machine::Aarch64));
    assert_eq!(Machine::named("sparc"), None);
}
