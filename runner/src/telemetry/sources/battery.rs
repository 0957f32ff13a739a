//! Laptop batteries. What they give is what the whole machine draws, but only while it runs from them.
//!
//! The direction comes from `status` alone: some drivers report a discharge as a negative number, most report every number
//! as positive.

use crate::telemetry::missing::Missing;
use crate::telemetry::root::{Attribute, Gauge, Root, text};
use crate::telemetry::source::{Channel, Domain, Kind, PowerSource, SourceInfo, Take, Value};

use super::Found;

const ID: &str = "battery";
const CLASS: &str = "sys/class/power_supply";
/// Controllers give a new value every 1 to 30 seconds.
const EVERY_US: u64 = 1_000_000;
const SHORTEST_US: u64 = 60_000_000;
/// A charge has steps of some 10 mWh: its difference tells nothing sooner.
const SHORTEST_CHARGE_US: u64 = 600_000_000;
/// What a laptop can draw.
const PLAUSIBLE_UW: std::ops::RangeInclusive<i64> = 100_000..=300_000_000;
/// What controllers say when they do not know: all bits of a 16-bit register, in thousandths.
const GARBAGE: [i64; 3] = [65_535_000, 65_535, 65_536_000];
const PACKS: usize = 3;

/// How a pack tells its power.
enum Rate {
    Power(Gauge),
    Product {
        current: Gauge,
        voltage: Gauge,
    },
    /// Only what is left tells: microwatt-hours, or microampere-hours with a voltage.
    Left {
        energy: Gauge,
        voltage: Option<Gauge>,
        last_uwh: Option<i64>,
        spent_uj: u64,
    },
}

struct Pack {
    name: String,
    status: Box<dyn Attribute>,
    rate: Rate,
}

struct Batteries {
    info: SourceInfo,
    packs: Vec<Pack>,
    adapters: Vec<Gauge>,
}

/// Looks for it.
pub fn find(root: &dyn Root) -> Found {
    let looked_at = format!("/{CLASS}/*/type");
    let mut packs = Vec::new();
    let mut adapters = Vec::new();
    // Some of these are what a port negotiated, and no measurement.
    let supplies = root.list(CLASS).into_iter().filter(|name| !name.starts_with("ucsi-source-psy"));
    for supply in supplies {
        let at = |file: &str| format!("{CLASS}/{supply}/{file}");
        let kind = text(root, &at("type")).unwrap_or_default();
        // Mice and headsets have batteries too.
        let foreign = text(root, &at("scope")).is_ok_and(|scope| scope == "Device");
        match kind.as_str() {
            "Battery" if !foreign => {
                let absent = text(root, &at("present")).is_ok_and(|present| present == "0");
                if let (false, Ok(status)) = (absent, root.open(&at("status"))) {
                    let Some(rate) = rate(root, &supply) else { continue };
                    packs.push(Pack { name: supply.clone(), status, rate });
                }
            }
            "Mains" | "USB" => adapters.push(Gauge::open(root, &at("online"))),
            _ => {}
        }
    }
    packs.truncate(PACKS);
    if packs.is_empty() {
        return Found::absent(ID, Missing::NoSensor, looked_at);
    }
    let slow = packs.iter().any(|pack| matches!(pack.rate, Rate::Left { .. }));
    let names: Vec<&str> = packs.iter().map(|pack| pack.name.as_str()).collect();
    let (kind, shortest) = match slow {
        true => (Kind::Counter, SHORTEST_CHARGE_US),
        false if packs.iter().all(|pack| matches!(pack.rate, Rate::Power(_))) => {
            (Kind::Measured, SHORTEST_US)
        }
        false => (Kind::Product, SHORTEST_US),
    };
    let note = format!("{} while discharging; screen, radio and drives included", names.join(" + "));
    let total = Channel::new("total", Domain::BatteryDischarge, kind, shortest).noted(note);
    let mut notes = vec!["updated by the battery's controller every 1 to 30 s".to_owned()];
    if slow {
        notes.push("no rate can be read: the difference of the charge is all there is".to_owned());
    }
    let info = SourceInfo {
        id: ID.to_owned(),
        place: format!("/{CLASS}"),
        every_us: EVERY_US,
        channels: vec![total],
        total: Some(0),
        notes,
    };
    let mut batteries = Batteries { info, packs, adapters };
    match batteries.power() {
        Ok(_) => Found::Source(Box::new(batteries)),
        Err(Missing::OnMains) => Found::barred(
            ID,
            Missing::OnMains,
            format!("/{CLASS}"),
            "unplug the charger: a battery tells what the machine draws only while it runs from it",
        ),
        Err(reason) => Found::absent(ID, reason, format!("/{CLASS}")),
    }
}

