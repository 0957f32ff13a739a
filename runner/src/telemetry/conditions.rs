//! Under what conditions a run went: board, power mode, clocks, supply. Recorded and warned of, never changed.
//!
//! Numbers measured in another mode cannot be compared. No serial numbers, names of hosts or people are read.

use serde::{Deserialize, Serialize};

use super::root::{Root, number, text};
use super::state::is_cpu;
use super::throttle;

const CPU: &str = "sys/devices/system/cpu";
const SUPPLY: &str = "sys/class/power_supply";

/// The conditions at one time. Every fact is optional: boards differ in what they tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// The board or computer.
    pub board: Option<String>,
    /// Device-tree names of the board and its chip.
    pub compatible: Vec<String>,
    /// Release of the board's software (L4T).
    pub release: Option<String>,
    /// Power mode of the board, as `15W (2)`.
    pub power_mode: Option<String>,
    /// Whether clocks are pinned to one frequency.
    pub clocks_pinned: Option<bool>,
    /// Governors of the processor clocks, each once.
    pub governors: Vec<String>,
    /// Lowest and highest frequency allowed, in kilohertz.
    pub clock_range_khz: Option<(u64, u64)>,
    /// Whether frequencies above the nominal one are allowed.
    pub boost: Option<bool>,
    /// Preference between performance and energy.
    pub energy_preference: Option<String>,
    /// The firmware's power profile.
    pub platform_profile: Option<String>,
    /// Whether the machine runs from its battery.
    pub on_battery: Option<bool>,
    /// Charge of the battery in per cent.
    pub battery_percent: Option<u8>,
    /// Brightness of the screen in per cent.
    pub brightness_percent: Option<u8>,
    /// Throttle word of a Raspberry Pi.
    pub pi_flags: Option<u32>,
    /// Speed of the fan, of 255.
    pub fan: Option<u8>,
}

