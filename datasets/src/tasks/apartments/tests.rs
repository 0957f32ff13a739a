#![allow(irrefutable_let_patterns, reason = "holds whether or not other parts and golds exist")]

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::*;

fn params(text: &str) -> Params {
    Params(text.parse().unwrap())
}

fn items_of(text: &str, seed: u64) -> Vec<Item> {
    (APARTMENTS.items)(&params(text), seed).unwrap()
}

fn stem(item: &Item) -> &str {
    let [Part::Text(text)] = &item.first_question().stem[..] else { panic!("one text") };
    text
}

fn gold(item: &Item) -> u16 {
    let Gold::Label(gold) = item.first_question().gold else { panic!("label") };
    gold
}

/// Rows of the table: feature, level, rating, statement.
fn rows() -> Vec<(String, String, i32, String)> {
    csv::Reader::from_reader(features::TABLE.as_bytes()).deserialize().map(Result::unwrap).collect()
}

/// Apartment (from 0), statement, rating of each line.
fn lines(item: &Item) -> Vec<(usize, &str, i32)> {
    let read = |text| -> Option<(usize, &str, i32)> {
        let (number, rest) = str::strip_prefix(text, "Apartment ")?.split_once(": ")?;
        let (statement, rating) = rest.strip_suffix(')')?.split_once(" (rating: ")?;
        Some((number.parse::<usize>().ok()? - 1, statement, rating.parse().ok()?))
    };
    stem(item).lines().filter_map(read).collect()
}

/// The best apartment and its lead over the second in mean rating, from the printed lines alone.
fn lead(item: &Item) -> (u16, f64) {
    let mut sums = [0; 4];
    let lines = lines(item);
    for (apartment, _, rating) in &lines {
        sums[*apartment] += rating;
    }
    let mut order = [0, 1, 2, 3];
    order.sort_by_key(|&apartment| -sums[apartment]);
    (order[0] as u16, f64::from(sums[order[0]] - sums[order[1]]) / (lines.len() / 4) as f64)
}

#[test]
fn documented_parameters_are_the_defaults() {
    assert_eq!(params(APARTMENTS.params).read::<ApartmentsParams>().unwrap(), ApartmentsParams::default());
    for (text, key) in [
        ("sets = 0", "sets"),
        ("bands = []", "bands"),
        ("bands = ['0.5-1', '0.5-1']", "bands"),
        ("bands = ['1-2']", "1-2"),
        ("features = 4", "features"),
        ("features = 81", "features"),
        ("order = 'random'", "random"),
    ] {
        let error = (APARTMENTS.items)(&params(text), 1).unwrap_err().to_string();
        assert!(error.contains(key), "{text}: {error}");
    }
}

#[test]
fn table_has_80_features_with_four_ordered_statements_each() {
    let rows = rows();
    assert_eq!(rows.len(), 320);
    let names: BTreeSet<&str> = rows.iter().map(|row| row.0.as_str()).collect();
    let texts: BTreeSet<String> = rows.iter().map(|row| row.3.to_lowercase()).collect();
    assert_eq!((names.len(), texts.len()), (80, 320));
    for four in rows.chunks(4) {
        assert!(four.iter().all(|row| row.0 == four[0].0));
        let levels: Vec<&str> = four.iter().map(|row| row.1.as_str()).collect();
        assert_eq!(levels, ["positive", "neutral-plus", "neutral-minus", "negative"]);
        let ratings: Vec<i32> = four.iter().map(|row| row.2).collect();
        let [positive, plus, minus, negative] = ratings[..] else { panic!("four") };
        assert!(positive > plus && plus > minus && minus > negative, "{four:?}");
        assert!((2..=5).contains(&positive) && (0..=2).contains(&plus), "{four:?}");
        assert!((-2..=0).contains(&minus) && (-5..=-2).contains(&negative), "{four:?}");
        for row in four {
            // One short complete sentence that cannot be taken for a line's end.
            assert!(row.3.starts_with(char::is_uppercase) && row.3.ends_with('.'), "{}", row.3);
            assert_eq!(row.3.matches(['.', '(', '\n', '"']).count(), 1, "{}", row.3);
            assert!((4..=15).contains(&row.3.split(' ').count()), "{}", row.3);
        }
    }
    let built_in: Vec<_> = FEATURES.iter().flatten().map(|s| (s.rating, s.text.as_str())).collect();
    assert_eq!(built_in, rows.iter().map(|row| (row.2, row.3.as_str())).collect::<Vec<_>>());
}

