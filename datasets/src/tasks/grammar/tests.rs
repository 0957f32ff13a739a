//! Tests of artificial grammar learning against the paper, arithmetic, and membership by paths.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::tasks::tracking::reader::{balance, gold, hash, params};
use automaton::Language;

fn made(text: &str, seed: u64) -> Vec<Item> {
    items(&params(text), seed).unwrap()
}

fn read(text: &str) -> GrammarParams {
    params(text).read().unwrap()
}

type Edges = BTreeMap<usize, Vec<(usize, char)>>;

/// The edges out of each node, from the list alone.
fn edges(automaton: &Automaton) -> Edges {
    let mut edges = Edges::new();
    for &(from, to, letter) in &automaton.edges {
        edges.entry(from).or_default().push((to, char::from(b'A' + letter as u8)));
    }
    edges
}

/// Whether some path from a node to the sink (node 5) spells the word: one path after another, no sets of nodes.
fn some_path_spells(edges: &Edges, node: usize, word: &str) -> bool {
    let Some(first) = word.chars().next() else { return node == 5 };
    let out = edges.get(&node).map_or(&[][..], Vec::as_slice);
    out.iter().any(|&(to, letter)| letter == first && some_path_spells(edges, to, &word[1..]))
}

/// Every word that some path of limited length spells.
fn spelt_by_paths(edges: &Edges, max_letters: usize) -> BTreeSet<String> {
    fn follow(edges: &Edges, node: usize, word: &mut String, left: usize, words: &mut BTreeSet<String>) {
        if node == 5 {
            words.insert(word.clone());
        }
        if left > 0 {
            for &(to, letter) in edges.get(&node).map_or(&[][..], Vec::as_slice) {
                word.push(letter);
                follow(edges, to, word, left - 1, words);
                word.pop();
            }
        }
    }
    let mut words = BTreeSet::new();
    follow(edges, 0, &mut String::new(), max_letters, &mut words);
    words
}

#[test]
fn there_are_15792_classes_and_12716_of_them_can_give_37_strings() {
    assert_eq!(Graph::all().count(), 32_768);
    let classes: BTreeSet<Graph> = Graph::all().map(Graph::canonical).collect();
    assert_eq!(classes.len(), 15_792);
    let eligible: Vec<Graph> = Graph::all().filter(|graph| graph.walks(8) >= 37).collect();
    assert_eq!(eligible.len(), 28_417);
    let classes: BTreeSet<Graph> = eligible.iter().map(|graph| graph.canonical()).collect();
    assert_eq!(classes.len(), 12_716);
    assert_eq!(classes.into_iter().collect::<Vec<_>>(), GrammarParams::default().classes());
    let edges = eligible.iter().map(|graph| graph.edge_count());
    assert_eq!((edges.clone().min(), edges.max()), (Some(8), Some(20)));
    // All edges among four nodes: 4^m walks with m edges among them, m from 1 to 6.
    assert_eq!(Graph::all().map(|graph| graph.walks(8)).max(), Some(4 + 16 + 64 + 256 + 1024 + 4096));
    assert_eq!(
        Graph::all().map(|graph| graph.walks(2)).max(),
        Some(0),
        "the shortest string has three letters"
    );
}

#[test]
fn a_class_has_at_most_four_graphs_which_agree_in_edges_and_walks() {
    let mut classes: BTreeMap<Graph, Vec<Graph>> = BTreeMap::new();
    for graph in Graph::all() {
        classes.entry(graph.canonical()).or_default().push(graph);
    }
    for (canonical, graphs) in classes {
        assert!(graphs.len() <= 4 && graphs[0] == canonical, "the canonical graph is the smallest");
        let same = |graph: &Graph| {
            (graph.edge_count(), graph.walks(8)) == (canonical.edge_count(), canonical.walks(8))
        };
        assert!(graphs.iter().all(same));
    }
}

#[test]
fn the_language_numbers_every_word_that_a_path_spells_once() {
    let params = read("grammars = 150");
    for grammar in grammars(&params.classes(), &params, 11).unwrap() {
        let language = Language::new(&grammar.automaton, 8);
        let spell = |word: Vec<usize>| word.iter().map(|&l| char::from(b'A' + l as u8)).collect::<String>();
        let numbered: BTreeSet<String> =
            (0..language.len()).map(|number| spell(language.string(number))).collect();
        assert_eq!(numbered.len() as u64, language.len(), "no word twice");
        assert_eq!(numbered, spelt_by_paths(&edges(&grammar.automaton), 8));
    }
}

