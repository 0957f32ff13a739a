//! Tables with a header: CSV, TSV, other delimiters. Cells of any size pass one row at a time.

use std::io::Read;

use csv::{ByteRecord, ReaderBuilder, Terminator};

use super::record::{Field, Record};
use super::text::{Checked, Quotes};
use super::{ImportError, Passed};

/// Reads all rows; cells of the columns `present_only` are noted as present and not kept.
pub(super) fn read(
    reader: impl Read,
    delimiter: u8,
    quoted: bool,
    present_only: &[String],
) -> Result<Passed, ImportError> {
    let quotes = if quoted { Quotes::Cells { delimiter } } else { Quotes::Plain };
    let mut rows = ReaderBuilder::new()
        .delimiter(delimiter)
        .quoting(quoted)
        .has_headers(false)
        .flexible(true)
        // Line ends are one character by now; a lone carriage return is part of a cell.
        .terminator(Terminator::Any(b'\n'))
        .from_reader(Checked::new(reader, quotes));
    let mut row = ByteRecord::new();
    let mut header: Vec<String> = Vec::new();
    let mut records = Vec::new();
    while rows.read_byte_record(&mut row).map_err(of_csv)? {
        let line = row.position().map_or(0, csv::Position::line);
        let cells = row.iter().map(|cell| std::str::from_utf8(cell).unwrap_or_default());
        if header.is_empty() {
            header = cells.map(|name| name.trim().to_lowercase()).collect();
            if let Some(twice) = header
                .iter()
                .enumerate()
                .find(|(index, name)| !name.is_empty() && header[..*index].contains(name))
            {
                return Err(ImportError::row(
                    line,
                    None,
                    format!("the column `{}` stands twice in the header", twice.1),
                ));
            }
            continue;
        }
        if row.iter().all(|cell| cell.trim_ascii().is_empty()) {
            continue;
        }
        if row.len() != header.len() {
            let reason = format!(
                "{} cells where the header has {}; the row is damaged, or the delimiter or quoting is another",
                row.len(),
                header.len()
            );
            return Err(ImportError::row(line, None, reason));
        }
        let fields = header.iter().zip(cells).map(|(name, cell)| {
            let field = match Field::of_cell(cell) {
                Field::Text(_) if present_only.contains(name) => Field::Text(String::new()),
                field => field,
            };
            (name.clone(), field)
        });
        records.push(Record { line, fields: fields.collect() });
    }
    let checked = rows.get_ref();
    Ok(Passed { records, crlf: checked.seen().crlf, damaged_end: 0, file_sha256: checked.sha256() })
}

fn of_csv(error: csv::Error) -> ImportError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => ImportError::of_io(error),
        other => ImportError::File(format!("{other:?}")),
    }
}
