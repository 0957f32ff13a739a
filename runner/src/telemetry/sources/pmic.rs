//! The power chip of a Raspberry Pi 5, asked through the firmware.
//!
//! Voltages and currents are paired by the names of their rails, never by their numbers, which differ between the two
//! halves and between firmwares. What is drawn from 5 V directly (USB, fan, hats) is outside.

use crate::telemetry::missing::Missing;
use crate::telemetry::root::{Root, text};
use crate::telemetry::source::{Channel, Domain, Kind, PowerSource, SourceInfo, Take, Value};

use super::Found;
use super::mailbox::{DEVICES, Firmware};

const ID: &str = "pi-pmic";
const COMMAND: &str = "pmic_read_adc";
const SHORTEST_US: u64 = 5_000_000;
/// Room for a reply, which has about a thousand bytes.
const REPLY_BYTES: usize = 4096;
/// Rails with both halves; there are 12 today.
const RAILS: usize = 16;

/// Input power of a board against the sum of its rails, in parts per million and microwatts: a line that was fitted on one
/// board with one supply and nothing on USB.
const GAIN_PPM: i64 = 1_132_700;
const OFFSET_UW: i64 = 644_400;

struct Pmic {
    info: SourceInfo,
    firmware: Box<dyn Firmware>,
    reply: Box<[u8; REPLY_BYTES]>,
    names: Vec<String>,
}

/// Looks for it.
pub fn find(root: &dyn Root) -> Found {
    let looked_at = format!("/{}, /{}", DEVICES[0], DEVICES[1]);
    let mut firmware = match root.firmware() {
        Ok(firmware) => firmware,
        Err(error) => {
            return match Missing::of(&error) {
                Missing::Permission => Found::barred(
                    ID,
                    Missing::Permission,
                    looked_at,
                    "sudo usermod -aG video $USER (then log in again)",
                ),
                reason => Found::absent(ID, reason, looked_at),
            };
        }
    };
    let mut reply = Box::new([0; REPLY_BYTES]);
    let model = text(root, "proc/device-tree/model").unwrap_or_default();
    let rails = firmware.ask(COMMAND, &mut *reply).map_err(|error| Missing::of(&error)).and_then(|length| {
        let mut names = Vec::new();
        rails(&reply[..length], &mut |name, _| names.push(name.to_owned())).map(|_| names)
    });
    let names = match rails {
        Ok(names) => names,
        Err(Missing::NotSupported) => {
            let what = format!("{looked_at}: {model} has no power chip that measures");
            return Found::absent(ID, Missing::NotSupported, what);
        }
        Err(reason) => return Found::absent(ID, reason, looked_at),
    };
    let mut channels = vec![
        Channel::new("total", Domain::SocPartial, Kind::Product, SHORTEST_US).noted(format!(
            "{} added up; USB, fan, hats and the chip's own loss are outside",
            names.join(" + ")
        )),
        Channel::new("estimated-board", Domain::DcInputBoard, Kind::Estimate, SHORTEST_US)
            .noted("1.1327 x total + 0.6444 W, fitted on one board; no measurement"),
    ];
    channels.extend(
        names.iter().map(|name| Channel::new(name.clone(), Domain::Rail, Kind::Product, SHORTEST_US)),
    );
    let info = SourceInfo {
        id: ID.to_owned(),
        place: COMMAND.to_owned(),
        every_us: 100_000,
        channels,
        total: Some(0),
        notes: vec!["single readings fluctuate; not calibrated".to_owned()],
    };
    Found::Source(Box::new(Pmic { info, firmware, reply, names }))
}

/// Gives each rail that has both halves to `each`, in microwatts, and their sum back.
///
/// An answer that says it is an error, that is empty or that ends in the middle of a line is no answer.
fn rails(reply: &[u8], each: &mut dyn FnMut(&str, i64)) -> Result<i64, Missing> {
    let reply = std::str::from_utf8(reply).map_err(|_| Missing::ReadError)?;
    if reply.trim_start().starts_with("error=") {
        return Err(Missing::NotSupported);
    }
    let mut sum = 0i64;
    let mut count = 0;
    for line in reply.lines().filter(|line| !line.trim().is_empty()) {
        let (name, amperes) = match quantity(line).ok_or(Missing::ReadError)? {
            (name, 'A', value) => (name, value),
            _ => continue,
        };
        let other =
            reply.lines().filter_map(quantity).find(|(other, unit, _)| *other == name && *unit == 'V');
        let Some((_, _, volts)) = other else { continue };
        // Of microvolts times microamperes a rail has some 10^13.
        let uw = i64::try_from(i128::from(amperes) * i128::from(volts) / 1_000_000)
            .map_err(|_| Missing::Implausible)?;
        sum = sum.saturating_add(uw);
        count += 1;
        if count > RAILS {
            return Err(Missing::Implausible);
        }
        each(name, uw);
    }
    if count == 0 { Err(Missing::NotSupported) } else { Ok(sum) }
}

