//! Reads files of multiple-choice items: JSONL, CSV, TSV.
//!
//! Pure over readers: this crate opens no files. Every fault is named with its line; nothing is dropped without a
//! count, and nothing is guessed: a number as an answer needs to be declared as one.

pub mod ai2d;
mod checks;
mod delimited;
mod entry;
mod images;
mod jsonl;
mod question;
mod record;
pub mod scienceqa;
mod text;

use std::fmt::Write as _;
use std::io::Read;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use entry::{AnswerIs, Columns, Entry};
pub use images::Images;
pub(crate) use images::inside;
pub use question::{Labels, Layout, MOST_NUMBERS, name_list, question};

use crate::files::Files;
use crate::picture::FilePicture;
use record::{Field, Record};

/// The shape of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// By the ending of the file's name.
    #[default]
    Auto,
    /// One JSON object a line.
    Jsonl,
    /// Comma, quotes.
    Csv,
    /// Semicolon, quotes: what spreadsheets write where the comma is the decimal sign.
    CsvSemicolon,
    /// Tab, quotes.
    Tsv,
    /// Tab, quotes mean nothing.
    TsvUnquoted,
}

impl Format {
    /// The format that a file's name tells, where it is left to it.
    pub fn of(self, path: &str) -> Result<Format, ImportError> {
        if self != Format::Auto {
            return Ok(self);
        }
        let ending = path.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
        match ending.as_str() {
            "jsonl" | "ndjson" => Ok(Format::Jsonl),
            "csv" => Ok(Format::Csv),
            "tsv" => Ok(Format::Tsv),
            _ => Err(ImportError::File(format!(
                "the format cannot be told from the name `{path}`; set params.format to jsonl, csv, csv-semicolon, tsv or tsv-unquoted"
            ))),
        }
    }
}

/// What to do with rows that repeat a question with rotated options (ids of i + k * 1 000 000).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Circular {
    /// Keep the first pass: every question once.
    #[default]
    First,
    /// Keep all passes; rows of one question are one family, and the tag `pass` tells them apart.
    All,
}

/// How rows become entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Rules {
    /// Names of columns that differ from the usual ones.
    pub columns: Columns,
    /// What the answer column holds.
    pub answer_is: AnswerIs,
    /// Number repeated ids instead of refusing them.
    pub reid: bool,
    /// Go on without a last line that was cut off, instead of refusing the file.
    pub allow_damaged_end: bool,
    /// What is done with items that come with images.
    pub images: Images,
    /// Trailing options `nan` are absent ones, as some files write empty cells.
    pub nan_is_missing: bool,
    /// Columns that become strata for reports.
    pub tags: Vec<String>,
    /// Columns that become strata where the file has them. Not a choice: sets that come in several shapes name them.
    #[serde(skip)]
    pub usual_tags: &'static [&'static str],
    /// Rows that repeat a question with rotated options.
    pub circular: Circular,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// Items in the order of the file.
    pub entries: Vec<Entry>,
    /// What was counted on the way.
    pub counts: Counts,
    /// What a person should look at, one line each.
    pub warnings: Vec<String>,
    /// SHA-256 of the file's bytes.
    pub file_sha256: String,
    /// SHA-256 of the entries: the same for the same items in another format.
    pub entries_sha256: String,
}

/// What a released set gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// Items in the order of its files.
    pub entries: Vec<Entry>,
    /// Lines for people.
    pub notes: Vec<String>,
}

/// What was counted on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows read, the header not counted.
    pub rows: u64,
    /// Left out: no answer given.
    pub no_gold: u64,
    /// Left out: the answer is `-` or -1, which means that annotators disagreed.
    pub no_consensus: u64,
    /// Left out: needs an image.
    pub needs_image: u64,
    /// Left out: a further pass of a question with rotated options.
    pub further_passes: u64,
    /// Left out: a last line that was cut off.
    pub damaged_end: u64,
    /// Line ends of two characters that became one.
    pub crlf: u64,
    /// Carriage returns left in texts.
    pub lone_cr: u64,
    /// Spellings of control tokens in texts; models see them as plain text.
    pub control_spellings: u64,
    /// Items by the position of their gold.
    pub gold_positions: Vec<u64>,
}

/// Why a file cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The file as a whole.
    #[error("{0}")]
    File(String),
    /// One row.
    #[error("line {line}{}: {reason}", named(.id.as_deref()))]
    Row {
        /// The line on which it begins.
        line: u64,
        /// Its id, where it has one.
        id: Option<String>,
        /// What is wrong and what to do.
        reason: String,
    },
    /// The last line is cut off.
    #[error(
        "line {line}, byte {byte} of the file: the last line is cut off after {good} good items; fetch the file again, or set params.import.allow-damaged-end"
    )]
    DamagedEnd {
        /// The line.
        line: u64,
        /// Where it begins in the file.
        byte: u64,
        /// Rows before it.
        good: usize,
    },
}

fn named(id: Option<&str>) -> String {
    id.map(|id| format!(" (id {id})")).unwrap_or_default()
}

impl ImportError {
    fn row(line: u64, id: Option<&str>, reason: String) -> Self {
        ImportError::Row { line, id: id.map(str::to_owned), reason }
    }

    fn of_io(error: std::io::Error) -> Self {
        ImportError::File(error.to_string())
    }
}

/// Rows of a file before they are understood.
struct Passed {
    records: Vec<Record>,
    crlf: u64,
    damaged_end: u64,
    file_sha256: String,
}

/// How image cells are taken while rows pass.
struct ImageCells {
    names: Vec<String>,
    shown: bool,
    format: Format,
}

