//! Power meters in hwmon: graphics chips, USB-C meters, INA2xx chips on hats.
//!
//! The software cannot know where a meter's shunt sits, so such a meter is the total only when the user names it with
//! what it covers.

use crate::telemetry::counter::{Counter, Step};
use crate::telemetry::missing::Missing;
use crate::telemetry::root::{Gauge, Root, number, text};
use crate::telemetry::source::{Channel, Domain, Kind, PowerSource, SourceInfo, Take, Value};

use super::Found;

const ID: &str = "hwmon";
const CLASS: &str = "sys/class/hwmon";
const SHORTEST_US: u64 = 2_000_000;
const METERS: usize = 8;
/// A chip has at most so many power files.
const FILES: u32 = 8;
/// Chips that measure voltage and current at one place; `in0` is their shunt.
const SINGLE: [&str; 8] = ["ina209", "ina219", "ina220", "ina226", "ina230", "ina231", "ina237", "ina238"];
/// Chips that other sources read, or whose values are no measurements.
const FOREIGN: [&str; 4] = ["ina3221", "BAT", "ucsi_source", "rpi_volt"];

/// A meter that the user says what it covers of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Name of the chip.
    pub name: String,
    /// Label of its channel; the first one when absent.
    pub label: Option<String>,
    /// What it covers.
    pub domain: Domain,
}

enum Reading {
    Microwatts(Gauge),
    Product(Gauge, Gauge),
    Microjoules(Gauge, Counter),
}

struct Meters {
    info: SourceInfo,
    readings: Vec<Reading>,
    /// Whether current may flow backwards there, which its sign tells.
    signed: Vec<bool>,
}

/// Looks for it.
pub fn find(root: &dyn Root, named: Option<&Named>) -> Found {
    let mut meters: Vec<(Reading, Channel, bool)> = Vec::new();
    let mut total = None;
    for hwmon in root.list(CLASS) {
        let folder = format!("{CLASS}/{hwmon}");
        let name = text(root, &format!("{folder}/name")).unwrap_or_default();
        let wanted = named.filter(|named| named.name == name);
        if wanted.is_none() && FOREIGN.iter().any(|foreign| name.starts_with(foreign)) {
            continue;
        }
        for (reading, label, file) in chip(root, &folder, &name) {
            let mut channel =
                Channel::new(format!("{name} {label}"), domain(&name), kind(&reading), SHORTEST_US);
            channel.note = format!("/{file}");
            if let Some(wanted) =
                wanted.filter(|wanted| wanted.label.as_ref().is_none_or(|wanted| *wanted == label))
            {
                channel.domain = wanted.domain;
                total = total.or(Some(meters.len()));
            }
            meters.push((reading, channel, SINGLE.contains(&name.as_str()) || name == "powerz"));
        }
    }
    if let (Some(named), None) = (named, total) {
        let label = named.label.as_ref().map(|label| format!(":{label}")).unwrap_or_default();
        return Found::absent(ID, Missing::NoSensor, format!("/{CLASS}/*/name: no {}{label}", named.name));
    }
    if meters.is_empty() {
        return Found::absent(
            ID,
            Missing::NoSensor,
            format!("/{CLASS}/*/power*_input, power*_average, energy*_input"),
        );
    }
    if meters.len() > METERS {
        // What the user named is kept, whatever stands before it.
        let at = total.unwrap_or(0).min(meters.len() - 1);
        meters.swap(0, at);
        total = total.map(|_| 0);
        meters.truncate(METERS);
    }
    let mut readings = Vec::new();
    let mut channels = Vec::new();
    let mut signed = Vec::new();
    for (reading, channel, sign) in meters {
        readings.push(reading);
        channels.push(channel);
        signed.push(sign);
    }
    let info = SourceInfo {
        id: ID.to_owned(),
        place: format!("/{CLASS}"),
        every_us: 10_000,
        channels,
        total: total.and_then(|total| u16::try_from(total).ok()),
        notes: Vec::new(),
    };
    Found::Source(Box::new(Meters { info, readings, signed }))
}

fn kind(reading: &Reading) -> Kind {
    match reading {
        Reading::Microwatts(_) => Kind::Measured,
        Reading::Product(..) => Kind::Product,
        Reading::Microjoules(..) => Kind::Counter,
    }
}

fn domain(name: &str) -> Domain {
    match name {
        // On a chip with processor cores this covers them too: it is never added to anything.
        "amdgpu" | "i915" | "xe" | "nouveau" => Domain::GpuBoard,
        _ => Domain::Rail,
    }
}

/// The readings of a chip that work, with their label and file.
fn chip(root: &dyn Root, folder: &str, name: &str) -> Vec<(Reading, String, String)> {
    let mut found = Vec::new();
    for index in 1..=FILES {
        for (file, label) in [
            (format!("power{index}_average"), format!("power{index}_label")),
            (format!("power{index}_input"), format!("power{index}_label")),
        ] {
            let path = format!("{folder}/{file}");
            if number(root, &path).is_ok() {
                let label =
                    text(root, &format!("{folder}/{label}")).unwrap_or_else(|_| format!("power{index}"));
                found.push((Reading::Microwatts(Gauge::open(root, &path)), label, path));
                break;
            }
        }
    }
    for index in 1..=FILES {
        let path = format!("{folder}/energy{index}_input");
        if number(root, &path).is_ok() {
            let label = text(root, &format!("{folder}/energy{index}_label"));
            let label = label.unwrap_or_else(|_| format!("energy{index}"));
            // A counter of 64 bits never wraps, and the range of a shorter one is not told.
            found.push((Reading::Microjoules(Gauge::open(root, &path), Counter::new(None)), label, path));
        }
    }
    if found.is_empty() && (SINGLE.contains(&name) || name == "powerz") {
        let volts = if name == "powerz" { "in0_input" } else { "in1_input" };
        let (volts, amperes) = (format!("{folder}/{volts}"), format!("{folder}/curr1_input"));
        if number(root, &volts).is_ok() && number(root, &amperes).is_ok() {
            let reading = Reading::Product(Gauge::open(root, &volts), Gauge::open(root, &amperes));
            found.push((reading, "in1 x curr1".to_owned(), volts));
        }
    }
    found
}

impl Reading {
    fn read(&mut self, at: u64, signed: bool) -> Result<Value, Missing> {
        match self {
            Reading::Microwatts(gauge) => gauge.read().map(Value::Power),
            Reading::Product(volts, amperes) => {
                let product = volts.read()?.checked_mul(amperes.read()?).ok_or(Missing::Implausible)?;
                // Against its own arrow the meter sees a charge or a discharge; the sign is kept.
                if product < 0 && !signed { Err(Missing::Implausible) } else { Ok(Value::Power(product)) }
            }
            Reading::Microjoules(gauge, counter) => {
                let uj = u64::try_from(gauge.read()?).map_err(|_| Missing::ReadError)?;
                Ok(match counter.read(at, uj) {
                    Step::Total(uj) => Value::Energy(uj),
                    Step::Lost(uj) => Value::Restart(uj),
                })
            }
        }
    }
}

impl PowerSource for Meters {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, now: &dyn Fn() -> u64, take: Take<'_>) {
        for (index, (reading, signed)) in self.readings.iter_mut().zip(&self.signed).enumerate() {
            let before = now();
            let value = reading.read(before, *signed);
            take(index, before + now().saturating_sub(before) / 2, value);
        }
    }
}
