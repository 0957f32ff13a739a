//! The current monitors of Jetson boards: INA3221, and INA238 on Thor, whatever name the driver of a release gives them.
//!
//! Rails are known by their exact labels. Which of them is the total is a rule per board, never a guess: adding what lies
//! inside another rail doubles the figure.

use crate::telemetry::missing::Missing;
use crate::telemetry::root::{Gauge, Root, number, text};
use crate::telemetry::source::{Channel, Domain, Kind, PowerSource, SourceInfo, Take, Value};

use super::Found;

const ID: &str = "jetson";
/// Twenty readings at ten a second.
const SHORTEST_US: u64 = 2_000_000;
/// Rails that are kept; AGX Xavier has six, and carriers add a few.
const RAILS: usize = 12;

/// Labels of rails that feed all others of their board.
const INPUTS: [&str; 3] = ["VDD_IN", "POM_5V_IN", "VIN"];
/// Labels whose sum is all that enters the board, where no single rail is.
const SUMS: [&[&str]; 2] =
    [&["GPU", "CPU", "SOC", "CV", "VDDRQ", "SYS5V"], &["VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"]];

enum Reading {
    /// Millivolts and milliamperes.
    Product(Gauge, Gauge),
    /// Milliwatts.
    Milliwatts(Gauge),
    /// Microwatts.
    Microwatts(Gauge),
}

struct Rail {
    reading: Reading,
    label: String,
    in_total: bool,
}

struct Jetson {
    info: SourceInfo,
    rails: Vec<Rail>,
}

/// Looks for it.
pub fn find(root: &dyn Root) -> Found {
    let chips = chips(root);
    if chips.is_empty() {
        return Found::absent(
            ID,
            Missing::NoSensor,
            "/sys/bus/i2c/devices/*/name, /sys/bus/i2c/drivers/ina3221*, /sys/class/hwmon/*/name",
        );
    }
    let mut rails: Vec<(Rail, Channel)> = chips.iter().flat_map(|chip| rails(root, chip)).collect();
    rails.truncate(RAILS);
    if rails.is_empty() {
        return Found::absent(ID, Missing::NotSupported, chips.join(", "));
    }
    let (members, rule) = total(&rails.iter().map(|(rail, _)| rail.label.as_str()).collect::<Vec<_>>());
    for index in &members {
        rails[*index].0.in_total = true;
    }
    let mut total = Channel::new("total", Domain::ModuleTotal, Kind::Product, SHORTEST_US);
    total.note = rule.clone();
    total.step_uw = members.iter().map(|index| rails[*index].1.step_uw).sum();
    if let [only] = members[..] {
        total.kind = rails[only].1.kind;
    }
    let mut notes = vec!["not calibrated; carrier board, drives, fan and display may be outside".to_owned()];
    if members.is_empty() {
        notes.push(format!("no rule says what the total of these rails is: {}", labels(&rails)));
    }
    // Without a rule there is no such channel.
    let mut channels: Vec<Channel> = (!members.is_empty()).then_some(total).into_iter().collect();
    let (rails, rail_channels): (Vec<Rail>, Vec<Channel>) = rails.into_iter().unzip();
    channels.extend(rail_channels);
    let mut jetson = Jetson {
        info: SourceInfo {
            id: ID.to_owned(),
            place: format!("/{}", chips.join(", /")),
            every_us: 50_000,
            channels,
            total: (!members.is_empty()).then_some(0),
            notes,
        },
        rails,
    };
    // A sensor is there when it gives a value.
    let mut works = false;
    let mut first = Missing::NotSupported;
    jetson.read(&|| 0, &mut |_, _, value| match value {
        Ok(_) => works = true,
        Err(reason) => first = reason,
    });
    match works {
        true => Found::Source(Box::new(jetson)),
        false => Found::absent(ID, first, jetson.info.place),
    }
}

fn labels(rails: &[(Rail, Channel)]) -> String {
    rails.iter().map(|(rail, _)| rail.label.as_str()).collect::<Vec<_>>().join(", ")
}

/// The rails that make the total, and the rule in words.
fn total(labels: &[&str]) -> (Vec<usize>, String) {
    let place = |label: &str| labels.iter().position(|known| *known == label);
    if let Some((input, index)) = INPUTS.iter().find_map(|input| Some((input, place(input)?))) {
        return (vec![index], format!("{input}; the other rails lie inside it"));
    }
    for sum in SUMS {
        if let Some(members) = sum.iter().map(|label| place(label)).collect::<Option<Vec<_>>>() {
            return (members, sum.join(" + "));
        }
    }
    (Vec::new(), String::new())
}

