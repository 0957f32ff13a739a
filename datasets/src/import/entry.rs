//! Rows to entries: which columns mean what, which options there are, which is right.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::record::{Field, Record};
use super::text::one_line_end;
use super::{Counts, Images, ImportError, PicturesOf, Rules};
use crate::picture::FilePicture;
use crate::reading::fold;

/// Most options of an item: there are 26 letters.
const OPTIONS_MAX: usize = 26;

/// Spellings of control tokens that are counted.
const CONTROL: &[&str] = &[
    "<|",
    "</s>",
    "<s>",
    "<think>",
    "</think>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<bos>",
    "<eos>",
    "[INST]",
    "[/INST]",
];

/// One item of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    /// Unique in the file.
    pub id: String,
    /// The question's text.
    pub question: String,
    /// Shown as context; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
    /// The options in the order of the file.
    pub options: Vec<String>,
    /// Index of the right one.
    pub gold: u16,
    /// A stratum for reports; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The id of the first pass, where options are rotated; empty elsewhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub family: String,
    /// Pass of the rotation, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pass: u32,
    /// The images, where they are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<FilePicture>,
    /// Further strata for reports.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// Whether an image belongs to it, which is not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub image: bool,
    /// The line in the file.
    #[serde(skip)]
    pub line: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the shape that serde asks for
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What the answer column holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerIs {
    /// A label, or the text of one option. A number is refused, because files count from 0 or from 1.
    #[default]
    Auto,
    /// A label: the letter, or one of the item's own labels.
    Label,
    /// The number of the option, counted from 0.
    #[serde(rename = "index-0")]
    Index0,
    /// The number of the option, counted from 1.
    #[serde(rename = "index-1")]
    Index1,
    /// The text of the option.
    Text,
}

/// Names of columns that differ from the usual ones; empty means the usual ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Columns {
    /// Usual: `question`.
    pub question: String,
    /// Usual: `choices`, `options`; else the columns `A`, `B`, `C` ...
    pub options: String,
    /// Usual: `answer`, `answerKey`, `gold`.
    pub answer: String,
    /// Usual: `id`, `index`.
    pub id: String,
    /// Usual: `group`, `category`, `subject`.
    pub group: String,
    /// Usual: `hint`, `context`.
    pub hint: String,
    /// Usual: `image`, `images`.
    pub image: String,
}

impl Columns {
    pub(super) fn image_names(&self) -> Vec<String> {
        names(&self.image, &["image", "images"])
    }

    pub(super) fn id_names(&self) -> Vec<String> {
        names(&self.id, &["id", "index"])
    }
}

fn names(own: &str, usual: &[&str]) -> Vec<String> {
    match own {
        "" => usual.iter().map(|&name| name.to_owned()).collect(),
        own => vec![own.trim().to_lowercase()],
    }
}

