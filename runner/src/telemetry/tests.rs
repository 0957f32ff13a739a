//! Sensors of every board of the field, power curves that are known, and what may go wrong with both.

mod batteries;
mod boards;
mod counters;
mod curves;
mod machine;
mod phases;
mod programs;
mod still;

use std::sync::Arc;

use super::made_up::Tree;
use super::missing::Missing;
use super::probe::{Choice, Probed, Wanted, probe};
use super::source::{Channel, Value};
use crate::clock::{Clock, SystemClock};

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock::new())
}

fn found(tree: &Tree) -> Probed {
    probe(tree, &clock(), &Wanted::default())
}

fn only(tree: &Tree, id: &str) -> Probed {
    probe(tree, &clock(), &Wanted { choice: Choice::Only(id.to_owned()), ..Wanted::default() })
}

/// Every channel with what it shows.
fn readings(probed: &mut Probed) -> Vec<(Channel, Result<Value, Missing>)> {
    let mut all = Vec::new();
    for source in &mut probed.sources {
        let channels = source.info().channels.clone();
        let mut values: Vec<Option<Result<Value, Missing>>> = vec![None; channels.len()];
        source.read(&|| 0, &mut |channel, _, value| values[channel] = Some(value));
        all.extend(
            channels.into_iter().zip(values).map(|(channel, value)| (channel, value.expect("a reading"))),
        );
    }
    all
}

/// What the channel to quote shows.
fn headline(probed: &mut Probed) -> Option<(Channel, Result<Value, Missing>)> {
    let index = usize::from(probed.headline?);
    Some(readings(probed).swap_remove(index))
}

/// The channel to quote in milliwatts, rounded.
fn milliwatts(probed: &mut Probed) -> i64 {
    match headline(probed).expect("a channel to quote").1 {
        Ok(Value::Power(uw)) => (uw + 500).div_euclid(1000),
        other => panic!("no power: {other:?}"),
    }
}

fn reason(probed: &Probed, id: &str) -> Missing {
    probed.absent.iter().find(|absent| absent.id == id).expect("it is absent").reason
}
