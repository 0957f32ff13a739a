//! What pictures cost.

use super::Material;
use crate::report::html::markup::{Markup, table};
use crate::report::pictures::{sizes, span};
use crate::report::{PictureCost, picture_costs};

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let row = |cost: &PictureCost| {
        vec![
            cost.model.clone(),
            cost.task.clone(),
            sizes(&cost.sizes),
            sizes(&cost.tile_sizes),
            span(cost.tiles),
            span(cost.tokens),
            cost.pictures.to_string(),
            cost.encoded.to_string(),
            format!("{:.1}", cost.mean_ms()),
        ]
    };
    let rows: Vec<Vec<String>> = picture_costs(material.run).iter().map(row).collect();
    let headings = [
        "model",
        "task",
        "given",
        "tiles after resizing",
        "tiles",
        "tokens",
        "pictures",
        "encoded",
        "ms each",
    ];
    let caption = "Pictures, each counted once in every group that shows it; tokens are those of one picture in a prompt";
    (!rows.is_empty()).then(|| table(caption, &headings, 4, &rows))
}
