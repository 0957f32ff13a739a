//! From the configuration's words to the limit and the guard of one model's worker.

use super::{Budget, Counts, Guard, Limit, System};
use crate::config::MemoryChoice;

impl MemoryChoice {
    /// The budget that holds: the model's own, that of the machine, or that of all.
    fn budget_for(&self, own: Option<Budget>, device: &str) -> Budget {
        let of_device =
            || self.devices.iter().find(|(name, _)| device.contains(name.as_str())).map(|(_, b)| *b);
        own.or_else(of_device).unwrap_or(self.budget)
    }

    /// The limit of a model on this machine, now.
    pub fn limit(&self, own: Option<Budget>, device: &str, system: &System) -> Option<Limit> {
        let counts = if self.allow_overcommit { Counts::Private } else { self.counts };
        let reserve = Some(self.reserve_mib << 20).filter(|&bytes| bytes > 0);
        self.budget_for(own, device).limit(system, counts, reserve)
    }

    /// The guard of a model's worker.
    pub fn guard(&self, limit: Option<Limit>, system: &System) -> Guard {
        let floor_bytes = match self.floor_mib {
            0 => Some(self.reserve_mib << 19).filter(|&b| b > 0).unwrap_or_else(|| Guard::floor_of(system)),
            mib => mib << 20,
        };
        Guard { limit, floor_bytes, enforce: self.enforce, watched: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_s_own_budget_comes_before_the_machine_s_and_that_before_the_general_one() {
        let devices = [("Raspberry Pi 4".to_owned(), Budget::Bytes(2))].into();
        let choice = MemoryChoice { budget: Budget::Bytes(1), devices, ..MemoryChoice::default() };
        assert_eq!(choice.budget_for(None, "PC"), Budget::Bytes(1));
        assert_eq!(choice.budget_for(None, "Raspberry Pi 4 Model B Rev 1.4"), Budget::Bytes(2));
        assert_eq!(choice.budget_for(Some(Budget::None), "Raspberry Pi 4 Model B"), Budget::None);
    }

    #[test]
    fn overcommitting_lets_mapped_weights_pass() {
        let choice = MemoryChoice { budget: Budget::Bytes(1 << 30), ..MemoryChoice::default() };
        let system = System::default();
        assert_eq!(choice.limit(None, "", &system).unwrap().counts, Counts::Resident);
        let choice = MemoryChoice { allow_overcommit: true, ..choice };
        assert_eq!(choice.limit(None, "", &system).unwrap().counts, Counts::Private);
    }
}
