//! The printed scenes, every given official item, and properties over many seeds.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use sha2::{Digest, Sha256};

use super::*;
use crate::bayes::preference::{Exploration, posterior, preferences};
use crate::grade::{grade, scores};
use crate::grid::Cell;
use crate::item::Part;
use crate::reading::ordering::{self, Order, Stated};
use crate::{Said, Verdict};

fn items_with(params: &str, seed: u64) -> Vec<Item> {
    items(&Params(params.parse().unwrap()), seed).unwrap()
}

#[allow(irrefutable_let_patterns)] // parts need not stay text alone
fn stem(item: &Item) -> &str {
    let Part::Text(text) = &item.first_question().stem[0] else { panic!("{} shows no text", item.id) };
    text
}

fn scene_of(item: &Item) -> Scene {
    let rows = stem(item).split("empty cell.").nth(1).unwrap().split_once('\n').unwrap().1;
    Scene::read(rows.split("\n\n").next().unwrap()).unwrap()
}

/// The cells of lines such as `(0, 4) view Z; memory Z`.
fn cells<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Cell> {
    let digits = |line: &str| -> Vec<u8> {
        line.chars().take(6).filter_map(|sign| sign.to_digit(10)).map(|digit| digit as u8).collect()
    };
    lines.map(|line| Cell::new(digits(line)[0], digits(line)[1])).collect()
}

fn pick_of(lines: &[&str]) -> u8 {
    let letter = lines.last().unwrap().trim_end().chars().last().unwrap();
    FOODS_FOR_TESTS.iter().position(|food| *food == letter).unwrap() as u8
}

const FOODS_FOR_TESTS: [char; 5] = ['X', 'Y', 'Z', 'M', 'N'];

/// The preferences of a set that a label stands for, by its definition: every strict order that respects the ranks.
fn extensions(order: &Order) -> HashSet<Preference> {
    let rank = |letter: char| order.chain.iter().position(|rank| rank.contains(&letter));
    let fits = |preference: &Preference| {
        let ranks: Vec<usize> =
            preference.iter().filter_map(|truck| rank(FOODS_FOR_TESTS[usize::from(*truck)])).collect();
        ranks.windows(2).all(|pair| pair[0] <= pair[1])
    };
    preferences().into_iter().filter(fits).collect()
}

/// The preferences whose walk is this one, by trying all 120.
fn worlds(scene: &Scene, cells: &[Cell], pick: u8) -> HashSet<Preference> {
    let alike = |preference: &Preference| {
        let walk = scene::walk(scene, preference).unwrap();
        walk.cells == cells && walk.pick == pick
    };
    preferences().into_iter().filter(alike).collect()
}

/// What the label of a kind stands for: Last leaves the absent truck the first place too, and no other.
fn meaning(kind: Kind, pick: u8) -> HashSet<Preference> {
    let favourite = |preference: &Preference| preference[0] == pick;
    let second = |preference: &Preference| preference[0] == scene::ABSENT && preference[1] == pick;
    let fits = |preference: &Preference| match kind {
        Kind::Intermediate => favourite(preference),
        Kind::Last => favourite(preference) || second(preference),
        Kind::Previsited => second(preference),
    };
    preferences().into_iter().filter(fits).collect()
}

#[test]
fn the_printed_zero_shot_walk_is_reproduced() {
    let scene = Scene::read("***M*\n**X*W\n**W*W\nZ*WYW\nA****").unwrap();
    let printed = "(0, 4) view Z; memory Z\n(1, 4) view Z; memory Z\n(2, 4) view Y; memory Z,Y\n\
                   (1, 4) view Z; memory Z,Y\n(1, 3) view Z; memory Z,Y\n(1, 2) view X,Z; memory Z,Y,X\n\
                   (1, 1) view X; memory Z,Y,X\n(2, 1) view X,M; memory Z,Y,X,M\n\
                   (2, 0) view X,M; memory Z,Y,X,M\n(3, 0) view X,M; memory Z,Y,X,M; pick M";
    // M first.
    let walk = scene::walk(&scene, &[3, 0, 1, 2, 4]).unwrap();
    assert_eq!(scene::lines(&scene, &walk.cells, walk.pick).join("\n"), printed);
    assert_eq!(scene::concluded(&scene, &walk.cells, walk.pick), Some(Kind::Last));
}

