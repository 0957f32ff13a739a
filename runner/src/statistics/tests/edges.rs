//! Ends of the range: nothing differs, one item, all right, all wrong, nothing there.

use datasets::Stream;

use super::super::*;

fn close(got: f64, wanted: f64) {
    assert!((got - wanted).abs() < 5e-5, "{got} is not {wanted}");
}

#[test]
fn stat_01_without_disagreement_p_is_one() {
    assert_eq!(mcnemar(0, 0), McNemar { two_sided: 1.0, mid_p: 1.0, loss: 1.0 });
    close(mcnemar(0, 5).two_sided, 0.0625);
    close(mcnemar(2, 9).two_sided, 0.06543);
    assert_eq!(sign_flip(&[0, 0]), SignFlip { families: 0, two_sided: 1.0, loss: 1.0 });
    assert_eq!(sign_flip(&[]).two_sided, 1.0);
}

#[test]
fn stat_02_an_exact_p_is_never_above_one() {
    assert_eq!(mcnemar(3, 3).two_sided, 1.0);
    for (b, c) in (0..40).flat_map(|b| (0..40).map(move |c| (b, c))) {
        let test = mcnemar(b, c);
        assert!([test.two_sided, test.mid_p, test.loss].iter().all(|p| (0.0..=1.0).contains(p)), "{b} {c}");
    }
}

#[test]
fn stat_03_exact_and_mid_p_are_both_told() {
    let test = mcnemar(0, 6);
    assert!((test.two_sided - 0.03125).abs() < 1e-12 && (test.mid_p - 0.015625).abs() < 1e-12, "{test:?}");
    // Six losses in six flips: one half to the sixth.
    assert!((mcnemar(6, 0).loss - 0.015625).abs() < 1e-12);
}

#[test]
fn families_of_one_item_give_mcnemar_s_test() {
    for (losses, gains) in [(0, 6), (9, 2), (3, 3), (40, 21)] {
        let mut differences = vec![-1; losses as usize];
        differences.extend(vec![1; gains as usize]);
        let (by_family, by_item) = (sign_flip(&differences), mcnemar(losses, gains));
        close(by_family.two_sided, by_item.two_sided);
        close(by_family.loss, by_item.loss);
    }
}

#[test]
fn one_family_shows_nothing_however_many_items_it_has() {
    // Its sign is one fair coin.
    assert_eq!((sign_flip(&[-22]).two_sided, sign_flip(&[-22]).loss), (1.0, 0.5));
    let drawn = Resampled::draw(&[Family { sum: -22.0, items: 22 }], 100, &mut Stream::new(1, &[])).unwrap();
    assert_eq!(drawn.interval(0.95), None);
}

#[test]
fn stat_04_equal_answers_are_no_certainty() {
    let (low, high) = score_interval(0.0, 0.0, 44.0, 0.95).unwrap();
    // z^2 / (n + z^2), by solving the score equation with no pair that differs.
    let z2 = 1.959_963_984_540_054_f64.powi(2);
    assert!((high - z2 / (44.0 + z2)).abs() < 1e-9 && (low + high).abs() < 1e-9, "{low} {high}");
}

#[test]
fn stat_05_one_pair_and_none() {
    let (low, high) = score_interval(1.0, 0.0, 1.0, 0.95).unwrap();
    assert!(low == -1.0 && high > 0.5, "{low} {high}");
    assert_eq!(score_interval(0.0, 0.0, 0.0, 0.95), None);
    assert_eq!(mean(&[]), None);
    assert!(Resampled::draw(&[], 10, &mut Stream::new(1, &[])).is_none());
    assert_eq!(design_effect(&[Family { sum: 1.0, items: 1 }], 1.0), 1.0);
}

#[test]
fn all_lost_and_all_gained_reach_the_end_of_the_scale() {
    assert_eq!(score_interval(30.0, 0.0, 30.0, 0.95).unwrap().0, -1.0);
    assert_eq!(score_interval(0.0, 30.0, 30.0, 0.95).unwrap().1, 1.0);
    assert!(score_interval(31.0, 0.0, 30.0, 0.95).is_none(), "more flips than pairs");
}

#[test]
fn a_difference_larger_than_what_differs_needs_no_number_of_items() {
    assert_eq!((items_to_detect(0.1, 0.05), items_to_detect(0.0, 0.05)), (None, None));
    assert_eq!((detectable(3.0, 0.2), items_to_exclude(0.0, 0.2)), (None, None));
    // 0.1 (1.6449 + 0.8416)^2 / 0.02^2
    close(items_to_exclude(0.02, 0.1).unwrap() / 1545.64, 1.0);
}

#[test]
fn distributions_that_are_not_comparable_have_no_divergence() {
    assert_eq!(divergence(&[0.0, f64::NAN], &[0.0, 0.0]), None);
    assert_eq!(divergence(&[0.0, f64::NEG_INFINITY], &[0.0, 0.0]), None);
    assert_eq!(divergence(&[0.0], &[0.0, 0.0]), None);
    assert_eq!(divergence(&[], &[]), None);
    let same = divergence(&[-800.0, -801.0], &[-0.5, -1.5]).unwrap();
    assert!(same.kl < 1e-12 && same.total_variation < 1e-12, "{same:?}");
}

#[test]
fn the_same_seed_draws_the_same_interval() {
    let families: Vec<Family> = (0..30).map(|k| Family { sum: f64::from(k % 3), items: 3 }).collect();
    let draw = |seed| Resampled::draw(&families, 500, &mut Stream::new(seed, &["x"])).unwrap();
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    assert_eq!((resamples_for(0), resamples_for(2000), resamples_for(1_000_000)), (10_000, 10_000, 2000));
}
