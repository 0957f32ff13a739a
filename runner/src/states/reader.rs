//! Reading: the file is checked once from front to back, and only its index is held; states are fetched when they are used.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use models::{FinalNorm, HiddenStates};

use super::block::{FRONT_BYTES, MARK, Rest, filled, lengths, rest};
use super::{FORMAT, Head, MAGIC, Place, STATES_FILE};
use crate::entry::Header;
use crate::exit::{Exit, Failure};
use crate::log::LOG_FILE;

/// States that lie in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Whose they are.
    pub place: Place,
    /// Where their numbers begin.
    pub at: u64,
}

/// A file of states: its index.
#[derive(Debug)]
pub struct StatesFile {
    path: PathBuf,
    /// Identity of the run; absent where nothing was written.
    pub run_id: Option<String>,
    /// Name and hash of each model by its index.
    pub models: BTreeMap<u16, (String, String)>,
    /// Final norms by model.
    pub norms: BTreeMap<u16, FinalNorm>,
    /// Rows of the vocabulary projection by model and token.
    pub rows: BTreeMap<(u16, i32), HiddenStates>,
    /// What could not be had, by model.
    pub refusals: Vec<(u16, String)>,
    /// Groups whose states were lost before, with the reason.
    pub absent: BTreeMap<u32, String>,
    /// States, each place once, in the order of the file.
    pub kept: Vec<Kept>,
    /// Whole blocks.
    pub blocks: u64,
    /// Stretches that are no blocks, and blocks whose numbers are not as their heads say.
    pub damaged: u32,
    /// The first of them, in words.
    pub first_damage: Option<String>,
    /// Where the last whole block ends.
    pub end_of_good_bytes: u64,
    /// Bytes behind it: a block that was not written to its end.
    pub torn_bytes: u64,
}

/// [`Place::key`], kept.
type Known = HashMap<(u16, u16, String, String, u16, u16), usize>;

impl StatesFile {
    /// Opens the states of a run folder, or those beside its log; `None` where there are none.
    pub fn of_run(dir: &Path) -> Result<Option<StatesFile>, Failure> {
        let is_log = dir.is_file() && dir.file_name().is_some_and(|name| name == LOG_FILE);
        let path = if is_log { dir.with_file_name(STATES_FILE) } else { dir.join(STATES_FILE) };
        if path.exists() { StatesFile::open(&path).map(Some) } else { Ok(None) }
    }

    /// Opens a file of states and checks all of it.
    pub fn open(path: &Path) -> Result<StatesFile, Failure> {
        let failed = |error: io::Error| Failure::disk(format!("{}: {error}", path.display()));
        let file = File::open(path).map_err(failed)?;
        let mut found = StatesFile {
            path: path.to_owned(),
            run_id: None,
            models: BTreeMap::new(),
            norms: BTreeMap::new(),
            rows: BTreeMap::new(),
            refusals: Vec::new(),
            absent: BTreeMap::new(),
            kept: Vec::new(),
            blocks: 0,
            damaged: 0,
            first_damage: None,
            end_of_good_bytes: 0,
            torn_bytes: 0,
        };
        let mut input = BufReader::with_capacity(1 << 20, file);
        found.end_of_good_bytes = first_line(&mut input, path)?;
        found.scan(&mut input).map_err(failed)?;
        let bytes = input.get_ref().metadata().map_err(failed)?.len();
        found.torn_bytes = bytes.saturating_sub(found.end_of_good_bytes);
        Ok(found)
    }

    /// A model that is not the one of a log's header, in words; `None` where all are.
    pub fn other_model(&self, header: &Header) -> Option<String> {
        let is_other = |(index, (name, sha256)): &(&u16, &(String, String))| {
            let logged = header.models.get(usize::from(**index));
            logged.is_none_or(|logged| (&logged.name, &logged.sha256) != (name, sha256))
        };
        let (index, (name, _)) = self.models.iter().find(is_other)?;
        Some(format!("its model {index}, {name}, is another one than the log's"))
    }