/// Reads the conditions.
pub fn read(root: &dyn Root) -> Conditions {
    let first =
        |paths: &[&str]| paths.iter().find_map(|path| text(root, path).ok()).filter(|text| !text.is_empty());
    let board = first(&[
        "proc/device-tree/model",
        "sys/firmware/devicetree/base/model",
        "sys/class/dmi/id/product_name",
    ]);
    let compatible = text(root, "proc/device-tree/compatible").unwrap_or_default();
    let (governors, range, pinned) = clocks(root);
    let online = adapters(root);
    let battery = root.list(SUPPLY).into_iter().find(|supply| {
        text(root, &format!("{SUPPLY}/{supply}/type")).is_ok_and(|kind| kind == "Battery")
            && !text(root, &format!("{SUPPLY}/{supply}/scope")).is_ok_and(|scope| scope == "Device")
    });
    let discharges = battery.as_ref().and_then(|battery| {
        text(root, &format!("{SUPPLY}/{battery}/status")).ok().map(|status| status == "Discharging")
    });
    let flag = |path: &str| number(root, path).ok().map(|value| value != 0);
    Conditions {
        board,
        compatible: compatible.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        release: text(root, "etc/nv_tegra_release").ok().and_then(|text| release(&text)),
        power_mode: power_mode(root),
        clocks_pinned: pinned,
        governors,
        clock_range_khz: range,
        boost: flag("sys/devices/system/cpu/cpufreq/boost")
            .or(flag("sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| !off)),
        energy_preference: first(&["sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference"]),
        platform_profile: first(&["sys/firmware/acpi/platform_profile"]),
        on_battery: battery.as_ref().and(match online {
            Some(online) => Some(!online),
            None => discharges,
        }),
        battery_percent: battery
            .as_ref()
            .and_then(|battery| number(root, &format!("{SUPPLY}/{battery}/capacity")).ok())
            .and_then(|percent| u8::try_from(percent).ok()),
        brightness_percent: brightness(root),
        pi_flags: throttle::PI_PATHS
            .iter()
            .find_map(|path| root.open(path).ok())
            .and_then(|mut file| throttle::read(file.as_mut())),
        fan: fan(root),
    }
}

impl Conditions {
    /// What makes numbers hard to compare, one line each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let slow: Vec<&str> =
            self.governors.iter().map(String::as_str).filter(|governor| *governor != "performance").collect();
        if !slow.is_empty() && self.clocks_pinned != Some(true) {
            warnings.push(format!(
                "clock governor {}: the clock follows the load, so short measurements waver; `performance` holds it",
                slow.join(", ")
            ));
        }
        if self.on_battery == Some(true) {
            warnings.push("on battery: many machines run slower than on mains power".to_owned());
        }
        if let Some(word) = self.pi_flags {
            let now = throttle::now(word);
            if !now.is_empty() {
                warnings.push(format!("right now: {}", now.join(", ")));
            }
        }
        warnings
    }

    /// What differs from the conditions of another time, one line each; charge, fan and flags may.
    pub fn changes(&self, later: &Conditions) -> Vec<String> {
        let mut changes = Vec::new();
        let mut note = |what: &str, before: String, after: String| {
            if before != after {
                changes.push(format!("{what} changed from {before} to {after}"));
            }
        };
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        note("power mode", word(&self.power_mode), word(&later.power_mode));
        note("clock governor", self.governors.join(", "), later.governors.join(", "));
        note("platform profile", word(&self.platform_profile), word(&later.platform_profile));
        let supply = |battery: Option<bool>| match battery {
            Some(true) => "battery".to_owned(),
            Some(false) => "mains".to_owned(),
            None => "unknown".to_owned(),
        };
        note("supply", supply(self.on_battery), supply(later.on_battery));
        note(
            "screen brightness",
            format!("{:?}", self.brightness_percent),
            format!("{:?}", later.brightness_percent),
        );
        changes
    }
}

type Clocks = (Vec<String>, Option<(u64, u64)>, Option<bool>);

/// Governors, the range that is allowed, and whether it is a single frequency everywhere.
fn clocks(root: &dyn Root) -> Clocks {
    let policies = format!("{CPU}/cpufreq");
    let mut folders: Vec<String> = root
        .list(&policies)
        .into_iter()
        .filter(|name| name.starts_with("policy"))
        .map(|name| format!("{policies}/{name}"))
        .collect();
    if folders.is_empty() {
        folders = root
            .list(CPU)
            .into_iter()
            .filter(|name| is_cpu(name))
            .map(|name| format!("{CPU}/{name}/cpufreq"))
            .collect();
    }
    let mut governors: Vec<String> = Vec::new();
    let mut range: Option<(u64, u64)> = None;
    let mut pinned: Option<bool> = None;
    for folder in folders {
        if let Ok(governor) = text(root, &format!("{folder}/scaling_governor"))
            && !governors.contains(&governor)
        {
            governors.push(governor);
        }
        let khz = |file: &str| {
            number(root, &format!("{folder}/{file}")).ok().and_then(|khz| u64::try_from(khz).ok())
        };
        if let (Some(low), Some(high)) = (khz("scaling_min_freq"), khz("scaling_max_freq")) {
            let (lowest, highest) = range.unwrap_or((low, high));
            range = Some((lowest.min(low), highest.max(high)));
            pinned = Some(pinned.unwrap_or(true) && low == high);
        }
    }
    (governors, range, pinned)
}

/// Whether an adapter is online; `None` where there is none.
fn adapters(root: &dyn Root) -> Option<bool> {
    let supplies = root.list(SUPPLY);
    let states = supplies.iter().filter(|name| !name.starts_with("ucsi-source-psy")).filter_map(|supply| {
        let kind = text(root, &format!("{SUPPLY}/{supply}/type")).ok()?;
        ["Mains", "USB"]
            .contains(&kind.as_str())
            .then(|| number(root, &format!("{SUPPLY}/{supply}/online")).ok())?
    });
    states.map(|online| online == 1).reduce(|one, other| one || other)
}

/// `# R35 (release), REVISION: 4.1, ...` becomes `R35.4.1`.
fn release(text: &str) -> Option<String> {
    let major = text
        .split_ascii_whitespace()
        .find(|word| word.strip_prefix('R').is_some_and(|number| number.parse::<u32>().is_ok()))?;
    let minor = text.split_once("REVISION: ").and_then(|(_, rest)| rest.split(',').next());
    Some(minor.map_or(major.to_owned(), |minor| format!("{major}.{}", minor.trim())))
}

/// The mode of nvpmodel: its number from the status file, its name from the configuration.
fn power_mode(root: &dyn Root) -> Option<String> {
    let status = text(root, "var/lib/nvpmodel/status").ok()?;
    // `pmode:0002` in most releases; others write the bare number.
    let digits = status.rsplit(':').next()?.trim();
    let id: u32 = digits.split_ascii_whitespace().next()?.parse().ok()?;
    let named = text(root, "etc/nvpmodel.conf").ok().and_then(|conf| {
        conf.lines().find_map(|line| {
            let line = line.trim().strip_prefix("< POWER_MODEL ")?;
            let value = |key: &str| line.split_ascii_whitespace().find_map(|word| word.strip_prefix(key));
            (value("ID=")?.parse::<u32>().ok()? == id).then(|| value("NAME=").map(str::to_owned))?
        })
    });
    Some(named.map_or(format!("mode {id}"), |name| format!("{name} ({id})")))
}

fn brightness(root: &dyn Root) -> Option<u8> {
    let folder = "sys/class/backlight";
    let light = root.list(folder).into_iter().next()?;
    let value = number(root, &format!("{folder}/{light}/brightness")).ok()?;
    let most = number(root, &format!("{folder}/{light}/max_brightness")).ok().filter(|most| *most > 0)?;
    u8::try_from(value.checked_mul(100)? / most).ok()
}

fn fan(root: &dyn Root) -> Option<u8> {
    let folder = "sys/class/hwmon";
    let chip = root
        .list(folder)
        .into_iter()
        .find(|hwmon| text(root, &format!("{folder}/{hwmon}/name")).is_ok_and(|name| name == "pwmfan"))?;
    number(root, &format!("{folder}/{chip}/pwm1")).ok().and_then(|speed| u8::try_from(speed).ok())
}
