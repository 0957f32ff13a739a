//! Reads the state of the machine beside its power: temperatures, clocks, throttling, supply, memory, load of others.

use super::missing::Missing;
use super::root::{Attribute, Gauge, Root, text};
use super::sample::{CLOCKS, NONE, State, TEMPERATURES};
use super::throttle;

const THERMAL: &str = "sys/class/thermal";
const HWMON: &str = "sys/class/hwmon";
const CPU: &str = "sys/devices/system/cpu";
const SUPPLY: &str = "sys/class/power_supply";
/// What a board can have, in thousandths of a degree: others are sensors that are switched off.
const PLAUSIBLE_MC: std::ops::RangeInclusive<i64> = -40_000..=150_000;
/// Kinds of cooling devices that slow the machine down, rather than blow at it.
const SLOWING: [&str; 4] = ["throttle", "cpufreq", "devfreq", "Processor"];

/// Reads the state.
pub struct StateReader {
    temperatures: Vec<Gauge>,
    clocks: Vec<Gauge>,
    pi_flags: Option<Box<dyn Attribute>>,
    undervoltage: Vec<Gauge>,
    events: Vec<Gauge>,
    cooling: Vec<Gauge>,
    memory: Option<Box<dyn Attribute>>,
    worker: Option<Box<dyn Attribute>>,
    load: Load,
    battery: Option<Gauge>,
    adapters: Vec<Gauge>,
    /// Names of the temperatures.
    pub temperature_names: Vec<String>,
    /// Names of the clocks.
    pub clock_names: Vec<String>,
}

impl StateReader {
    /// Finds what there is.
    pub fn find(root: &dyn Root) -> Self {
        let (temperature_names, temperatures) = temperatures(root).into_iter().take(TEMPERATURES).unzip();
        let (clock_names, clocks) = clocks(root).into_iter().take(CLOCKS).unzip();
        let supplies = root.list(SUPPLY);
        let supplies = supplies.iter().filter(|name| !name.starts_with("ucsi-source-psy"));
        let kind = |supply: &str| text(root, &format!("{SUPPLY}/{supply}/type")).unwrap_or_default();
        let (mut battery, mut adapters) = (None, Vec::new());
        for supply in supplies {
            match kind(supply).as_str() {
                "Battery" => {
                    let own =
                        !text(root, &format!("{SUPPLY}/{supply}/scope")).is_ok_and(|scope| scope == "Device");
                    let capacity = Gauge::open(root, &format!("{SUPPLY}/{supply}/capacity"));
                    battery = battery.or((own && capacity.exists()).then_some(capacity));
                }
                "Mains" | "USB" => adapters.push(Gauge::open(root, &format!("{SUPPLY}/{supply}/online"))),
                _ => {}
            }
        }
        StateReader {
            temperatures,
            clocks,
            pi_flags: throttle::PI_PATHS.iter().find_map(|path| root.open(path).ok()),
            undervoltage: named(root, "rpi_volt")
                .map(|folder| Gauge::open(root, &format!("{folder}/in0_lcrit_alarm")))
                .collect(),
            events: events(root),
            cooling: cooling(root),
            memory: root.open("proc/meminfo").ok(),
            worker: None,
            load: Load::find(root),
            battery,
            adapters,
            temperature_names,
            clock_names,
        }
    }

    /// The process whose memory is read, and whose load is not that of others, beside this one.
    pub fn set_worker(&mut self, root: &dyn Root, pid: Option<u32>) {
        self.load.worker = pid.and_then(|pid| root.open(&format!("proc/{pid}/stat")).ok());
        self.load.last = None;
        self.worker = pid.and_then(|pid| root.open(&format!("proc/{pid}/status")).ok());
    }