    /// Reads all states of a place.
    pub fn states(&self, kept: &Kept) -> io::Result<HiddenStates> {
        let (dimension, exponents) = (kept.place.dimension, kept.place.exponents.clone());
        let mut bytes = vec![0; dimension as usize * 2 * exponents.len()];
        self.file()?.read_exact_at(&mut bytes, kept.at)?;
        Ok(HiddenStates { dimension, exponents, bytes })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same file, opened once more: it is not held open, so that any number of parts can be.
    pub fn file(&self) -> io::Result<File> {
        File::open(&self.path)
    }

    fn scan(&mut self, input: &mut BufReader<File>) -> io::Result<()> {
        let mut known = Known::new();
        let mut at = self.end_of_good_bytes;
        let mut in_damage = false;
        let mut front = [0; FRONT_BYTES];
        loop {
            input.seek(SeekFrom::Start(at))?;
            if !filled(input, &mut front)? {
                return Ok(());
            }
            let block = match lengths(&front) {
                Some((head, body)) => (rest(input, head, body)?, FRONT_BYTES + head + body + 4, body),
                None => (Rest::Damaged, 0, 0),
            };
            match block {
                (Rest::Whole(head, body), bytes, body_bytes) => {
                    let end = at + bytes as u64;
                    self.blocks += 1;
                    if !self.see(*head, body, end - 4 - body_bytes as u64, body_bytes, &mut known) {
                        self.damage(at, "whose numbers are not as its head says");
                    }
                    at = end;
                    self.end_of_good_bytes = end;
                    in_damage = false;
                }
                (Rest::Torn, ..) => return Ok(()),
                (Rest::Damaged, ..) => {
                    if !std::mem::replace(&mut in_damage, true) {
                        self.damage(at, "that is none: its checksum is wrong");
                    }
                    match next_mark(input, at + 1)? {
                        Some(next) => at = next,
                        None => return Ok(()),
                    }
                }
            }
        }
    }

    fn damage(&mut self, at: u64, what: &str) {
        self.damaged += 1;
        self.first_damage.get_or_insert_with(|| format!("a block at byte {at} {what}"));
    }

    /// Takes a block; `false` where its numbers are not as its head says.
    fn see(&mut self, head: Head, body: Vec<u8>, at: u64, body_bytes: usize, known: &mut Known) -> bool {
        match head {
            Head::Run { run_id } => self.run_id = self.run_id.take().or(Some(run_id)),
            Head::Model { model, name, sha256 } => drop(self.models.insert(model, (name, sha256))),
            Head::Norm { model, centred, epsilon, weights, offsets } => {
                let mut floats = floats(&body);
                if !body.len().is_multiple_of(4)
                    || floats.len() as u64 != u64::from(weights) + u64::from(offsets)
                {
                    return false;
                }
                let bias = floats.split_off(weights as usize);
                self.norms.insert(model, FinalNorm { centred, epsilon, weight: floats, bias });
            }
            Head::Row { model, token, dimension, exponent } => {
                let row = HiddenStates { dimension, exponents: vec![exponent], bytes: body };
                if !row.is_whole() {
                    return false;
                }
                self.rows.insert((model, token), row);
            }
            Head::Refused { model, reason } => {
                if !self.refusals.contains(&(model, reason.clone())) {
                    self.refusals.push((model, reason));
                }
            }
            Head::Absent { groups, reason } => {
                self.absent.extend(groups.into_iter().map(|group| (group, reason.clone())));
            }
            Head::Item(place) => {
                let width = place.dimension as usize * 2;
                if width == 0
                    || width.checked_mul(place.exponents.len()) != Some(body_bytes)
                    || body_bytes == 0
                {
                    return false;
                }
                let (item, interface) = (place.item.clone(), place.interface.clone());
                let key = (place.model, place.task, item, interface, place.turn, place.request);
                let kept = Kept { place, at };
                match known.get(&key) {
                    Some(&earlier) => self.kept[earlier] = kept,
                    None => {
                        known.insert(key, self.kept.len());
                        self.kept.push(kept);
                    }
                }
            }
        }
        true
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}

/// Checks the first line; gives its length.
fn first_line(input: &mut impl Read, path: &Path) -> Result<u64, Failure> {
    let want = format!("{MAGIC}{FORMAT}\n");
    let mut line = vec![0; want.len()];
    let whole =
        filled(input, &mut line).map_err(|error| Failure::disk(format!("{}: {error}", path.display())))?;
    if whole && line == want.as_bytes() {
        return Ok(want.len() as u64);
    }
    let known = line.starts_with(MAGIC.as_bytes());
    let what = if whole && known {
        format!("is of another format than {FORMAT}: use the program that made it")
    } else {
        "is no file of hidden states".to_owned()
    };
    Err(Failure::new(Exit::Damaged, format!("{}: {what}", path.display())))
}

/// The next place, from `from` on, where a mark stands.
fn next_mark(input: &mut BufReader<File>, from: u64) -> io::Result<Option<u64>> {
    input.seek(SeekFrom::Start(from))?;
    let mut at = from;
    let mut matched = 0;
    let mut piece = vec![0; 1 << 16];
    loop {
        let read = input.read(&mut piece)?;
        if read == 0 {
            return Ok(None);
        }
        for &byte in &piece[..read] {
            at += 1;
            matched = match byte {
                byte if byte == MARK[matched] => matched + 1,
                byte if byte == MARK[0] => 1,
                _ => 0,
            };
            if matched == MARK.len() {
                return Ok(Some(at - MARK.len() as u64));
            }
        }
    }
}