/// Folders of the chips, each once.
fn chips(root: &dyn Root) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut devices: Vec<String> = Vec::new();
    let devices_of = |folder: &str| -> Vec<String> {
        let is_address = |name: &String| {
            name.split_once('-').is_some_and(|(bus, address)| {
                bus.parse::<u32>().is_ok() && u32::from_str_radix(address, 16).is_ok()
            })
        };
        root.list(folder).into_iter().filter(is_address).collect()
    };
    for driver in root.list("sys/bus/i2c/drivers").iter().filter(|name| name.starts_with("ina3221")) {
        let folder = format!("sys/bus/i2c/drivers/{driver}");
        for device in devices_of(&folder) {
            if let Some(chip) = inside(root, &format!("{folder}/{device}")) {
                devices.push(device);
                found.push(chip);
            }
        }
    }
    let bus = "sys/bus/i2c/devices";
    for device in devices_of(bus).into_iter().filter(|device| !devices.contains(device)) {
        let is_chip = text(root, &format!("{bus}/{device}/name")).is_ok_and(|name| name.contains("ina3221"));
        if let (true, Some(chip)) = (is_chip, inside(root, &format!("{bus}/{device}"))) {
            found.push(chip);
        }
    }
    let seen: Vec<String> =
        found.iter().filter_map(|chip| Some(chip.rsplit_once('/')?.1.to_owned())).collect();
    for hwmon in root.list("sys/class/hwmon").into_iter().filter(|name| !seen.contains(name)) {
        let folder = format!("sys/class/hwmon/{hwmon}");
        let Ok(name) = text(root, &format!("{folder}/name")) else { continue };
        // Thor's input has its own kind of chip; elsewhere such chips are meters that the user names.
        let is_input = |channel: u32| {
            ["in", "power"].iter().any(|kind| {
                text(root, &format!("{folder}/{kind}{channel}_label")).is_ok_and(|label| label == "VIN")
            })
        };
        if name.contains("ina3221") || (name == "ina238" && (0..3).any(is_input)) {
            found.push(folder);
        }
    }
    found
}

/// The folder with the values of a device.
fn inside(root: &dyn Root, device: &str) -> Option<String> {
    if let Some(hwmon) =
        root.list(&format!("{device}/hwmon")).into_iter().find(|name| name.starts_with("hwmon"))
    {
        return Some(format!("{device}/hwmon/{hwmon}"));
    }
    let iio = |name: &String| name.starts_with("iio:device") || name == "iio_device";
    root.list(device).into_iter().find(iio).map(|iio| format!("{device}/{iio}"))
}

/// The rails of a chip.
fn rails(root: &dyn Root, chip: &str) -> Vec<(Rail, Channel)> {
    let at = |file: String| format!("{chip}/{file}");
    let mut rails = Vec::new();
    let mut add = |label: String, reading: Reading, kind: Kind, step_uw: u32| {
        // Not connected.
        if label != "NC" {
            let mut channel = Channel::new(label.clone(), Domain::Rail, kind, SHORTEST_US);
            channel.step_uw = step_uw;
            rails.push((Rail { reading, label, in_total: false }, channel));
        }
    };
    if text(root, &at("name".into())).is_ok_and(|name| name == "ina238") {
        add(
            "VIN".into(),
            Reading::Microwatts(Gauge::open(root, &at("power1_input".into()))),
            Kind::Measured,
            0,
        );
        return rails;
    }
    for channel in 0..3 {
        if let Ok(label) = text(root, &at(format!("rail_name_{channel}"))) {
            let power = Gauge::open(root, &at(format!("in_power{channel}_input")));
            add(label, Reading::Milliwatts(power), Kind::Measured, 1000);
        }
    }
    for channel in 1..=3 {
        let voltage = Gauge::open(root, &at(format!("in{channel}_input")));
        let current = Gauge::open(root, &at(format!("curr{channel}_input")));
        if !voltage.exists() || !current.exists() {
            continue;
        }
        if number(root, &at(format!("in{channel}_enable"))) == Ok(0) {
            continue;
        }
        let label = text(root, &at(format!("in{channel}_label"))).unwrap_or_else(|_| format!("in{channel}"));
        // The chip resolves 40 microvolts over its shunt.
        let shunt = number(root, &at(format!("shunt{channel}_resistor"))).unwrap_or(0);
        let volts = number(root, &at(format!("in{channel}_input"))).unwrap_or(0);
        let step = if shunt > 0 { 40_000 * volts / shunt } else { 0 };
        add(label, Reading::Product(voltage, current), Kind::Product, u32::try_from(step).unwrap_or(0));
    }
    rails
}

impl Rail {
    fn read(&mut self) -> Result<i64, Missing> {
        match &mut self.reading {
            Reading::Product(millivolts, milliamperes) => {
                let volts = millivolts.read()?;
                volts.checked_mul(milliamperes.read()?).ok_or(Missing::Implausible)
            }
            Reading::Milliwatts(gauge) => gauge.read()?.checked_mul(1000).ok_or(Missing::Implausible),
            Reading::Microwatts(gauge) => gauge.read(),
        }
    }
}

impl PowerSource for Jetson {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&mut self, now: &dyn Fn() -> u64, take: Take<'_>) {
        let begun = now();
        let first = usize::from(self.info.total.is_some());
        let mut sum = Ok(0i64);
        for (index, rail) in self.rails.iter_mut().enumerate() {
            let before = now();
            let power = rail.read();
            let at = before + now().saturating_sub(before) / 2;
            if rail.in_total {
                sum = sum.and_then(|sum: i64| Ok(sum.saturating_add(power?)));
            }
            take(first + index, at, power.map(Value::Power));
        }
        if self.info.total.is_some() {
            let at = begun + now().saturating_sub(begun) / 2;
            take(0, at, sum.map(Value::Power));
        }
    }
}
