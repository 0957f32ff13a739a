//! The options of the fake engine, and how they are read from its name.

use super::faults::{Faults, Strike};
use super::planted::Planted;
use super::states::PlantedStates;
use crate::EngineError;

/// The options, as `list models` shows them.
pub const OPTIONS: &str = "context=N, delay-us=N per job, die-after=N jobs, die-on=TEXT in a prompt, die-measuring=N prompts, \
    hang-after=N jobs, hang-on=TEXT, babble (noise on the worker's standard output), allocate=N MiB, fail-on=TEXT, unmappable, \
    say=TEXT as every generated reply, grow=N MiB per job, strike=KIND (abort, ill, bus, kill, hang, garbage, surplus) \
    after strike-after=N jobs, once=PATH (strike only if this file can be made), planted (logits of labels stand in the options: \
    `A. x {1.5}`), lean-on=TEXT in a planted prompt, lean=LOGIT of the first label then, talk=LOGIT of continuation tokens then, \
    states=N numbers, layers=N, knows=TEXT before the label that the states hold, knows-from=N layers, turn-on=TEXT of prompts \
    whose states hold the next label";

/// What a name asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Options {
    pub(super) context: Option<u32>,
    pub(super) say: Option<String>,
    pub(super) truth: Option<Planted>,
    pub(super) held: PlantedStates,
    pub(super) faults: Faults,
}

/// Reads the name of an engine.
pub(super) fn parse(name: &str) -> Result<Options, EngineError> {
    let mut read = Options::default();
    let faults = &mut read.faults;
    let options = name.strip_prefix("fake").unwrap_or_default().trim_start_matches(':');
    for option in options.split(',').filter(|option| !option.is_empty()) {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| EngineError(format!("fake engine: {key} needs a number, got {value:?}")))
        };
        match key {
            "context" => read.context = Some(number()?.min(u64::from(u32::MAX)) as u32),
            "delay-us" => faults.delay_us = number()?,
            "die-after" => faults.die_after = Some(number()?),
            "die-measuring" => faults.die_measuring = Some(number()?),
            "die-on" => faults.die_on = Some(value.to_owned()),
            "hang-after" => faults.hang_after = Some(number()?),
            "hang-on" => faults.hang_on = Some(value.to_owned()),
            "fail-on" => faults.fail_on = Some(value.to_owned()),
            "say" => read.say = Some(value.to_owned()),
            "babble" => faults.babble = true,
            // Seen by whoever plans: there is no file.
            "unmappable" => {}
            "grow" => faults.grow_mib = number()? as usize,
            "strike" => {
                faults.strike = Some(
                    Strike::named(value)
                        .ok_or_else(|| EngineError(format!("fake engine: unknown strike {value:?}")))?,
                );
            }
            "planted" | "lean-on" | "lean" | "talk" => {
                let planted = read.truth.get_or_insert_default();
                planted.set(key, value).map_err(|message| EngineError(format!("fake engine: {message}")))?;
            }
            "strike-after" => faults.strike_after = number()?,
            "once" => faults.once = Some(value.to_owned()),
            "allocate" => faults.allocate_mib = number()? as usize,
            "states" => read.held.dimension = number()?.min(1 << 16) as usize,
            "layers" => read.held.layers = number()?.min(1 << 10) as usize,
            "knows" => read.held.knows = value.to_owned(),
            "knows-from" => read.held.from_layer = number()?.min(1 << 10) as usize,
            "turn-on" => read.held.turned_by = Some(value.to_owned()),
            _ => {
                return Err(EngineError(format!("fake engine: unknown option {key:?}; known: {OPTIONS}")));
            }
        }
    }
    Ok(read)
}
