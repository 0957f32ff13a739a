//! Size of tests and coverage of intervals, counted over simulated comparisons whose truth is known. The full counts
//! (10 000 comparisons each) run with
//!
//! ```text
//! cargo test -p runner --lib statistics::tests::simulation --config 'profile.dev.package.runner.opt-level=2' \
//!     --config 'profile.dev.package.chacha20.opt-level=3' -- --ignored
//! ```
//!
//! and the fast suite repeats them on a smaller scale.

use datasets::Stream;

use super::super::*;

/// Families of two sides' answers, second minus first.
type Comparison = Vec<Vec<i64>>;

/// A comparison: a family leans to one side by a fair coin with probability `lean`, an item then goes with its family;
/// other items are lost, gained or the same with these probabilities.
fn simulate(
    stream: &mut Stream,
    families: usize,
    items: usize,
    lean: f64,
    loss: f64,
    gain: f64,
) -> Comparison {
    let item = |stream: &mut Stream| match stream.unit() {
        unit if unit < loss => -1,
        unit if unit < loss + gain => 1,
        _ => 0,
    };
    let family = |stream: &mut Stream| {
        if stream.unit() < lean {
            let side = if stream.coin() { 1 } else { -1 };
            return vec![side; items];
        }
        (0..items).map(|_| item(stream)).collect()
    };
    (0..families).map(|_| family(stream)).collect()
}

fn sums(comparison: &Comparison) -> Vec<Family> {
    let sum =
        |family: &Vec<i64>| Family { sum: family.iter().sum::<i64>() as f64, items: family.len() as u64 };
    comparison.iter().map(sum).collect()
}

fn flips(comparison: &Comparison) -> (u64, u64) {
    let count = |side| comparison.iter().flatten().filter(|&&item| item == side).count() as u64;
    (count(-1), count(1))
}

/// How often something happens in so many comparisons.
fn share(runs: usize, mut happens: impl FnMut(&mut Stream) -> bool) -> f64 {
    let mut stream = Stream::new(11, &["simulation"]);
    (0..runs).filter(|_| happens(&mut stream)).count() as f64 / runs as f64
}

/// Three standard errors of a share.
fn error(share: f64, runs: usize) -> f64 {
    3.0 * (share * (1.0 - share) / runs as f64).sqrt()
}

/// Says what was counted, for those who run the full counts.
fn tell(what: &str, share: f64) -> f64 {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{what}: {share}");
    share
}

fn tests_keep_their_size(runs: usize) {
    let rejects = |name, p: fn(u64, u64) -> f64| {
        let share = share(runs, |stream| {
            let (losses, gains) = flips(&simulate(stream, 200, 1, 0.0, 0.1, 0.1));
            p(losses, gains) <= 0.05
        });
        tell(name, share)
    };
    let exact = rejects("McNemar, exact", |b, c| mcnemar(b, c).two_sided);
    let mid = rejects("McNemar, mid-p", |b, c| mcnemar(b, c).mid_p);
    let loss = rejects("McNemar, one-sided", |b, c| mcnemar(b, c).loss);
    let most = 0.05 + error(0.05, runs);
    assert!(exact <= most && loss <= most, "exact {exact}, one-sided {loss}");
    assert!((0.04 - error(0.05, runs)..=most).contains(&mid), "mid-p {mid}");
}

fn families_keep_the_size_that_items_alone_would_break(runs: usize) {
    let rejects = |name, p: fn(&Comparison) -> f64| {
        tell(name, share(runs, |stream| p(&simulate(stream, 40, 5, 0.3, 0.05, 0.05)) <= 0.05))
    };
    let by_item = rejects("families of five, McNemar by item", |comparison| {
        let (losses, gains) = flips(comparison);
        mcnemar(losses, gains).two_sided
    });
    let by_family = rejects("families of five, by family", |comparison| {
        sign_flip(&comparison.iter().map(|family| family.iter().sum()).collect::<Vec<_>>()).two_sided
    });
    assert!(by_family <= 0.05 + error(0.05, runs), "by family {by_family}");
    assert!(by_item > 0.15, "items of a family taken as independent: {by_item}");
}

