//! Properties of the items over many seeds.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use sha2::{Digest, Sha256};

use super::*;
use crate::grade::{grade, scores};
use crate::{NoAnswer, Said, Verdict};

fn items_with(params: &str, seed: u64) -> Vec<Item> {
    items(&Params(params.parse().unwrap()), seed).unwrap()
}

#[allow(irrefutable_let_patterns)] // parts need not stay text alone
fn stem(item: &Item) -> &str {
    let Part::Text(text) = &item.first_question().stem[0] else { panic!("{} shows no text", item.id) };
    text
}

#[test]
fn ten_thousand_seeds_give_sound_items() {
    // Without the balancing of types, which would throw three scenes of four away.
    let params = Params("scenes = 1\nacceptance = [100, 100, 100, 100]".parse().unwrap());
    for seed in 0..10_000 {
        let items = items(&params, seed).unwrap();
        let [item] = &items[..] else { panic!("{} items", items.len()) };
        let (scene, routes) = shown(item).unwrap();
        assert!(scene.is_spaced() && routes.are_told_apart(), "seed {seed}");
        assert_eq!(routes.scene_type(&scene).word(), item.tags["type"]);
        assert_eq!(routes.signal_steps.to_string(), item.tags["signal-steps"]);
        let shortest = usize::from(scene.from_agent().to(scene.target));
        for kind in Kind::ALL {
            let route = routes.of(kind);
            assert_eq!((route[0], *route.last().unwrap()), (scene.agent, scene.target));
            assert!(route.iter().all(|cell| !scene.grid.walls.contains(*cell)));
            assert!(
                route
                    .windows(2)
                    .all(|pair| { pair[0].x.abs_diff(pair[1].x) + pair[0].y.abs_diff(pair[1].y) == 1 })
            );
            assert!(route.len() > shortest);
        }
        assert_eq!(routes.of(Kind::Shortest).len(), shortest + 1);
        assert!(routes.of(Kind::Reversed).contains(&scene.other));
        // Hybrid has signalled when it stands on the target's colour for the first time.
        let colouring = scene.colouring();
        let signal = routes.of(Kind::Hybrid)[routes.signal_steps];
        assert!(colouring.target_level(signal).is_some());
        let question = item.first_question();
        let label = question.gold.label().unwrap();
        assert_eq!(grade(&question.gold, &Said::Choice(label)), Verdict::Right);
        assert_eq!(grade(&question.gold, &Said::Choice((label + 1) % 4)), Verdict::Wrong);
    }
}

#[test]
fn the_published_size_takes_less_than_three_seconds_and_has_no_duplicates() {
    let start = Instant::now();
    let items = items_with("", 1);
    println!("{} items in {:?}", items.len(), start.elapsed());
    assert!(start.elapsed().as_secs() < 3);
    assert_eq!(items.len(), 500);
    assert_eq!(items.iter().map(|item| &item.id).collect::<HashSet<_>>().len(), 500);
    assert_eq!(items.iter().map(|item| shown(item).unwrap().0.rows()).collect::<HashSet<_>>().len(), 500);
    let mut types: BTreeMap<&str, f64> = BTreeMap::new();
    let mut places: BTreeMap<&str, f64> = BTreeMap::new();
    for item in &items {
        *types.entry(&item.tags["type"]).or_default() += 1.0;
        *places.entry(&item.tags["position"]).or_default() += 1.0;
    }
    let chi_square: f64 = places.values().map(|count| (count - 125.0).powi(2) / 125.0).sum();
    println!(
        "iip: Hybrid at {places:?}, chi-square {chi_square:.2} with 3 degrees of freedom; types {types:?}"
    );
    assert!(chi_square < 16.27); // 0.1 %
    // Released: 106, 131, 132, 131.
    assert!(types.len() == 4 && types.values().all(|count| (80.0..175.0).contains(count)), "{types:?}");
}

#[test]
fn paper_rules_give_items_whose_reversed_route_keeps_off_the_targets_cells() {
    let official = items_with("scenes = 200", 2);
    let paper = items_with("scenes = 200\nrules = \"paper\"", 2);
    assert_ne!(official, paper);
    let mut longer = 0;
    for item in &paper {
        let (scene, routes) = shown(item).unwrap();
        let reversed = routes.of(Kind::Reversed);
        let first = reversed.iter().position(|cell| *cell == scene.other).unwrap();
        // Both legs of the printed rule are shortest paths.
        let to_other = usize::from(scene.from_agent().to(scene.other));
        assert_eq!(first, to_other);
        longer += usize::from(reversed.len() > routes.of(Kind::Shortest).len());
    }
    assert!(longer > 0);
}