fn rate(root: &dyn Root, supply: &str) -> Option<Rate> {
    let open = |file: &str| Gauge::open(root, &format!("{CLASS}/{supply}/{file}"));
    let works = |file: &str| open(file).read().is_ok();
    if works("power_now") {
        return Some(Rate::Power(open("power_now")));
    }
    if works("current_now") && works("voltage_now") {
        return Some(Rate::Product { current: open("current_now"), voltage: open("voltage_now") });
    }
    let left = |energy, voltage| Rate::Left { energy, voltage, last_uwh: None, spent_uj: 0 };
    if works("energy_now") {
        return Some(left(open("energy_now"), None));
    }
    (works("charge_now") && works("voltage_now")).then(|| left(open("charge_now"), Some(open("voltage_now"))))
}

impl Pack {
    fn discharges(&mut self) -> Result<bool, Missing> {
        let mut buffer = [0; 32];
        let length = self.status.read(&mut buffer).map_err(|error| Missing::of(&error))?;
        Ok(buffer[..length].starts_with(b"Discharging"))
    }
}

fn plausible(uw: i64) -> Result<i64, Missing> {
    if PLAUSIBLE_UW.contains(&uw) { Ok(uw) } else { Err(Missing::Implausible) }
}

fn known(value: i64) -> Result<i64, Missing> {
    let value = value.checked_abs().ok_or(Missing::Implausible)?;
    if GARBAGE.contains(&value) { Err(Missing::Implausible) } else { Ok(value) }
}

impl Rate {
    fn read(&mut self) -> Result<Value, Missing> {
        match self {
            Rate::Power(power) => plausible(known(power.read()?)?).map(Value::Power),
            Rate::Product { current, voltage } => {
                let product = i128::from(known(current.read()?)?) * i128::from(voltage.read()?);
                plausible(i64::try_from(product / 1_000_000).map_err(|_| Missing::Implausible)?)
                    .map(Value::Power)
            }
            Rate::Left { energy, voltage, last_uwh, spent_uj } => {
                let left = i128::from(energy.read()?);
                let left = match voltage {
                    Some(voltage) => left * i128::from(voltage.read()?) / 1_000_000,
                    None => left,
                };
                let left = i64::try_from(left).map_err(|_| Missing::Implausible)?;
                // The voltage wavers, so that the product may seem to grow; only what is gone counts.
                let low = last_uwh.map_or(left, |last| last.min(left));
                let gone = last_uwh.map_or(0, |last| last - low);
                *last_uwh = Some(low);
                *spent_uj = spent_uj.saturating_add(gone.unsigned_abs().saturating_mul(3600));
                Ok(Value::Energy(*spent_uj))
            }
        }
    }
}

impl Batteries {
    fn power(&mut self) -> Result<Value, Missing> {
        if self.adapters.iter_mut().any(|adapter| adapter.read() == Ok(1)) {
            return Err(Missing::OnMains);
        }
        let mut sum: Option<Value> = None;
        for pack in &mut self.packs {
            if !pack.discharges()? {
                continue;
            }
            sum = Some(match (sum, pack.rate.read()?) {
                (None, value) => value,
                (Some(Value::Power(a)), Value::Power(b)) => Value::Power(a + b),
                (Some(Value::Energy(a)), Value::Energy(b)) => Value::Energy(a + b),
                // A rate and a charge cannot be added.
                _ => return Err(Missing::NotSupported),
            });
        }
        sum.ok_or(Missing::OnMains)
    }
}

impl PowerSource for Batteries {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, now: &dyn Fn() -> u64, take: Take<'_>) {
        let before = now();
        let value = self.power();
        take(0, before + now().saturating_sub(before) / 2, value);
    }
}
