//! The printed routes, and every given official item.

use super::*;

fn cells(text: &str) -> Route {
    let numbers: Vec<u8> =
        text.chars().filter_map(|sign| sign.to_digit(10)).map(|digit| digit as u8).collect();
    numbers.chunks(2).map(|pair| Cell::new(pair[0], pair[1])).collect()
}

fn routes(rows: &str, rules: Rules) -> (Scene, Routes) {
    let scene = Scene::read(rows).unwrap();
    let routes = Routes::plan(&scene, rules).unwrap();
    (scene, routes)
}

#[test]
fn the_printed_zero_shot_routes() {
    for rules in [Rules::Official, Rules::Paper] {
        let (_, routes) = routes("WA***\nW**W*\n*Y*W*\n*****\nX****", rules);
        assert_eq!(*routes.of(Kind::Avoidant), cells("10 20 30 40 41 42 43 44 34 24 14 04"));
        assert_eq!(*routes.of(Kind::Hybrid), cells("10 20 21 22 23 24 14 04"));
        assert_eq!(*routes.of(Kind::Reversed), cells("10 11 12 13 03 04"));
        assert_eq!(*routes.of(Kind::Shortest), cells("10 11 12 13 14 04"));
        assert_eq!(routes.signal_steps, 1);
    }
}

#[test]
fn the_printed_few_shot_routes() {
    let (_, routes) = routes("***XY\n*****\n*W***\n*****\n*A***", Rules::Official);
    assert_eq!(*routes.of(Kind::Hybrid), cells("14 13 23 22 21 20 30"));
    assert_eq!(*routes.of(Kind::Avoidant), cells("14 04 03 02 01 00 10 20 30"));
    assert_eq!(*routes.of(Kind::Reversed), cells("14 24 34 44 43 42 41 40 30"));
    assert_eq!(*routes.of(Kind::Shortest), cells("14 24 34 33 32 31 30"));
}

#[test]
fn the_routes_of_figure_3() {
    let (scene, routes) = routes("W****\nW*W**\nWXW**\nW*W**\nY**A*", Rules::Official);
    assert_eq!(*routes.of(Kind::Hybrid), cells("34 33 34 24 14 13 12"));
    assert_eq!(*routes.of(Kind::Shortest), cells("34 24 14 13 12"));
    assert_eq!(*routes.of(Kind::Reversed), cells("34 24 14 04 14 13 12"));
    let avoidant = routes.of(Kind::Avoidant);
    assert!(avoidant.starts_with(&cells("34")) && avoidant.ends_with(&cells("20 10 11 12")), "{avoidant:?}");
    assert_eq!(routes.scene_type(&scene), Type::II);
}

#[test]
fn every_given_official_item_has_our_routes_type_and_steps() {
    let Some(items) = crate::tasks::official::json("iip_items.json") else { return };
    let items = items.as_object().unwrap();
    let mut wrong: std::collections::BTreeMap<&str, Vec<String>> = Default::default();
    for (id, item) in items {
        let prompt = item["gpt_prompt"].as_str().unwrap();
        let rows = prompt.split("two restaurants.\n").nth(1).unwrap().split("\n\n").next().unwrap();
        let scene = Scene::read(rows).unwrap();
        let given: Vec<Route> = prompt
            .split("Route ")
            .filter(|text| text.contains("Move"))
            .map(|text| {
                let steps = cells(text.split_once('\n').unwrap().1);
                std::iter::once(steps[0]).chain(steps.iter().skip(1).step_by(2).copied()).collect()
            })
            .collect();
        assert_eq!(given.len(), 4, "{id}");
        let ours = Routes::plan(&scene, Rules::Official).unwrap();
        let names = item["gt"].as_str().unwrap();
        for (name, route) in names.split(',').zip(&given) {
            let kind = match name {
                "best" => Kind::Hybrid,
                "shortest" => Kind::Shortest,
                "misleading" => Kind::Reversed,
                "far" => Kind::Avoidant,
                other => panic!("{id}: unknown kind {other}"),
            };
            if ours.of(kind) != route {
                wrong.entry(kind.word()).or_default().push(id.clone());
            }
        }
        if ours.signal_steps as u64 != item["ritual_steps"].as_u64().unwrap() {
            wrong.entry("steps").or_default().push(id.clone());
        }
        if ours.scene_type(&scene) as u64 != item["best_trj_type"].as_u64().unwrap() {
            wrong.entry("type").or_default().push(id.clone());
        }
        if scene.aimed_at_the_hard_target().as_ref() != Some(&scene) || !ours.are_told_apart() {
            wrong.entry("validity").or_default().push(id.clone());
        }
    }
    println!("{} official items compared", items.len());
    let wrong: Vec<_> = wrong.iter().map(|(what, ids)| (what, ids.len(), &ids[..ids.len().min(3)])).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_papers_printed_rule_gives_the_released_hybrid_about_as_often_as_known() {
    let Some(items) = crate::tasks::official::json("iip_items.json") else { return };
    let items = items.as_object().unwrap();
    let (mut hybrid, mut first_leg) = (0.0, 0.0);
    for item in items.values() {
        let prompt = item["gpt_prompt"].as_str().unwrap();
        let rows = prompt.split("two restaurants.\n").nth(1).unwrap().split("\n\n").next().unwrap();
        let scene = Scene::read(rows).unwrap();
        let released = Routes::plan(&scene, Rules::Official).unwrap();
        let colouring = scene.colouring();
        let (printed, _) = super::hybrid(&scene, &colouring, Rules::Paper).unwrap();
        hybrid += f64::from(u8::from(printed == *released.of(Kind::Hybrid)));
        // The printed first leg of Reversed: any shortest path to Y that keeps off the target's cells.
        let steps = usize::from(scene.from_agent().to(scene.other));
        let leg = &released.of(Kind::Reversed)[..=steps];
        let off = leg.iter().all(|cell| colouring.target_level(*cell).is_none());
        first_leg += f64::from(u8::from(leg[steps] == scene.other && off));
    }
    let count = items.len() as f64;
    println!(
        "paper rules on {count} scenes: Hybrid as released in {hybrid}, first leg of Reversed in {first_leg}"
    );
    // Known for all 500: 463 and 484. Three standard errors of a half of them.
    let near =
        |found: f64, known: f64| (found / count - known).abs() < 3.0 * (known * (1.0 - known) / 500.0).sqrt();
    assert!(near(hybrid, 463.0 / 500.0), "{hybrid}");
    assert!(near(first_leg, 484.0 / 500.0), "{first_leg}");
}
