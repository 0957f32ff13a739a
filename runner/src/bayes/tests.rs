//! Runs that never were, whose choices are known.

use datasets::{Item, NoAnswer, Params, TaskError};

use super::*;
use crate::entry::TurnRecord;
use crate::plan::items_sha256;
use crate::report::{made_up, write_predictions_csv, write_surfaces_csv};

fn items(scenes: usize) -> Result<Vec<Item>, TaskError> {
    (iip::IIP.items)(&Params(format!("scenes = {scenes}").parse().unwrap()), 1)
}

/// A run whose items say what `said` says of them, through `direct`.
fn run(items: &[Item], said: impl Fn(usize, &[String]) -> Said) -> RunLog {
    let records = items.iter().enumerate().map(|(index, item)| {
        let gold = &item.first_question().gold;
        let Gold::Route { kinds, .. } = gold else { panic!("{gold:?}") };
        let said = said(index, kinds);
        let verdict = datasets::grade::grade(gold, &said);
        let mut record = made_up::item(0, &item.id, &[], "direct", verdict);
        record.turns.push(TurnRecord { gold: gold.clone(), ..made_up::turn(0, said) });
        record
    });
    let mut run = made_up::run(&["iip"], records.collect());
    run.header.tasks[0].interfaces = vec!["direct".to_owned()];
    run.header.tasks[0].params_json = format!(r#"{{"scenes":{}}}"#, items.len());
    run.header.tasks[0].items_sha256 = items_sha256(items);
    run
}

fn label(kinds: &[String], wanted: Kind) -> Said {
    Said::Choice(kinds.iter().position(|kind| kind == wanted.word()).unwrap() as u16)
}

#[test]
fn somebody_who_always_goes_the_shortest_way_is_found_to_be_impatient() {
    let items = items(40).unwrap();
    let run = run(&items, |_, kinds| label(kinds, Kind::Shortest));
    let [chooser] = &choosers(&run, None).unwrap()[..] else { panic!() };
    let fitted = chooser.fit(&Held::default(), Free::default());
    assert_eq!((fitted.n, fitted.chosen, fitted.unanswered), (40, [0, 40, 0, 0], 0));
    let found = fitted.fit.unwrap();
    assert!(found.cost < 1e-3, "{found:?}");
    assert!(found.predicted[1] > 0.5, "{found:?}");
    // Where no other route is as short, nothing is left to doubt.
    let mut sure = 0;
    for item in &items {
        let (scene, routes) = iip::shown(item).unwrap();
        let length = |kind| routes.of(kind).len();
        if Kind::ALL.into_iter().all(|kind| kind == Kind::Shortest || length(kind) > length(Kind::Shortest)) {
            let chances = Problem::new(&scene, &routes).choices(&found.parameters(), 2);
            assert!(chances[1] > 0.99, "{} {chances:?}", item.id);
            sure += 1;
        }
    }
    assert!(sure > 5, "{sure}");
    assert!((fitted.uniform_log_likelihood - 40.0 * 0.25_f64.ln()).abs() < 1e-9);
    assert!(found.log_likelihood > fitted.uniform_log_likelihood);
    // The fit's own figure, from the outside.
    let loss = chooser.loss(&found.parameters(), 2).unwrap();
    assert!((loss * 40.0 + found.log_likelihood).abs() < 1e-9);
}

#[test]
fn a_fit_recovers_the_parameters_of_an_actor_who_chooses_by_them() {
    let items = items(300).unwrap();
    let truth = Parameters { cost: 0.6, urgency: 0.3, fading: 0.99, leaving: 100.0 };
    let mut stream = datasets::Stream::new(5, &["test", "chooser"]);
    let drawn: Vec<Kind> = items
        .iter()
        .map(|item| {
            let (scene, routes) = iip::shown(item).unwrap();
            let chances = Problem::new(&scene, &routes).choices(&truth, 2);
            let mut point = stream.below(1_000_000) as f64 / 1e6;
            let mut drawn = Kind::ALL[3];
            for (kind, chance) in Kind::ALL.into_iter().zip(chances) {
                if point < chance {
                    drawn = kind;
                    break;
                }
                point -= chance;
            }
            drawn
        })
        .collect();
    let run = run(&items, |index, kinds| label(kinds, drawn[index]));
    let [chooser] = &choosers(&run, Some("iip")).unwrap()[..] else { panic!() };
    let found = chooser.fit(&Held::default(), Free::default()).fit.unwrap();
    assert!((found.cost - 0.6).abs() < 0.1 && (found.urgency - 0.3).abs() < 0.1, "{found:?}");
    // No worse than the truth, and likely no better than chance would have it: twice the gain is chi-square with two
    // degrees of freedom, 13.8 at one in a thousand.
    let gain = found.log_likelihood + 300.0 * chooser.loss(&truth, 2).unwrap();
    assert!((0.0..6.9).contains(&gain), "{gain}");
}

#[test]
fn replies_without_a_route_and_items_that_were_not_asked_are_counted_apart() {
    let items = items(6).unwrap();
    let mut run = run(&items, |index, kinds| match index {
        0 => Said::Nothing(NoAnswer::Unparsed),
        _ => label(kinds, Kind::Hybrid),
    });
    run.items[1].verdict = Verdict::Skipped(datasets::Skip::TooLong);
    run.items.truncate(4);
    let [chooser] = &choosers(&run, None).unwrap()[..] else { panic!() };
    let fitted = chooser.fit(&Held::default(), Free::default());
    assert_eq!((fitted.n, fitted.unanswered, fitted.not_asked), (2, 1, 1));
    // Nothing answered: no fit, and no figure that looks like one.
    run.items.truncate(1);
    let [chooser] = &choosers(&run, None).unwrap()[..] else { panic!() };
    let fitted = chooser.fit(&Held::default(), Free::default());
    assert_eq!((fitted.n, fitted.fit, fitted.unanswered), (0, None, 1));
}

#[test]
fn a_surface_and_predictions_are_written_for_every_choice() {
    let items = items(5).unwrap();
    let run = run(&items, |_, kinds| label(kinds, Kind::Hybrid));
    let choosers = choosers(&run, None).unwrap();
    let fitted = [choosers[0].fit(&Held::default(), Free::default())];
    let mut out = Vec::new();
    write_surfaces_csv(&choosers, &Held::default(), 8, &mut out).unwrap();
    let mut reader = csv::Reader::from_reader(&out[..]);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 64);
    let least = rows.iter().map(|row| row[6].parse::<f64>().unwrap()).fold(f64::INFINITY, f64::min);
    assert!(fitted[0].fit.unwrap().loss <= least);
    assert_eq!((&rows[0][4], &rows[63][5]), ("0.0625", "0.9375"));
    let mut out = Vec::new();
    write_predictions_csv(&choosers, &fitted, &mut out).unwrap();
    let mut reader = csv::Reader::from_reader(&out[..]);
    let mut log_likelihood = 0.0;
    for (row, item) in reader.records().map(Result::unwrap).zip(&items) {
        assert_eq!((&row[3], &row[4]), (item.id.as_str(), "hybrid"));
        let chances: Vec<f64> = (5..9).map(|column| row[column].parse().unwrap()).collect();
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        log_likelihood += chances[0].ln();
    }
    assert!((log_likelihood - fitted[0].fit.unwrap().log_likelihood).abs() < 1e-9);
}

#[test]
fn runs_without_choices_of_routes_are_refused_by_name() {
    let items = items(2).unwrap();
    let good = run(&items, |_, kinds| label(kinds, Kind::Hybrid));
    let refused = |run: &RunLog, only: Option<&str>| choosers(run, only).unwrap_err().to_string();
    assert!(refused(&good, Some("ipp")).contains("--task ipp: the run has iip"));
    assert!(refused(&made_up::run(&["logic"], Vec::new()), None).contains("no task `iip`"));
    let mut other = run(&items, |_, kinds| label(kinds, Kind::Hybrid));
    other.header.tasks[0].items_sha256 = "ab".repeat(32);
    assert!(refused(&other, None).contains("other items"));
    let mut neutral = made_up::run(&["iip"], Vec::new());
    let params = "scenes = 2\nform = \"shortcut\"";
    neutral.header.tasks[0].params_json = r#"{"scenes":2,"form":"shortcut"}"#.to_owned();
    neutral.header.tasks[0].items_sha256 =
        items_sha256(&(iip::IIP.items)(&Params(params.parse().unwrap()), 1).unwrap());
    assert!(refused(&neutral, None).contains("neutralised"));
}
