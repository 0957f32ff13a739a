//! Why a number is absent. What was not measured is never 0.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

/// Why there is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// The machine has no such sensor.
    NoSensor,
    /// The user may not read it.
    Permission,
    /// It is there and has no value.
    NotSupported,
    /// Reading it fails.
    ReadError,
    /// Its value does not change.
    Stale,
    /// Its value cannot be true.
    Implausible,
    /// The machine runs from the mains, so that its battery tells nothing.
    OnMains,
    /// The stretch is too short for the rate of the sensor.
    TooShort,
    /// The sensor changes its value too rarely for the stretch.
    TooSlow,
    /// Too few readings fall into the stretch.
    TooFewReadings,
    /// The machine was suspended.
    Suspended,
    /// Nobody wanted it measured.
    Off,
    /// The stretch holds work of several kinds.
    Mixed,
    /// The log has no such measurement.
    NotLogged,
    /// Several kinds of work follow each other faster than the sensor tells them apart.
    Interleaved,
}

impl Missing {
    /// What an error of the system means.
    pub fn of(error: &io::Error) -> Self {
        const EIO: i32 = 5;
        const ENXIO: i32 = 6;
        const ENODEV: i32 = 19;
        const ENODATA: i32 = 61;
        const EOPNOTSUPP: i32 = 95;
        match error.raw_os_error() {
            Some(ENXIO | ENODEV | ENODATA | EOPNOTSUPP) => return Missing::NotSupported,
            Some(EIO) => return Missing::ReadError,
            _ => {}
        }
        match error.kind() {
            io::ErrorKind::NotFound => Missing::NoSensor,
            io::ErrorKind::PermissionDenied => Missing::Permission,
            io::ErrorKind::Unsupported => Missing::NotSupported,
            _ => Missing::ReadError,
        }
    }

    /// The reason as one word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Missing::NoSensor => "no-sensor",
            Missing::Permission => "permission",
            Missing::NotSupported => "not-supported",
            Missing::ReadError => "read-error",
            Missing::Stale => "stale",
            Missing::Implausible => "implausible",
            Missing::OnMains => "on-mains",
            Missing::TooShort => "too-short",
            Missing::TooSlow => "too-slow",
            Missing::TooFewReadings => "too-few-readings",
            Missing::Suspended => "suspended",
            Missing::Off => "off",
            Missing::Mixed => "mixed",
            Missing::NotLogged => "not-logged",
            Missing::Interleaved => "interleaved",
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Missing::NoSensor => "no sensor",
            Missing::Permission => "no permission to read it",
            Missing::NotSupported => "the sensor has no value",
            Missing::ReadError => "reading it fails",
            Missing::Stale => "its value does not change",
            Missing::Implausible => "its value cannot be true",
            Missing::OnMains => "on mains power, so the battery tells nothing",
            Missing::TooShort => "the stretch is too short for the sensor's rate",
            Missing::TooSlow => "the sensor is too slow for the stretch",
            Missing::TooFewReadings => "too few readings",
            Missing::Suspended => "the machine was suspended",
            Missing::Off => "switched off",
            Missing::Mixed => "the stretch mixes several kinds of work",
            Missing::NotLogged => "not in the log",
            Missing::Interleaved => "phases follow each other faster than the sensor tells them apart",
        })
    }
}
