//! What answers cost round by round, where models took turns.

use super::Material;
use crate::report::html::markup::{Markup, all, paragraph, table};
use crate::report::{ROUND_HEADINGS, round_rows};

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let rows = round_rows(&material.costs);
    (!rows.is_empty()).then(|| {
        all([
            paragraph(
                "Models took turns. Each figure is the median over rounds, with the lowest and the highest. A round has a share of \
                 the items, so that the range holds what differs between these items beside what drifted; the comparison of \
                 models has the ratios by round, in which both sides answered the same items.",
            ),
            table("Costs over rounds: median (lowest to highest)", &ROUND_HEADINGS, 3, &rows),
        ])
    })
}