#[test]
fn prompt_is_the_one_printed_in_the_paper() {
    let items = items_of("sets = 1\nfeatures = 5", 1);
    let stem = stem(&items[0]);
    let (before, rest) = stem.split_once("\nApartment ").unwrap();
    let (list, after) = rest.rsplit_once('\n').unwrap();
    assert_eq!(list.lines().count(), 20);
    assert_eq!(
        before.replace('\n', " "),
        "You are an AI assistant designed to evaluate the desirability of four apartments for a potential tenant. \
         You will be given a list of statements about the apartment candidates and how much the tenant likes or \
         dislikes an apartment with the quality described by the statement. Your task is to determine which \
         apartment is the most desirable based on the given criteria. The statements are as follows:"
    );
    assert_eq!(after, "Which apartment is most desirable to the tenant?");
    let ask = &items[0].first_question().ask;
    assert_eq!(ask.direct, "\nRespond with only the number of the apartment, do not include anything else.");
    assert_eq!(ask.reason[0].text, "\nLet’s think step by step");
    assert_eq!(items[0].first_question().labels, ["1", "2", "3", "4"]);
}

#[test]
fn full_size_is_100_sets_in_each_band_with_one_statement_per_feature_and_apartment() {
    let items = items_of("", 1);
    assert_eq!(items.len(), 300);
    let feature: BTreeMap<String, usize> =
        rows().into_iter().zip(0..).map(|(row, index)| (row.3, index / 4)).collect();
    let ids: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
    let texts: BTreeSet<&str> = items.iter().map(stem).collect();
    assert_eq!((ids.len(), texts.len()), (300, 300));
    for (index, item) in items.iter().enumerate() {
        let lines = lines(item);
        assert_eq!(lines.len(), 320);
        let cells: BTreeSet<(usize, usize)> = lines.iter().map(|line| (line.0, feature[line.1])).collect();
        assert_eq!(cells.len(), 320);
        let (best, lead) = lead(item);
        assert_eq!(best, gold(item));
        let (band, low, high) =
            [("0.1-0.3", 0.1, 0.3), ("0.3-0.5", 0.3, 0.5), ("0.5-1", 0.5, 1.0)][index / 100];
        assert_eq!(item.tags["band"], band);
        assert!(low <= lead && (lead < high || high == 1.0 && lead <= 1.0), "{band}: {lead}");
        // The list is mixed: no apartment has its 80 statements in a row.
        assert!(lines[..80].iter().any(|line| line.0 != lines[0].0));
    }
}

#[test]
fn golds_are_dealt_evenly_over_10_000_seeds() {
    let mut places = [[0usize; 4]; 3];
    for seed in 0..10_000 {
        let items = items_of("sets = 1\nfeatures = 8", seed);
        for (item, band) in items.iter().zip(0..) {
            let (best, lead) = lead(item);
            assert_eq!(best, gold(item));
            let [low, high] = [[0.1, 0.3], [0.3, 0.5], [0.5, 1.0]][band];
            assert!(low <= lead && (lead < high || band == 2 && lead == 1.0), "{seed} {band}: {lead}");
            places[band][usize::from(best)] += 1;
        }
    }
    for (counts, band) in places.iter().zip(1..) {
        let chi_square: f64 = counts.iter().map(|&n| (n as f64 - 2500.0).powi(2) / 2500.0).sum();
        println!("band {band}: gold at {counts:?}, chi-square {chi_square:.2} (3 df)");
        assert!(chi_square < 21.1, "p < 0.0001"); // the critical value of 3 degrees of freedom
    }
    // Within one run each number is right equally often.
    for band in items_of("features = 5", 3).chunks(100) {
        let golds = band.iter().map(gold);
        assert_eq!(
            (0..4).map(|n| golds.clone().filter(|&gold| gold == n).count()).collect::<Vec<_>>(),
            [25; 4]
        );
    }
}

/// Exact probabilities that the best of four independent apartments leads by `0, 1, 2 ...` points: the sum of 80
/// independent ratings by convolution, then order statistics.
fn exact_leads() -> Vec<f64> {
    let ratings: Vec<i32> = rows().iter().map(|row| row.2).collect();
    let mut sum = BTreeMap::from([(0, 1.0)]);
    for four in ratings.chunks(4) {
        let mut next = BTreeMap::new();
        for (&total, &probability) in &sum {
            for rating in four {
                *next.entry(total + rating).or_insert(0.0) += probability / 4.0;
            }
        }
        sum = next;
    }
    let below = |limit: i32| -> f64 { sum.range(..limit).map(|(_, probability)| probability).sum() };
    let second: Vec<(i32, f64)> =
        sum.keys().map(|&total| (total, below(total + 1).powi(3) - below(total).powi(3))).collect();
    let lead = |points: i32| -> f64 {
        second.iter().map(|(total, p)| 4.0 * sum.get(&(total + points)).unwrap_or(&0.0) * p).sum()
    };
    (0..=80).map(|points| if points == 0 { 0.0 } else { lead(points) }).collect()
}