#[test]
fn members_have_a_path_and_strangers_have_none_over_ten_thousand_seeds() {
    let kinds = ["", "sampling = \"walks\"", "max-length = 6\nmax-edges = 12", "distinct-letters = true"];
    let kinds: Vec<_> = kinds.iter().map(|kind| read(&format!("{kind}\ngrammars = 1"))).collect();
    let classes: Vec<_> = kinds.iter().map(GrammarParams::classes).collect();
    let mut golds = Vec::new();
    for seed in 0..10_000u64 {
        let kind = seed as usize % kinds.len();
        let grammar = grammars(&classes[kind], &kinds[kind], seed).unwrap().remove(0);
        let edges = edges(&grammar.automaton);
        let Words { train, tests } = &grammar.words;
        assert_eq!((train.len(), tests.len()), (15, 44));
        assert_eq!(tests.iter().filter(|(_, member)| *member).count(), 22);
        assert!(train.iter().all(|word| some_path_spells(&edges, 0, word)), "seed {seed}");
        for (word, member) in tests {
            assert_eq!(some_path_spells(&edges, 0, word), *member, "seed {seed}: {word}");
            assert!((3..=kinds[kind].max_length).contains(&word.len()), "seed {seed}: {word}");
        }
        let different: BTreeSet<&String> = train.iter().chain(tests.iter().map(|(word, _)| word)).collect();
        assert_eq!(different.len(), 59, "seed {seed}: no word twice");
        for item in grammar.items(0, false) {
            let question = item.first_question();
            assert_eq!(gold(question) == "Yes", item.tags["kind"] == "positive");
            assert!(!item.id.contains(&item.tags["kind"]));
        }
        // The first word asked about must not tell the answer by its place.
        golds.push(if tests[0].1 { "Yes" } else { "No" });
    }
    let chi_square = balance("grammar, first word of each", &["Yes", "No"], golds.iter().copied());
    assert!(chi_square < 15.1, "p = 0.0001 at 15.1");
}

#[test]
fn a_stranger_is_one_letter_away_from_a_member_and_spelt_with_the_grammars_letters() {
    let params = read("grammars = 200");
    for grammar in grammars(&params.classes(), &params, 12).unwrap() {
        let edges = edges(&grammar.automaton);
        let letters: BTreeSet<char> = edges.values().flatten().map(|edge| edge.1).collect();
        for (word, _) in grammar.words.tests.iter().filter(|(_, member)| !member) {
            assert!(word.chars().all(|letter| letters.contains(&letter)), "{word}");
            let changed =
                |place: usize, letter: &char| format!("{}{letter}{}", &word[..place], &word[place + 1..]);
            let near = |place: usize| letters.iter().any(|l| some_path_spells(&edges, 0, &changed(place, l)));
            assert!((0..word.len()).any(near), "{word}");
        }
    }
}

#[test]
fn the_parameters_make_it_easier() {
    let foreign = read("grammars = 50\nforeign-letters = true");
    for grammar in grammars(&foreign.classes(), &foreign, 1).unwrap() {
        let letters: BTreeSet<char> =
            edges(&grammar.automaton).values().flatten().map(|edge| edge.1).collect();
        let strangers = grammar.words.tests.iter().filter(|(_, member)| !member);
        for (word, _) in strangers {
            assert_eq!(word.chars().filter(|letter| !letters.contains(letter)).count(), 1, "{word}");
        }
    }
    let simple = read("grammars = 50\nmax-edges = 10\nmax-length = 7\ndistinct-letters = true");
    for grammar in grammars(&simple.classes(), &simple, 1).unwrap() {
        assert!(grammar.automaton.edges.len() <= 10 && grammar.automaton.deterministic());
    }
    let mean = |text: &str| {
        let items = made(text, 1);
        let lengths = items.iter().filter(|item| item.tags["kind"] == "positive");
        lengths.map(|item| item.tags["length"].parse::<f64>().unwrap()).sum::<f64>()
            / (items.len() / 2) as f64
    };
    let (uniform, walks) = (mean(""), mean("sampling = \"walks\""));
    assert!(walks + 0.5 < uniform, "walks favour short words: {walks} against {uniform}");
}

