//! One reading of everything, of fixed size: what the ring holds and the time line is made of.

use super::source::CHANNELS;

/// Temperatures that are kept.
pub const TEMPERATURES: usize = 8;
/// Clock domains that are kept.
pub const CLOCKS: usize = 16;

/// A value that was not read.
pub const NONE: i64 = i64::MIN;

/// The state of the machine beside its power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Temperatures in thousandths of a degree Celsius; [`NONE`] where not read.
    pub temperature_mc: [i64; TEMPERATURES],
    /// Clocks in kilohertz; [`NONE`] where not read.
    pub clock_khz: [i64; CLOCKS],
    /// Throttle flags of a Raspberry Pi's firmware.
    pub pi_flags: i64,
    /// Whether the supply is too low right now: 0 or 1.
    pub undervoltage: i64,
    /// Throttle and over-current events that the kernel counted since boot.
    pub events: i64,
    /// Highest state of a cooling device that slows the machine down.
    pub cooling: i64,
    /// Memory that is available, in bytes.
    pub available_bytes: i64,
    /// Load that other processes put on the processors, in thousandths of all of them.
    pub others_permille: i64,
    /// Load of this program and its worker, the same way.
    pub own_permille: i64,
    /// Charge of the battery in per cent.
    pub battery_percent: i64,
    /// Whether the machine runs from its battery: 0 or 1.
    pub on_battery: i64,
    /// Memory of the worker that cannot be dropped, in bytes.
    pub worker_private_bytes: i64,
    /// Mapped file pages of the worker that are resident, in bytes.
    pub worker_file_bytes: i64,
}

impl State {
    /// Nothing read.
    pub const NONE: State = State {
        temperature_mc: [NONE; TEMPERATURES],
        clock_khz: [NONE; CLOCKS],
        pi_flags: NONE,
        undervoltage: NONE,
        events: NONE,
        cooling: NONE,
        available_bytes: NONE,
        others_permille: NONE,
        own_permille: NONE,
        battery_percent: NONE,
        on_battery: NONE,
        worker_private_bytes: NONE,
        worker_file_bytes: NONE,
    };
}

/// One reading of everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Monotonic time in microseconds.
    pub mono_us: u64,
    /// Wall time in microseconds since 1970.
    pub wall_us: i64,
    /// How long the reading took, in microseconds.
    pub took_us: u32,
    /// Power of each channel in microwatts; [`NONE`] where not read.
    pub power_uw: [i64; CHANNELS],
    /// The state of the machine.
    pub state: State,
}

/// A value, if there is one.
pub fn known(value: i64) -> Option<i64> {
    (value != NONE).then_some(value)
}
