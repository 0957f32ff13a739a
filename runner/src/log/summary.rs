//! What a log holds, and what it lost.

use std::fmt;
use std::io::Read;
use std::ops::{Range, RangeInclusive};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::{Damage, DamageKind, LogError, Reader, Record};

/// Stretches that are listed one by one; all are counted.
const LISTED: usize = 100;

/// Figures of one reading of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Format of the log.
    pub format: u32,
    /// Records read.
    pub good_frames: u64,
    /// Intact frames that this build does not understand.
    pub foreign_frames: u64,
    /// The first of these and what is wrong with it.
    pub first_foreign: Option<Damage>,
    /// Number of the last intact frame.
    pub last_seq: Option<u64>,
    /// Whether the first entry is there and understood.
    pub has_first: bool,
    /// Numbers that are missing between intact frames, 0 included; the first 100 gaps.
    pub gaps: Vec<RangeInclusive<u64>>,
    /// How many numbers are missing.
    pub missing_frames: u64,
    /// Damaged stretches between intact frames; the first 100.
    pub damaged: Vec<Range<u64>>,
    /// How many damaged stretches there are.
    pub damaged_stretches: u64,
    /// Their bytes.
    pub damaged_bytes: u64,
    /// Where the last intact frame ends, its delimiter included.
    pub end_of_good_bytes: u64,
    /// Bytes behind it: the torn tail.
    pub torn_tail_bytes: u64,
    /// The error that ended the reading early.
    pub unreadable: Option<String>,
    pending: Option<Range<u64>>,
}

impl Summary {
    /// A summary of nothing yet, for a reader that has given nothing yet.
    pub fn new<T: DeserializeOwned, R: Read>(reader: &Reader<T, R>) -> Self {
        Summary { format: reader.format(), end_of_good_bytes: reader.position(), ..Summary::default() }
    }

    /// Counts what a reader gave; every item in order.
    pub fn see<T>(&mut self, item: &Result<Record<T>, Damage>) {
        match item {
            Ok(record) => {
                self.good_frames += 1;
                self.has_first |= record.seq == 0;
                self.intact(record.seq, &record.bytes);
            }
            Err(damage) => match &damage.kind {
                DamageKind::Foreign { seq, .. } => {
                    self.foreign_frames += 1;
                    self.first_foreign.get_or_insert_with(|| damage.clone());
                    self.intact(*seq, &damage.bytes);
                }
                DamageKind::Unreadable(error) => self.unreadable = Some(error.clone()),
                _ => self.damaged(&damage.bytes),
            },
        }
    }

    /// Reads a log to its end.
    pub fn of<T: DeserializeOwned, R: Read>(reader: &mut Reader<T, R>) -> Self {
        let mut summary = Summary::new(reader);
        for item in reader {
            summary.see(&item);
        }
        summary
    }

    fn intact(&mut self, seq: u64, bytes: &Range<u64>) {
        let expected = self.last_seq.map_or(0, |last| last + 1);
        if seq > expected {
            self.missing_frames += seq - expected;
            if self.gaps.len() < LISTED {
                self.gaps.push(expected..=seq - 1);
            }
        }
        self.last_seq = Some(seq);
        self.end_of_good_bytes = bytes.end + 1;
        self.torn_tail_bytes = 0;
        if let Some(stretch) = self.pending.take() {
            self.damaged_stretches += 1;
            self.damaged_bytes += stretch.end - stretch.start;
            if self.damaged.len() < LISTED {
                self.damaged.push(stretch);
            }
        }
    }

    /// Everything between two intact frames is one stretch; it is a torn tail until an intact frame follows.
    fn damaged(&mut self, bytes: &Range<u64>) {
        let start = self.pending.as_ref().map_or(bytes.start, |stretch| stretch.start);
        self.pending = Some(start..bytes.end);
        self.torn_tail_bytes = bytes.end.saturating_sub(self.end_of_good_bytes);
    }

    /// Whether the log was read to its end and nothing is recorded in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.last_seq.is_none() && self.unreadable.is_none()
    }

    /// Whether nothing is damaged, missing or foreign.
    pub fn is_whole(&self) -> bool {
        self.missing_frames == 0
            && self.damaged_stretches == 0
            && self.torn_tail_bytes == 0
            && self.foreign_frames == 0
            && self.unreadable.is_none()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "format {}, {} entries", self.format, self.good_frames)?;
        if self.is_whole() {
            return write!(f, ", nothing damaged or missing");
        }
        if self.damaged_stretches > 0 {
            write!(f, ", {} damaged stretches of {} bytes", self.damaged_stretches, self.damaged_bytes)?;
        }
        if self.missing_frames > 0 {
            write!(f, ", {} entries missing", self.missing_frames)?;
        }
        if self.foreign_frames > 0 {
            write!(f, ", {} entries that this build cannot read", self.foreign_frames)?;
        }
        if self.torn_tail_bytes > 0 {
            write!(f, ", a torn tail of {} bytes", self.torn_tail_bytes)?;
        }
        if let Some(error) = &self.unreadable {
            write!(f, ", reading ended early: {error}")?;
        }
        Ok(())
    }
}

/// Reads a log, or the log of a run folder, to its end and says what it holds. Changes nothing and needs no lock.
pub fn verify<T: DeserializeOwned>(path: &Path) -> Result<Summary, LogError> {
    Ok(Summary::of(&mut Reader::<T>::open(path)?))
}