#[test]
fn the_printed_shortcut_lines_are_reproduced() {
    let scene = Scene::read("*W*ZA\n*W***\n*X***\n*WWWM\n*Y***").unwrap();
    let walks: Vec<_> =
        preferences().iter().map(|preference| scene::walk(&scene, preference).unwrap()).collect();
    let lines: Vec<Vec<String>> =
        walks.iter().map(|walk| scene::lines(&scene, &walk.cells, walk.pick)).collect();
    let wanted =
        lines.iter().find(|lines| lines.last().unwrap().ends_with("memory Z,M,X,Y; pick Z")).unwrap();
    assert_eq!(
        wanted[..3],
        ["(4, 0) view Z; memory Z", "(4, 1) view Z; memory Z", "(4, 2) view M; memory Z,M"]
    );
    assert_eq!(wanted[wanted.len() - 1], "(3, 0) view Z; memory Z,M,X,Y; pick Z");
}

#[test]
fn every_given_official_item_has_our_lines_label_and_worlds() {
    let Some(scenes) = crate::tasks::official::json("ir_items.json") else { return };
    let (mut items, mut lines_compared, mut wider, mut disputed) = (0usize, 0, 0, BTreeMap::new());
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for (name, walks) in scenes.as_object().unwrap() {
        for (number, item) in walks.as_object().unwrap() {
            let id = format!("{name}_{number}");
            let prompt = item["human_prompt"].as_str().unwrap();
            let rows = prompt.split("Layout:\n").nth(1).unwrap().split("\n\n").next().unwrap();
            let scene = Scene::read(rows).unwrap();
            assert!(scene.is_valid(), "{id}");
            let given: Vec<&str> = prompt
                .split("one step.\n")
                .last()
                .unwrap()
                .split("\n\n")
                .next()
                .unwrap()
                .lines()
                .map(str::trim_end)
                .collect();
            let preference: Vec<u8> = item["preference"]
                .as_str()
                .unwrap()
                .split('>')
                .map(|food| FOODS_FOR_TESTS.iter().position(|known| food == known.to_string()).unwrap() as u8)
                .collect();
            let walk = scene::walk(&scene, &preference.try_into().unwrap()).unwrap();
            let ours = scene::lines(&scene, &walk.cells, walk.pick);
            assert_eq!(ours, given, "{id}");
            lines_compared += given.len();
            assert_eq!(walk.official as u64, item["scene_type"].as_u64().unwrap(), "{id}");
            // The released labels of the kind Last leave the absent truck out.
            let (_, chain, _) = prompt::conclusion(walk.official, walk.pick);
            let label = ordering::parse(item["gt"].as_str().unwrap());
            assert_eq!(label, Some(Stated::One(Order::new(&chain, ""))), "{id}");

            let concluded = scene::concluded(&scene, &walk.cells, walk.pick).unwrap();
            let worlds = worlds(&scene, &walk.cells, walk.pick);
            assert_eq!(worlds, meaning(concluded, walk.pick), "{id}");
            *sizes.entry(worlds.len()).or_default() += 1;
            if concluded != walk.official {
                assert_eq!(concluded, Kind::Last, "{id}");
                *disputed.entry(walk.official).or_insert(0) += 1;
            }
            let seen = Exploration::of(&scene, &walk.cells, walk.pick).unwrap();
            let support: HashSet<Preference> = posterior(&seen, 1)
                .into_iter()
                .filter(|(_, chance)| *chance > 0.0)
                .map(|(order, _)| order)
                .collect();
            // The model knows what was seen and not where the agent would have turned: it may leave more open.
            assert!(support.is_superset(&worlds), "{id}: support of the model");
            wider += usize::from(support != worlds);
            items += 1;
        }
    }
    println!(
        "{items} official items, {lines_compared} lines compared; set sizes {sizes:?}; disputed {disputed:?}; model wider {wider}"
    );
    assert!(wider * 50 <= items, "{wider} of {items}");
    assert!(sizes.keys().all(|size| [24, 30, 6].contains(size)), "{sizes:?}");
    // 17 of all 487, of which about half are given.
    let disputed: usize = disputed.values().sum();
    assert!((1..=17).contains(&disputed), "{disputed}");
}

#[test]
fn a_label_of_the_kind_last_leaves_the_absent_truck_every_place_that_any_walk_can_tell() {
    // As linear extensions the free truck may stand anywhere; only its first place is told apart by walks.
    let (_, chain, free) = prompt::conclusion(Kind::Last, 0);
    let all = extensions(&Order::new(&chain, &free));
    assert_eq!(all.len(), 30);
    assert_eq!(all, meaning(Kind::Last, 0));
    for (kind, count) in [(Kind::Intermediate, 24), (Kind::Previsited, 6)] {
        let (text, chain, free) = prompt::conclusion(kind, 2);
        let order = Order::new(&chain, &free);
        assert_eq!(extensions(&order), meaning(kind, 2));
        assert_eq!(extensions(&order).len(), count);
        assert_eq!(ordering::parse(&text), Some(Stated::One(order)));
    }
}