/// `VDD_CORE_A current(7)=10.87674000A`: stem of the name, unit, millionths.
fn quantity(line: &str) -> Option<(&str, char, i64)> {
    let (name, rest) = line.trim().split_once(' ')?;
    let (stem, unit) = match name.strip_suffix("_A") {
        Some(stem) => (stem, 'A'),
        None => (name.strip_suffix("_V")?, 'V'),
    };
    let value = rest.split_once('=')?.1.trim().strip_suffix(unit)?;
    Some((stem, unit, millionths(value)?))
}

/// A decimal number in millionths, without the way over a float.
fn millionths(text: &str) -> Option<i64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if whole.len() > 9 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut value = whole.parse::<u32>().ok().map(i64::from)?;
    for place in 0..6 {
        value = value * 10 + i64::from(part.as_bytes().get(place).map_or(0, |digit| digit - b'0'));
    }
    let up = part.as_bytes().get(6).is_some_and(|digit| *digit >= b'5');
    value += i64::from(up);
    Some(if negative { -value } else { value })
}

impl PowerSource for Pmic {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, now: &dyn Fn() -> u64, take: Take<'_>) {
        let before = now();
        let answer = self.firmware.ask(COMMAND, &mut *self.reply).map_err(|error| Missing::of(&error));
        let at = before + now().saturating_sub(before) / 2;
        let names = &self.names;
        let total = answer.and_then(|length| {
            // First the whole is checked: half an answer must not reach the rails.
            let mut count = 0;
            rails(&self.reply[..length], &mut |_, _| count += 1)?;
            if count != names.len() {
                return Err(Missing::ReadError);
            }
            rails(&self.reply[..length], &mut |name, uw| {
                if let Some(index) = names.iter().position(|known| known == name) {
                    take(index + 2, at, Ok(Value::Power(uw)));
                }
            })
        });
        take(0, at, total.map(Value::Power));
        let estimate = |uw: i64| Value::Power(uw.saturating_mul(GAIN_PPM) / 1_000_000 + OFFSET_UW);
        take(1, at, total.map(estimate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Captured on a Raspberry Pi 5 with four busy cores (README of jfikar/RPi5-power).
    const BUSY: &str = include_str!("../fixtures/pi5-pmic-busy.txt");

    fn read(reply: &str) -> Result<(i64, Vec<(String, i64)>), Missing> {
        let mut seen = Vec::new();
        rails(reply.as_bytes(), &mut |name, uw| seen.push((name.to_owned(), uw))).map(|sum| (sum, seen))
    }

    #[test]
    fn rails_are_paired_by_name_and_add_up() {
        let (sum, seen) = read(BUSY).unwrap();
        // 10.87674 A x 0.8974594 V and the sum of all twelve, computed apart; a microvolt at ten amperes is ten microwatts.
        assert_eq!(seen.len(), 12);
        let core = seen.iter().find(|(name, _)| name == "VDD_CORE").unwrap().1;
        assert!((core - 9_761_433).abs() <= 10, "{core}");
        assert!((sum - 10_799_900).abs() < 100, "{sum}");
        assert!(seen.iter().all(|(name, _)| name != "EXT5V" && name != "BATT"));
    }

    #[test]
    fn early_firmware_s_names_pair_among_themselves() {
        let early = BUSY.replace("0V8_SW_", "0V8_SYS_");
        let (sum, seen) = read(&early).unwrap();
        assert_eq!(sum, read(BUSY).unwrap().0);
        assert!(seen.iter().any(|(name, _)| name == "0V8_SYS"));
        // One half renamed: that rail is left out, not paired by number.
        let half = BUSY.replace("0V8_SW_A", "0V8_SYS_A");
        assert_eq!(read(&half).unwrap().1.len(), 11);
    }

    #[test]
    fn a_cut_an_empty_and_a_refusing_answer_are_no_power() {
        for cut in 1..BUSY.trim_end().len() {
            let whole_lines =
                BUSY[..cut].ends_with(['A', 'V', '\n', ' ']) || BUSY[..cut].lines().count() == 0;
            if !whole_lines {
                assert!(
                    read(&BUSY[..cut]).is_err(),
                    "cut at {cut}: {:?}",
                    &BUSY[cut.saturating_sub(20)..cut]
                );
            }
        }
        assert_eq!(read("").unwrap_err(), Missing::NotSupported);
        assert_eq!(read("error=1 error_msg=\"Command not registered\"").unwrap_err(), Missing::NotSupported);
    }

    #[test]
    fn decimals_are_read_exactly() {
        assert_eq!(millionths("10.87674000"), Some(10_876_740));
        assert_eq!((millionths("0.00512820"), millionths("-1.5")), (Some(5_128), Some(-1_500_000)));
        assert_eq!((millionths("1.2.3"), millionths(""), millionths("x")), (None, None, None));
    }
}