/// Entries of all rows that have an answer and can be shown, and warnings.
pub(super) fn all(
    records: &[Record],
    rules: &Rules,
    counts: &mut Counts,
    pictures_of: PicturesOf<'_>,
) -> Result<(Vec<Entry>, Vec<String>), ImportError> {
    let columns = &rules.columns;
    let question = names(&columns.question, &["question"]);
    let options = names(&columns.options, &["choices", "options"]);
    let answer = names(&columns.answer, &["answer", "answerkey", "gold"]);
    let [id, group, hint] = [
        columns.id_names(),
        names(&columns.group, &["group", "category", "subject"]),
        names(&columns.hint, &["hint", "context"]),
    ];
    let images = columns.image_names();
    let Some(first) = records.first() else {
        return Err(ImportError::File("no rows; the file is empty or has a header alone".to_owned()));
    };
    let known = |names: &[String]| records.iter().any(|record| record.field(names).is_some());
    let found = || first.fields.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    for (names, key) in [(&question, "question"), (&answer, "answer")] {
        if !known(names) && key == "answer" {
            return Err(ImportError::File(format!(
                "no column `{}`, so no gold: the split has no answers and cannot be scored (columns: {})",
                names.join("` or `"),
                found()
            )));
        } else if !known(names) {
            return Err(ImportError::File(format!(
                "no column `{}`; name it with params.import.columns.{key} (columns: {})",
                names.join("` or `"),
                found()
            )));
        }
    }
    // A column that is named has to be there: without this, a slip of the pen would leave out strata, hints or ids.
    let named = [
        ("columns.options", &columns.options),
        ("columns.id", &columns.id),
        ("columns.group", &columns.group),
        ("columns.hint", &columns.hint),
        ("columns.image", &columns.image),
    ];
    let named = named.into_iter().filter(|(_, column)| !column.is_empty());
    for (key, column) in named.chain(rules.tags.iter().map(|column| ("tags", column))) {
        if !known(&[column.trim().to_lowercase()]) {
            return Err(ImportError::File(format!(
                "no column `{}`, which params.import.{key} names (columns: {})",
                column.trim(),
                found()
            )));
        }
    }
    let mut entries = Vec::new();
    let mut nan_options = 0;
    let clean = |text: &str, counts: &mut Counts| {
        let (text, pairs, lone) = one_line_end(text);
        counts.crlf += pairs;
        counts.lone_cr += lone;
        counts.control_spellings +=
            CONTROL.iter().map(|spelling| text.matches(spelling).count() as u64).sum::<u64>();
        text.trim().to_owned()
    };
    for record in records {
        let own_id = match record.field(&id) {
            Some(Field::Text(text)) => Some(text.trim().to_owned()),
            Some(Field::Whole(number)) => Some(number.to_string()),
            _ => None,
        };
        let fault = |reason: String| ImportError::row(record.line, own_id.as_deref(), reason);
        let text = |names: &[String], what: &str| match record.field(names) {
            None | Some(Field::Missing) => Ok(String::new()),
            Some(Field::Text(text)) => Ok(text.clone()),
            Some(Field::Whole(number)) => Ok(number.to_string()),
            Some(Field::List(_) | Field::Labelled(..)) => {
                Err(fault(format!("{what} is a list; it must be a text")))
            }
            Some(Field::Held(_)) => Err(fault(format!("{what} is a picture; it must be a text"))),
            Some(Field::Other(kind)) => Err(fault(format!("{what} is {kind}; it must be a text"))),
        };
        let asked = text(&question, "the question")?;
        if asked.trim().is_empty() {
            return Err(fault("the question is empty".to_owned()));
        }
        let (shown, labels) = choices(record, &options, rules.nan_is_missing).map_err(&fault)?;
        nan_options += u64::from(shown.last().is_some_and(|last| last.trim().eq_ignore_ascii_case("nan")));
        let image = record.field(&images).filter(|field| match field {
            Field::Missing => false,
            Field::List(cells) => cells.iter().any(Option::is_some),
            _ => true,
        });
        let gold = match record.field(&answer) {
            None | Some(Field::Missing) => {
                counts.no_gold += 1;
                continue;
            }
            Some(Field::Whole(-1)) => None,
            Some(Field::Text(text)) if ["-", "-1"].contains(&text.trim()) => None,
            Some(field) => Some(gold(field, rules.answer_is, &shown, &labels).map_err(&fault)?),
        };
        let Some(gold) = gold else {
            counts.no_consensus += 1;
            continue;
        };
        let pictures = match (image, rules.images) {
            (Some(_), Images::LeftOut) => {
                counts.needs_image += 1;
                continue;
            }
            (Some(field), Images::Shown) => pictures_of(field).map_err(&fault)?,
            _ => Vec::new(),
        };
        let mut tags = BTreeMap::new();
        for column in rules.tags.iter().map(String::as_str).chain(rules.usual_tags.iter().copied()) {
            let value = text(&names(column, &[]), "a column of tags")?;
            if !value.trim().is_empty() {
                tags.insert(column.trim().to_lowercase(), value.trim().to_owned());
            }
        }
        entries.push(Entry {
            question: clean(&asked, counts),
            hint: clean(&text(&hint, "the hint")?, counts),
            options: shown.iter().map(|option| clean(option, counts)).collect(),
            gold,
            group: text(&group, "the group")?.trim().to_owned(),
            id: own_id.unwrap_or_else(|| format!("line-{}", record.line)),
            family: String::new(),
            pass: 0,
            image: image.is_some() && pictures.is_empty(),
            pictures,
            tags,
            line: record.line,
        });
    }
    if counts.no_gold + counts.no_consensus == counts.rows {
        return Err(ImportError::File(format!(
            "none of {} rows has an answer, so no gold: the split has no labels and cannot be scored",
            counts.rows
        )));
    }
    let mut warnings = Vec::new();
    if nan_options > 0 {
        warnings.push(format!(
            "{nan_options} items have `nan` as their last option: a word as any other here; if it stands for an empty cell, empty it"
        ));
    }
    if counts.control_spellings > 0 {
        warnings.push(format!(
            "{} spellings of control tokens in texts; they are asked as plain text",
            counts.control_spellings
        ));
    }
    if counts.lone_cr > 0 {
        warnings.push(format!("{} carriage returns without a line end were left in texts", counts.lone_cr));
    }
    Ok((entries, warnings))
}

