//! Where a stem shows its options.

use crate::item::{Part, Question};

/// How a line of an option is written: what stands before the label, between label and text, and between two lines.
type Style = (&'static str, &'static str, &'static str);

/// The styles that are known.
const STYLES: [Style; 6] = [
    ("", ". ", "\n"),
    ("", ") ", "\n"),
    ("(", ") ", "\n"),
    ("", ": ", "\n"),
    ("Route ", "\n", "\n\n"),
    ("Route ", "\n", "\n"),
];

fn block(labels: &[String], options: &[String], (before, between, joint): Style) -> String {
    let lines = labels.iter().zip(options).map(|(label, option)| format!("{before}{label}{between}{option}"));
    lines.collect::<Vec<_>>().join(joint)
}

/// The same stem with other labels and options in place of the question's own; `None` where it does not show them exactly
/// once.
fn replaced(stem: &[Part], question: &Question, labels: &[String], options: &[String]) -> Option<Vec<Part>> {
    for style in STYLES {
        let shown = block(&question.labels, &question.options, style);
        let mut places = Vec::new();
        for (index, part) in stem.iter().enumerate() {
            let Part::Text(text) = part else { continue };
            let starts_line = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
            let found = text.match_indices(&shown).map(|(at, _)| at).filter(starts_line);
            places.extend(found.map(|at| (index, at)));
        }
        if let [(index, at)] = places[..] {
            let mut stem = stem.to_vec();
            if let Part::Text(text) = &mut stem[index] {
                text.replace_range(at..at + shown.len(), &block(labels, options, style));
            }
            return Some(stem);
        }
    }
    None
}

/// The question with other labels and options shown, in its stem and in those that cues bring; all else is as it was.
pub(super) fn shown(question: &Question, labels: &[String], options: &[String]) -> Option<Question> {
    if question.options.len() < 2 || question.options.len() != question.labels.len() {
        return None;
    }
    let mut now = question.clone();
    now.stem = replaced(&question.stem, question, labels, options)?;
    for cue in &mut now.ask.reason {
        if let Some(stem) = &mut cue.stem {
            *stem = replaced(stem, question, labels, options)?;
        }
    }
    (now.labels, now.options) = (labels.to_vec(), options.to_vec());
    Some(now)
}
