//! Where the four marks stand: the answer and three wrong heights, inside the glass and apart from each other.

use super::{Combination, Distractors, Form, GlassesParams, MARKS, Ratio, normal};
use crate::Stream;

/// Draws of wrong marks before the parameters are given up.
const TRIES: usize = 200_000;

/// The answer first, then the wrong marks; `None` where the parameters leave no room for them.
pub(super) fn marks(params: &GlassesParams, stream: &mut Stream, it: Combination) -> Option<Vec<Ratio>> {
    let answer = it.answer();
    let height = Ratio::whole(it.target.height);
    let apart = Ratio::new((params.epsilon * 1000.0).round() as i64, 1000);
    // Where numbers are read, a wrong mark must be such a number as answers are, or its decimals give it away.
    let answers = if params.form == Form::Numbers { it.target.answers() } else { Vec::new() };
    let mark = |wanted: Ratio| {
        let inside = wanted > Ratio::whole(0) && wanted < height;
        let alike = || answers.iter().copied().min_by_key(|known| known.apart(wanted));
        inside.then(|| alike().unwrap_or(wanted))
    };
    let fits = |marks: &[Ratio], new: Ratio| marks.iter().all(|mark| mark.apart(new) >= apart);
    let mut first = vec![answer];
    if params.distractors == Distractors::Foils {
        let mut foils = it.foils().to_vec();
        stream.shuffle(&mut foils);
        for foil in foils.into_iter().filter_map(|(_, foil)| mark(foil)) {
            if first.len() < MARKS && fits(&first, foil) {
                first.push(foil);
            }
        }
    }
    let deviation = ((height - answer).value() / 2.0).sqrt();
    (0..TRIES).find_map(|_| {
        let mut marks = first.clone();
        while marks.len() < MARKS {
            let thousandths = (normal::normal(stream) * deviation * 1000.0).round() as i64;
            let new = mark(answer + Ratio::new(thousandths, 1000)).filter(|new| fits(&marks, *new))?;
            marks.push(new);
        }
        Some(marks)
    })
}