fn score_intervals_cover(runs: usize) {
    for (pairs, loss, gain) in [(30, 0.0, 0.0), (100, 0.07, 0.03), (400, 0.02, 0.0), (400, 0.1, 0.1)] {
        let covered = share(runs, |stream| {
            let (losses, gains) = flips(&simulate(stream, pairs, 1, 0.0, loss, gain));
            let (low, high) = score_interval(losses as f64, gains as f64, pairs as f64, 0.95).unwrap();
            (low..=high).contains(&(gain - loss))
        });
        tell(&format!("score interval, {pairs} pairs, {loss} lost, {gain} gained"), covered);
        assert!(covered >= 0.945 - error(0.95, runs), "{pairs} pairs, {loss} {gain}: {covered}");
    }
}

fn widened_score_intervals_cover(runs: usize) {
    let (losing, gaining) = (0.06, 0.02);
    for (families, least) in [(12, 0.93), (60, 0.93)] {
        let covered = share(runs, |stream| {
            let comparison = simulate(stream, families, 5, 0.1, losing, gaining);
            let (losses, gains) = flips(&comparison);
            let effect = design_effect(&sums(&comparison), (losses + gains) as f64);
            let worth = |count: f64| count / effect;
            let pairs = worth(5.0 * families as f64);
            let (low, high) = score_interval(worth(losses as f64), worth(gains as f64), pairs, 0.95).unwrap();
            (low..=high).contains(&(0.9 * (gaining - losing)))
        });
        tell(&format!("score interval, {families} families of five"), covered);
        // Few families make it too wide rather than too narrow.
        assert!(
            (least - error(0.95, runs)..=0.99 + error(0.95, runs)).contains(&covered),
            "{families} families: {covered}"
        );
    }
}

/// From eight families to two hundred, with and without families that go all one way, of equal and of uneven size. Where
/// families go all one way, a few of them scatter more than a t distribution allows for: then it covers more.
fn cluster_intervals_cover(runs: usize) {
    for families in [8, 12, 20, 40, 60, 100, 200] {
        for (lean, uneven) in [(0.0, false), (0.2, false), (0.0, true)] {
            let covered = share(runs, |stream| {
                let mut comparison = simulate(stream, families, 6, lean, 0.15, 0.1);
                if uneven {
                    // Two, four or six items.
                    (0..)
                        .zip(&mut comparison)
                        .for_each(|(place, family)| family.truncate(2 + 2 * (place % 3)));
                }
                // Where nothing varies there is none; comparisons then show the score interval.
                cluster_t(&sums(&comparison), 0.95)
                    .is_some_and(|(low, high)| (low..=high).contains(&((1.0 - lean) * -0.05)))
            });
            tell(
                &format!("cluster t, {families} families, {lean} of them all one way, uneven: {uneven}"),
                covered,
            );
            let most = if lean > 0.0 { 0.975 } else { 0.955 } + error(0.95, runs);
            assert!(
                (0.95 - error(0.95, runs)..=most).contains(&covered),
                "{families} families, {lean}: {covered}"
            );
        }
    }
}

/// What no interval knows: a tenth of the families are lost as a whole, and a small sample has hardly any of them.
fn rare_losses_of_whole_families_stay_uncovered(runs: usize) {
    for (families, range) in [(20, 0.85..0.91), (60, 0.91..0.95)] {
        let covered = share(runs, |stream| {
            let mut comparison = simulate(stream, families, 6, 0.0, 0.05, 0.05);
            for family in &mut comparison {
                if stream.unit() < 0.1 {
                    family.fill(-1);
                }
            }
            cluster_t(&sums(&comparison), 0.95).is_some_and(|(low, high)| (low..=high).contains(&-0.1))
        });
        tell(&format!("cluster t, {families} families, a tenth of them lost as a whole"), covered);
        let (least, most) = (range.start - error(0.9, runs), range.end + error(0.9, runs));
        assert!((least..most).contains(&covered), "{families} families: {covered}");
    }
}

