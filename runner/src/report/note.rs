//! A line on what to know before believing figures. Lines that say the same of many rows of a model are told as one.

use std::fmt;

use serde::{Serialize, Serializer};

/// A line, and what of it others may say too. As JSON it is its text: machines get every single one.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    text: String,
    like: Option<Like>,
}

/// What is said of a row, in parts, so that it can be said of several.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Like {
    /// Model, task and condition.
    pub(super) place: [String; 3],
    /// What is said, without figures of the row.
    pub(super) what: String,
    /// The figure of this row: `lowest 0.018`.
    pub(super) figure: String,
    /// How bad it is: the largest is told.
    pub(super) weight: f64,
    /// What follows from it.
    pub(super) so: String,
    /// Rows of the model of which it could be said.
    pub(super) of: usize,
}

impl Note {
    /// A note on one row that may be said of others too.
    pub(super) fn like(text: String, like: Like) -> Note {
        Note { text, like: Some(like) }
    }
}

impl From<String> for Note {
    fn from(text: String) -> Note {
        Note { text, like: None }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// The lines for people: one for all rows of a model of which the same is said, where the first of them stood. A row alone is told
/// in its own words.
pub fn gathered(notes: &[Note]) -> Vec<String> {
    let is_same = |a: &Like, b: &Like| (&a.place[0], &a.what, &a.so) == (&b.place[0], &b.what, &b.so);
    let likes = || notes.iter().filter_map(|note| note.like.as_ref());
    let mut lines = Vec::new();
    for note in notes {
        let Some(like) = &note.like else {
            lines.push(note.text.clone());
            continue;
        };
        let same: Vec<&Like> = likes().filter(|other| is_same(other, like)).collect();
        if same.len() < 2 {
            lines.push(note.text.clone());
        } else if std::ptr::eq(same[0], like) {
            let worst = same[1..]
                .iter()
                .copied()
                .fold(like, |worst, other| if other.weight > worst.weight { other } else { worst });
            let [model, ..] = &like.place;
            let [_, task, condition] = &worst.place;
            lines.push(format!(
                "{model}: {} in {} of {} rows ({}: {task} / {condition}): {}",
                like.what,
                same.len(),
                like.of,
                worst.figure,
                like.so
            ));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn low(model: &str, condition: &str, mass: f64) -> Note {
        Note::like(
            format!("{model} / t / {condition}: mass {mass}"),
            Like {
                place: [model, "t", condition].map(str::to_owned),
                what: "the mass is low".into(),
                figure: format!("lowest {mass}"),
                weight: -mass,
                so: "beware".into(),
                of: 15,
            },
        )
    }

    #[test]
    fn like_notes_of_a_model_are_one_line_and_one_alone_keeps_its_words() {
        let notes = [
            low("a", "direct", 0.04),
            Note::from("incomplete".to_owned()),
            low("a", "cot-prefix", 0.01),
            low("b", "direct", 0.03),
            low("a", "cot-prefix+x", 0.02),
        ];
        assert_eq!(
            gathered(&notes),
            [
                "a: the mass is low in 3 of 15 rows (lowest 0.01: t / cot-prefix): beware",
                "incomplete",
                "b / t / direct: mass 0.03",
            ]
        );
        // Machines get all of them.
        let json = serde_json::to_value(&notes).unwrap();
        assert_eq!(json.as_array().unwrap().len(), 5);
        assert_eq!(json[4], "a / t / cot-prefix+x: mass 0.02");
    }
}
