//! The laboratory's tables on the page.

use crate::report::decoding::Decoding;
use crate::report::decoding::rows::{self, Listed, WORDS};
use crate::report::html::markup::{Markup, all, details, table};

pub(super) fn tables(decoding: &Decoding) -> Markup {
    let open =
        [rows::shifts, rows::orders, rows::texts, rows::written, rows::options].map(|table| table(decoding));
    // The bars and plots above show most of these.
    let closed = [
        ("Means of every condition", rows::conditions(decoding)),
        ("Every place of the label", rows::slots(decoding)),
    ];
    let open = open.iter().filter(|listed| !listed.rows.is_empty()).map(rendered);
    let closed = closed
        .iter()
        .filter(|(_, listed)| !listed.rows.is_empty())
        .map(|(summary, listed)| details(summary, [rendered(listed)]));
    all(open.chain(closed))
}

fn rendered(listed: &Listed) -> Markup {
    table(listed.title, &listed.headings, WORDS, &listed.rows)
}