#[test]
fn ten_thousand_seeds_give_sound_items() {
    let params = Params("scenes = 1".parse().unwrap());
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let (mut count, mut disputed) = (0usize, 0usize);
    for seed in 0..10_000 {
        let items = items(&params, seed).unwrap();
        assert!((1..=5).contains(&items.len()));
        let mut shown = HashSet::new();
        for item in &items {
            let text = stem(item);
            assert!(shown.insert(text), "seed {seed}: {} appears twice", item.id);
            let scene = scene_of(item);
            assert!(scene.is_valid());
            let lines: Vec<&str> = text
                .split("one line per step:\n")
                .nth(1)
                .unwrap()
                .split("\n\n")
                .next()
                .unwrap()
                .lines()
                .collect();
            let walk = cells(lines.iter().copied());
            assert_eq!(walk[0], scene.agent);
            assert!(walk.iter().all(|cell| !scene.grid.walls.contains(*cell)));
            assert!(
                walk.windows(2)
                    .all(|pair| { pair[0].x.abs_diff(pair[1].x) + pair[0].y.abs_diff(pair[1].y) == 1 })
            );
            let pick = pick_of(&lines);
            assert_eq!(*walk.last().unwrap(), scene.trucks[usize::from(pick)]);
            let question = item.first_question();
            let Gold::Ordering { chain, free } = &question.gold else { panic!("{:?}", question.gold) };
            if seed < 100 {
                assert_eq!(extensions(&Order::new(chain, free)), worlds(&scene, &walk, pick), "{}", item.id);
            }
            // The right order is graded right, and a plain chain never is.
            let kind = &item.tags["kind"];
            let others: String = chain.last().unwrap().chars().map(|c| format!("{c},")).collect();
            let head = &chain[..chain.len() - 1];
            let mut answer = format!("{}>{{{others}}}", head.join(">"));
            if !free.is_empty() {
                answer.push_str(", {N}");
            }
            assert_eq!(grade(&question.gold, &Said::Text(answer.clone())), Verdict::Right, "{answer}");
            let all = scores(&question.gold, &Said::Text(answer), "");
            assert!(all.iter().all(|(_, score)| *score == 1.0) && all.len() == 3);
            assert_eq!(grade(&question.gold, &Said::Text("X>Y>Z>M>N".into())), Verdict::Wrong);
            *kinds.entry(kind.clone()).or_default() += 1;
            disputed += usize::from(item.tags["disputed"] == "yes");
            count += 1;
        }
    }
    println!("{count} items of 10,000 scenes: {kinds:?}, disputed {disputed}");
    // Released test set: 487 items of 100 scenes; 283, 86, 118; 17 disputed. Four standard errors of its shares.
    let share = |kind: &str| kinds[kind] as f64 / count as f64;
    assert!((4.6..5.0).contains(&(count as f64 / 10_000.0)), "{count}");
    for (kind, wanted) in
        [("intermediate", 267.0 / 487.0), ("last", 103.0 / 487.0), ("previsited", 117.0 / 487.0)]
    {
        let error = (wanted * (1.0 - wanted) / 487.0_f64).sqrt();
        assert!((share(kind) - wanted).abs() < 4.0 * error, "{kind}: {} is not {wanted}", share(kind));
    }
    assert!((0.015..0.065).contains(&(disputed as f64 / count as f64)), "{disputed}");
}

#[test]
fn the_published_size_takes_less_than_three_seconds_and_has_no_duplicates() {
    let start = Instant::now();
    let items = items_with("", 1);
    println!("{} items in {:?}", items.len(), start.elapsed());
    assert!(start.elapsed().as_secs() < 3);
    // 487 published; the count per scene has a standard deviation below 0.5, so 100 scenes stay within 20.
    assert!((467..=500).contains(&items.len()), "{}", items.len());
    assert_eq!(items.iter().map(|item| &item.family).collect::<HashSet<_>>().len(), 100);
    assert_eq!(items.iter().map(|item| &item.id).collect::<HashSet<_>>().len(), items.len());
    assert_eq!(items.iter().map(stem).collect::<HashSet<_>>().len(), items.len());
}