#[test]
fn thirty_eight_percent_of_the_grammars_are_non_deterministic_with_ten_letters_on_average() {
    let params = read("grammars = 2000");
    let grammars = grammars(&params.classes(), &params, 13).unwrap();
    let ambiguous =
        grammars.iter().filter(|grammar| !grammar.automaton.deterministic()).count() as f64 / 2000.0;
    assert!((ambiguous - 0.38).abs() < 0.04, "{ambiguous}");
    let letters =
        grammars.iter().map(|grammar| grammar.automaton.alphabet().len()).sum::<usize>() as f64 / 2000.0;
    assert!((letters - 10.0).abs() < 0.7, "{letters}");
}

#[test]
fn the_prompt_shows_fifteen_strings_then_table_7() {
    let items = made("grammars = 1", 1);
    let question = items[0].first_question();
    let [Part::Text(stem)] = &question.stem[..] else { panic!("one text") };
    let lines: Vec<&str> = stem.lines().collect();
    assert_eq!(lines.len(), 17);
    assert!(lines[..15].iter().chain(&lines[16..]).all(|line| line.chars().all(|c| c.is_ascii_uppercase())));
    assert_eq!(
        lines[15],
        "These strings were generated according to a certain set of rules. Does the following string also follow the \
         same set of rules?"
    );
    assert_eq!(question.ask.direct, "\nPlease ONLY answer “Yes” or “No”.");
    assert_eq!(
        question.ask.reason[0].text,
        "\nPlease reason about your answer before answering “Yes” or “No”."
    );
    let heads: BTreeSet<&str> = items
        .iter()
        .map(|item| {
            let [Part::Text(stem)] = &item.first_question().stem[..] else { panic!("one text") };
            stem.rsplit_once('\n').unwrap().0
        })
        .collect();
    assert_eq!(heads.len(), 1, "the words of a grammar share everything before the word");
}

#[test]
fn the_tree_of_thought_subset_is_ten_whole_grammars_of_the_set() {
    let all = made("", 1);
    let subset = made("tree-of-thought-subset = true", 1);
    let tagged: Vec<&Item> =
        all.iter().filter(|item| item.tags["tree-of-thought-subset"] == "true").collect();
    assert_eq!(subset.len(), 440);
    assert_eq!(tagged, subset.iter().collect::<Vec<_>>());
    assert_eq!(subset.iter().map(|item| &item.family).collect::<BTreeSet<_>>().len(), 10);
    assert_eq!(made("grammars = 3\ntree-of-thought-subset = true", 1).len(), 132);
}

#[test]
fn the_default_items_are_the_same_for_ever() {
    let started = std::time::Instant::now();
    let items = made("", 1);
    let elapsed = started.elapsed();
    println!("4400 items in {elapsed:?}");
    assert!(elapsed.as_secs() < 3);
    assert_eq!(items.len(), 4400);
    assert_eq!(items.iter().map(|item| &item.id).collect::<BTreeSet<_>>().len(), 4400);
    assert_eq!(
        made("grammars = 7", 1)[..],
        items[..7 * 44].iter().cloned().map(untagged).collect::<Vec<_>>()[..]
    );
    let answers = (BIGRAM.answers)(&items);
    let right =
        items.iter().zip(&answers).filter(|(item, a)| item.first_question().gold == Gold::Label(a.unwrap()));
    let right = right.count() as f64 / 4400.0;
    println!("bigram control: {right:.3}");
    assert!(right > 0.6, "the control is far above chance: {right}");
    assert_eq!(hash(&items), "6bba7fdee3d20a9cb5193a3dd729da54d20a8f51ab2558afd3e6adf2c5b6af9b");
}

/// Seven grammars are all in the subset of ten: the only difference that fewer grammars make.
fn untagged(mut item: Item) -> Item {
    item.tags.insert("tree-of-thought-subset".to_owned(), "true".to_owned());
    item
}

#[test]
fn the_documented_parameters_are_the_defaults_and_bad_ones_are_named() {
    assert_eq!(read(GRAMMAR.params), GrammarParams::default());
    for (text, key) in [
        ("grammars = 0", "grammars"),
        ("train = 0", "train"),
        ("positives = 0\nnegatives = 0", "negatives"),
        ("max-length = 2", "max-length"),
        ("max-length = 17", "max-length"),
        ("max-edges = 7", "max-edges"),
        ("changed-letters = 0", "changed-letters"),
        ("sampling = \"sorted\"", "sorted"),
        ("words = 3", "words"),
        ("max-length = 3", "max-length"),
        ("max-edges = 8\ngrammars = 10000", "max-edges"),
    ] {
        let message = items(&params(text), 1).unwrap_err().to_string();
        assert!(message.contains(key) && !message.contains('\n'), "{text}: {message}");
    }
}