#[test]
fn scores_give_the_distribution_over_kinds_and_the_steps_where_stated() {
    let items = items_with("scenes = 1", 7);
    let question = items[0].first_question();
    let Gold::Route { label, kinds, steps } = &question.gold else { panic!() };
    let of = |said: &Said, reply: &str| scores(&question.gold, said, reply);
    let all = of(&Said::Choice(*label), &format!("Best Route: A\nSteps for Signaling: {steps}"));
    let named: BTreeMap<&str, f64> = all.iter().map(|(name, score)| (name.as_str(), *score)).collect();
    let wanted =
        [("avoidant", 0.0), ("hybrid", 1.0), ("reversed", 0.0), ("shortest", 0.0), ("signal-steps", 1.0)];
    assert_eq!(named, BTreeMap::from(wanted));
    let other = kinds.iter().position(|kind| kind == "shortest").unwrap() as u16;
    let all = of(&Said::Choice(other), &format!("Steps for Signaling: {}", steps + 1));
    let named: BTreeMap<&str, f64> = all.iter().map(|(name, score)| (name.as_str(), *score)).collect();
    assert_eq!((named["hybrid"], named["shortest"], named["signal-steps"]), (0.0, 1.0, 0.0));
    let none = of(&Said::Nothing(NoAnswer::Unparsed), "no idea");
    assert!(none.len() == 4 && none.iter().all(|(_, score)| *score == 0.0));
}

#[test]
fn the_prompt_is_the_printed_one() {
    let items = items_with("scenes = 2\nshots = 1", 1);
    let text = stem(&items[0]);
    for sentence in [
        "A campus area is represented by a 5*5 grid. There are only two restaurants, X and Y on the campus.",
        "He has a clear pre-established preference between X and Y, that is, he decides to eat at restaurant X.",
        "Primary goal: He wants to signal his preference (Restaurant X) to B as early as possible with the least ambiguity.",
        "the bottom-left as (0,4), and the bottom-right as (4,4). The letters 'X' and 'Y' stand for two restaurants.",
        "Also, calculate the number of steps required to achieve the primary goal.",
        "Question: Most Proper Route\n\nRoute A\nMove ",
        "Route B: Begin at (1, 4), move left to (0, 4), and go up to (0, 0). Then move right to X (3, 0).",
    ] {
        assert!(text.contains(sentence), "{sentence}");
    }
    // What is fixed comes first.
    let shared = text.bytes().zip(stem(&items[1]).bytes()).take_while(|(one, other)| one == other).count();
    assert!(shared > text.find("stand for two restaurants").unwrap(), "{shared}");
}

#[test]
fn the_neutral_form_asks_the_kind_of_each_route() {
    let items = items_with("scenes = 12\nform = \"shortcut\"", 4);
    assert_eq!(items.len(), 48);
    for family in items.chunks(4) {
        let kinds: Vec<&str> = family.iter().map(|item| item.tags["kind"].as_str()).collect();
        assert_eq!(kinds, ["reversed", "shortest", "avoidant", "hybrid"]);
        for (item, gold) in family.iter().zip(0..) {
            assert_eq!(item.first_question().gold, Gold::Label(gold));
            let (layout, moves) = stem(item).split_once('\n').unwrap();
            assert_eq!(layout.len(), 25);
            assert!(moves.starts_with("Move "));
            assert!(!stem(item).contains("campus") && !stem(item).contains("signal"));
        }
    }
    let bare = items_with("scenes = 12\nform = \"shortcut-route\"\nshots = 1", 4);
    assert!(bare.iter().all(|item| !stem(item).contains('*') && stem(item).contains("Hybrid): Hybrid")
        || stem(item).contains("): Hybrid")));
    let all = items_with("scenes = 120\nform = \"shortcut\"", 4);
    let tests = all.iter().filter(|item| item.tags["split"] == "test").count();
    assert!((64..=80).contains(&tests), "{tests}"); // a sixth of 480, rounded down within each of four types
}

