//! Tables with a header: CSV, TSV, other delimiters. Cells of any size pass one row at a time.

use std::io::Read;

use csv::{ByteRecord, ReaderBuilder, Terminator};

use super::images::{Kind, kind};
use super::record::{Field, Record};
use super::text::{Checked, Quotes};
use super::{ImageCells, ImportError, Passed, held};
use crate::picture::Place;

/// Reads all rows; image cells are noted as present and not kept, or looked at where they are shown.
pub(super) fn read(
    reader: impl Read,
    delimiter: u8,
    quoted: bool,
    images: &ImageCells,
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
        let checked = rows.get_ref();
        let offset = checked.place(row.position().map_or(0, csv::Position::byte));
        let bytes = checked.place(rows.position().byte()).saturating_sub(offset);
        let mut fields = Vec::with_capacity(header.len());
        for (column, (name, cell)) in header.iter().zip(cells).enumerate() {
            let field = match images.names.contains(name) && !cell.trim().is_empty() {
                false => Field::of_cell(cell),
                true if !images.shown => Field::Text(String::new()),
                true if kind(cell) == Kind::Base64 => {
                    let place = Place { offset, bytes, format: images.format, column: column.to_string() };
                    held(cell, place).map_err(|reason| ImportError::row(line, None, reason))?
                }
                true => Field::of_cell(cell),
            };
            fields.push((name.clone(), field));
        }
        records.push(Record { line, fields });
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

/// The cell of one row in this column, counted from 0.
pub(super) fn cell(row: &[u8], delimiter: u8, quoted: bool, column: &str) -> Result<String, String> {
    let gone = || format!("no column {column} in the row; the file has changed");
    let column: usize = column.parse().map_err(|_| gone())?;
    let mut rows = ReaderBuilder::new()
        .delimiter(delimiter)
        .quoting(quoted)
        .has_headers(false)
        .flexible(true)
        .from_reader(row);
    let mut cells = ByteRecord::new();
    if !rows.read_byte_record(&mut cells).map_err(|error| error.to_string())? {
        return Err(gone());
    }
    cells.get(column).map(|cell| String::from_utf8_lossy(cell).into_owned()).ok_or_else(gone)
}