    /// Reads everything; what cannot be read is left out. Allocates nothing.
    pub fn read(&mut self, state: &mut State) {
        let value = |read: Result<i64, Missing>| read.unwrap_or(NONE);
        for (place, gauge) in state.temperature_mc.iter_mut().zip(&mut self.temperatures) {
            *place = value(gauge.read().and_then(plausible));
        }
        for (place, gauge) in state.clock_khz.iter_mut().zip(&mut self.clocks) {
            *place = value(gauge.read());
        }
        state.pi_flags =
            self.pi_flags.as_mut().and_then(|file| throttle::read(file.as_mut())).map_or(NONE, i64::from);
        state.undervoltage = most(&mut self.undervoltage);
        state.cooling = most(&mut self.cooling);
        state.events = sum(&mut self.events);
        state.available_bytes =
            self.memory.as_mut().and_then(|file| available(file.as_mut())).unwrap_or(NONE);
        (state.worker_private_bytes, state.worker_file_bytes) =
            self.worker.as_mut().and_then(|file| worker_memory(file.as_mut())).unwrap_or((NONE, NONE));
        (state.own_permille, state.others_permille) = self.load.read().unwrap_or((NONE, NONE));
        state.battery_percent = self.battery.as_mut().map_or(NONE, |gauge| value(gauge.read()));
        state.on_battery = match (&self.battery, most(&mut self.adapters)) {
            (Some(_), NONE) => NONE,
            (Some(_), online) => i64::from(online == 0),
            (None, _) => NONE,
        };
    }
}

fn plausible(mc: i64) -> Result<i64, Missing> {
    if PLAUSIBLE_MC.contains(&mc) { Ok(mc) } else { Err(Missing::Implausible) }
}

fn most(gauges: &mut [Gauge]) -> i64 {
    gauges.iter_mut().filter_map(|gauge| gauge.read().ok()).max().unwrap_or(NONE)
}

fn sum(gauges: &mut [Gauge]) -> i64 {
    let mut any = false;
    let mut sum = 0i64;
    for count in gauges.iter_mut().filter_map(|gauge| gauge.read().ok()) {
        any = true;
        sum = sum.saturating_add(count);
    }
    if any { sum } else { NONE }
}

/// Folders of the hwmon chips of a name.
fn named<'r>(root: &'r dyn Root, wanted: &'r str) -> impl Iterator<Item = String> + 'r {
    let folders = root.list(HWMON).into_iter().map(|hwmon| format!("{HWMON}/{hwmon}"));
    folders.filter(move |folder| text(root, &format!("{folder}/name")).is_ok_and(|name| name == wanted))
}

fn temperatures(root: &dyn Root) -> Vec<(String, Gauge)> {
    let mut found = Vec::new();
    for zone in root.list(THERMAL).iter().filter(|name| name.starts_with("thermal_zone")) {
        let Ok(name) = text(root, &format!("{THERMAL}/{zone}/type")) else { continue };
        // A constant on some boards.
        if name == "PMIC-Die" {
            continue;
        }
        found.push((name, Gauge::open(root, &format!("{THERMAL}/{zone}/temp"))));
    }
    for chip in ["coretemp", "k10temp"] {
        if let Some(folder) = named(root, chip).next() {
            found.push((chip.to_owned(), Gauge::open(root, &format!("{folder}/temp1_input"))));
        }
    }
    // A processor's own temperature is kept before that of a charger.
    found.sort_by_key(|(name, _)| {
        let name = name.to_lowercase();
        !["cpu", "tj", "x86_pkg", "coretemp", "k10temp", "soc", "gpu"].iter().any(|word| name.contains(word))
    });
    found
}

fn clocks(root: &dyn Root) -> Vec<(String, Gauge)> {
    let mut found = Vec::new();
    let folder = format!("{CPU}/cpufreq");
    for policy in root.list(&folder).iter().filter(|name| name.starts_with("policy")) {
        found.push((policy.clone(), Gauge::open(root, &format!("{folder}/{policy}/scaling_cur_freq"))));
    }
    if found.is_empty() {
        for cpu in root.list(CPU).iter().filter(|name| is_cpu(name)) {
            let gauge = Gauge::open(root, &format!("{CPU}/{cpu}/cpufreq/scaling_cur_freq"));
            if gauge.exists() {
                found.push((cpu.clone(), gauge));
            }
        }
    }
    found
}

pub(super) fn is_cpu(name: &str) -> bool {
    name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok())
}

fn events(root: &dyn Root) -> Vec<Gauge> {
    let mut found = Vec::new();
    for hwmon in root.list(HWMON) {
        let folder = format!("{HWMON}/{hwmon}");
        let counts = |name: &String| name.starts_with("oc") && name.ends_with("_event_cnt");
        found.extend(
            root.list(&folder)
                .into_iter()
                .filter(counts)
                .map(|file| Gauge::open(root, &format!("{folder}/{file}"))),
        );
    }
    let mut cpus = root.list(CPU);
    cpus.retain(|name| is_cpu(name));
    for cpu in cpus {
        for file in ["core_throttle_count", "package_throttle_count"] {
            let gauge = Gauge::open(root, &format!("{CPU}/{cpu}/thermal_throttle/{file}"));
            if gauge.exists() {
                found.push(gauge);
            }
        }
    }
    found
}