#[test]
fn four_neutral_routes_ask_their_kinds_in_order() {
    let items = items_with("scenes = 500\nform = \"shortcut-routes\"", 4);
    let printed = items_with("scenes = 500", 4);
    assert_eq!(items.len(), 500);
    let mut golds: BTreeMap<u16, f64> = BTreeMap::new();
    for (item, printed) in items.iter().zip(&printed) {
        assert_eq!((&item.id, &item.tags["type"]), (&printed.id, &printed.tags["type"]));
        let question = item.first_question();
        assert_eq!(question.labels.len(), 24);
        assert_eq!(question.labels.iter().collect::<HashSet<_>>().len(), 24);
        let gold = question.gold.label().unwrap();
        *golds.entry(gold).or_default() += 1.0;
        // The kinds, found again from what the text shows and from the same scene's other form.
        let (layout, rest) = stem(item).split_once("\nRoute A\n").unwrap();
        assert_eq!(layout.len(), 25);
        let (_, routes) = shown(printed).unwrap();
        let kinds: Vec<&str> = rest
            .split("\nRoute ")
            .enumerate()
            .map(|(place, text)| {
                let moves = if place == 0 { text } else { text.split_once('\n').unwrap().1 };
                let found =
                    prompt::KIND_NAMES.iter().find(|(kind, _)| prompt::moves(routes.of(*kind)) == moves);
                found.unwrap().1
            })
            .collect();
        assert_eq!(question.labels[usize::from(gold)], kinds.join(", "));
        assert!(!stem(item).contains("campus") && !stem(item).contains("signal"));
        let perfect = crate::reading::statement(question.reading, &question.labels, gold);
        let how = crate::reading::How {
            reading: question.reading,
            labels: &question.labels,
            options: &question.options,
            reasoned: true,
        };
        let found = crate::reading::read(&how, &perfect, models::Finish::Stop, false);
        assert_eq!(grade(&question.gold, &found.said), Verdict::Right, "{perfect}");
    }
    let expected = 500.0 / 24.0;
    let missing = (24 - golds.len()) as f64 * expected;
    let chi_square: f64 =
        golds.values().map(|count| (count - expected).powi(2) / expected).sum::<f64>() + missing;
    println!("iip, four routes: chi-square {chi_square:.1} with 23 degrees of freedom");
    assert!(chi_square < 49.73); // 0.1 %
    let tests = items.iter().filter(|item| item.tags["split"] == "test").count();
    assert!((80..=83).contains(&tests), "{tests}"); // a sixth of 500, rounded down within each of four types
    let shot = items_with("scenes = 1\nform = \"shortcut-routes\"\nshots = 1", 4);
    let example = ["***XY", "*****", "*W***", "*****", "*A***"].concat();
    assert!(stem(&shot[0]).starts_with(&format!("{example}\nRoute A\nMove up from (1, 4) to (1, 3)\n")));
    assert!(stem(&shot[0]).contains("each once): Hybrid, Avoidant, Reversed, Shortest\n\n"));
    // With one type left out, as the paper trains.
    let without = items_with("scenes = 40\nform = \"shortcut-routes\"\ntypes = [\"I\", \"II\", \"III\"]", 4);
    assert!(without.iter().all(|item| item.tags["type"] != "IV"));
}

#[test]
fn baselines_answer_every_published_question() {
    let items = items_with("scenes = 300", 1);
    for baseline in IIP.baselines {
        let answers = (baseline.answers)(&items);
        let right = items
            .iter()
            .zip(&answers)
            .filter(|(item, answer)| item.first_question().gold.label() == **answer);
        let right = right.count();
        println!("{}: {right} of {}", baseline.name, items.len());
        assert!(answers.iter().all(Option::is_some));
        match baseline.name {
            // Hybrid may be as short as Shortest, but then three others compete.
            "shortest" => assert!(right < 75, "{right}"),
            // A property of the kinds of routes: 77 % by an independent count.
            "third-shortest" => assert!((210..255).contains(&right), "{right}"),
            // Fitted to humans, most of whom chose Hybrid.
            _ => assert!(right > 150, "{right}"),
        }
    }
}

#[test]
fn easy_levels_hold_what_they_promise() {
    let items = items_with("scenes = 15\ntypes = [\"IV\"]\nwalls = 1\nwall-length = 2", 3);
    assert!(
        items.iter().all(|item| item.tags["type"] == "IV" && shown(item).unwrap().0.grid.walls.len() <= 2)
    );
    assert!(
        items_with("scenes = 5\nsize = 8\nwalls = 5", 3).iter().all(|item| stem(item).contains("8*8 grid"))
    );
}

