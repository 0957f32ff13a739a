//! The decoding laboratory through the whole program, on a model whose truth is planted in the options: `fake:planted`.
//! What is expected is calculated here, from the planted numbers and the orders that the log tells.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use datasets::ending::CONTINUATION_TOKENS;
use runner::entry::ItemRecord;
use runner::report::{RunLog, cells, decoding};
use serde_json::Value;

use crate::shards::parts_make_the_run;
use crate::support::{Bench, run, told};

const ITEMS: usize = 18;
/// As the engine's own page says: tokens of its vocabulary, what labels have above others, and what is added on "step by step".
const VOCABULARY: f64 = 1000.0;
const RISE: f64 = 8.0;
const LEAN: f64 = 3.0;
const TALK: f64 = 4.5;

/// The planted logits of a question's options, shown and unseen, in their own order. No two are equal.
fn planted(item: usize) -> Vec<(f64, f64)> {
    let count = 2 + item % 3;
    (0..count)
        .map(|option| {
            let shown = f64::from(((item * 5 + option * 7) % 11) as u32) / 4.0;
            let unseen = f64::from(((item * 3 + option * 4) % 7) as u32) / 2.0;
            (shown, unseen + 0.01 * option as f64)
        })
        .collect()
}

/// The right option: the one that the engine likes best in two of three questions.
fn gold(item: usize) -> usize {
    let planted = planted(item);
    let best = (0..planted.len()).max_by(|&a, &b| planted[a].0.total_cmp(&planted[b].0)).expect("options");
    if item % 3 == 2 { (best + 1) % planted.len() } else { best }
}

fn option(item: usize, option: usize) -> String {
    let (shown, unseen) = planted(item)[option];
    // Texts of different lengths, for scores per byte.
    format!("thing{} {{{shown}|{unseen}}}", "s".repeat(3 * option))
}

fn bench(asking: &str, interfaces: &str) -> Bench {
    let mut rows = String::new();
    for item in 0..ITEMS {
        let options: Vec<String> = (0..planted(item).len()).map(|place| option(item, place)).collect();
        let answer = char::from(b'A' + gold(item) as u8).to_string();
        let row = serde_json::json!({ "id": format!("q{item}"), "question": format!("Which {item}?"), "choices": options, "answer": answer });
        writeln!(rows, "{row}").expect("a row");
    }
    let bench = Bench::new("");
    std::fs::write(bench.path("rows.jsonl"), rows).expect("the rows are written");
    let config = format!(
        "interfaces = {interfaces}\n[asking]\n{asking}\n[[model]]\nname = \"m\"\n\
         path = \"fake:planted,lean-on=step by step,lean={LEAN},talk={TALK}\"\n\
         [[task]]\nname = \"file\"\nparams = {{ path = {:?} }}\n[log]\nsync = \"never\"\n[engine]\nparity = 2\n",
        bench.path("rows.jsonl")
    );
    std::fs::write(&bench.config, config).expect("the configuration is written");
    bench
}

/// What the model of an answer's prompt is like.
struct Truth {
    /// Number of the item.
    item: usize,
    /// Which option stands at each place.
    order: Vec<usize>,
    /// Probabilities of the labels.
    labels: Vec<f64>,
    /// Probability of the continuation tokens together.
    talk: f64,
    entropy: f64,
    gold: usize,
    leans: bool,
}

fn truth(record: &ItemRecord) -> Truth {
    let id = datasets::forms::base(&record.item);
    let item: usize = id.trim_start_matches('q').parse().expect("a number");
    let count = planted(item).len();
    let order: Vec<usize> = match record.tags.iter().find(|(key, _)| key == "permuted") {
        Some((_, order)) => {
            order.split('-').map(|from| from.parse::<usize>().expect("a place") - 1).collect()
        }
        None => (0..count).collect(),
    };
    let leans = record.interface.split('+').next() == Some("cot-prefix")
        && !record.interface.contains("explain-first");
    let logit =
        |place: usize| RISE + planted(item)[order[place]].0 + if leans && place == 0 { LEAN } else { 0.0 };
    let talkers = CONTINUATION_TOKENS.len() as f64;
    let talk = if leans { TALK } else { 0.0 };
    let others = VOCABULARY - talkers - count as f64;
    let z = (0..count).map(|place| logit(place).exp()).sum::<f64>() + talkers * talk.exp() + others;
    let surprise = |logit: f64| (logit.exp() / z) * (z.ln() - logit);
    Truth {
        item,
        labels: (0..count).map(|place| logit(place).exp() / z).collect(),
        talk: talkers * talk.exp() / z,
        entropy: (0..count).map(|place| surprise(logit(place))).sum::<f64>()
            + talkers * surprise(talk)
            + others * surprise(0.0),
        gold: order.iter().position(|from| *from == gold(item)).expect("the gold is shown"),
        order,
        leans,
    }
}

