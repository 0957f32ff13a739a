//! Arithmetic in replies: how much of it there is, and how much of it is right.

use std::sync::LazyLock;

use regex::Regex;

/// Arithmetic expressions found in a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expressions {
    /// Expressions with a stated result: `1 + 7 = 8`.
    pub found: u32,
    /// Those whose stated result is right.
    pub right: u32,
    /// Those with numbers too large to check; they are not among the right ones.
    pub unchecked: u32,
}

impl std::ops::AddAssign for Expressions {
    fn add_assign(&mut self, other: Self) {
        self.found += other.found;
        self.right += other.right;
        self.unchecked += other.unchecked;
    }
}

/// A number: digits, grouped by commas or not, perhaps with decimals.
const NUMBER: &str = r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?";

static EXPRESSION: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"({NUMBER}(?:\s*[+\-*/]\s*{NUMBER})+)\s*=\s*({NUMBER})")));
static TERM: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"^\s*([+\-*/])?\s*({NUMBER})")));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a fixed pattern that the tests compile")
}

/// Finds and checks the arithmetic of a reply. Typographic minus, times and division signs count as the plain ones.
pub fn expressions(reply: &str) -> Expressions {
    let reply = reply.replace('\u{2212}', "-").replace(['×', '·'], "*").replace('÷', "/");
    let mut count = Expressions::default();
    for captures in EXPRESSION.captures_iter(&reply) {
        count.found += 1;
        match value(&captures[1]).zip(Fraction::read(&captures[2])) {
            Some((Value::Number(value), stated)) => count.right += u32::from(value == stated),
            Some((Value::Undefined, _)) => {}
            None => count.unchecked += 1,
        }
    }
    count
}

/// What an expression comes to.
enum Value {
    Number(Fraction),
    /// Division by zero: no stated result is right.
    Undefined,
}

/// Evaluates a chain of numbers; times and division bind closer than plus and minus. `None` where it overflows.
fn value(chain: &str) -> Option<Value> {
    let (mut sum, mut product) = (Fraction { over: 0, under: 1 }, None);
    let mut rest = chain;
    while let Some(captures) = TERM.captures(rest) {
        let number = Fraction::read(&captures[2])?;
        product = Some(match (captures.get(1).map(|sign| sign.as_str()), product) {
            (Some("*"), Some(product)) => number.times(product)?,
            (Some("/"), Some(_)) if number.over == 0 => return Some(Value::Undefined),
            (Some("/"), Some(product)) => {
                Fraction { over: number.under, under: number.over }.times(product)?
            }
            (sign, product) => {
                sum = sum.plus(product.unwrap_or(Fraction { over: 0, under: 1 }))?;
                if sign == Some("-") { Fraction { over: -number.over, ..number } } else { number }
            }
        });
        rest = &rest[captures[0].len()..];
    }
    Some(Value::Number(sum.plus(product?)?))
}

/// A rational number; equality is by value.
#[derive(Clone, Copy, Debug)]
struct Fraction {
    over: i128,
    under: i128,
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        // Both sides are reduced with a positive denominator.
        let (one, other) = (self.reduced(), other.reduced());
        (one.over, one.under) == (other.over, other.under)
    }
}

impl Fraction {
    fn read(text: &str) -> Option<Fraction> {
        let text = text.replace(',', "");
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
        let under = 10i128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
        Some(Fraction { over: format!("{whole}{decimals}").parse().ok()?, under })
    }

    fn times(self, other: Fraction) -> Option<Fraction> {
        let (over, under) = (self.over.checked_mul(other.over)?, self.under.checked_mul(other.under)?);
        Some(Fraction { over, under }.reduced())
    }

    fn plus(self, other: Fraction) -> Option<Fraction> {
        let (one, two) = (self.over.checked_mul(other.under)?, other.over.checked_mul(self.under)?);
        let under = self.under.checked_mul(other.under)?;
        Some(Fraction { over: one.checked_add(two)?, under }.reduced())
    }

    fn reduced(self) -> Fraction {
        let divisor = gcd(self.over.unsigned_abs(), self.under.unsigned_abs());
        let Ok(divisor) = i128::try_from(divisor) else { return self };
        let sign = if self.under < 0 { -1 } else { 1 };
        Fraction { over: self.over / divisor * sign, under: self.under / divisor * sign }
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_right(reply: &str) -> (u32, u32) {
        let count = expressions(reply);
        assert_eq!(count.unchecked, 0, "{reply}");
        (count.found, count.right)
    }

    #[test]
    fn the_papers_sample_replies_have_the_arithmetic_that_they_show() {
        // Appendix B.2, Llama3 70B: every line right.
        let right = "- moves 7 units to right: 1 + 7 = 8\n- moves 4 units to right: 8 + 4 = 12\n\
                     - moves 2 units to left: 2 - 2 = 0\n- moves 5 units to left: 0 - 5 = -5\n\
                     - moves 16 units to left: 14 - 16 = -2\n- moves 20 units to right: -2 + 20 = 18";
        assert_eq!(found_right(right), (6, 6));
        // Appendix B.3, Mixtral: its mistakes are in reading the moves, its arithmetic is right.
        let read_wrong = "making the new position 1 - 6 = -5\n making the new position -5 - 6 = -11\n\
                          making the new position 11 - 26 = 15";
        assert_eq!(found_right(read_wrong), (3, 2));
        // Section 6.1, as typeset.
        assert_eq!(found_right("5+3−2=6"), (1, 1));
    }

    #[test]
    fn times_and_division_bind_closer_and_divide_exactly() {
        assert_eq!(found_right("2 + 3 * 4 = 14"), (1, 1));
        assert_eq!(found_right("2 * 3 + 4 = 14"), (1, 0));
        assert_eq!(found_right("7 / 2 = 3.5 and 7 / 2 = 3"), (2, 1));
        assert_eq!(found_right("1 / 3 * 3 = 1"), (1, 1));
        assert_eq!(found_right("8 - 3 - 2 = 3"), (1, 1));
        assert_eq!(found_right("5 - -3 = 8"), (1, 1));
        assert_eq!(found_right("6 × 7 = 42, 84 ÷ 2 = 42"), (2, 2));
        assert_eq!(found_right("4 / 0 = 0"), (1, 0));
        assert_eq!(found_right("4 / -2 = -2"), (1, 1));
    }

    #[test]
    fn numbers_may_be_grouped_or_have_decimals() {
        assert_eq!(found_right("5,180 - 3,021 = 2,159"), (1, 1));
        assert_eq!(found_right("5180 - 3021 = 2,159"), (1, 1));
        assert_eq!(found_right("0.1 + 0.2 = 0.3"), (1, 1));
    }

    #[test]
    fn texts_without_a_stated_result_have_none() {
        assert_eq!(found_right(""), (0, 0));
        assert_eq!(found_right("Person A is at position 8. x = 3, 4 = 4, 5 + 3"), (0, 0));
    }

    #[test]
    fn numbers_too_large_to_check_are_told_apart() {
        let huge = "9".repeat(60);
        let count = expressions(&format!("{huge} + 1 = {huge}"));
        assert_eq!(count, Expressions { found: 1, right: 0, unchecked: 1 });
        let wide = "9".repeat(38);
        assert_eq!(expressions(&format!("{wide} * {wide} = 1")).unchecked, 1);
    }
}