/// The options without trailing empty ones, and the labels that the file gives them.
fn choices(
    record: &Record,
    columns: &[String],
    nan_is_missing: bool,
) -> Result<(Vec<String>, Vec<String>), String> {
    let field = record.field(columns).cloned().or_else(|| record.lettered());
    let (mut cells, own) = match field {
        Some(Field::List(cells)) => (cells, Vec::new()),
        Some(Field::Labelled(cells, labels)) => (cells, labels),
        // A cell of a table can hold a JSON list.
        Some(Field::Text(text)) => match serde_json::from_str(&text).map(Field::of_json) {
            Ok(Field::List(cells)) => (cells, Vec::new()),
            _ => return Err("the options are one text; give a list, or columns A, B, C ...".to_owned()),
        },
        Some(Field::Other(what)) => return Err(format!("an option is {what}")),
        Some(Field::Held(_)) => return Err("the options are a picture".to_owned()),
        Some(Field::Missing | Field::Whole(_)) | None => {
            return Err("no options; give a list `choices`, or columns A, B, C ...".to_owned());
        }
    };
    if !own.is_empty() && own.len() != cells.len() {
        return Err(format!("{} options with {} labels", cells.len(), own.len()));
    }
    let absent = |cell: &Option<String>| match cell {
        None => true,
        Some(text) => nan_is_missing && text.trim().eq_ignore_ascii_case("nan"),
    };
    while cells.last().is_some_and(absent) {
        cells.pop();
    }
    let count = cells.len();
    let Some(options) = cells.into_iter().collect::<Option<Vec<String>>>() else {
        return Err("an empty option before one that is not empty".to_owned());
    };
    if !(2..=OPTIONS_MAX).contains(&count) {
        return Err(format!("{count} options; an item has 2 to {OPTIONS_MAX}"));
    }
    let labels = match own.is_empty() {
        true => (b'A'..).take(count).map(|letter| char::from(letter).to_string()).collect(),
        false => own.into_iter().take(count).map(|label| label.trim().to_owned()).collect(),
    };
    Ok((options, labels))
}

fn gold(field: &Field, rule: AnswerIs, options: &[String], labels: &[String]) -> Result<u16, String> {
    let (text, number) = match field {
        Field::Text(text) => (text.trim().to_owned(), text.trim().parse::<i64>().ok()),
        Field::Whole(number) => (number.to_string(), Some(*number)),
        Field::List(_) | Field::Labelled(..) => {
            return Err("the answer is a list; items have one right option".to_owned());
        }
        Field::Held(_) => return Err("the answer is a picture".to_owned()),
        Field::Other(what) => return Err(format!("the answer is {what}")),
        Field::Missing => return Err("no answer".to_owned()),
    };
    let by_label = labels
        .iter()
        .position(|label| *label == text)
        .or_else(|| labels.iter().position(|label| label.eq_ignore_ascii_case(&text)));
    let range = format!("{} to {}", labels[0], labels[labels.len() - 1]);
    let index = match rule {
        AnswerIs::Label => {
            by_label.ok_or_else(|| format!("the answer `{text}` is none of the labels {range}"))?
        }
        AnswerIs::Index0 | AnswerIs::Index1 => {
            let first = i64::from(rule == AnswerIs::Index1);
            let last = first + options.len() as i64 - 1;
            let number = number.ok_or_else(|| {
                format!("the answer `{text}` is no number; params.import.answer-is says it is one")
            })?;
            if !(first..=last).contains(&number) {
                return Err(format!("the answer {number} is not in {first} to {last}"));
            }
            (number - first) as usize
        }
        AnswerIs::Text => {
            by_text(&text, options)?.ok_or_else(|| format!("the answer `{text}` is the text of no option"))?
        }
        AnswerIs::Auto => match by_label {
            Some(index) => match by_text(&text, options) {
                Ok(None) => index,
                Ok(Some(same)) if same == index => index,
                _ => {
                    return Err(format!(
                        "the answer `{text}` is a label and the text of another option; set params.import.answer-is"
                    ));
                }
            },
            None if number.is_some() => {
                return Err(format!(
                    "the answer `{text}` is a number; set params.import.answer-is to index-0, index-1, label or text"
                ));
            }
            None => by_text(&text, options)?.ok_or_else(|| {
                format!("the answer `{text}` is none of the labels {range} and the text of no option")
            })?,
        },
    };
    u16::try_from(index).map_err(|_| "too many options".to_owned())
}

fn by_text(text: &str, options: &[String]) -> Result<Option<usize>, String> {
    let wanted = fold(text);
    let mut equal = options
        .iter()
        .enumerate()
        .filter(|(_, option)| fold(option).trim() == wanted.trim())
        .map(|(index, _)| index);
    match (equal.next(), equal.next()) {
        (Some(_), Some(_)) => Err(format!("the answer `{text}` is the text of two options; give its label")),
        (first, _) => Ok(first),
    }
}
