//! A list of vehicles: two classes, a rule with exceptions, features without meaning.

use std::collections::BTreeSet;

use crate::Stream;

/// Opposite descriptors of vehicles for cold and for warm climates.
pub(super) const PAIRS: [(&str, &str); 5] = [
    ("Drives on glaciers", "Drives in jungles"),
    ("Made in Norway", "Made in Africa"),
    ("Used in mountain climbing", "Used on safaris"),
    ("Has treads", "Has wheels"),
    ("Heavily insulated", "Lightly insulated"),
];

/// A feature that has nothing to do with the class.
pub(super) struct Feature {
    pub(super) name: &'static str,
    pub(super) values: [&'static str; 2],
}

/// In the order of the prompt.
pub(super) const IRRELEVANT: [Feature; 3] = [
    Feature { name: "Transmission", values: ["Manual", "Automatic"] },
    Feature { name: "Seat Cover", values: ["Cloth", "Vinyl"] },
    Feature { name: "Doors", values: ["Two", "Four"] },
];

/// A vehicle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vehicle {
    pub(super) plate: String,
    pub(super) descriptor: &'static str,
    /// Whether each irrelevant feature has its second value.
    pub(super) irrelevant: [bool; 3],
    pub(super) class_b: bool,
    /// Whether the descriptor belongs to the other class.
    pub(super) exception: bool,
}

/// A list with `half` vehicles in each class. Each class takes `exceptions` descriptors of the other one, and every
/// descriptor of `half` opposite pairs is used once. None of the first `shown` irrelevant features tells the
/// classes apart.
pub(super) fn vehicles(stream: &mut Stream, half: usize, exceptions: usize, shown: usize) -> Vec<Vehicle> {
    let pairs = stream.distinct(PAIRS.len(), half);
    let cold: Vec<&'static str> = pairs.iter().map(|&pair| PAIRS[pair].0).collect();
    let mut warm: Vec<&'static str> = pairs.iter().map(|&pair| PAIRS[pair].1).collect();
    // The pairs come in random order, so the first cold ones are a random choice; the warm ones need their own.
    stream.shuffle(&mut warm);
    let (cold_in_b, cold_in_a) = cold.split_at(exceptions);
    let (warm_in_a, warm_in_b) = warm.split_at(exceptions);
    let of = |descriptors: &[&'static str], class_b, exception| {
        descriptors
            .iter()
            .map(|&descriptor| Vehicle {
                plate: String::new(),
                descriptor,
                irrelevant: [false; 3],
                class_b,
                exception,
            })
            .collect::<Vec<_>>()
    };
    let mut list = [
        of(cold_in_a, false, false),
        of(warm_in_a, false, true),
        of(warm_in_b, true, false),
        of(cold_in_b, true, true),
    ]
    .concat();
    let mut plates = BTreeSet::new();
    for vehicle in &mut list {
        vehicle.plate = plate(stream);
        while !plates.insert(vehicle.plate.clone()) {
            vehicle.plate = plate(stream);
        }
    }
    loop {
        for vehicle in &mut list {
            vehicle.irrelevant = [stream.coin(), stream.coin(), stream.coin()];
        }
        if !(0..shown).any(|feature| separates(&list, feature)) {
            return list;
        }
    }
}

/// Whether an irrelevant feature gives every vehicle's class.
fn separates(list: &[Vehicle], feature: usize) -> bool {
    let same = list.iter().filter(|vehicle| vehicle.irrelevant[feature] == vehicle.class_b).count();
    same == 0 || same == list.len()
}

/// A letter, two digits, three letters: `A23BCD`.
fn plate(stream: &mut Stream) -> String {
    let letter = |stream: &mut Stream| char::from(b'A' + stream.below(26) as u8);
    let digit = |stream: &mut Stream| char::from(b'0' + stream.below(10) as u8);
    let pattern: [fn(&mut Stream) -> char; 6] = [letter, digit, digit, letter, letter, letter];
    pattern.iter().map(|draw| draw(stream)).collect()
}
