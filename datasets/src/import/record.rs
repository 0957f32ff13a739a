//! One row, whatever the format: named fields with what stands in them. Cells are texts: `None`, `NA` and `nan` are
//! words like any other, and only an empty cell is missing.

use serde_json::Value;

use crate::picture::FilePicture;

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    /// The line on which it begins.
    pub(super) line: u64,
    /// Fields in the order of the file; names are lower-case.
    pub(super) fields: Vec<(String, Field)>,
}

/// What stands in a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Field {
    /// A text that is not empty.
    Text(String),
    /// A whole number that is not written as a text.
    Whole(i64),
    /// Texts in order; `None` is empty or null.
    List(Vec<Option<String>>),
    /// Texts with labels of their own.
    Labelled(Vec<Option<String>>, Vec<String>),
    /// A picture that stands in the row.
    Held(Box<FilePicture>),
    /// Empty or null.
    Missing,
    /// What no field should hold, in words.
    Other(&'static str),
}

impl Record {
    /// The field of the first of these names that the row has.
    pub(super) fn field(&self, names: &[String]) -> Option<&Field> {
        names
            .iter()
            .find_map(|name| self.fields.iter().find(|(known, _)| known == name))
            .map(|(_, field)| field)
    }

    /// Columns `a`, `b`, `c` ... as a list.
    pub(super) fn lettered(&self) -> Option<Field> {
        let cell = |letter: char| {
            let mut name = [0u8; 4];
            let name: &str = letter.encode_utf8(&mut name);
            self.fields.iter().find(|(known, _)| known == name).map(|(_, field)| field)
        };
        let mut texts = Vec::new();
        for field in ('a'..='z').map_while(cell) {
            texts.push(match field {
                Field::Text(text) => Some(text.clone()),
                Field::Whole(number) => Some(number.to_string()),
                Field::Missing => None,
                Field::List(_) | Field::Labelled(..) => return Some(Field::Other("a list in one option")),
                Field::Held(_) => return Some(Field::Other("a picture in one option")),
                Field::Other(what) => return Some(Field::Other(what)),
            });
        }
        (!texts.is_empty()).then_some(Field::List(texts))
    }
}

impl Field {
    pub(super) fn of_cell(text: &str) -> Field {
        if text.trim().is_empty() { Field::Missing } else { Field::Text(text.to_owned()) }
    }

    pub(super) fn of_json(value: Value) -> Field {
        match value {
            Value::Null => Field::Missing,
            Value::Bool(_) => Field::Other("true or false without quotes"),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => Field::Whole(whole),
                // Its spelling would not survive: 0.10 comes back as 0.1.
                None => Field::Other("a number that is not whole; write it in quotes"),
            },
            Value::String(text) => Field::of_cell(&text),
            Value::Array(values) => match values.into_iter().map(text).collect() {
                Ok(texts) => Field::List(texts),
                Err(what) => Field::Other(what),
            },
            Value::Object(mut object) => {
                let texts = object.remove("text").map(Field::of_json);
                let labels = object.remove("label").map(Field::of_json);
                match (texts, labels) {
                    (Some(Field::List(texts)), Some(Field::List(labels))) => {
                        match labels.into_iter().collect() {
                            Some(labels) => Field::Labelled(texts, labels),
                            None => Field::Other("an empty label"),
                        }
                    }
                    _ => Field::Other("an object without lists `text` and `label`"),
                }
            }
        }
    }
}

fn text(value: Value) -> Result<Option<String>, &'static str> {
    match Field::of_json(value) {
        Field::Text(text) => Ok(Some(text)),
        Field::Whole(number) => Ok(Some(number.to_string())),
        Field::Missing => Ok(None),
        Field::List(_) | Field::Labelled(..) => Err("a list in a list"),
        Field::Held(_) => Err("a picture in a list"),
        Field::Other(what) => Err(what),
    }
}
