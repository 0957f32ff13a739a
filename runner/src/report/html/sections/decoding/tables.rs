//! The laboratory's tables on the page.

use crate::report::decoding::Decoding;
use crate::report::decoding::rows::{self, Listed, WORDS};
use crate::report::extent::Extent;
use crate::report::html::Material;
use crate::report::html::markup::{Markup, all, details, paragraph, table};

pub(super) fn tables(material: &Material<'_>, decoding: &Decoding) -> Markup {
    let open = [rows::shifts, rows::orders, rows::texts, rows::written, rows::options];
    // The bars and plots above show most of these.
    let closed: [(&str, fn(&Decoding, Extent) -> Listed); 2] =
        [("Means of every condition", rows::conditions), ("Places of the label", rows::slots)];
    let listed = |table: fn(&Decoding, Extent) -> Listed| {
        Some(table(decoding, Extent::Brief)).filter(|listed| !listed.rows.is_empty() || listed.left_out > 0)
    };
    let open = open.into_iter().filter_map(listed).map(|listed| {
        let open = material.by_condition(listed.title, &listed.headings, WORDS, &listed.rows, [1, 2]);
        all(std::iter::once(open).chain(left_out(&listed)))
    });
    let closed = closed.into_iter().filter_map(|(summary, table)| {
        let listed = listed(table)?;
        Some(details(summary, std::iter::once(rendered(&listed)).chain(left_out(&listed))))
    });
    all(open.chain(closed))
}

fn rendered(listed: &Listed) -> Markup {
    table(listed.title, &listed.headings, WORDS, &listed.rows)
}

fn left_out(listed: &Listed) -> Option<Markup> {
    listed.left_out_in_words().map(|words| paragraph(&words))
}
