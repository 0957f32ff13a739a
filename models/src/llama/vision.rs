//! The pictures at hand, as elements of prompts.
//!
//! A prompt is a sequence of elements. Tokens are not negative; every vector of every picture has a negative number of
//! its own, which stays the same as long as the picture is held. So prefix tree and cache share pictures by content as
//! they share tokens, and know nothing of pictures.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Instant;

use super::eyes::{Eyes, Piece, Places};
use crate::{Encoded, Shown};

/// Bytes of vectors that are kept at once; what is over is encoded again when it is needed.
pub(super) const VECTORS_BYTES: usize = 64 << 20;

/// Whether an element belongs to a picture.
pub(super) fn is_of_picture(element: i32) -> bool {
    element < 0
}

/// What encoding has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) pictures: u32,
    pub(super) encode_us: u64,
}

/// A picture at hand.
struct Held {
    picture: Shown,
    elements: Vec<i32>,
    tiles: Vec<(u32, u32)>,
}

/// Where a tile's elements begin.
struct Tile {
    address: String,
    /// Vectors of the picture before this tile.
    before: usize,
    count: usize,
    places: Places,
}

/// What reads pictures, and the pictures that it can read.
pub(super) struct Vision {
    eyes: Eyes,
    /// Tokens that the library computes at once.
    at_once: usize,
    held: HashMap<String, Held>,
    /// By the number of the first element, its sign turned.
    tiles: BTreeMap<u32, Tile>,
    next: u32,
    /// Vectors of encoded pictures, the one that was encoded first in front.
    vectors: VecDeque<(String, Vec<f32>)>,
    seen: Seen,
    /// Pictures encoded since the last report.
    report: BTreeMap<String, (u32, u64)>,
}

impl Vision {
    pub(super) fn new(eyes: Eyes, at_once: u32) -> Self {
        Vision {
            eyes,
            at_once: at_once as usize,
            held: HashMap::new(),
            tiles: BTreeMap::new(),
            next: 1,
            vectors: VecDeque::new(),
            seen: Seen::default(),
            report: BTreeMap::new(),
        }
    }

    /// Takes a picture.
    pub(super) fn hold(&mut self, picture: Shown) -> Result<(), String> {
        let said = |why: String| format!("picture {}: {why}", picture.address);
        if let Some(held) = self.held.get_mut(&picture.address) {
            if !held.picture.has_pixels() {
                held.picture = picture;
            }
            return Ok(());
        }
        let pieces = self.eyes.pieces(&picture).map_err(said)?;
        let (mut elements, mut tiles, mut before) = (Vec::new(), Vec::new(), 0);
        // Nothing is kept of a picture that cannot be held whole.
        let (mut next, mut made) = (self.next, Vec::new());
        for piece in pieces {
            match piece {
                Piece::Tokens(tokens) => elements.extend(tokens),
                Piece::Tile { count, .. } if self.eyes.is_mutual() && count > self.at_once => {
                    return Err(said(format!(
                        "its {count} tokens see each other and must be evaluated at once, which takes batch-tokens of that many; \
                         there are {}",
                        self.at_once
                    )));
                }
                Piece::Tile { count, size, places } => {
                    let end = u32::try_from(count).ok().and_then(|count| next.checked_add(count));
                    let end = end.filter(|&end| end <= i32::MAX as u32);
                    let end = end.ok_or_else(|| said("this worker has seen too many".into()))?;
                    elements.extend((next..end).map(|number| -(number as i32)));
                    let tile = Tile { address: picture.address.clone(), before, count, places };
                    made.push((next, tile));
                    next = end;
                    before += count;
                    tiles.extend(size);
                }
            }
        }
        self.next = next;
        self.tiles.extend(made);
        self.held.insert(picture.address.clone(), Held { picture, elements, tiles });
        Ok(())
    }

    /// Lets go of a picture.
    pub(super) fn forget(&mut self, address: &str) {
        if self.held.remove(address).is_some() {
            self.tiles.retain(|_, tile| tile.address != address);
            self.vectors.retain(|(of, _)| of != address);
        }
    }

    fn tile(&self, element: i32) -> Option<(u32, &Tile)> {
        let number = element.unsigned_abs();
        let (first, tile) = self.tiles.range(..=number).next_back()?;
        ((number - first) as usize).lt(&tile.count).then_some((*first, tile))
    }

