//! What a power source is: a thing that gives readings on one or more channels, each with what it covers.

use serde::{Deserialize, Serialize};

use super::missing::Missing;

/// Most channels of all sources together.
pub const CHANNELS: usize = 32;

/// What hardware a figure covers. Figures of different domains are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Domain {
    /// At the socket, losses of the supply included.
    Wall,
    /// All that enters the board.
    DcInputBoard,
    /// All that enters a compute module; its carrier board is outside.
    ModuleTotal,
    /// The rails that a Raspberry Pi 5 measures; what is drawn from 5 V directly is outside.
    SocPartial,
    /// All that a laptop draws from its battery, screen included.
    BatteryDischarge,
    /// The maker's idea of the whole platform (RAPL psys).
    Platform,
    /// Processor packages.
    CpuPackage,
    /// Memory.
    Dram,
    /// A graphics board.
    GpuBoard,
    /// One rail or part, a part of some other figure.
    Rail,
}

impl Domain {
    /// The name in results.
    pub fn word(self) -> &'static str {
        match self {
            Domain::Wall => "wall",
            Domain::DcInputBoard => "dc-input-board",
            Domain::ModuleTotal => "module-total",
            Domain::SocPartial => "soc-partial",
            Domain::BatteryDischarge => "battery-discharge",
            Domain::Platform => "platform",
            Domain::CpuPackage => "cpu-package",
            Domain::Dram => "dram",
            Domain::GpuBoard => "gpu-board",
            Domain::Rail => "rail",
        }
    }

    /// The domain of this name.
    pub fn named(name: &str) -> Option<Domain> {
        const ALL: [Domain; 10] = [
            Domain::Wall,
            Domain::DcInputBoard,
            Domain::ModuleTotal,
            Domain::SocPartial,
            Domain::BatteryDischarge,
            Domain::Platform,
            Domain::CpuPackage,
            Domain::Dram,
            Domain::GpuBoard,
            Domain::Rail,
        ];
        ALL.into_iter().find(|domain| domain.word() == name)
    }
}

/// How a figure comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A counter of energy: the difference of two readings is the energy between them, whatever happened.
    Counter,
    /// A measured power.
    Measured,
    /// Voltage times current, read one after the other.
    Product,
    /// Computed from a measurement by coefficients that hold for some other board.
    Estimate,
}

impl Kind {
    /// The name in results.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Measured => "measured",
            Kind::Product => "product",
            Kind::Estimate => "estimate",
        }
    }
}

/// One quantity of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Its name, that of the rail where it has one.
    pub name: String,
    /// What it covers.
    pub domain: Domain,
    /// How it comes about.
    pub kind: Kind,
    /// The step of its values in microwatts, 0 when unknown.
    pub step_uw: u32,
    /// The shortest stretch that it can tell the energy of, in microseconds, however fast it is read.
    pub shortest_us: u64,
    /// Whether its values were compared with an instrument.
    pub calibrated: bool,
    /// How it is made of others, what is outside: for people.
    pub note: String,
}

impl Channel {
    /// A channel that nothing more is known of.
    pub fn new(name: impl Into<String>, domain: Domain, kind: Kind, shortest_us: u64) -> Self {
        Channel {
            name: name.into(),
            domain,
            kind,
            step_uw: 0,
            shortest_us,
            calibrated: false,
            note: String::new(),
        }
    }

    /// The same with a note.
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

/// What a source is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceInfo {
    /// Its short name.
    pub id: String,
    /// Where it is read: a path, or a program.
    pub place: String,
    /// Shortest time between two readings that makes sense, in microseconds.
    pub every_us: u64,
    /// Its channels.
    pub channels: Vec<Channel>,
    /// Index of the channel that covers most, if one does.
    pub total: Option<u16>,
    /// What people should know.
    pub notes: Vec<String>,
}

/// One value of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Power in microwatts.
    Power(i64),
    /// Energy since some beginning in microjoules; never falls.
    Energy(u64),
    /// A counter whose last interval cannot be known; it goes on from here.
    Restart(u64),
}

/// Takes readings: index of the channel, time in microseconds on the monotonic clock, value.
pub type Take<'a> = &'a mut dyn FnMut(usize, u64, Result<Value, Missing>);

/// A source of power readings.
pub trait PowerSource: Send {
    /// What it is.
    fn info(&self) -> &SourceInfo;
    /// Reads every channel. Allocates nothing. `now` tells the monotonic time in microseconds.
    fn read(&mut self, now: &dyn Fn() -> u64, take: Take<'_>);
    /// Tells it that it is no longer needed.
    fn stop(&mut self) {}
}
