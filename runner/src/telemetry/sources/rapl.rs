//! Intel's and AMD's energy counters through powercap.
//!
//! Packages are added up; what lies inside them (core, uncore) or beside them (dram, psys) is kept apart.

use crate::telemetry::counter::{Counter, Step};
use crate::telemetry::missing::Missing;
use crate::telemetry::root::{Gauge, Root, number, text};
use crate::telemetry::source::{Channel, Domain, Kind, PowerSource, SourceInfo, Take, Value};

use super::Found;

const ID: &str = "rapl";
const CLASS: &str = "sys/class/powercap";
/// Windows below this are mostly the jitter of the registers.
const SHORTEST_US: u64 = 100_000;
/// Zones that are kept; a machine of two packages has ten.
const ZONES: usize = 10;

/// How a group of users is given the right to read the counters until the next boot's udev does it for good.
const REMEDY: &str = "sudo sh -c 'echo \"SUBSYSTEM==\\\"powercap\\\", KERNEL==\\\"intel-rapl*\\\", \
RUN+=\\\"/usr/bin/chgrp adm /sys/%p/energy_uj\\\", RUN+=\\\"/usr/bin/chmod g+r /sys/%p/energy_uj\\\"\" \
> /etc/udev/rules.d/70-powercap.rules && udevadm trigger --subsystem-match=powercap' (for members of group adm)";

struct Zone {
    energy: Gauge,
    counter: Counter,
    package: bool,
}

struct Rapl {
    info: SourceInfo,
    zones: Vec<Zone>,
}

/// Looks for it.
pub fn find(root: &dyn Root) -> Found {
    let mut named: Vec<(String, String)> = Vec::new();
    for zone in root.list(CLASS).into_iter().filter(|name| is_zone(name)) {
        if let Ok(name) = text(root, &format!("{CLASS}/{zone}/name")) {
            named.push((zone, name));
        }
    }
    if named.is_empty() {
        return Found::absent(ID, Missing::NoSensor, format!("/{CLASS}/intel-rapl:*"));
    }
    let mut zones = Vec::new();
    let mut channels = vec![Channel::new("packages", Domain::CpuPackage, Kind::Counter, SHORTEST_US)];
    let mut failures = Vec::new();
    let mut packages = Vec::new();
    for (zone, name) in named.iter().take(ZONES) {
        let path = format!("{CLASS}/{zone}/energy_uj");
        let mut energy = Gauge::open(root, &path);
        let package = name.starts_with("package");
        let top = zone.matches(':').count() == 1;
        if let Err(reason) = energy.read() {
            failures.push((reason, path, package));
            continue;
        }
        let range = number(root, &format!("{CLASS}/{zone}/max_energy_range_uj"));
        let domain = match name.as_str() {
            "dram" => Domain::Dram,
            "psys" => Domain::Platform,
            _ if package && top => Domain::CpuPackage,
            _ => Domain::Rail,
        };
        let package = package && top;
        if package {
            packages.push(name.clone());
        }
        let label = match zone.split(':').nth(1) {
            Some(parent) if !top => format!("{name}-{parent}"),
            _ => name.clone(),
        };
        // A part of the sum is no domain of its own.
        let domain = if package { Domain::Rail } else { domain };
        channels.push(Channel::new(label, domain, Kind::Counter, SHORTEST_US));
        let counter = Counter::new(range.ok().and_then(|range| u64::try_from(range).ok()));
        zones.push(Zone { energy, counter, package });
    }
    // The sum of some packages is the sum of none: one that cannot be read takes the total with it.
    if let Some((reason, path, _)) = failures.iter().find(|failure| failure.2).or(failures.first())
        && (zones.is_empty() || failures.iter().any(|failure| failure.2))
    {
        let place = format!("/{path}");
        return match reason {
            Missing::Permission => Found::barred(ID, *reason, place, REMEDY),
            reason => Found::absent(ID, *reason, place),
        };
    }
    channels[0].note = format!("{} added up; core and uncore lie inside", packages.join(" + "));
    let mut notes: Vec<String> =
        failures.iter().map(|(reason, path, _)| format!("/{path}: {reason}")).collect();
    if channels.iter().any(|channel| channel.domain == Domain::Platform) {
        notes.push("psys is the maker's own sum, often wrong, and never added".to_owned());
    }
    let total = (!packages.is_empty()).then_some(0);
    let info =
        SourceInfo { id: ID.to_owned(), place: format!("/{CLASS}"), every_us: 1_000, channels, total, notes };
    Found::Source(Box::new(Rapl { info, zones }))
}

/// `intel-rapl:0` and `intel-rapl:0:1`; not `intel-rapl-mmio:0`, which repeats a package, and nothing with letters.
fn is_zone(name: &str) -> bool {
    let Some(numbers) = name.strip_prefix("intel-rapl:") else { return false };
    let numbers: Vec<&str> = numbers.split(':').collect();
    numbers.len() <= 2 && numbers.iter().all(|part| part.parse::<u32>().is_ok())
}

impl PowerSource for Rapl {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, now: &dyn Fn() -> u64, take: Take<'_>) {
        let mut total = 0;
        let mut lost = false;
        let mut missing = None;
        let before = now();
        for (index, zone) in self.zones.iter_mut().enumerate() {
            let at = now();
            let value =
                match zone.energy.read().and_then(|uj| u64::try_from(uj).map_err(|_| Missing::ReadError)) {
                    Ok(uj) => match zone.counter.read(at, uj) {
                        Step::Total(uj) => Ok(Value::Energy(uj)),
                        Step::Lost(uj) => Ok(Value::Restart(uj)),
                    },
                    Err(reason) => Err(reason),
                };
            if zone.package {
                match value {
                    Ok(Value::Energy(uj)) => total += uj,
                    Ok(Value::Restart(uj)) => {
                        total += uj;
                        lost = true;
                    }
                    Ok(Value::Power(_)) => {}
                    Err(reason) => missing = Some(reason),
                }
            }
            take(index + 1, at, value);
        }
        let at = before + now().saturating_sub(before) / 2;
        if self.info.total.is_some() {
            take(
                0,
                at,
                match (missing, lost) {
                    (Some(reason), _) => Err(reason),
                    (None, true) => Ok(Value::Restart(total)),
                    (None, false) => Ok(Value::Energy(total)),
                },
            );
        }
    }
}
