//! Reads an answer out of a free reply: the extraction policy.
//!
//! Versioned as a whole ([`VERSION`]), pure, and the only place that parses replies.

pub mod ordering;
pub mod signal_steps;

use serde::{Deserialize, Serialize};

/// Raised by any change that can make a reply read differently; logged with every result.
pub const VERSION: u32 = 1;

/// How a question's replies are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// Option letters or words by the general policy: the last explicit statement, else the whole reply.
    Statement,
    /// Yes / No: the first such word of a direct reply, the last one of a reasoned reply.
    YesNo,
    /// The last `[[label]]`, else the last `Answer: label`.
    Bracketed,
    /// Apartments 1 to 4: the first digit of a direct reply, the last `Apartment n` of a reasoned one.
    Apartment,
    /// Vehicle classes A and B, with the English article told apart.
    VehicleClass,
    /// Pictures 1 to n: digits, ordinals, letters as synonyms.
    Ordinal,
    /// The last `Best Route: X` or `Route X`.
    Route,
    /// A preference order: `M > {X,Y,Z}, {N}`. Read to a text; the grader parses it.
    Ordering,
}