/// Reads a file of items without its images. `format` must not be [`Format::Auto`]: [`Format::of`] resolves it.
pub fn read(reader: impl Read, format: Format, rules: &Rules) -> Result<Import, ImportError> {
    if rules.images == Images::Shown {
        return Err(ImportError::File(
            "images lie in files of their own, which are not given here".to_owned(),
        ));
    }
    gathered(pass(reader, format, rules)?, rules, &mut |_| Ok(Vec::new()))
}

/// Reads a file of items with what its rows name: images that are shown are looked at, not decoded.
pub fn read_files(
    path: &str,
    format: Format,
    rules: &Rules,
    files: &mut dyn Files,
) -> Result<Import, ImportError> {
    let passed = pass(files.open(path).map_err(ImportError::File)?, format, rules)?;
    let columns = &rules.columns;
    let mut shown =
        images::Shown::new(path, files, &passed.records, &columns.id_names(), &columns.image_names());
    gathered(passed, rules, &mut |field| shown.of(field))
}

fn pass(reader: impl Read, format: Format, rules: &Rules) -> Result<Passed, ImportError> {
    let images =
        ImageCells { names: rules.columns.image_names(), shown: rules.images == Images::Shown, format };
    match format {
        Format::Auto => Err(ImportError::File("no format is set".to_owned())),
        Format::Jsonl => jsonl::read(reader, rules.allow_damaged_end, &images),
        Format::Csv => delimited::read(reader, b',', true, &images),
        Format::CsvSemicolon => delimited::read(reader, b';', true, &images),
        Format::Tsv => delimited::read(reader, b'\t', true, &images),
        Format::TsvUnquoted => delimited::read(reader, b'\t', false, &images),
    }
}

/// The pictures of an image cell.
type PicturesOf<'a> = &'a mut dyn FnMut(&Field) -> Result<Vec<FilePicture>, String>;

fn gathered(passed: Passed, rules: &Rules, pictures: PicturesOf<'_>) -> Result<Import, ImportError> {
    let mut counts = Counts {
        rows: passed.records.len() as u64,
        crlf: passed.crlf,
        damaged_end: passed.damaged_end,
        ..Counts::default()
    };
    let (mut entries, mut warnings) = entry::all(&passed.records, rules, &mut counts, pictures)?;
    checks::ids(&mut entries, rules)?;
    checks::circular(&mut entries, rules.circular, &mut counts, &mut warnings);
    if entries.is_empty() {
        let hint = if counts.needs_image > 0 {
            "; all need an image: set params.import.images to \"shown\""
        } else {
            ""
        };
        return Err(ImportError::File(format!("no item is left of {} rows{hint}", counts.rows)));
    }
    checks::gold_positions(&entries, &mut counts, &mut warnings);
    let entries_sha256 = sha256_of(&entries)?;
    Ok(Import { entries, counts, warnings, file_sha256: passed.file_sha256, entries_sha256 })
}

/// A picture that stands in a row as base64 text; its file's path is filled in later.
fn held(text: &str, place: crate::picture::Place) -> Result<Field, String> {
    let bytes = crate::picture::base64(text).map_err(|reason| format!("the image is {reason}"))?;
    let picture =
        FilePicture::of("", Some(place), &bytes).map_err(|reason| format!("the image: {reason}"))?;
    Ok(Field::Held(Box::new(picture)))
}

/// The bytes of a file as text, unchanged, for callers that hand over text: a fault is named as [`read`] names it.
/// A byte-order mark stays, so that the hash of the text is the hash of the file.
pub fn decode(bytes: Vec<u8>) -> Result<String, ImportError> {
    let mut checked = text::Checked::new(bytes.as_slice(), text::Quotes::None);
    std::io::copy(&mut checked, &mut std::io::sink()).map_err(ImportError::of_io)?;
    String::from_utf8(bytes).map_err(|error| ImportError::File(error.to_string()))
}

impl Import {
    /// Lines for people: what was read, what was left out, what to look at.
    pub fn notes(&self) -> Vec<String> {
        let counts = &self.counts;
        let mut first = format!("{} rows, {} items", counts.rows, self.entries.len());
        for (count, what) in [
            (counts.no_gold, "without an answer"),
            (counts.no_consensus, "without consensus"),
            (counts.needs_image, "that need an image"),
            (counts.further_passes, "further passes with rotated options"),
            (counts.damaged_end, "cut off at the end of the file"),
        ] {
            if count > 0 {
                let _ = write!(first, ", {count} {what} left out");
            }
        }
        let positions: Vec<String> = counts.gold_positions.iter().map(u64::to_string).collect();
        let mut notes = vec![first, format!("gold by position: {}", positions.join(" "))];
        if counts.crlf > 0 {
            notes.push(format!("{} line ends of two characters became one", counts.crlf));
        }
        notes.push(format!("sha256 of the file {}, of the items {}", self.file_sha256, self.entries_sha256));
        notes.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        notes
    }
}

/// The text of one cell of a row that was read before, for pictures that lie in tables.
pub(crate) fn cell_text(row: &[u8], format: Format, column: &str) -> Result<String, String> {
    match format {
        Format::Jsonl => jsonl::cell(row, column),
        Format::Csv => delimited::cell(row, b',', true, column),
        Format::CsvSemicolon => delimited::cell(row, b';', true, column),
        Format::Tsv => delimited::cell(row, b'\t', true, column),
        Format::TsvUnquoted => delimited::cell(row, b'\t', false, column),
        Format::Auto => Err("the row's format is not set".to_owned()),
    }
}

fn sha256_of(entries: &[Entry]) -> Result<String, ImportError> {
    let json = serde_json::to_vec(entries).map_err(|error| ImportError::File(error.to_string()))?;
    Ok(hex(&Sha256::digest(json)))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod released_tests;
#[cfg(test)]
mod tests;
