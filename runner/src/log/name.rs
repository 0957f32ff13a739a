//! Names that every file system takes: FAT and exFAT cards, Windows laptops, network shares.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};

use crate::clock::Moment;

/// Longest name. Paths of a run folder stay far below the 260 characters that some systems allow.
const MAX_BYTES: usize = 64;

/// Names that Windows keeps for devices, with any extension.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

/// A file name of letters, digits, `.`, `_` and `-` for any text: `org/My:Model|v1?.gguf` gives
/// `org-My-Model-v1-.gguf`. A name that had to be cut ends in a checksum of the whole text.
pub fn sanitise(text: &str) -> String {
    let mut name = String::new();
    for character in text.chars() {
        let kept =
            if character.is_ascii_alphanumeric() || "._-".contains(character) { character } else { '-' };
        // One mark for a run of foreign characters; what was a dash already stays.
        if kept != character && name.ends_with('-') {
            continue;
        }
        name.push(kept);
    }
    // A leading dot hides a file, a leading dash reads as an option, a trailing dot is dropped by Windows.
    let mut name = name.trim_matches(|mark| matches!(mark, '.' | '-')).to_owned();
    if is_reserved(&name) || name.is_empty() {
        name.insert(0, '_');
    }
    if name.len() > MAX_BYTES {
        name.truncate(MAX_BYTES - 9);
        name = format!("{name}-{:08x}", crc32fast::hash(text.as_bytes()));
    }
    name
}

fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let port = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
    RESERVED.contains(&stem.as_str())
        || port.is_some_and(|port| port.len() == 1 && port.as_bytes()[0].is_ascii_digit())
}

/// Names of one folder: no two are equal, not even where case is ignored.
#[derive(Clone, Debug, Default)]
pub struct NameSet {
    taken: BTreeSet<String>,
}

impl NameSet {
    /// A name for a text that no earlier text of this set got.
    pub fn claim(&mut self, text: &str) -> String {
        let name = sanitise(text);
        let mut candidate = name.clone();
        let mut number = 2u32;
        while !self.taken.insert(candidate.to_ascii_lowercase()) {
            let suffix = format!("-{number}");
            let kept = name.len().min(MAX_BYTES - suffix.len());
            candidate = format!("{}{suffix}", &name[..kept]);
            number += 1;
        }
        candidate
    }
}

/// A run id: wall time to the second, which people sort by, then what was named, then 48 random bits. Boards
/// whose clocks start at the same wrong second, or two runs in one second, still get different ids. Lower case, so
/// that no two differ by case alone.
pub fn run_id(now: Moment, label: &str) -> String {
    // The standard library's map hasher is seeded by the operating system once per thread and counted on from
    // there; time and process number are mixed in for the systems that have little randomness at boot.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_i64(now.wall_us);
    hasher.write_u64(now.mono_us);
    hasher.write_u32(std::process::id());
    let random = hasher.finish() & 0xffff_ffff_ffff;
    let mut label = sanitise(label).to_ascii_lowercase();
    label.truncate(MAX_BYTES - "20260301t120000z--".len() - 12);
    format!("{}-{label}-{random:012x}", stamp(now.wall_us))
}

/// `20260301t120000z`: UTC, by the civil calendar counted from days since 1970.
pub(crate) fn stamp(wall_us: i64) -> String {
    let seconds = wall_us.div_euclid(1_000_000);
    // Years beyond four digits come from a broken clock and would break the form.
    let seconds = seconds.clamp(-62_167_219_200, 253_402_300_799);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years begin in March here, so that a leap day is the last day of its year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}t{hour:02}{minute:02}{second:02}z")
}