#[test]
fn right_options_stand_at_every_place_equally_often() {
    let items: Vec<Item> = (0..4).flat_map(|seed| items_with("answer = \"choice\"", seed)).collect();
    let mut places = [0f64; 4];
    for item in &items {
        let question = item.first_question();
        let gold = question.gold.label().unwrap();
        places[usize::from(gold)] += 1.0;
        let right = &question.options[usize::from(gold)];
        assert!(stem(item).ends_with(&format!("D. {}", question.options[3])));
        assert_eq!(question.options.iter().filter(|option| *option == right).count(), 1, "{}", item.id);
    }
    let expected = items.len() as f64 / 4.0;
    let chi_square: f64 = places.iter().map(|count| (count - expected).powi(2) / expected).sum();
    println!("ir: right options at A-D {places:?}, chi-square {chi_square:.2} with 3 degrees of freedom");
    assert!(chi_square < 16.27); // 0.1 %
}

/// Kind and truck of an option, by its signs alone.
fn kind_and_truck(option: &str) -> (&'static str, String) {
    match (option.strip_prefix("N > "), option.ends_with(", {N}")) {
        (Some(rest), false) => ("previsited", rest[..1].to_owned()),
        (None, true) => ("last", option[..1].to_owned()),
        (None, false) => ("intermediate", option[..1].to_owned()),
        (Some(_), true) => panic!("{option}"),
    }
}

#[test]
fn options_hold_two_kinds_and_two_trucks_twice_each() {
    for seed in 0..4 {
        for item in items_with("answer = \"choice\"", seed) {
            let question = item.first_question();
            let found: Vec<_> = question.options.iter().map(|option| kind_and_truck(option)).collect();
            assert_eq!(found.iter().collect::<HashSet<_>>().len(), 4, "{}", item.id);
            for (kind, truck) in &found {
                assert_eq!(found.iter().filter(|(other, _)| other == kind).count(), 2, "{}", item.id);
                assert_eq!(found.iter().filter(|(_, other)| other == truck).count(), 2, "{}", item.id);
            }
            // Distractors are conclusions that other walks have, and the right one is this walk's.
            assert!(question.options.iter().all(|option| pattern::labels().contains(option)));
            let (kind, _) = &found[usize::from(question.gold.label().unwrap())];
            assert_eq!(*kind, item.tags["kind"]);
        }
    }
}

#[test]
fn forms_and_shots_change_the_prompt_and_nothing_else() {
    let plain = items_with("scenes = 3", 5);
    for params in [
        "shots = 3",
        "form = \"printed\"\nshots = 1",
        "form = \"shortcut\"\nshots = 2",
        "form = \"shortcut\"",
    ] {
        let other = items_with(&format!("scenes = 3\n{params}"), 5);
        assert_eq!(plain.len(), other.len());
        for (one, other) in plain.iter().zip(&other) {
            assert_eq!((&one.id, &one.tags), (&other.id, &other.tags));
            assert_eq!(one.first_question().gold, other.first_question().gold);
            assert_ne!(stem(one), stem(other));
        }
    }
    let printed = items_with("scenes = 1\nform = \"printed\"\nshots = 3", 5);
    let text = stem(&printed[0]);
    assert!(text.contains(
        "You will be presented with three examples which share the same layout to solve the problem."
    ));
    assert!(text.contains("Answer 3: Z > {M, X, Y}, {N}") && text.contains("favorite choice, Y."));
    let shortcut = items_with("scenes = 1\nform = \"shortcut\"", 5);
    let lowered = stem(&shortcut[0]).to_lowercase();
    assert!(["campus", "student", "trajectory", "food", "prefer"].iter().all(|word| !lowered.contains(word)));
    let walls_first = stem(&shortcut[0]).lines().next().unwrap();
    assert_eq!(walls_first.len(), 25);
}

#[test]
fn easy_levels_hold_what_they_promise() {
    let items =
        items_with("scenes = 20\nkinds = [\"intermediate\"]\nwalls = 0\nsize = 4\ndisputed = false", 3);
    assert!(items.len() >= 20);
    for item in &items {
        assert_eq!(
            (item.tags["kind"].as_str(), item.tags["official"].as_str()),
            ("intermediate", "intermediate")
        );
        assert_eq!(scene_of(item).grid.walls.len(), 0);
    }
    for scene in items_with("scenes = 5\nsize = 8\nwalls = 6\nwall-length = 6", 3) {
        assert!(stem(&scene).contains("8 x 8"));
    }
}

#[test]
fn params_that_make_no_sense_are_named() {
    for (params, key) in [
        ("size = 3", "size = 3"),
        ("size = 9", "size = 9"),
        ("walls = 9", "walls = 9"),
        ("wall-length = 6", "wall-length = 6"),
        ("shots = 4", "shots = 4"),
        ("kinds = []", "kinds"),
        ("walks = 0", "walks = 0"),
        ("colour = 1", "colour"),
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
    assert_eq!(table.len(), 13);
}

#[test]
fn default_items_at_seed_1_never_change() {
    let json = serde_json::to_vec(&items_with("", 1)).unwrap();
    let hash: String = Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, "35c3a8473a5ecbc3d6db77891bc34acbe952f18d1b22adf50056edbba2e3dc3f");
}

