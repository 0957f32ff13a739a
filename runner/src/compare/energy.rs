//! The ratio of energies: what the candidate took over what the reference took, for the same items.

use serde::Serialize;

use super::side::{Energies, Place};
use crate::telemetry::missing::Missing;

/// A ratio, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EnergyRatio {
    /// Joules per item of the candidate over those of the reference.
    pub ratio: Option<f64>,
    /// Lower end of what the sampling of both sensors leaves; it says nothing of how a repetition would differ.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Why there is no ratio: the word of a missing figure, or `other-domain`.
    pub missing: Option<&'static str>,
    /// Joules per item of the reference.
    pub reference_j_per_item: Option<f64>,
    /// The same of the candidate.
    pub candidate_j_per_item: Option<f64>,
}

/// What covers other hardware is not compared.
const OTHER_DOMAIN: &str = "other-domain";

/// The ratio over places, each weighed with its pairs: as if both sides had been asked just these.
pub(super) fn ratio<'p>(
    reference: &Energies,
    candidate: &Energies,
    places: impl Iterator<Item = (&'p Place, u64)>,
) -> EnergyRatio {
    let (mut own, mut other, mut pairs) = (Known::default(), Known::default(), 0.0);
    for (place, count) in places.filter(|(_, count)| *count > 0) {
        let both = part(reference, place).and_then(|one| Ok((one, part(candidate, place)?)));
        let (one, two) = match both {
            Ok(both) => both,
            Err(missing) => return EnergyRatio { missing: Some(missing.word()), ..EnergyRatio::default() },
        };
        if one.2 != two.2 {
            return EnergyRatio { missing: Some(OTHER_DOMAIN), ..EnergyRatio::default() };
        }
        let weight = count as f64;
        other.add(weight, one);
        own.add(weight, two);
        pairs += weight;
    }
    if pairs == 0.0 || other.joules <= 0.0 {
        return EnergyRatio { missing: Some(Missing::NotLogged.word()), ..EnergyRatio::default() };
    }
    let least = other.joules - other.doubt;
    EnergyRatio {
        ratio: Some(own.joules / other.joules),
        low: Some((own.joules - own.doubt).max(0.0) / (other.joules + other.doubt)),
        high: (least > 0.0).then(|| (own.joules + own.doubt) / least),
        missing: None,
        reference_j_per_item: Some(other.joules / pairs),
        candidate_j_per_item: Some(own.joules / pairs),
    }
}

#[derive(Default)]
struct Known {
    joules: f64,
    doubt: f64,
}

impl Known {
    fn add(&mut self, weight: f64, (per_item, doubt, _): (f64, f64, crate::telemetry::source::Domain)) {
        self.joules += weight * per_item;
        self.doubt += weight * doubt;
    }
}

/// Joules per item, doubt per item, and what they cover.
fn part(energies: &Energies, place: &Place) -> Result<(f64, f64, crate::telemetry::source::Domain), Missing> {
    let spent = energies.get(place).ok_or(Missing::NotLogged)?;
    let missing = spent.missing.unwrap_or(Missing::NotLogged);
    let (per_item, sensor) = spent.per_item_j.zip(spent.sensor.as_ref()).ok_or(missing)?;
    let doubt = spent.doubt_j.unwrap_or(0.0) / spent.items.max(1) as f64;
    Ok((per_item, doubt, sensor.domain))
}

impl EnergyRatio {
    /// `0.58 (0.57 to 0.59)`, or the reason.
    pub(super) fn in_words(&self) -> String {
        let Some(ratio) = self.ratio else { return self.missing.unwrap_or("-").to_owned() };
        match self.low.zip(self.high) {
            Some((low, high)) => format!("{ratio:.2} ({low:.2} to {high:.2})"),
            None => format!("{ratio:.2}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Sensor, Spent};
    use crate::telemetry::source::Domain;

    fn place(task: &str) -> Place {
        (task.to_owned(), "direct".to_owned())
    }

    fn side(energies: &[(&str, f64, f64, Domain)]) -> Energies {
        let spent = |&(task, joules, doubt, domain): &(&str, f64, f64, Domain)| {
            let sensor = Sensor {
                source: "meter".into(),
                channel: "meter".into(),
                domain,
                kind: "measured",
                rate_mhz: 1000,
                calibrated: false,
            };
            let spent = Spent {
                sensor: Some(sensor),
                gross_j: Some(joules),
                doubt_j: Some(doubt),
                per_item_j: Some(joules / 10.0),
                items: 10,
                ..Spent::default()
            };
            (place(task), spent)
        };
        energies.iter().map(spent).collect()
    }

    #[test]
    fn pairs_weigh_the_tasks_and_both_doubts_widen_the_interval() {
        let reference = side(&[("a", 100.0, 2.0, Domain::Wall), ("b", 50.0, 1.0, Domain::Wall)]);
        let candidate = side(&[("a", 50.0, 1.0, Domain::Wall), ("b", 50.0, 1.0, Domain::Wall)]);
        let (a, b) = (place("a"), place("b"));
        let told = ratio(&reference, &candidate, [(&a, 20), (&b, 10)].into_iter());
        // 20 items of 10 J and 10 of 5 J against 20 and 10 of 5 J: 250 J and 150 J, 5 J and 3 J in doubt.
        assert_eq!(told.ratio, Some(0.6));
        assert_eq!((told.low, told.high), (Some(147.0 / 255.0), Some(153.0 / 245.0)));
        assert_eq!(told.reference_j_per_item, Some(250.0 / 30.0));
        assert_eq!(told.in_words(), "0.60 (0.58 to 0.62)");
    }

    #[test]
    fn what_covers_other_hardware_or_is_missing_on_a_side_has_no_ratio() {
        let wall = side(&[("a", 100.0, 2.0, Domain::Wall)]);
        let package = side(&[("a", 50.0, 1.0, Domain::CpuPackage)]);
        let mut silent = side(&[("a", 50.0, 1.0, Domain::Wall)]);
        let spent = Spent { missing: Some(Missing::TooShort), ..Spent::default() };
        silent.insert(place("a"), spent);
        let a = place("a");
        let told = |one: &Energies, two: &Energies| ratio(one, two, [(&a, 10)].into_iter()).in_words();
        assert_eq!(told(&wall, &package), "other-domain");
        assert_eq!(told(&wall, &silent), "too-short");
        assert_eq!(told(&side(&[]), &wall), "not-logged");
        assert_eq!(ratio(&wall, &wall, std::iter::empty()).ratio, None);
    }
}