    /// Where an element stands behind others that begin a sequence.
    pub(super) fn place(&self, element: i32, before: &[i32]) -> [i32; 4] {
        if !self.eyes.is_spread() {
            return [before.len() as i32; 4];
        }
        let begin = self.end(before);
        match is_of_picture(element).then(|| self.tile(element)).flatten() {
            Some((first, Tile { places: Places::Spread { each, .. }, .. })) => {
                let place = each.get((element.unsigned_abs() - first) as usize).copied().unwrap_or_default();
                [place[0] + begin, place[1] + begin, place[2] + begin, place[3]]
            }
            _ => [begin; 4],
        }
    }

    /// Where what follows some elements stands; a tile that is not whole counts as not begun.
    pub(super) fn end(&self, elements: &[i32]) -> i32 {
        if !self.eyes.is_spread() {
            return elements.len() as i32;
        }
        let (mut end, mut at) = (0, 0);
        while at < elements.len() {
            match is_of_picture(elements[at]).then(|| self.tile(elements[at])).flatten() {
                Some((_, Tile { count, places: Places::Spread { span, .. }, .. })) => {
                    at += count;
                    end += if at <= elements.len() { *span } else { 0 };
                }
                _ => {
                    at += 1;
                    end += 1;
                }
            }
        }
        end
    }

    /// Whether a tile is one piece: it can neither be forked inside nor have its last vector read.
    pub(super) fn has_whole_tiles(&self) -> bool {
        self.eyes.is_mutual() || self.eyes.is_spread()
    }

    /// Whether a tile must be evaluated in a call of its own.
    pub(super) fn is_mutual(&self) -> bool {
        self.eyes.is_mutual()
    }

    /// Whether two elements belong to one tile.
    pub(super) fn is_one_tile(&self, one: i32, other: i32) -> bool {
        let first = |element| self.tile(element).map(|(first, _)| first);
        first(one).is_some() && first(one) == first(other)
    }

    /// What a picture is in a prompt.
    pub(super) fn elements(&self, address: &str) -> Option<&[i32]> {
        self.held.get(address).map(|held| held.elements.as_slice())
    }

    /// The vector of an element; its picture is encoded if it is not yet.
    pub(super) fn vector(&mut self, element: i32) -> Result<&[f32], String> {
        let unknown = || "a prompt shows a picture that is no longer there".to_owned();
        let (first, tile) = self.tile(element).ok_or_else(unknown)?;
        let place = (element.unsigned_abs() - first) as usize;
        let (address, at) = (tile.address.clone(), tile.before + place);
        let known = self.vectors.iter().position(|(of, _)| *of == address);
        let index = match known {
            Some(index) => index,
            None => {
                self.encode(&address)?;
                self.vectors.len() - 1
            }
        };
        let width = self.eyes.width();
        self.vectors[index].1.get(at * width..(at + 1) * width).ok_or_else(unknown)
    }

    fn encode(&mut self, address: &str) -> Result<(), String> {
        let held = self.held.get(address).ok_or("a prompt shows a picture that is no longer there")?;
        let started = Instant::now();
        let vectors = self.eyes.encode(&held.picture).map_err(|why| format!("picture {address}: {why}"))?;
        let spent = started.elapsed().as_micros() as u64;
        self.seen.pictures += 1;
        self.seen.encode_us += spent;
        let (times, encode_us) = self.report.entry(address.to_owned()).or_default();
        *times += 1;
        *encode_us += spent;
        self.vectors.push_back((address.to_owned(), vectors));
        let bytes = |vectors: &VecDeque<(String, Vec<f32>)>| {
            vectors.iter().map(|(_, numbers)| 4 * numbers.len()).sum::<usize>()
        };
        while self.vectors.len() > 1 && bytes(&self.vectors) > VECTORS_BYTES {
            self.vectors.pop_front();
        }
        Ok(())
    }

    /// What encoding has cost so far.
    pub(super) fn seen(&self) -> Seen {
        self.seen
    }

    /// The pictures encoded since the last report.
    pub(super) fn report(&mut self) -> Vec<Encoded> {
        let encoded = std::mem::take(&mut self.report);
        let one = |(address, (times, encode_us)): (String, (u32, u64))| {
            let held = self.held.get(&address)?;
            Some(Encoded {
                size: (held.picture.width, held.picture.height),
                tiles: held.tiles.clone(),
                tokens: held.elements.len() as u32,
                times,
                encode_us,
                address,
            })
        };
        encoded.into_iter().filter_map(one).collect()
    }

    /// The group is over: the next one encodes for itself, so that what it costs does not hang on this one.
    pub(super) fn end_group(&mut self) {
        self.vectors.clear();
    }
}