#[test]
fn items_to_score_at_seed_1_never_change() {
    for (answer, wanted) in [
        ("choice", "1df0f8f7d257a8781b152cbab132330c30b8764574510c24c4175ce0a47cd18a"),
        ("pattern", "a02bbdff1d368f7f9a9bc47c53cc3af9df5dd4c70f4de1cddb2edb7c44790ab1"),
    ] {
        let items = items_with(&format!("answer = \"{answer}\""), 1);
        let json = serde_json::to_vec(&items).unwrap();
        let hash: String = Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, wanted, "{answer}");
    }
}

#[test]
fn pictures_show_the_walk_in_place_of_its_lines() {
    for form in ["model", "printed"] {
        for shots in [0, 3] {
            let of = |show: &str| {
                items_with(&format!("scenes = 5\nform = '{form}'\nshots = {shots}\npictures = '{show}'"), 1)
            };
            for ((item, plain), withheld) in of("instead").iter().zip(of("none")).zip(of("withheld")) {
                let maps: Vec<&crate::Picture> = item.pictures().collect();
                let [crate::Picture::Campus(map)] = maps[..] else { panic!("one campus") };
                let Part::Text(text) = &plain.first_question().stem[0] else { panic!("a text") };
                let layout = map.rows.join("\n");
                // What is drawn is what the text says, and nothing of it is left in the text.
                assert!(text.contains(&format!("{layout}\n")));
                assert_eq!(map.walk.len(), plain.tags["steps"].parse::<usize>().unwrap() + 1);
                let first = format!("\n({}, {})", map.walk[0].0, map.walk[0].1);
                assert!(text[text.rfind("Layout:").unwrap()..].contains(&first));
                let told: String = item
                    .first_question()
                    .stem
                    .iter()
                    .map(|part| if let Part::Text(text) = part { text.as_str() } else { "[]" })
                    .collect();
                let own = &told[told.rfind("Layout:").unwrap()..];
                assert!(
                    own.contains("[]\n\nStudent A") && own.contains("It is the line in the picture."),
                    "{own}"
                );
                assert!(!own.contains("memory") && !own.contains(&first), "{own}");
                assert_eq!(item.first_question().gold, plain.first_question().gold);
                assert_eq!(
                    withheld.first_question().stem[..],
                    item.first_question().clone().withheld().stem[..]
                );
            }
        }
    }
    assert!(items(&Params("form = 'shortcut'\npictures = 'added'".parse().unwrap()), 1).is_err());
}

#[test]
fn the_pattern_form_offers_every_conclusion_and_splits_whole_scenes_five_to_one() {
    let items = items_with("form = \"shortcut\"\nanswer = \"pattern\"", 1);
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for item in &items {
        let question = item.first_question();
        assert_eq!(question.labels.len(), 12);
        assert!(question.ask.reason.is_empty());
        let right = &question.labels[usize::from(question.gold.label().unwrap())];
        // What the order form calls right, by the walk itself.
        let lines: Vec<&str> = stem(item).lines().skip(1).collect();
        let pick = FOODS_FOR_TESTS[usize::from(pick_of(&lines))];
        let want = match item.tags["kind"].as_str() {
            "previsited" => format!("N > {pick} > {{"),
            _ => format!("{pick} > {{"),
        };
        assert!(right.starts_with(&want), "{}: {right} {want}", item.id);
        assert_eq!(right.ends_with(", {N}"), item.tags["kind"] == "last", "{}", item.id);
        *counts.entry((item.tags["kind"].clone(), item.tags["split"].clone())).or_default() += 1;
    }
    for kind in ["intermediate", "last", "previsited"] {
        let of = |split: &str| counts[&(kind.to_owned(), split.to_owned())];
        let wanted = (of("test") + of("train")) / 6;
        // A scene has up to five walks, of kinds that cannot be chosen.
        assert!(of("test").abs_diff(wanted) <= 3, "{kind}: {} of {wanted}", of("test"));
    }
    let mut parts: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
    for item in &items {
        parts.entry(&item.family).or_default().insert(&item.tags["split"]);
    }
    assert!(parts.values().all(|parts| parts.len() == 1), "a scene on both sides");
    // Fewer scenes keep their parts.
    let fewer = items_with("form = \"shortcut\"\nanswer = \"pattern\"\nscenes = 40", 1);
    assert_eq!(fewer, items[..fewer.len()]);
}
