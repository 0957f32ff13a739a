//! The first reading of a log: which groups it has, and what identifies their answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{answers, disk, timeless};
use crate::entry::{Entry, Header, ItemRecord, Source};
use crate::exit::{Exit, Failure};
use crate::log::{LOG_FILE, Reader, file_of};
use crate::report::verdict_in_words;

/// A complete group of a log.
pub(super) struct Found {
    /// Identity of its answers.
    pub(super) answers: [u8; 32],
    /// Number of the entry that ends it; of a group that was done twice the last one counts.
    pub(super) end_seq: u64,
}

/// What a log has.
pub(super) struct Census {
    pub(super) dir: PathBuf,
    pub(super) header: Header,
    pub(super) groups: BTreeMap<u32, Found>,
    /// Of a log that was merged itself: where its groups come from.
    pub(super) sources: Vec<Source>,
}

impl Census {
    /// The runs behind this log.
    pub(super) fn run_ids(&self) -> Vec<&str> {
        match &self.sources[..] {
            [] => vec![&self.header.run_id],
            sources => sources.iter().map(|source| source.run_id.as_str()).collect(),
        }
    }

    /// Where these groups of the log come from.
    pub(super) fn sources_of(&self, groups: &BTreeSet<u32>) -> Vec<Source> {
        if self.sources.is_empty() {
            let (run_id, device) = (self.header.run_id.clone(), self.header.device.clone());
            return vec![Source { run_id, device, groups: groups.iter().copied().collect() }];
        }
        let mut sources = self.sources.clone();
        sources.iter_mut().for_each(|source| source.groups.retain(|group| groups.contains(group)));
        sources.retain(|source| !source.groups.is_empty());
        sources
    }
}

/// Reads a log to its end, holding one group at a time.
pub(super) fn take(dir: &Path) -> Result<Census, Failure> {
    let mut header = None;
    let mut groups = BTreeMap::new();
    let mut sources = Vec::new();
    each_group(dir, &mut |entry, items, seq| match entry {
        Entry::Header(found) => {
            header.get_or_insert_with(|| (**found).clone());
            Ok(())
        }
        Entry::GroupEnd(end) => {
            groups.insert(end.at.group, Found { answers: answers(items, end)?, end_seq: seq });
            Ok(())
        }
        Entry::Source(source) => {
            sources.push(source.clone());
            Ok(())
        }
        _ => Ok(()),
    })?;
    let header = header.ok_or_else(|| {
        Failure::new(Exit::Damaged, format!("{}: the log's header is damaged or missing", dir.display()))
    })?;
    Ok(Census { dir: dir.to_owned(), header, groups, sources })
}

/// The first item of a group that two logs answer differently, in words.
pub(super) fn first_difference(one: &Path, other: &Path, group: u32) -> Result<Option<String>, Failure> {
    let (ours, theirs) = (items(one, group)?, items(other, group)?);
    let words = |item: &ItemRecord| verdict_in_words(item.verdict);
    for (a, b) in ours.iter().zip(&theirs) {
        if timeless(a) != timeless(b) {
            let what = if a.verdict == b.verdict {
                "the replies differ".to_owned()
            } else {
                format!("{} and {}", words(a), words(b))
            };
            return Ok(Some(format!("item {} through {}: {what}", a.item, a.interface)));
        }
    }
    Ok(Some(format!("group {group} has {} and {} items", ours.len(), theirs.len())))
}

/// The items of one group.
fn items(dir: &Path, group: u32) -> Result<Vec<ItemRecord>, Failure> {
    let mut found = Vec::new();
    each_group(dir, &mut |entry, items, _| {
        if let Entry::GroupEnd(end) = entry
            && end.at.group == group
        {
            found = items.to_vec();
        }
        Ok(())
    })?;
    Ok(found)
}

/// What is told of a log: an entry, the items of its group, its number.
type See<'a> = &'a mut dyn FnMut(&Entry, &[ItemRecord], u64) -> Result<(), Failure>;

/// Goes through a log: headers, sources, and complete groups with their items. Groups that lost items to damage are left out.
fn each_group(dir: &Path, see: See<'_>) -> Result<(), Failure> {
    let path = file_of(dir);
    if !path.exists() {
        return Err(Failure::disk(format!("{}: holds no run: there is no file `{LOG_FILE}`", dir.display())));
    }
    let mut open: BTreeMap<u32, Vec<ItemRecord>> = BTreeMap::new();
    for record in Reader::<Entry>::open(&path).map_err(disk)? {
        let Ok(record) = record else { continue };
        match &record.entry {
            Entry::GroupStart(at) => drop(open.insert(at.group, Vec::new())),
            Entry::Item(item) => open.entry(item.at.group).or_default().push((**item).clone()),
            Entry::GroupEnd(end) => {
                let items = open.remove(&end.at.group).unwrap_or_default();
                if items.len() == end.items as usize {
                    see(&record.entry, &items, record.seq)?;
                }
            }
            Entry::Header(_) | Entry::Source(_) => see(&record.entry, &[], record.seq)?,
            _ => {}
        }
    }
    Ok(())
}
