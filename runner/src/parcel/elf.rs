//! What the headers of an executable tell: its processor, and where it ends.

use std::io::{self, Read, Seek, SeekFrom};

/// Processors that the program is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 64-bit x86.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
    /// 32-bit ARM.
    Arm,
    /// Any other, by its ELF number.
    Other(u16),
}

impl Machine {
    /// The one of a name as `--target` takes it: `aarch64`, or a whole target triple of Linux.
    pub fn named(name: &str) -> Option<Machine> {
        let (machine, system) = name.split_once('-').unwrap_or((name, "linux"));
        if !system.split('-').any(|part| part == "linux") {
            return None;
        }
        Some(match machine {
            "x86_64" => Machine::X86_64,
            "aarch64" | "arm64" => Machine::Aarch64,
            "arm" | "armv7" | "armhf" => Machine::Arm,
            _ => return None,
        })
    }

    /// The one that this program was built for.
    pub fn own() -> Option<Machine> {
        Machine::named(std::env::consts::ARCH)
    }

    fn of(number: u16) -> Machine {
        match number {
            62 => Machine::X86_64,
            183 => Machine::Aarch64,
            40 => Machine::Arm,
            other => Machine::Other(other),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Machine::X86_64 => f.write_str("x86_64"),
            Machine::Aarch64 => f.write_str("aarch64"),
            Machine::Arm => f.write_str("armv7"),
            Machine::Other(number) => write!(f, "another processor (ELF machine {number})"),
        }
    }
}

/// An ELF file, as far as its headers tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executable {
    /// Its processor.
    pub machine: Machine,
    /// Where its last part ends.
    pub end_bytes: u64,
    /// Whether it asks for an interpreter: it needs libraries of the system that it runs on.
    pub is_dynamic: bool,
}

const PROGRAM_INTERPRETER: u32 = 3;
const SECTION_WITHOUT_BYTES: u32 = 8;

impl Executable {
    /// Reads the headers; `None` where the file is no ELF file of little-endian byte order, or one whose headers make
    /// no sense.
    pub fn read(file: &mut (impl Read + Seek)) -> io::Result<Option<Executable>> {
        let mut head = [0; 64];
        file.seek(SeekFrom::Start(0))?;
        let mut found = 0;
        while found < head.len() {
            match file.read(&mut head[found..])? {
                0 => break,
                count => found += count,
            }
        }
        if found < 52 || !head.starts_with(b"\x7fELF") || head[5] != 1 {
            return Ok(None);
        }
        let wide = match head[4] {
            1 => false,
            2 if found == 64 => true,
            _ => return Ok(None),
        };
        let fields = Fields { wide };
        let machine = Machine::of(short(&head, 18));
        let counts = if wide { 54 } else { 42 };
        let [program_size, programs, section_size, sections] =
            [0, 2, 4, 6].map(|at| u64::from(short(&head, counts + at)));
        let (programs_at, sections_at) = (fields.word(&head, 28, 32), fields.word(&head, 32, 40));
        let mut executable = Executable { machine, end_bytes: head_bytes(wide), is_dynamic: false };
        let mut reaches = |start: u64, bytes: u64| {
            start.checked_add(bytes).map(|end| executable.end_bytes = executable.end_bytes.max(end))
        };
        // Counts are 16 bits wide, so a table is small: 65 535 rows of at most 64 bytes that matter.
        let Some(()) = reaches(programs_at, program_size * programs) else { return Ok(None) };
        let Some(()) = reaches(sections_at, section_size * sections) else { return Ok(None) };
        let mut dynamic = false;
        for row in 0..programs {
            let Some(row) = row_of(file, programs_at, program_size, row, fields.program_bytes())? else {
                return Ok(None);
            };
            dynamic |= long(&row, 0) == PROGRAM_INTERPRETER;
            let (start, bytes) = (fields.word(&row, 4, 8), fields.word(&row, 16, 32));
            let Some(()) = reaches(start, bytes) else { return Ok(None) };
        }
        for row in 0..sections {
            let Some(row) = row_of(file, sections_at, section_size, row, fields.section_bytes())? else {
                return Ok(None);
            };
            if long(&row, 4) == SECTION_WITHOUT_BYTES || long(&row, 4) == 0 {
                continue;
            }
            let (start, bytes) = (fields.word(&row, 16, 24), fields.word(&row, 20, 32));
            let Some(()) = reaches(start, bytes) else { return Ok(None) };
        }
        executable.is_dynamic = dynamic;
        Ok(Some(executable))
    }
}

fn head_bytes(wide: bool) -> u64 {
    if wide { 64 } else { 52 }
}

/// Places of fields in the narrow and the wide form.
#[derive(Clone, Copy)]
struct Fields {
    wide: bool,
}

impl Fields {
    fn word(self, bytes: &[u8], narrow: usize, wide: usize) -> u64 {
        match self.wide {
            false => u64::from(long(bytes, narrow)),
            true => u64::from(long(bytes, wide)) | u64::from(long(bytes, wide + 4)) << 32,
        }
    }

    fn program_bytes(self) -> usize {
        if self.wide { 56 } else { 32 }
    }

    fn section_bytes(self) -> usize {
        if self.wide { 64 } else { 40 }
    }
}

/// A row of a table; `None` where the file ends before it, or rows are too short for what they should hold.
fn row_of(
    file: &mut (impl Read + Seek),
    table: u64,
    size: u64,
    row: u64,
    needed: usize,
) -> io::Result<Option<Vec<u8>>> {
    let Some(at) = table.checked_add(size * row).filter(|_| size >= needed as u64) else { return Ok(None) };
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::with_capacity(needed);
    file.take(needed as u64).read_to_end(&mut bytes)?;
    Ok((bytes.len() == needed).then_some(bytes))
}

fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
}