#[test]
fn plain_rejection_accepts_as_often_as_arithmetic_says() {
    let exact = exact_leads();
    let of = |low: usize, end: usize| exact[low..end].iter().sum::<f64>();
    // 0.1, 0.3, 0.5 and 1 times 80 features.
    let expected = [of(8, 24), of(24, 40), of(40, 81)];
    // What plausible ratings give: 39-44 %, 17-21 %, 5-12 %.
    for (rate, [low, high]) in expected.iter().zip([[0.39, 0.44], [0.17, 0.21], [0.05, 0.12]]) {
        assert!((low..=high).contains(rate), "{expected:?}");
    }
    let mut stream = Stream::new(11, &["acceptance"]);
    let draws = 20_000;
    let mut accepted = [0usize; 3];
    for _ in 0..draws {
        let (_, lead) = Set::any(&mut stream, 80).lead();
        for (band, count) in [Band::Close, Band::Middle, Band::Far].into_iter().zip(&mut accepted) {
            *count += usize::from(band.holds(lead, 80));
        }
    }
    for (count, expected) in accepted.iter().zip(expected) {
        let rate = *count as f64 / f64::from(draws);
        println!("accepted {rate:.4}, exact {expected:.4}");
        assert!((rate - expected).abs() < 4.0 * (expected * (1.0 - expected) / f64::from(draws)).sqrt());
    }
}

#[test]
fn every_number_of_features_can_be_drawn_in_every_band() {
    for features in 5..=80 {
        for (item, band) in items_of(&format!("sets = 2\nfeatures = {features}"), 1).iter().zip(0..) {
            assert_eq!(lines(item).len(), 4 * features);
            let (best, lead) = lead(item);
            assert_eq!(best, gold(item));
            assert!(lead >= [0.1, 0.3, 0.5][band / 2] - 1e-9 && lead <= 1.0, "{features}: {lead}");
        }
    }
}

#[test]
fn switches_hide_ratings_and_group_the_list_and_change_nothing_else() {
    let plain = &items_of("sets = 1\nfeatures = 6", 4)[0];
    let hidden = &items_of("sets = 1\nfeatures = 6\nratings = false", 4)[0];
    let grouped = &items_of("sets = 1\nfeatures = 6\norder = 'grouped'", 4)[0];
    let without = regex::Regex::new(r" \(rating: -?\d\)").unwrap().replace_all(stem(plain), "").into_owned();
    assert_eq!(stem(hidden), without);
    assert_eq!((gold(hidden), gold(grouped)), (gold(plain), gold(plain)));
    let order: Vec<usize> = lines(grouped).iter().map(|line| line.0).collect();
    assert!(order.is_sorted() && !lines(plain).iter().map(|line| line.0).is_sorted());
    let sorted = |item: &Item| stem(item).lines().map(str::to_owned).collect::<BTreeSet<String>>();
    assert_eq!(sorted(grouped), sorted(plain));
    // Baselines read the same from all three.
    for baseline in APARTMENTS.baselines.iter().filter(|baseline| baseline.name == "most-liked") {
        let answer = |item: &Item| (baseline.answers)(std::slice::from_ref(item));
        assert_eq!((answer(hidden), answer(grouped)), (answer(plain), answer(plain)));
    }
}

#[test]
fn a_set_does_not_depend_on_how_many_there_are() {
    let few = items_of("sets = 3\nbands = ['0.5-1']\nfeatures = 5", 5);
    let many = items_of("sets = 9\nfeatures = 5", 5);
    assert_eq!(few, many[18..21]);
}

#[test]
fn baselines_beat_chance_and_grow_with_the_lead() {
    let items = items_of("", 1);
    for baseline in APARTMENTS.baselines {
        let answers = (baseline.answers)(&items);
        let right: Vec<usize> = (0..3)
            .map(|band| {
                (100 * band..100 * band + 100).filter(|&i| answers[i] == Some(gold(&items[i]))).count()
            })
            .collect();
        println!("{}: right {right:?} of 100 in each band", baseline.name);
        assert!(right.iter().sum::<usize>() > 75 + 30, "chance is 75, four standard deviations are 30");
        assert!(right[0] < right[2]);
    }
}

#[test]
fn items_at_seed_1_never_change() {
    let json = serde_json::to_vec(&items_of("", 1)).unwrap();
    let hash: String = Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, "2c0a307268d000f842db7277345a038f9f23d7cd7bee93f425921a0a3a5dc157");
    assert_ne!(serde_json::to_vec(&items_of("", 2)).unwrap(), json);
}
