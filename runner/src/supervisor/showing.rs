//! Brings pictures to a worker: before the jobs that show them, once each, and again to a worker that was started anew.
//!
//! The books are kept on this side, so that a worker is told what to forget and need not be asked what it holds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use datasets::Picture;
use models::{Job, Shown};

use super::link::{Link, LinkError};
use crate::disk::Disk;
use crate::worker::protocol::{FromWorker, ToWorker};

/// Pixels that a worker holds at once; those of the group at hand stay in any case.
pub(crate) const HELD_BYTES: u64 = 64 << 20;

/// What a frame takes beside a picture's pixels.
const AROUND_BYTES: u64 = 1 << 16;

/// The pictures that a worker holds.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// The one that came first in front.
    held: VecDeque<(String, u64)>,
    /// Those of the group at hand.
    group: BTreeSet<String>,
    /// The worker measures prompts and never answers: it needs no pixels.
    sizes_alone: bool,
}

impl Shelf {
    pub(super) fn of(sizes_alone: bool) -> Self {
        Shelf { sizes_alone, ..Shelf::default() }
    }

    pub(super) fn end_group(&mut self) {
        self.group.clear();
    }

    fn has(&self, address: &str) -> bool {
        self.held.iter().any(|(held, _)| held == address)
    }

    /// Makes room for a picture; gives those that go.
    fn put(&mut self, address: &str, bytes: u64) -> Vec<String> {
        let mut total = bytes + self.held.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let mut gone = Vec::new();
        let group = &self.group;
        self.held.retain(|(held, bytes)| {
            let goes = total > HELD_BYTES && !group.contains(held);
            if goes {
                total -= bytes;
                gone.push(held.clone());
            }
            !goes
        });
        self.held.push_back((address.to_owned(), bytes));
        gone
    }
}

/// Bytes of a picture's pixels.
pub(crate) fn pixel_bytes(picture: &Picture) -> u64 {
    let (width, height) = picture.size();
    3 * u64::from(width) * u64::from(height)
}

impl Link {
    /// Makes sure that the worker has every picture that some jobs show. `pictures` are those of the jobs' items.
    pub async fn show<'p>(
        &mut self,
        jobs: &[Job],
        pictures: impl IntoIterator<Item = &'p Picture>,
    ) -> Result<(), LinkError> {
        let wanted: BTreeSet<&str> = jobs.iter().flat_map(|job| models::pictures(&job.prompt)).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        self.shelf.group.extend(wanted.iter().map(|&address| address.to_owned()));
        if wanted.iter().all(|address| self.shelf.has(address)) {
            return Ok(());
        }
        let by_address: BTreeMap<String, &Picture> =
            pictures.into_iter().map(|picture| (picture.address(), picture)).collect();
        for address in wanted {
            if self.shelf.has(address) {
                continue;
            }
            let picture = by_address.get(address).ok_or_else(|| {
                LinkError::Unsendable(format!("picture {address} belongs to no item at hand"))
            })?;
            let pixels = shown(picture, address, self.shelf.sizes_alone).map_err(LinkError::Unsendable)?;
            let forget = self.shelf.put(address, pixels.rgb.len() as u64);
            let request = ToWorker::Show { forget, pictures: vec![pixels] };
            match self.call(&request, &mut |_| ()).await? {
                FromWorker::Shown => {}
                other => return Err(self.out_of_turn(&other).await),
            }
        }
        Ok(())
    }
}

fn shown(picture: &Picture, address: &str, size_alone: bool) -> Result<Shown, String> {
    let (width, height) = picture.size();
    let plain = Shown { address: address.to_owned(), width, height, rgb: Vec::new() };
    if size_alone {
        return Ok(plain);
    }
    let most = crate::frame::MAX_PAYLOAD_BYTES as u64 - AROUND_BYTES;
    if pixel_bytes(picture) > most {
        return Err(format!(
            "{}: a picture may have {} pixels at the most: make it smaller",
            picture.caption(),
            most / 3
        ));
    }
    let pixels = picture.pixels(&mut Disk).map_err(|error| error.to_string())?;
    Ok(Shown { width: pixels.width, height: pixels.height, rgb: pixels.rgb, ..plain })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_imported_can_be_sent() {
        let most = crate::frame::MAX_PAYLOAD_BYTES as u64 - AROUND_BYTES;
        assert!(3 * datasets::picture::MOST_PIXELS <= most);
    }

    #[test]
    fn what_came_first_goes_first_and_the_group_at_hand_stays() {
        let mut shelf = Shelf::of(false);
        shelf.group.insert("a".into());
        assert_eq!(shelf.put("a", HELD_BYTES / 2), [""; 0]);
        shelf.group.insert("b".into());
        assert_eq!(shelf.put("b", HELD_BYTES), [""; 0], "a group that is over the bound is held whole");
        shelf.end_group();
        shelf.group.insert("c".into());
        assert_eq!(shelf.put("c", HELD_BYTES / 2), ["a", "b"]);
        shelf.end_group();
        assert_eq!(shelf.put("d", HELD_BYTES / 2), [""; 0]);
        assert!(shelf.has("c") && shelf.has("d") && !shelf.has("a"));
    }
}