fn cooling(root: &dyn Root) -> Vec<Gauge> {
    let devices = root.list(THERMAL).into_iter().filter(|name| name.starts_with("cooling_device"));
    let slows = |device: &String| {
        text(root, &format!("{THERMAL}/{device}/type"))
            .is_ok_and(|kind| SLOWING.iter().any(|word| kind.contains(word)))
    };
    devices.filter(slows).map(|device| Gauge::open(root, &format!("{THERMAL}/{device}/cur_state"))).collect()
}

/// `MemAvailable` in bytes.
fn available(file: &mut dyn Attribute) -> Option<i64> {
    let mut buffer = [0; 512];
    let length = file.read(&mut buffer).ok()?;
    let text = std::str::from_utf8(&buffer[..length]).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_ascii_whitespace().next()?.parse::<i64>().ok()?.checked_mul(1024)
}

/// Private memory and mapped file pages of a process, in bytes. A process that has ended has neither.
fn worker_memory(file: &mut dyn Attribute) -> Option<(i64, i64)> {
    let mut buffer = [0; 4096];
    let length = file.read(&mut buffer).ok()?;
    let text = std::str::from_utf8(&buffer[..length]).ok()?;
    let bytes = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_ascii_whitespace().next()?.parse::<i64>().ok()?.checked_mul(1024)
    };
    let shared = bytes("RssShmem:").unwrap_or(0);
    Some((bytes("RssAnon:")?.checked_add(shared)?, bytes("RssFile:")?))
}

/// Processor time, in ticks of the kernel.
#[derive(Clone, Copy)]
struct Ticks {
    all: u64,
    busy: u64,
    own: u64,
}

struct Load {
    system: Option<Box<dyn Attribute>>,
    supervisor: Option<Box<dyn Attribute>>,
    worker: Option<Box<dyn Attribute>>,
    last: Option<Ticks>,
    shown: Option<(i64, i64)>,
}

impl Load {
    fn find(root: &dyn Root) -> Self {
        Load {
            system: root.open("proc/stat").ok(),
            supervisor: root.open("proc/self/stat").ok(),
            worker: None,
            last: None,
            shown: None,
        }
    }

    /// Own load and that of others since the last reading, in thousandths.
    fn read(&mut self) -> Option<(i64, i64)> {
        let mut buffer = [0; 256];
        let length = self.system.as_mut()?.read(&mut buffer).ok()?;
        // Only the first line is wanted, and it may have filled the buffer's beginning.
        let text = buffer[..length].split(|byte| *byte == b'\n').next()?;
        let text = std::str::from_utf8(text).ok()?.strip_prefix("cpu ")?;
        let mut all = 0u64;
        let mut idle = 0u64;
        // user nice system idle iowait irq softirq steal; guests are in user already.
        for (index, field) in text.split_ascii_whitespace().take(8).enumerate() {
            let ticks: u64 = field.parse().ok()?;
            all = all.saturating_add(ticks);
            idle += if index == 3 || index == 4 { ticks } else { 0 };
        }
        let own = [&mut self.supervisor, &mut self.worker].into_iter().flatten();
        let own = own.filter_map(|file| process_ticks(file.as_mut())).sum();
        let now = Ticks { all, busy: all - idle.min(all), own };
        let last = self.last.get_or_insert(now);
        let span = now.all.saturating_sub(last.all);
        // Over less than this the ticks of the kernel are too coarse to tell anything.
        if span >= 40 {
            let permille = |ticks: u64| (1000 * ticks / span).min(1000) as i64;
            let own = now.own.saturating_sub(last.own);
            let busy = now.busy.saturating_sub(last.busy);
            self.shown = Some((permille(own), permille(busy.saturating_sub(own))));
            *last = now;
        }
        self.shown
    }
}

/// User and system time of a process.
fn process_ticks(file: &mut dyn Attribute) -> Option<u64> {
    let mut buffer = [0; 512];
    let length = file.read(&mut buffer).ok()?;
    let text = std::str::from_utf8(&buffer[..length]).ok()?;
    // The name stands in parentheses and may hold anything.
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace();
    let user: u64 = fields.nth(11)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}
