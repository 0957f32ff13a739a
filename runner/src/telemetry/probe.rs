//! Looks for power sources, all of them, and says which of the figures is the one to quote.

use std::sync::Arc;

use super::missing::Missing;
use super::root::Root;
use super::source::{CHANNELS, PowerSource};
use super::sources::hwmon::Named;
use super::sources::meter::Meter;
use super::sources::{Absent, Found, battery, hwmon, ina3221, meter, nvidia, pmic, rapl};
use crate::clock::Clock;

/// What the user wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which source.
    pub choice: Choice,
    /// A meter that is a command.
    pub meter: Option<Meter>,
    /// Name or path of `nvidia-smi`.
    pub nvidia_smi: String,
}

/// Which source is the one to quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The one that covers most of what the machine draws.
    Auto,
    /// None: power is not measured.
    None,
    /// The source of this short name, and no other.
    Only(String),
    /// A meter in hwmon.
    Hwmon(Named),
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { choice: Choice::Auto, meter: None, nvidia_smi: "nvidia-smi".to_owned() }
    }
}

/// Short names of all sources, the one to quote first.
pub const ORDER: [&str; 7] = ["meter", "jetson", "hwmon", "pi-pmic", "rapl", "battery", "nvidia-smi"];

/// What was found.
pub struct Probed {
    /// Sources that give readings, in the order of [`ORDER`].
    pub sources: Vec<Box<dyn PowerSource>>,
    /// Sources that do not.
    pub absent: Vec<Absent>,
    /// Index of the channel to quote among the channels of all sources.
    pub headline: Option<u16>,
}

/// Looks for every source.
pub fn probe(root: &dyn Root, clock: &Arc<dyn Clock>, wanted: &Wanted) -> Probed {
    let named = match &wanted.choice {
        Choice::Hwmon(named) => Some(named),
        _ => None,
    };
    let look = |id: &str| match id {
        "meter" => match &wanted.meter {
            Some(meter) => meter::find(meter, clock),
            None => Found::absent(id, Missing::NoSensor, "no command is named"),
        },
        "jetson" => ina3221::find(root),
        "hwmon" => hwmon::find(root, named),
        "pi-pmic" => pmic::find(root),
        "rapl" => rapl::find(root),
        "battery" => battery::find(root),
        "nvidia-smi" => nvidia::find(root, &wanted.nvidia_smi, clock),
        _ => Found::absent(id, Missing::NoSensor, "there is no source of this name"),
    };
    let mut probed = Probed { sources: Vec::new(), absent: Vec::new(), headline: None };
    let mut channels = 0;
    for id in ORDER {
        let skipped = match &wanted.choice {
            Choice::None => true,
            Choice::Only(only) => only != id,
            Choice::Auto | Choice::Hwmon(_) => false,
        };
        if skipped {
            probed.absent.push(Absent {
                id: id.to_owned(),
                reason: Missing::Off,
                looked_at: String::new(),
                remedy: None,
            });
            continue;
        }
        match look(id) {
            Found::Source(source) => {
                let info = source.info();
                if channels + info.channels.len() > CHANNELS {
                    let looked_at = format!("more than {CHANNELS} channels");
                    let (id, reason) = (id.to_owned(), Missing::NotSupported);
                    probed.absent.push(Absent { id, reason, looked_at, remedy: None });
                    continue;
                }
                // Who names a meter wants that one, whatever else there is.
                let first = probed.headline.is_none() && (named.is_none() || id == "hwmon" || id == "meter");
                if let Some(total) = info.total.filter(|_| first) {
                    probed.headline = Some(channels as u16 + total);
                }
                channels += info.channels.len();
                probed.sources.push(source);
            }
            Found::Absent(absent) => probed.absent.push(absent),
        }
    }
    probed
}

impl Probed {
    /// Why there is nothing to quote, in one word: the most telling of the reasons.
    pub fn reason(&self) -> Missing {
        why(&self.absent, self.sources.is_empty())
    }
}

/// Why there is nothing to quote. `bare`: there is no source at all.
pub fn why(absent: &[Absent], bare: bool) -> Missing {
    let telling =
        [Missing::Permission, Missing::OnMains, Missing::ReadError, Missing::Implausible, Missing::Off];
    let has = |reason: &Missing| absent.iter().any(|absent| absent.reason == *reason);
    match telling.iter().find(|reason| has(reason)) {
        Some(Missing::Off) if absent.iter().any(|absent| absent.reason != Missing::Off) => Missing::NoSensor,
        Some(reason) => *reason,
        None if bare => Missing::NoSensor,
        None => Missing::NotSupported,
    }
}