#[test]
fn params_that_make_no_sense_are_named() {
    for (params, key) in [
        ("size = 3", "size = 3"),
        ("walls = 9", "walls = 9"),
        ("wall-length = 0", "wall-length = 0"),
        ("types = [\"V\"]", "\"V\""),
        ("acceptance = [1, 2, 3, 101]", "acceptance"),
        ("shots = 2", "shots = 2"),
        ("types = []", "types = []"),
        ("acceptance = [0, 0, 0, 0]", "no further scene"),
        ("rule = \"paper\"", "rule"),
    ] {
        let error = items(&Params(params.parse().unwrap()), 1).unwrap_err().to_string();
        assert!(error.contains(key), "{params}: {error}");
    }
}

#[test]
fn the_documented_defaults_are_the_defaults() {
    let documented: Settings = Params(DEFAULTS.parse().unwrap()).read().unwrap();
    assert_eq!(documented, Settings::default());
    let table: toml::Table = DEFAULTS.parse().unwrap();
    assert_eq!(table.len(), 11);
}

#[test]
fn default_items_at_seed_1_never_change() {
    let json = serde_json::to_vec(&items_with("", 1)).unwrap();
    let hash: String = Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, "38cdf78890cb3808a119b696d22a5df4d4554b9847ddd4ba782dc60110d2262e");
}

#[test]
fn published_shares_of_routes_sum_to_one() {
    let text = include_str!("../../../data/papers/social-intelligence.toml");
    let table: toml::Table = text.parse().unwrap();
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for row in table["row"].as_array().unwrap() {
        let word = |key: &str| row[key].as_str().unwrap().to_owned();
        let value = row["value"].as_float().unwrap();
        assert!((0.0..=1.0).contains(&value));
        if word("metric").starts_with("share of ") {
            *sums.entry([word("table"), word("model"), word("condition")].join(", ")).or_default() += value;
        }
    }
    assert_eq!(sums.len(), 7);
    assert!(sums.values().all(|sum| (sum - 1.0).abs() < 5e-6), "{sums:?}");
}

#[test]
fn pictures_show_the_layout_and_every_route_in_its_place() {
    let plain = items_with("scenes = 20", 1);
    let shape = |item: &Item| -> String {
        let parts = item.first_question().stem.iter();
        parts.map(|part| if let Part::Text(text) = part { text.as_str() } else { "[]" }).collect()
    };
    for (item, plain) in items_with("scenes = 20\npictures = 'instead'", 1).iter().zip(&plain) {
        let maps: Vec<&Map> = item
            .pictures()
            .map(|picture| if let Picture::Campus(map) = picture { map } else { panic!("no campus") })
            .collect();
        let (scene, routes) = shown(plain).unwrap();
        assert_eq!(maps.len(), 5);
        assert!(maps.iter().all(|map| map.rows == scene.rows()) && maps[0].walk.is_empty());
        let Gold::Route { kinds, .. } = &item.first_question().gold else { panic!("no route") };
        for (kind, map) in kinds.iter().zip(&maps[1..]) {
            let route = routes.of(*Kind::ALL.iter().find(|known| known.word() == kind).unwrap());
            let walk: Vec<(u8, u8)> = route.iter().map(|cell| (cell.x, cell.y)).collect();
            assert_eq!(map.walk, walk);
        }
        let text = shape(item);
        assert!(
            text.contains("two restaurants.\n[]\n\nTask:") && text.contains("\n\nRoute A\n[]\n\nRoute B\n[]")
        );
        assert!(!text.contains("Move "), "{text}");
        assert_eq!((shown(item), &item.first_question().gold), (shown(plain), &plain.first_question().gold));
    }
    let added = &items_with("scenes = 1\npictures = 'added'", 1)[0];
    assert_eq!(shape(added), format!("[]\n{}", shape(&plain[0])));
    let withheld = &items_with("scenes = 1\npictures = 'withheld'", 1)[0];
    assert!(
        withheld.pictures().count() == 0 && !shape(withheld).contains("Move ") && shown(withheld).is_none()
    );
    assert!(items(&Params("pictures = 'added'\nform = 'shortcut'".parse().unwrap()), 1).is_err());
}