/// Percentiles of few families are too narrow where some go all one way: what is asserted is how far they fall short. That
/// is why comparisons show the t interval.
fn bootstrap_intervals_cover(runs: usize, resamples: usize) {
    for (families, lean, least) in [(12, 0.2, 0.91), (12, 0.0, 0.935), (60, 0.2, 0.94), (200, 0.2, 0.94)] {
        let covered = share(runs, |stream| {
            let comparison = simulate(stream, families, 6, lean, 0.15, 0.1);
            let drawn = Resampled::draw(&sums(&comparison), resamples, stream).unwrap();
            let (low, high) = drawn.interval(0.95).unwrap();
            (low..=high).contains(&((1.0 - lean) * -0.05))
        });
        tell(&format!("bootstrap, {families} families of six, {lean} of them all one way"), covered);
        let most = 0.96 + error(0.95, runs);
        assert!((least - error(0.95, runs)..=most).contains(&covered), "{families} families: {covered}");
    }
}

/// Answers of families whose accuracies scatter with this intraclass correlation around one half (beta-binomial, by Polya's urn):
/// each family's right ones.
fn accuracies(stream: &mut Stream, families: usize, items: u64, correlation: f64) -> Vec<Family> {
    // As much as so many items weigh before the first: of correlated ones fewer.
    let prior = 1.0 / correlation - 1.0;
    let family = |_| {
        let mut right = 0.0;
        for item in 0..items {
            let next = (prior / 2.0 + right) / (prior + item as f64);
            right += f64::from(u8::from(stream.unit() < next));
        }
        Family { sum: right, items }
    };
    (0..families).map(family).collect()
}

/// Intervals of an accuracy, as reports show them: by family, few of them with few degrees of freedom. With two families they
/// cover nearly always, since one degree of freedom allows for anything.
fn accuracy_intervals_cover(runs: usize) {
    for families in [2, 4, 8, 20] {
        for correlation in [0.1, 0.3] {
            let covered = share(runs, |stream| {
                let answers = accuracies(stream, families, 11, correlation);
                let right = answers.iter().map(|family| family.sum).sum();
                let (low, high) = wilson_by_family(&answers, right).unwrap();
                (low..=high).contains(&0.5)
            });
            tell(&format!("accuracy, {families} families of eleven, correlation {correlation}"), covered);
            assert!(
                covered >= 0.945 - error(0.95, runs),
                "{families} families, correlation {correlation}: {covered}"
            );
        }
    }
}

/// What taking items as independent does to the same: the reason for all of it.
fn intervals_by_item_do_not_cover(runs: usize) {
    let covered = share(runs, |stream| {
        let answers = accuracies(stream, 8, 11, 0.3);
        let (low, high) = wilson(answers.iter().map(|family| family.sum).sum(), 88).unwrap();
        (low..=high).contains(&0.5)
    });
    tell("accuracy, 8 families of eleven, correlation 0.3, items taken as independent", covered);
    assert!(covered < 0.75, "{covered}");
}

#[test]
fn sizes_and_coverage_on_a_small_scale() {
    tests_keep_their_size(300);
    families_keep_the_size_that_items_alone_would_break(150);
    score_intervals_cover(60);
    widened_score_intervals_cover(200);
    cluster_intervals_cover(100);
    rare_losses_of_whole_families_stay_uncovered(100);
    bootstrap_intervals_cover(50, 150);
    accuracy_intervals_cover(400);
    intervals_by_item_do_not_cover(300);
}

#[test]
#[ignore = "10 000 comparisons: see the head of this file"]
fn sizes_of_tests_over_10_000_comparisons() {
    tests_keep_their_size(10_000);
    families_keep_the_size_that_items_alone_would_break(10_000);
}

#[test]
#[ignore = "10 000 comparisons: see the head of this file"]
fn coverage_of_intervals_over_10_000_comparisons() {
    score_intervals_cover(10_000);
    widened_score_intervals_cover(10_000);
    cluster_intervals_cover(10_000);
    rare_losses_of_whole_families_stay_uncovered(10_000);
    bootstrap_intervals_cover(10_000, 1000);
    accuracy_intervals_cover(10_000);
    intervals_by_item_do_not_cover(10_000);
}
