//! Writing: blocks are appended whole, and what a crash tore off is cut before anything follows.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use models::{HiddenStates, Readout};

use super::block::encode;
use super::reader::StatesFile;
use super::{FORMAT, Head, MAGIC, Place, STATES_FILE};
use crate::entry::ModelRecord;
use crate::exit::{Exit, Failure};

/// Most groups that one head lists: heads are short.
const GROUPS: usize = 10_000;

/// A file of states that is being written. The log's lock guards it.
#[derive(Debug)]
pub struct StatesWriter {
    path: PathBuf,
    file: File,
    synced: bool,
    unsynced: bool,
    models: BTreeSet<u16>,
    norms: BTreeSet<u16>,
    rows: BTreeSet<(u16, i32)>,
    refusals: BTreeSet<(u16, String)>,
}

impl StatesWriter {
    /// Opens the states of a run folder, new or begun. `synced`: whether they are forced to the device at all.
    pub fn open(dir: &Path, run_id: &str, synced: bool) -> Result<StatesWriter, Failure> {
        let path = dir.join(STATES_FILE);
        let failed = |error: io::Error| Failure::disk(format!("{}: {error}", path.display()));
        let begun = match std::fs::metadata(&path) {
            // A crash before the first line was whole leaves less than a file of states.
            Ok(meta) if meta.len() > (MAGIC.len() + 2) as u64 => Some(StatesFile::open(&path)?),
            _ => None,
        };
        if let Some(other) =
            begun.as_ref().and_then(|begun| begun.run_id.as_ref()).filter(|other| *other != run_id)
        {
            return Err(Failure::new(
                Exit::Mismatch,
                format!("{}: holds the states of another run, {other}", path.display()),
            ));
        }
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(failed)?;
        let mut writer = StatesWriter {
            path: path.clone(),
            file,
            synced,
            unsynced: true,
            models: BTreeSet::new(),
            norms: BTreeSet::new(),
            rows: BTreeSet::new(),
            refusals: BTreeSet::new(),
        };
        let is_named = begun.as_ref().is_some_and(|begun| begun.run_id.is_some());
        match begun {
            Some(begun) => {
                writer.file.set_len(begun.end_of_good_bytes).map_err(failed)?;
                writer.models.extend(begun.models.keys());
                writer.norms.extend(begun.norms.keys());
                writer.rows.extend(begun.rows.keys());
                writer.refusals.extend(begun.refusals);
            }
            None => {
                writer.file.set_len(0).map_err(failed)?;
                writer.file.write_all(format!("{MAGIC}{FORMAT}\n").as_bytes()).map_err(failed)?;
            }
        }
        if !is_named {
            writer.append(&Head::Run { run_id: run_id.to_owned() }, &[])?;
        }
        Ok(writer)
    }

    /// Appends the states of one place.
    pub fn item(&mut self, place: Place, states: &HiddenStates) -> Result<(), Failure> {
        self.append(&Head::Item(place), &states.bytes)
    }

    /// Appends what reads labels out of a model's states, as far as it is new; gives what could not be had and was not
    /// known before.
    pub fn readout(
        &mut self,
        model: u16,
        record: &ModelRecord,
        readout: &Readout,
    ) -> Result<Vec<String>, Failure> {
        let mut fresh = Vec::new();
        if readout.is_empty() {
            return Ok(fresh);
        }
        if self.models.insert(model) {
            self.append(
                &Head::Model { model, name: record.name.clone(), sha256: record.sha256.clone() },
                &[],
            )?;
        }
        if let Some(norm) = readout.norm.as_ref().filter(|_| self.norms.insert(model)) {
            let body: Vec<u8> =
                norm.weight.iter().chain(&norm.bias).flat_map(|value| value.to_le_bytes()).collect();
            let head = Head::Norm {
                model,
                centred: norm.centred,
                epsilon: norm.epsilon,
                weights: norm.weight.len() as u32,
                offsets: norm.bias.len() as u32,
            };
            self.append(&head, &body)?;
        }
        for row in &readout.rows {
            if let ([exponent], true) = (&row.row.exponents[..], self.rows.insert((model, row.token))) {
                let (token, dimension) = (row.token, row.row.dimension);
                self.append(&Head::Row { model, token, dimension, exponent: *exponent }, &row.row.bytes)?;
            }
        }
        for reason in &readout.refusals {
            if self.refusals.insert((model, reason.clone())) {
                self.append(&Head::Refused { model, reason: reason.clone() }, &[])?;
                fresh.push(reason.clone());
            }
        }
        Ok(fresh)
    }

    /// Appends that the states of these groups were lost before.
    pub fn absent(&mut self, groups: &[u32], reason: &str) -> Result<(), Failure> {
        groups.chunks(GROUPS).try_for_each(|groups| {
            self.append(&Head::Absent { groups: groups.to_vec(), reason: reason.to_owned() }, &[])
        })
    }

    /// A group's states are all here: forces them to the device, before the log says that the group is complete.
    pub fn end_group(&mut self) -> Result<(), Failure> {
        if self.synced && std::mem::take(&mut self.unsynced) {
            self.file.sync_data().map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// Half a block may stand there after a failure; the next opening cuts it.
    fn append(&mut self, head: &Head, body: &[u8]) -> Result<(), Failure> {
        let bytes = encode(head, body).map_err(|error| self.failed(error))?;
        self.file.write_all(&bytes).map_err(|error| self.failed(error))?;
        self.unsynced = true;
        Ok(())
    }

    fn failed(&self, error: io::Error) -> Failure {
        Failure::disk(format!("{}: hidden states cannot be written: {error}", self.path.display()))
    }
}