impl Truth {
    fn said(&self) -> usize {
        (0..self.labels.len()).max_by(|&a, &b| self.labels[a].total_cmp(&self.labels[b])).expect("labels")
    }

    /// The rank of the right label: labels above it, and the continuation tokens where they are.
    fn rank(&self) -> f64 {
        let own = self.labels[self.gold];
        let above = self.labels.iter().filter(|p| **p > own).count() as f64;
        let each = self.talk / CONTINUATION_TOKENS.len() as f64;
        1.0 + above + if each > own { CONTINUATION_TOKENS.len() as f64 } else { 0.0 }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    assert!(!values.is_empty());
    values.iter().sum::<f64>() / values.len() as f64
}

fn near(what: &str, found: Option<f64>, expected: f64) {
    let found = found.unwrap_or_else(|| panic!("{what}: nothing"));
    assert!((found - expected).abs() <= 1e-5 * expected.abs().max(1.0), "{what}: {found} and not {expected}");
}

fn is(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

fn done(bench: &Bench, out: &str) -> RunLog {
    let output = bench.run(out, &["--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    bench.log(out)
}

const SWEEP: &str =
    "endings = [\"answer-colon\", \"explain-first\"]\nlabel-sets = [\"numbers\"]\npermutations = 5";

#[test]
fn every_statistic_of_scored_labels_has_its_planted_value() {
    let bench = bench(SWEEP, "[\"direct\", \"cot-prefix\"]");
    let log = done(&bench, "run");
    let names = &log.header.tasks[0].interfaces;
    assert_eq!(names.len(), 8, "{names:?}");
    assert_eq!(log.items.len(), 8 * 5 * ITEMS);
    let found = decoding(&log, &cells(&log));
    for name in names {
        let truths: Vec<Truth> = log.items.iter().filter(|item| item.interface == *name).map(truth).collect();
        assert_eq!(truths.len(), 5 * ITEMS, "{name}");
        let all = |value: fn(&Truth) -> f64| mean(truths.iter().map(value));
        let row = found.conditions.iter().find(|row| row.condition == *name).expect("a row");
        near(&format!("{name}: accuracy"), row.accuracy, all(|it| is(it.said() == it.gold)));
        near(&format!("{name}: first slot"), row.first_slot, all(|it| is(it.said() == 0)));
        near(&format!("{name}: first is right"), row.first_is_right, all(|it| is(it.gold == 0)));
        near(&format!("{name}: MA"), row.label_mass, all(|it| it.labels.iter().sum()));
        near(&format!("{name}: MR"), row.continuation_mass, all(|it| it.talk));
        near(&format!("{name}: rank"), row.gold_rank, all(Truth::rank));
        near(&format!("{name}: p(gold)"), row.gold_probability, all(|it| it.labels[it.gold]));
        near(&format!("{name}: entropy"), row.entropy, all(|it| it.entropy));
        // Two, three and four options in equal parts.
        near("chance", row.chance, (1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0) / 3.0);
        for slot in 0..4 {
            let here: Vec<&Truth> = truths.iter().filter(|it| it.gold == slot).collect();
            let row = found
                .slots
                .iter()
                .find(|row| row.condition == *name && row.slot == slot + 1)
                .expect("a slot");
            let have = truths.iter().filter(|it| it.labels.len() > slot);
            near(&format!("{name}: said {slot}"), row.said, mean(have.map(|it| is(it.said() == slot))));
            near(
                &format!("{name}: right at {slot}"),
                row.accuracy,
                mean(here.iter().map(|it| is(it.said() == slot))),
            );
            near(
                &format!("{name}: p at {slot}"),
                row.gold_probability,
                mean(here.iter().map(|it| it.labels[slot])),
            );
        }
        for options in 2..5 {
            let own = truths.iter().filter(|it| it.labels.len() == options);
            let row = found.options.iter().find(|row| row.condition == *name && row.options == options);
            near(
                &format!("{name}: {options}"),
                row.and_then(|row| row.accuracy),
                mean(own.map(|it| is(it.said() == it.gold))),
            );
        }
    }
    // The lean takes nearly every answer to the first place, and renormalising the labels would not bring them back.
    let row = |name: &str| found.conditions.iter().find(|row| row.condition == name).expect("a row");
    assert!(
        row("cot-prefix").first_slot > row("direct").first_slot.map(|share| share + 0.3),
        "{:?}",
        row("cot-prefix")
    );
    assert_eq!(
        row("cot-prefix+explain-first").accuracy,
        row("direct").accuracy,
        "an ending that does not lean"
    );
    let planted_accuracy = mean((0..ITEMS).map(|item| is(item % 3 != 2)));
    near("direct", row("direct").accuracy, planted_accuracy);
    near("direct under numbers", row("direct+labels=numbers").accuracy, planted_accuracy);
}

#[test]
fn shifts_and_orders_have_their_planted_values() {
    let bench = bench(SWEEP, "[\"direct\", \"cot-prefix\"]");
    let log = done(&bench, "run");
    let found = decoding(&log, &cells(&log));
    let of = |name: &str| -> Vec<Truth> {
        log.items.iter().filter(|item| item.interface == name).map(truth).collect()
    };
    let (direct, leaning) = (of("direct"), of("cot-prefix"));
    assert!(leaning.iter().all(|it| it.leans) && direct.iter().all(|it| !it.leans));
    let shift = found.shifts.iter().find(|row| row.condition == "cot-prefix").expect("a shift");
    let mass = |truths: &[Truth]| mean(truths.iter().map(|it| it.labels.iter().sum()));
    let talk = |truths: &[Truth]| mean(truths.iter().map(|it| it.talk));
    near("MA", shift.label_mass.value, mass(&leaning) / mass(&direct));
    near("MR", shift.continuation_mass.value, talk(&leaning) / talk(&direct));
    for ratio in [shift.label_mass, shift.continuation_mass] {
        assert!(ratio.low <= ratio.value && ratio.value <= ratio.high, "{ratio:?}");
    }
    let rank = |truths: &[Truth]| mean(truths.iter().map(Truth::rank));
    near("rank", shift.gold_rank, rank(&leaning) - rank(&direct));
    let still = found.shifts.iter().find(|row| row.condition == "direct+answer-colon").expect("a shift");
    near("nothing moves", still.label_mass.value, 1.0);

    let orders = found.orders.iter().find(|row| row.condition == "cot-prefix").expect("orders");
    assert_eq!((orders.seeds, orders.items), (5, ITEMS as u64));
    let mut seeds: BTreeMap<String, Vec<Truth>> = BTreeMap::new();
    let mut right: BTreeMap<usize, bool> = BTreeMap::new();
    let mut contents: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for record in log.items.iter().filter(|item| item.interface == "cot-prefix") {
        let seed = record.tags.iter().find(|(key, _)| key == "permutation").expect("the seed").1.clone();
        let it = truth(record);
        *right.entry(it.item).or_insert(true) &= it.said() == it.gold;
        contents.entry(it.item).or_default().push(it.order[it.said()]);
        seeds.entry(seed).or_default().push(it);
    }
    let deviation = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt()
    };
    let accuracies: Vec<f64> =
        seeds.values().map(|own| mean(own.iter().map(|it| is(it.said() == it.gold)))).collect();
    let firsts: Vec<f64> = seeds.values().map(|own| mean(own.iter().map(|it| is(it.said() == 0)))).collect();
    near("mean", orders.accuracy.mean, mean(accuracies.iter().copied()));
    near("deviation", orders.accuracy.deviation, deviation(&accuracies));
    near("first slot", orders.first_slot.mean, mean(firsts.iter().copied()));
    near("its deviation", orders.first_slot.deviation, deviation(&firsts));
    near("right in all", orders.all_right, mean(right.values().map(|right| is(*right))));
    let same = |contents: &Vec<usize>| is(contents.iter().all(|content| *content == contents[0]));
    near("same content", orders.same_content, mean(contents.values().map(same)));
    let direct = found.orders.iter().find(|row| row.condition == "direct").expect("orders");
    assert_eq!(
        (direct.same_content, direct.accuracy.deviation),
        (Some(1.0), Some(0.0)),
        "content alone decides there"
    );
}

#[test]
fn whole_texts_are_judged_as_planted_and_a_log_can_be_judged_anew() {
    let bench = bench("endings = [\"answer-colon\"]", "[\"full-string\"]");
    let log = done(&bench, "run");
    let found = decoding(&log, &cells(&log));
    let best = |item: usize, score: &dyn Fn(usize) -> f64| {
        (0..planted(item).len()).max_by(|&a, &b| score(a).total_cmp(&score(b))).expect("options")
    };
    // After the question, every option's text has its shown logit over one sum.
    let log_sum = |item: usize| {
        let sum: f64 = planted(item).iter().map(|(shown, _)| (RISE + shown).exp()).sum();
        (sum + VOCABULARY - planted(item).len() as f64).ln()
    };
    let accuracy = |score: &dyn Fn(usize, usize) -> f64| {
        mean((0..ITEMS).map(|item| is(best(item, &|option| score(item, option)) == gold(item))))
    };
    let row = found.texts.iter().find(|row| row.condition == "full-string").expect("a row");
    let shown = |item: usize, place: usize| RISE + planted(item)[place].0 - log_sum(item);
    near("sum", row.sum, accuracy(&shown));
    near("per token", row.per_token, accuracy(&shown));
    let per_byte = accuracy(&|item, place| shown(item, place) / option(item, place).len() as f64);
    near("per byte", row.per_byte, per_byte);
    let unconditional = accuracy(&|item, place| planted(item)[place].0 - planted(item)[place].1);
    near("unconditional", row.unconditional, unconditional);
    assert!(
        per_byte != unconditional && row.sum != Some(unconditional),
        "the ways must disagree to be told apart"
    );

    let (code, out, errors) =
        told(&run(&["regrade", &bench.path("run"), "--full-string", "unconditional", "--write"]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("run-regraded"), "{out}");
    let again = bench.log("run-regraded");
    let cell = cells(&again).into_iter().find(|cell| cell.interface == "full-string").expect("a cell");
    near("judged anew", cell.accuracy, unconditional);
    assert_eq!(told(&run(&["verify", &bench.path("run-regraded")])).0, Some(0));
    let (code, _, errors) = told(&run(&["regrade", &bench.path("run"), "--full-string", "best"]));
    assert!(code == Some(2) && errors.contains("unconditional"), "{errors}");
}

#[test]
fn written_conditions_find_what_the_immediate_readout_hides_and_log_their_seeds() {
    let bench = bench(
        "permutations = 2\ncaps = [3]\nsamples = 3",
        "[\"direct\", \"cot-prefix\", \"free-cot\", \"self-consistency\", \"tree-of-thought\"]",
    );
    let log = done(&bench, "run");
    let found = decoding(&log, &cells(&log));
    let row = |name: &str| found.written.iter().find(|row| row.condition == name).expect("a row");
    let planted_accuracy = mean((0..ITEMS).map(|item| is(item % 3 != 2)));
    for name in ["direct", "free-cot", "self-consistency"] {
        near(name, row(name).accuracy, planted_accuracy);
    }
    near("gain", row("free-cot").gain, 0.0);
    near("cut", row("free-cot+cap=3").accuracy, 0.0);
    near("more chains", row("self-consistency").gain_over_chain, 0.0);
    // "That settles it. Answer: A" has five words; three chains have fifteen.
    near("written", row("free-cot").written_per_item, 5.0);
    near("written thrice", row("self-consistency").written_per_item, 15.0);
    // Votes that name a letter name no line of thought.
    near("votes", row("tree-of-thought").accuracy, 0.0);
    near("ten replies", row("tree-of-thought").written_per_item, 50.0);
    let seeds = |name: &str| -> Vec<Vec<u64>> {
        let own = log.items.iter().filter(|item| item.interface == name);
        own.map(|item| item.turns[0].seeds.clone()).collect()
    };
    for (name, count) in [("self-consistency", 3), ("tree-of-thought", 10), ("free-cot", 0)] {
        assert!(seeds(name).iter().all(|seeds| seeds.len() == count), "{name}: {:?}", seeds(name)[0]);
    }
    let (code, out, errors) = told(&run(&["report", &bench.path("run"), "--decoding"]));
    assert_eq!(code, Some(0), "{errors}");
    for part in ["What writing costs and gains", "Over the orders of the options", "free-cot+cap=3"] {
        assert!(out.contains(part), "{part} in {out}");
    }
}

#[test]
fn conditions_and_orders_survive_parts_checks_exports_and_comparisons() {
    let bench = bench(SWEEP, "[\"direct\", \"cot-prefix\", \"full-string\"]");
    parts_make_the_run(&bench, 3);
    let whole = bench.path("whole");
    let (code, out, _) = told(&run(&["verify", &whole]));
    assert_eq!(code, Some(0), "{out}");
    // Complete: the same command has nothing left to do.
    assert_eq!(bench.run("whole", &["--quiet"]).status.code(), Some(0));
    let merged = bench.path("merged");
    let parts: Vec<String> = (1..=3).map(|part| bench.path(&format!("part{part}"))).collect();
    let mut merge = vec!["merge"];
    merge.extend(parts.iter().map(String::as_str));
    merge.extend(["-o", &merged]);
    assert_eq!(told(&run(&merge)).0, Some(0));
    assert_eq!(told(&run(&["verify", &merged])).0, Some(0));

    let (code, out, errors) = told(&run(&["report", &whole, "--decoding", "--csv", "-"]));
    assert_eq!(code, Some(0), "{errors}");
    for table in ["conditions,", "shifts,", "orders,", "slots,", "options,", "texts,"] {
        assert!(out.lines().any(|line| line.starts_with(table)), "{table}");
    }
    let (_, items, _) = told(&run(&["report", &whole, "--csv", "-"]));
    let mut reader = csv::Reader::from_reader(items.as_bytes());
    let columns = reader.headers().expect("headings").clone();
    let column = |name: &str| columns.iter().position(|column| column == name).expect("a column");
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let swept = rows
        .iter()
        .filter(|row| &row[column("ending")] == "explain-first" && &row[column("label_set")] == "numbers");
    // Through cot-prefix; whole texts have no labels to change.
    assert_eq!(swept.count(), 5 * ITEMS);
    assert!(rows.iter().all(|row| ["1", "2", "3", "4", "5"].contains(&&row[column("permutation")])));
    let scored = rows.iter().filter(|row| &row[column("interface")] == "direct");
    assert!(
        scored
            .clone()
            .all(|row| !row[column("continuation_mass")].is_empty() && !row[column("gold_rank")].is_empty())
    );
    let top: Value =
        serde_json::from_str(&scored.clone().next().expect("a row")[column("top_tokens")]).expect("JSON");
    assert!(top[0][0].is_string() && top[0][1].is_number(), "{top}");

    let (_, json, _) = told(&run(&["report", &whole, "--json"]));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert!(json["decoding"]["shifts"].as_array().is_some_and(|rows| !rows.is_empty()));
    let (code, page, _) = told(&run(&["report", &whole, "--html", "-"]));
    assert!(
        code == Some(0)
            && page.contains("id=\"decoding\"")
            && page.contains("cot-prefix+explain-first+labels=numbers")
    );
    let (_, tables, _) = told(&run(&["report", &whole, "--decoding"]));
    assert_page_has(&page, &tables);
    // What a line says is left out is what one gets when all rows are asked for.
    let (_, all, _) = told(&run(&["report", &whole, "--decoding", "--all-rows"]));
    let left_out: Vec<usize> = tables
        .lines()
        .filter_map(|line| line.strip_prefix("Left out: ")?.split(' ').next()?.parse().ok())
        .collect();
    // Places and numbers of options.
    assert_eq!(left_out.len(), 2, "{tables}");
    let expected = tables.lines().count() - 2 + left_out.iter().sum::<usize>();
    assert_eq!(all.lines().count(), expected);

    let (code, lines, errors) = told(&run(&["export", &whole, "--format", "jsonl"]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(lines.lines().any(|line| line.contains("\"direct+answer-colon+labels=numbers\"")));
    let (code, _, errors) = told(&run(&["export", &whole, "--format", "lm-eval", "-o", &bench.path("lm")]));
    assert_eq!(code, Some(0), "{errors}");
    let (code, out, errors) = told(&run(&["compare", &whole, &merged, "--all-rows"]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("direct+answer-colon"), "{out}");
}

/// Every row of the terminal's tables, headings too, is a row of the page.
fn assert_page_has(page: &str, tables: &str) {
    let cell = |cell: &str| cell.split_once('>').map_or("", |(_, text)| text).to_owned();
    let cells = |row: &str| {
        let parts = row.split("</td>").flat_map(|part| part.split("</th>"));
        parts.map(|part| part.rsplit_once("<t").map_or(String::new(), |(_, last)| cell(last))).collect()
    };
    let rows: BTreeSet<Vec<String>> = page
        .split("<tr>")
        .map(|row| cells(row.split("</tr>").next().unwrap_or_default()))
        .map(|row: Vec<String>| row.into_iter().filter(|cell| !cell.is_empty()).collect())
        .collect();
    let mut compared = 0;
    // The run's own table stands before them.
    for line in tables.lines().skip_while(|line| !line.starts_with("Conditions (MA")) {
        let row: Vec<String> =
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
        if row.len() > 3 {
            assert!(rows.contains(&row), "{row:?} is not on the page");
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared} rows: {tables}");
}
