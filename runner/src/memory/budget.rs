//! What a worker may take: a size, a share of the machine, or what is free.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{System, in_words};

/// A budget as it is written: `auto`, `none`, `1.5GiB`, `60%`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Budget {
    /// What is free now, less a reserve.
    #[default]
    Auto,
    /// No limit.
    None,
    /// A size.
    Bytes(u64),
    /// Thousandths of the memory that there is: physical, or a smaller limit of a group.
    Share(u32),
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is no memory budget: write \"auto\", \"none\", a size like \"1.5GiB\" or a share like \"60%\""
            )
        };
        let trimmed = text.trim();
        match trimmed {
            "auto" => return Ok(Budget::Auto),
            "none" => return Ok(Budget::None),
            _ => {}
        }
        let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let (number, unit) = trimmed.split_at(digits);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let scale = match unit.trim() {
            "%" if (0.1..=100.0).contains(&number) => {
                return Ok(Budget::Share((number * 10.0).round() as u32));
            }
            "B" => 1.0,
            "KiB" => 1024.0,
            "MiB" => 1_048_576.0,
            "GiB" => 1_073_741_824.0,
            "KB" | "kB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            _ => return Err(wrong()),
        };
        let bytes = number * scale;
        if !(1.0..9e15).contains(&bytes) {
            return Err(wrong());
        }
        Ok(Budget::Bytes(bytes as u64))
    }
}

impl TryFrom<String> for Budget {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Budget> for String {
    fn from(budget: Budget) -> Self {
        budget.to_string()
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Budget::Auto => f.write_str("auto"),
            Budget::None => f.write_str("none"),
            Budget::Bytes(bytes) => write!(f, "{bytes}B"),
            Budget::Share(thousandths) => write!(f, "{}%", f64::from(*thousandths) / 10.0),
        }
    }
}

/// Which memory of a worker counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// All that is resident, mapped weights too.
    #[default]
    Resident,
    /// What the system cannot drop and read again: mapped weights do not count.
    Private,
}

/// A budget in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// The bytes.
    pub bytes: u64,
    /// What counts.
    pub counts: Counts,
    /// Where they come from, in words.
    pub origin: String,
}

impl Budget {
    /// The limit that a budget stands for on this machine; `None` for no limit. `reserve_bytes` is left alone by `auto`.
    ///
    /// What `auto` finds counts against private memory alone: mapped weights that exceed it are read again from the
    /// disk, slowly, but kill nobody.
    pub fn limit(self, system: &System, counts: Counts, reserve_bytes: Option<u64>) -> Option<Limit> {
        let of = |bytes, counts, origin| Some(Limit { bytes, counts, origin });
        match self {
            Budget::None => None,
            Budget::Bytes(bytes) => of(bytes, counts, format!("as configured: {}", in_words(bytes))),
            Budget::Share(thousandths) => {
                let (whole, what) = system.capacity()?;
                let bytes = (u128::from(whole) * u128::from(thousandths) / 1000) as u64;
                of(bytes, counts, format!("{self} of {} ({what})", in_words(whole)))
            }
            Budget::Auto => {
                let (free, what) = system.available()?;
                let reserve = reserve_bytes.unwrap_or_else(|| system.reserve_bytes());
                let origin =
                    format!("{} free ({what}) less a reserve of {}", in_words(free), in_words(reserve));
                of(free.saturating_sub(reserve), Counts::Private, origin)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_as_they_are_written() {
        for (text, budget) in [
            ("auto", Budget::Auto),
            ("none", Budget::None),
            ("1.5GiB", Budget::Bytes(1_610_612_736)),
            ("300 MiB", Budget::Bytes(314_572_800)),
            ("2GB", Budget::Bytes(2_000_000_000)),
            ("60%", Budget::Share(600)),
            ("12.5%", Budget::Share(125)),
        ] {
            assert_eq!(text.parse(), Ok(budget), "{text}");
            assert_eq!(budget.to_string().parse(), Ok(budget), "{text}");
        }
        for text in ["", "5", "GiB", "-1GiB", "1.5Gb", "0%", "101%", "1e9B", "0MiB", "many"] {
            let error = text.parse::<Budget>().expect_err(text);
            assert!(error.contains("60%") && error.lines().count() == 1, "{error}");
        }
    }
}
