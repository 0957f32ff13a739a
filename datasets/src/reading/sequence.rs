//! Sequences: every part of a label once, in an order. `Hybrid, Shortest, Reversed, Avoidant`, or the same with the
//! places beside the parts: `Route A: Hybrid, Route B: Shortest, ...`.

use std::ops::Range;

use super::Kind;
use super::marks::{Mark, Marks, View};

/// Stands between the parts of a label.
pub const JOINT: &str = ", ";

/// Words that may stand between two parts without ending a sequence.
const BETWEEN: &[&str] = &[
    "a", "and", "are", "b", "c", "category", "d", "finally", "first", "for", "fourth", "in", "is", "kind",
    "option", "order", "route", "routes", "second", "the", "then", "third", "type", "1", "2", "3", "4",
];

/// Parts with nothing but such words between them.
struct Run {
    /// Which part, and where.
    parts: Vec<(usize, Range<usize>)>,
    announced: bool,
    refused: bool,
}

/// Reads a sequence: the last one that is announced as the answer, else the last one. As many parts as there are, but
/// not each once, is an answer, and no label.
pub(super) fn read(view: &View<'_>, labels: &[String]) -> Marks {
    let names: Vec<&str> = labels.first().map(|label| label.split(JOINT).collect()).unwrap_or_default();
    let runs = runs(view.text, &names);
    let last = |announced: bool| {
        let mut marks = Vec::new();
        let mut spoken = None;
        for run in runs.iter().filter(|run| !run.refused && (run.announced || !announced)) {
            if !run.parts.len().is_multiple_of(names.len()) {
                // An answer that names too few is none, and voids those before it; in a sentence it means nothing.
                if announced {
                    let at = run.parts[0].1.start..run.parts[run.parts.len() - 1].1.end;
                    marks.push(Mark { label: None, at, kind: Kind::Named });
                    spoken = None;
                }
                continue;
            }
            for block in run.parts.chunks(names.len()) {
                let at = block[0].1.start..block[block.len() - 1].1.end;
                if view.unfinished(at.end) {
                    continue;
                }
                let said: Vec<&str> = block.iter().map(|(part, _)| names[*part]).collect();
                let label = labels.iter().position(|label| label.split(JOINT).eq(said.iter().copied()));
                let label = label.and_then(|label| u16::try_from(label).ok());
                spoken = label.is_none().then(|| view.text[at.clone()].to_owned());
                marks.push(Mark { label, at, kind: Kind::Named });
            }
        }
        match spoken {
            Some(text) => Marks::text(text),
            None => Marks::last(marks),
        }
    };
    let announced = last(true);
    if view.cut { announced } else { announced.or(|| last(false)) }
}

fn runs(text: &str, names: &[&str]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut open = false;
    let mut before = "";
    for (at, word) in words(text) {
        let known = |list: &[&str]| list.iter().any(|known| word.eq_ignore_ascii_case(known));
        if let Some(part) = names.iter().position(|name| word.eq_ignore_ascii_case(name)) {
            let place = (part, at..at + word.len());
            match runs.last_mut().filter(|_| open) {
                Some(run) => run.parts.push(place),
                None => runs.push(Run {
                    parts: vec![place],
                    announced: ["answer", "answers"].iter().any(|known| before.eq_ignore_ascii_case(known)),
                    refused: ["not", "if", "or"].iter().any(|known| before.eq_ignore_ascii_case(known)),
                }),
            }
            open = true;
        } else if !known(BETWEEN) {
            // Another word after the parts: what follows is another sentence.
            open = false;
            before = word;
        }
    }
    runs
}

/// Words with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(move |word| (start(word), word))
}

#[cfg(test)]
mod tests {
    use models::Finish;

    use super::super::{How, Reading, read};
    use crate::verdict::{NoAnswer, Said};

    fn labels() -> Vec<String> {
        ["X, Y, Z", "X, Z, Y", "Y, X, Z", "Y, Z, X", "Z, X, Y", "Z, Y, X"]
            .map(|label| label.replace('X', "Xenon").replace('Y', "Yarn").replace('Z', "Zinc"))
            .to_vec()
    }

    fn said(reply: &str, finish: Finish) -> Said {
        let labels = labels();
        let how = How { reading: Reading::Sequence, labels: &labels, options: &[], reasoned: true };
        read(&how, reply, finish, false).said
    }

    #[test]
    fn sequences_are_read_in_the_ways_they_are_written() {
        for reply in [
            "Answer: Yarn, Xenon, Zinc",
            "yarn, xenon, zinc.",
            "**Route A**: Yarn\n**Route B**: Xenon\n**Route C**: Zinc",
            "So route A is Yarn, B is Xenon and C is Zinc.",
            "1. Yarn 2. Xenon 3. Zinc",
            "The kinds Xenon, Yarn, Zinc are given. The answers are: Yarn, Xenon, Zinc. I compared Zinc, Yarn, Xenon.",
            "First I thought Zinc, Yarn, Xenon; but it must be Yarn, Xenon, Zinc",
        ] {
            assert_eq!(said(reply, Finish::Stop), Said::Choice(2), "{reply}");
        }
    }

    #[test]
    fn what_is_no_sequence_is_no_answer_and_repeats_are_a_wrong_one() {
        for reply in [
            "",
            "Yarn",
            "Yarn, Xenon",
            "Yarn or Xenon or Zinc",
            "Yarn, Xenon, Zinc, Yarn",
            "Of Yarn, Xenon, Zinc: the answer is Yarn",
            "not Yarn, Xenon, Zinc",
        ] {
            assert!(matches!(said(reply, Finish::Stop), Said::Nothing(_)), "{reply}");
        }
        assert_eq!(said("Answer: Yarn, Yarn, Zinc", Finish::Stop), Said::Text("Yarn, Yarn, Zinc".to_owned()));
    }

    #[test]
    fn a_cut_reply_needs_an_announced_sequence_that_ends_before_the_cut() {
        assert_eq!(said("Answer: Yarn, Xenon, Zinc.\nBecause", Finish::Length), Said::Choice(2));
        for reply in ["Answer: Yarn, Xenon, Zinc", "Yarn, Xenon, Zinc are the kinds that"] {
            assert_eq!(said(reply, Finish::Length), Said::Nothing(NoAnswer::Truncated), "{reply}");
        }
    }
}
