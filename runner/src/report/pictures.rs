//! What pictures cost: how many were encoded, how often, how long that took, and what they take of a prompt.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::load::RunLog;
use crate::entry::Pictures;

/// The pictures of a task with one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PictureCost {
    /// Name of the model.
    pub model: String,
    /// Name of the task.
    pub task: String,
    /// Pictures, each counted once in every group that shows it.
    pub pictures: u64,
    /// How often one was encoded: as often as there are, unless memory was short.
    pub encoded: u64,
    /// Time that encoding took, in microseconds.
    pub encode_us: u64,
    /// Fewest and most tokens of a picture in a prompt.
    pub tokens: (u32, u32),
    /// Fewest and most tiles that a picture is cut into.
    pub tiles: (u64, u64),
    /// Widths and heights of pictures as given.
    pub sizes: BTreeSet<(u32, u32)>,
    /// Widths and heights of tiles after resizing, where the library tells.
    pub tile_sizes: BTreeSet<(u32, u32)>,
}

impl PictureCost {
    /// Mean time of one encoding, in milliseconds.
    pub fn mean_ms(&self) -> f64 {
        self.encode_us as f64 / 1e3 / self.encoded.max(1) as f64
    }

    /// One line for people.
    pub fn in_words(&self) -> String {
        let twice = match self.encoded - self.pictures.min(self.encoded) {
            0 => "once each".to_owned(),
            more => format!("{more} more than once, because memory was short"),
        };
        format!(
            "{} pictures encoded {twice}, {:.1} ms each; {} tokens in a prompt, {} tiles of {}",
            self.pictures,
            self.mean_ms(),
            span(self.tokens),
            span(self.tiles),
            sizes(&self.tile_sizes)
        )
    }
}

/// A span of numbers: `36` or `36 to 729`.
pub(super) fn span<N: PartialEq + std::fmt::Display>((least, most): (N, N)) -> String {
    if least == most { most.to_string() } else { format!("{least} to {most}") }
}

/// Some sizes: `96 x 96`, or how many there are.
pub(super) fn sizes(sizes: &BTreeSet<(u32, u32)>) -> String {
    let one = |(width, height): &(u32, u32)| format!("{width} x {height}");
    match sizes.len() {
        0 => "a size that is not told".to_owned(),
        1..=3 => sizes.iter().map(one).collect::<Vec<_>>().join(", "),
        many => format!("{many} sizes"),
    }
}

/// Pictures by model and task, in the order of the run.
pub fn picture_costs(run: &RunLog) -> Vec<PictureCost> {
    let mut costs: BTreeMap<(u16, u16), PictureCost> = BTreeMap::new();
    for Pictures { at, pictures } in &run.pictures {
        if !run.groups.contains_key(&at.group) {
            continue;
        }
        let cost = costs.entry((at.model, at.task)).or_default();
        for picture in pictures {
            let tiles = picture.tiles.len().max(1) as u64;
            let first = cost.pictures == 0;
            let widen = |(least, most): (u64, u64), value: u64| match first {
                true => (value, value),
                false => (least.min(value), most.max(value)),
            };
            let tokens = (u64::from(cost.tokens.0), u64::from(cost.tokens.1));
            let tokens = widen(tokens, u64::from(picture.tokens));
            cost.tokens = (tokens.0 as u32, tokens.1 as u32);
            cost.tiles = widen(cost.tiles, tiles);
            cost.pictures += 1;
            cost.encoded += u64::from(picture.times);
            cost.encode_us += picture.encode_us;
            cost.sizes.insert(picture.size);
            cost.tile_sizes.extend(&picture.tiles);
        }
    }
    let named = |((model, task), cost): ((u16, u16), PictureCost)| PictureCost {
        model: run.header.models.get(usize::from(model)).map(|it| it.name.clone()).unwrap_or_default(),
        task: run.header.tasks.get(usize::from(task)).map(|it| it.name.clone()).unwrap_or_default(),
        ..cost
    };
    costs.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{GroupEnd, GroupRef};
    use models::Encoded;

    #[test]
    fn pictures_of_unfinished_groups_do_not_count_and_spans_are_told() {
        let mut run = crate::report::made_up::run(&["glasses"], Vec::new());
        let at = |group| GroupRef { group, model: 0, task: 0 };
        let one = |address: &str, tokens, times, tiles: usize| Encoded {
            address: address.into(),
            size: (640, 480),
            tiles: vec![(96, 96); tiles],
            tokens,
            times,
            encode_us: 2000,
        };
        run.groups.insert(1, GroupEnd { at: at(1), items: 0, wall_us: 1, phases: Vec::new() });
        run.pictures = vec![
            Pictures { at: at(1), pictures: vec![one("a", 36, 1, 1), one("b", 180, 2, 5)] },
            Pictures { at: at(2), pictures: vec![one("c", 9, 1, 1)] },
        ];
        let costs = picture_costs(&run);
        assert_eq!((costs.len(), costs[0].pictures, costs[0].encoded, costs[0].encode_us), (1, 2, 3, 4000));
        assert_eq!((costs[0].tokens, costs[0].tiles), ((36, 180), (1, 5)));
        assert_eq!(
            costs[0].in_words(),
            "2 pictures encoded 1 more than once, because memory was short, 1.3 ms each; 36 to 180 tokens in a prompt, \
             1 to 5 tiles of 96 x 96"
        );
    }
}
