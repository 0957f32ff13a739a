//! What items show, read back, and controls that use no model.

use super::{Combination, Figure, Glass, MARKS, Ratio};
use crate::item::{Item, Part};
use crate::picture::Picture;

/// What an item shows; `None` where its picture is withheld.
pub fn shown(item: &Item) -> Option<Figure> {
    let question = item.first_question();
    match question.stem.first()? {
        Part::Picture(picture) => match picture.as_ref() {
            Picture::Glasses(figure) => Some(figure.clone()),
            _ => None,
        },
        Part::Text(text) => {
            let number = |after: &str, from: usize| {
                let start = from + text.get(from..)?.find(after)? + after.len();
                let digits: String =
                    text[start..].chars().take_while(|sign| sign.is_ascii_digit() || *sign == '.').collect();
                Some((hundredths(&digits)?, start))
            };
            let (width, at) = number("glass, ", 0)?;
            let (height, at) = number("wide and ", at)?;
            let (water, at) = number("height of ", at)?;
            let (to_width, at) = number("glass, ", at)?;
            let (to_height, _) = number("wide and ", at)?;
            let whole = |number: i64| u8::try_from(number / 100).ok();
            let mark = |option: &String| Some(Ratio::new(hundredths(option.strip_suffix(" cm")?)?, 100));
            Some(Figure {
                source: Glass { width: whole(width)?, height: whole(height)? },
                water: Ratio::new(water, 100),
                target: Glass { width: whole(to_width)?, height: whole(to_height)? },
                marks: question.options.iter().map(mark).collect::<Option<_>>()?,
                unit_px: 100,
            })
        }
    }
}

fn hundredths(text: &str) -> Option<i64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "00"));
    let part = if part.len() == 2 { part.parse::<i64>().ok()? } else { return None };
    Some(whole.parse::<i64>().ok()? * 100 + part)
}

/// The mark nearest to what a wrong shortcut gives.
pub(super) fn nearest(items: &[Item], foil: usize) -> Vec<Option<u16>> {
    let answer = |item: &Item| {
        let figure = shown(item)?;
        let quarters = (figure.water * Ratio::whole(4) / Ratio::whole(figure.source.height)).times(1);
        let it = Combination {
            source: figure.source,
            quarters: u8::try_from(quarters).ok()?,
            target: figure.target,
        };
        let (_, height) = it.foils()[foil];
        (0u16..).zip(&figure.marks).min_by_key(|(_, mark)| mark.apart(height)).map(|(label, _)| label)
    };
    items.iter().map(answer).collect()
}

fn most_frequent(values: impl Iterator<Item = u16>) -> u16 {
    let mut counts = [0usize; MARKS];
    values.for_each(|value| counts[usize::from(value) % MARKS] += 1);
    (0u16..).zip(counts).max_by_key(|(value, count)| (*count, u16::MAX - value)).map_or(0, |(value, _)| value)
}

pub(super) fn best_constant(items: &[Item]) -> Vec<Option<u16>> {
    let letter = most_frequent(items.iter().filter_map(|item| item.first_question().gold.label()));
    vec![Some(letter); items.len()]
}

pub(super) fn best_rank(items: &[Item]) -> Vec<Option<u16>> {
    let rank_of = |item: &Item| item.tags.get("rank")?.parse::<u16>().ok();
    let rank = usize::from(most_frequent(items.iter().filter_map(|item| Some(rank_of(item)? - 1))));
    let answer = |item: &Item| {
        let marks = shown(item)?.marks;
        let mut order: Vec<usize> = (0..marks.len()).collect();
        order.sort_by_key(|&index| marks[index]);
        order.get(rank).map(|&label| label as u16)
    };
    items.iter().map(answer).collect()
}
