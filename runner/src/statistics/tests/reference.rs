//! Values of SciPy and statsmodels; `reference.py` beside them made them.

use datasets::Stream;
use serde_json::Value;

use super::super::*;

fn cases(name: &str) -> Vec<Value> {
    let text = include_str!("../../../../tests/fixtures/statistics/reference.json");
    let all: Value = serde_json::from_str(text).unwrap();
    let cases = all[name].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap_or_else(|| panic!("{key} in {case}"))
}

fn numbers(case: &Value, key: &str) -> Vec<f64> {
    case[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

#[track_caller]
fn near(got: f64, wanted: f64, within: f64) {
    assert!((got - wanted).abs() <= within, "{got} is not {wanted}");
}

#[test]
fn exact_and_mid_p_mcnemar_equal_statsmodels() {
    for case in cases("tables") {
        let test = mcnemar(case["b"].as_u64().unwrap(), case["c"].as_u64().unwrap());
        near(test.two_sided, number(&case, "two_sided"), 1e-10);
        near(test.loss, number(&case, "loss"), 1e-10);
        near(test.mid_p, number(&case, "mid_p"), 1e-10);
    }
}

#[test]
fn sign_flips_equal_the_count_over_all_signs() {
    for case in cases("sign_flips") {
        let differences: Vec<i64> = numbers(&case, "d").into_iter().map(|d| d as i64).collect();
        let test = sign_flip(&differences);
        near(test.two_sided, number(&case, "two_sided"), 1e-12);
        near(test.loss, number(&case, "loss"), 1e-12);
    }
}

#[test]
fn score_intervals_equal_those_of_a_maximised_likelihood() {
    for case in cases("score_intervals") {
        let (b, c, n) = (number(&case, "b"), number(&case, "c"), number(&case, "n"));
        let (low, high) = score_interval(b, c, n, number(&case, "level")).unwrap();
        near(low, number(&case, "low"), 2e-6);
        near(high, number(&case, "high"), 2e-6);
    }
}

#[test]
fn bootstrap_intervals_equal_scipy_s_up_to_the_noise_of_drawing() {
    for case in cases("bootstraps") {
        let items = case["items"].as_u64().unwrap();
        let families: Vec<Family> =
            numbers(&case, "sums").into_iter().map(|sum| Family { sum, items }).collect();
        let drawn = Resampled::draw(&families, 20_000, &mut Stream::new(1, &["reference"])).unwrap();
        let (low, high) = drawn.interval(number(&case, "level")).unwrap();
        // The standard error of a 5 % quantile of 20 000 draws is 1.5 % of the standard error of the mean.
        let noise = 0.05 * (number(&case, "high") - number(&case, "low"));
        near(low, number(&case, "low"), noise);
        near(high, number(&case, "high"), noise);
    }
}

#[test]
fn cluster_intervals_equal_those_of_the_general_matrices() {
    for case in cases("cluster_ts") {
        let sizes = numbers(&case, "sizes").into_iter().map(|size| size as u64);
        let families: Vec<Family> =
            numbers(&case, "sums").into_iter().zip(sizes).map(|(sum, items)| Family { sum, items }).collect();
        let (low, high) = cluster_t(&families, number(&case, "level")).unwrap();
        near(low, number(&case, "low"), 1e-9);
        near(high, number(&case, "high"), 1e-9);
    }
}

#[test]
fn design_effects_equal_the_ratio_of_statsmodels_variances() {
    for case in cases("designs") {
        let values = numbers(&case, "x");
        let mut rest = &values[..];
        let mut families = Vec::new();
        for size in numbers(&case, "sizes") {
            let (own, others) = rest.split_at(size as usize);
            families.push(Family { sum: own.iter().sum(), items: own.len() as u64 });
            rest = others;
        }
        let squares = values.iter().map(|value| value * value).sum();
        near(design_effect(&families, squares), number(&case, "effect"), 1e-9);
    }
}

#[test]
fn intervals_of_accuracies_by_family_equal_korn_and_graubard_s_on_statsmodels_interval() {
    for case in cases("family_intervals") {
        let sizes = numbers(&case, "sizes").into_iter().map(|size| size as u64);
        let families: Vec<Family> = numbers(&case, "rights")
            .into_iter()
            .zip(sizes)
            .map(|(sum, items)| Family { sum, items })
            .collect();
        let right = families.iter().map(|family| family.sum).sum();
        let (low, high) = wilson_by_family(&families, right).unwrap();
        near(low, number(&case, "low"), 1e-9);
        near(high, number(&case, "high"), 1e-9);
    }
}

#[test]
fn numbers_of_items_equal_the_formula_and_reach_its_power() {
    for case in cases("sizes") {
        let (difference, discordance) = (number(&case, "difference"), number(&case, "discordance"));
        let items = items_to_detect(difference, discordance).unwrap();
        near(items, number(&case, "items"), 1e-6);
        near(detectable(items, discordance).unwrap(), difference, 1e-9);
        assert!(number(&case, "power") >= 0.8, "exact power, by enumeration: {case}");
    }
}

#[test]
fn divergences_holm_and_wilson_equal_scipy_and_statsmodels() {
    for case in cases("divergences") {
        let both = divergence(&numbers(&case, "first"), &numbers(&case, "second")).unwrap();
        near(both.kl, number(&case, "kl"), 1e-12);
        near(both.total_variation, number(&case, "total_variation"), 1e-12);
    }
    for case in cases("holms") {
        let adjusted = holm(&numbers(&case, "p"));
        adjusted.iter().zip(numbers(&case, "adjusted")).for_each(|(got, wanted)| near(*got, wanted, 1e-12));
    }
    for case in cases("wilsons") {
        let (low, high) = wilson(number(&case, "right"), case["n"].as_u64().unwrap()).unwrap();
        near(low, number(&case, "low"), 1e-9);
        near(high, number(&case, "high"), 1e-9);
    }
}
