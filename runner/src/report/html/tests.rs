//! The page of made-up runs: nothing from outside, everything escaped, every value in a table.

use datasets::{NoAnswer, Said, Verdict};

use super::*;
use crate::entry::{ItemRecord, ModelRecord};
use crate::report::made_up::{began, item, run, text as reply, turn};

const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u{202e}\u{0}</pre>";

fn answered(id: &str, depth: &str, interface: &str, verdict: Verdict) -> ItemRecord {
    let mut item = item(0, id, &[("depth", depth)], interface, verdict);
    item.turns.push(turn(0, Said::Choice(u16::from(verdict != Verdict::Right))));
    item.usage.prefill_us = 1500;
    item
}

fn two_models() -> RunLog {
    let mut items = Vec::new();
    for (at, depth) in ["0", "1", "2", "10"].iter().cycle().take(24).enumerate() {
        for model in 0..2u16 {
            for interface in ["direct", "free-cot"] {
                let verdict =
                    if (at + usize::from(model)) % 3 == 0 { Verdict::Wrong } else { Verdict::Right };
                let mut item = answered(&format!("i{at}"), depth, interface, verdict);
                item.at.model = model;
                items.push(item);
            }
        }
    }
    items[0].verdict = Verdict::Unanswered(NoAnswer::Truncated);
    items[0].turns[0].said = Some(Said::Nothing(NoAnswer::Truncated));
    items[0].turns[0].replies.push(reply(HOSTILE));
    let mut run = run(&["lights"], items);
    let model =
        |name: &str, file_bytes| ModelRecord { name: name.to_owned(), file_bytes, ..ModelRecord::default() };
    run.header.models = vec![model("Q8_0", 8_000_000), model("Q2_K <i>", 3_000_000)];
    run.header.config_json = run.header.config_json.replace("\"model\":[{}]", "\"model\":[{},{}]");
    run
}

fn made(run: &RunLog) -> String {
    html(run, 0.05, ItemChoice { per_place: 3, named: Vec::new() }, None, &[]).unwrap()
}

#[test]
fn nothing_is_fetched_and_no_script_runs() {
    let page = made(&two_models());
    assert!(page.contains(POLICY));
    for foreign in ["<script", "<img", "<link", "<iframe", "<object", "@import", "url("] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    let tags = page.split('<').skip(1).filter_map(|rest| rest.split('>').next());
    for tag in tags.filter(|tag| tag.contains("href=") || tag.contains("src=") || tag.contains(" on")) {
        assert!(tag.starts_with("a href=\"#"), "{tag}");
    }
    // The name of a vocabulary is not an address that anything is fetched from.
    let addresses = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    assert!(!addresses.contains("http:") && !addresses.contains("https:"));
}

#[test]
fn what_a_model_wrote_and_is_called_stays_text() {
    let page = made(&two_models());
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("onerror=alert(2)&gt;"));
    assert!(page.contains("Q2_K &lt;i&gt;") && !page.contains("Q2_K <i>"));
    assert!(!page.contains('\u{202e}') && !page.contains('\u{0}'));
}

#[test]
fn models_that_a_stopped_run_has_not_asked_are_left_out_and_told() {
    let mut run = two_models();
    let third = ModelRecord { name: "Q4_0".into(), ..ModelRecord::default() };
    run.header.models.push(third);
    run.header.config_json = run.header.config_json.replace("\"model\":[{},{}]", "\"model\":[{},{},{}]");
    run.complete = None;
    let page = made(&run);
    assert!(page.contains("<section id=\"comparison\">"));
    assert!(page.contains("left out: Q4_0 has no answers yet"));
    run.items.retain(|item| item.at.model == 0);
    let page = made(&run);
    assert!(!page.contains("<section id=\"comparison\">"));
    assert!(page.contains("the models are not compared: Q2_K &lt;i&gt; has no answers yet"));
    run.items.clear();
    assert!(made(&run).contains("the models are not compared: Q8_0 has no answers yet"));
}

#[test]
fn every_section_that_has_something_is_there_and_linked() {
    let page = made(&two_models());
    for id in
        ["summary", "accuracy", "comparison", "price", "depth", "confusion", "slots", "time", "unanswered"]
    {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
        assert!(page.contains(&format!("href=\"#{id}\"")), "{id}");
    }
    for id in ["items", "papers", "provenance"] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    assert!(!page.contains("<section id=\"learning\">"), "these items have no passes");
}

#[test]
fn every_element_that_is_opened_is_closed() {
    let page = made(&two_models());
    for name in [
        "section", "div", "table", "tbody", "tr", "td", "th", "figure", "svg", "details", "pre", "p", "ul",
        "li",
    ] {
        let opened = page.matches(&format!("<{name}>")).count() + page.matches(&format!("<{name} ")).count();
        assert_eq!(opened, page.matches(&format!("</{name}>")).count(), "{name}");
    }
}

#[test]
fn colours_come_from_the_style_sheet() {
    let page = made(&two_models());
    let drawings: Vec<&str> =
        page.split("<svg").skip(1).filter_map(|rest| rest.split("</svg>").next()).collect();
    assert!(!drawings.is_empty());
    for drawing in drawings {
        assert!(!drawing.contains("\"#"), "{drawing}");
        assert!(drawing.contains("role=\"img\" aria-label="));
    }
    assert!(page.contains("var(--s1)") && page.contains("currentColor"));
}

#[test]
fn one_model_without_answers_makes_a_page_too() {
    let page = made(&run(&["lights"], Vec::new()));
    assert!(page.contains("<section id=\"summary\">") && page.contains("incomplete"));
    assert!(!page.contains("<section id=\"comparison\">") && !page.contains("<section id=\"price\">"));
}

#[test]
fn an_item_can_be_named_and_an_unknown_one_is_refused() {
    let run = two_models();
    let named =
        |id: &str| html(&run, 0.05, ItemChoice { per_place: 0, named: vec![id.to_owned()] }, None, &[]);
    assert!(named("i7").unwrap().contains("<h3>i7: "));
    let failure = named("i99").unwrap_err();
    assert_eq!(
        (failure.exit, failure.message.as_str()),
        (Exit::Usage, "--item i99: no item of the run has this id")
    );
}

#[test]
fn a_page_of_many_items_stays_small() {
    let mut items = Vec::new();
    for at in 0..20_000 {
        let mut item = answered(&format!("i{at}"), &(at % 5).to_string(), "direct", Verdict::Right);
        item.turns[0].replies.push(reply("No."));
        items.push(item);
    }
    let page = made(&run(&["lights"], items));
    assert!(page.len() < 300_000, "{} bytes", page.len());
}

/// A run on a machine with a meter and a thermometer, sampled for a minute with a silence of ten seconds.
fn sampled() -> RunLog {
    use crate::clock::Moment;
    use crate::telemetry::record::{Began, Row};
    use crate::telemetry::source::{Channel, Domain, Kind};

    let mut run = two_models();
    let at = |second: u64| Moment { mono_us: second * 1_000_000, wall_us: 0 };
    run.measured.began.push(Began {
        temperatures: vec!["cpu".into()],
        ..began("meter", Channel::new("total", Domain::Wall, Kind::Measured, 0))
    });
    for second in (0..30).chain(40..60) {
        let row = Row {
            at: at(second),
            power_uw: vec![Some(5_000_000)],
            temperature_mc: vec![Some(50_000)],
            clock_khz: Vec::new(),
            pi_flags: None,
            events: None,
            available_bytes: Some(1 << 30),
            others_permille: None,
            own_permille: None,
            battery_percent: None,
            worker_private_bytes: Some(200 << 20),
            worker_file_bytes: Some(100 << 20),
        };
        run.measured.timeline.push((1, row));
    }
    run
}

#[test]
fn the_time_line_is_drawn_with_its_gap_and_stands_in_a_table() {
    let page = made(&sampled());
    let section = page.split("<section id=\"timeline\">").nth(1).unwrap().split("</section>").next().unwrap();
    for title in ["Power, W", "Temperature, degrees Celsius", "Memory of the worker, MiB"] {
        assert!(section.contains(title), "{title}");
    }
    let power = section.split("Power, W, over minutes\"").nth(1).unwrap().split("</svg>").next().unwrap();
    let lines = power.matches("stroke=\"var(--s0)\"").count();
    assert_eq!(lines, 2, "one before the silence and one behind it: {power}");
    assert!(
        section.contains("<td>meter total</td><td>W</td><td class=\"n\">50</td><td class=\"n\">5.00</td>")
    );
    assert!(section.contains("worker, mapped files"));
    // What was not there says so.
    assert!(
        section.contains("Clock: the system tells no clock.") && section.contains("Load: not in the log.")
    );
}

#[test]
fn without_measurements_the_page_says_why() {
    let page = made(&two_models());
    assert!(page.contains("Nothing was measured beside durations"));
    assert!(page.contains("No energy was measured: not in the log."));
}

#[test]
fn energy_memory_and_rounds_are_on_the_page_only_where_they_were_measured() {
    use crate::memory::Peaks;

    let section = |page: &str, id: &str| -> Option<String> {
        let rest = page.split(&format!("<section id=\"{id}\">")).nth(1)?;
        rest.split("</section>").next().map(str::to_owned)
    };
    let mut run = crate::report::made_up::turns();
    run.header.models[0].file_bytes = 8_000_000;
    for (group, model, mb) in [(0, 0, 900), (1, 0, 950), (2, 1, 500)] {
        let at = crate::entry::GroupRef { group, model, task: 0 };
        let peaks = Peaks { high_water_bytes: mb * 1_000_000, ..Peaks::default() };
        run.memory_uses.push(crate::entry::MemoryUse { at, peaks, storm: false });
    }
    let page = made(&run);
    let price = section(&page, "price").unwrap();
    for plot in ["joules per item", "measured peak memory, MB", "model file, MB", "seconds per item"] {
        assert!(price.contains(&format!("mean accuracy against {plot}")), "{plot}: {price}");
    }
    let cells = |row: &str| -> Vec<String> {
        let row = price.split(&format!("<td>{row}</td>")).nth(1).unwrap().split("</tr>").next().unwrap();
        row.split("</td>").filter_map(|cell| Some(cell.rsplit_once('>')?.1.to_owned())).collect()
    };
    // Both are always right; b is cheaper in all that is known of it, and its file's size is not known.
    assert_eq!(cells("a"), ["direct", "100.0 %", "3.50", "no", "8.00", "yes", "950", "no", "45.0", "no"]);
    assert_eq!(cells("b"), ["direct", "100.0 %", "3.25", "yes", "-", "-", "500", "yes", "30.0", "yes"]);
    let rounds = section(&page, "rounds").unwrap();
    assert!(rounds.contains("45.0 (40.0 to 50.0)"), "{rounds}");
    assert!(section(&page, "comparison").unwrap().contains("0.65 (0.50 to 0.80)"));
    // Nothing measured: no plot, no column, no section.
    let page = made(&two_models());
    let price = section(&page, "price").unwrap();
    assert!(!price.contains("joules") && !price.contains("J per item") && !price.contains("peak memory"));
    assert!(section(&page, "rounds").is_none());
}

/// Two models over a task of many conditions, with probes.
fn swept(conditions: usize) -> (RunLog, ProbeResult) {
    let names = crate::probes::made_up::names(conditions);
    let mut items = Vec::new();
    for model in 0..2u16 {
        for (name, id) in names.iter().flat_map(|name| (0..6).map(move |id| (name, id))) {
            let mut item = answered(&format!("i{id}"), &id.to_string(), name, Verdict::Right);
            let label =
                |p: f64| models::LabelScore { tokens: vec![1], logprobs: vec![p.ln() as f32], rank: 1 };
            item.turns[0].replies = vec![models::Reply::Scored(models::Scored {
                labels: vec![label(0.5), label(0.25)],
                mass: Some(0.01),
                ..models::Scored::default()
            })];
            item.at.model = model;
            items.push(item);
        }
    }
    let mut log = run(&["t"], items);
    log.header.tasks[0].interfaces = names;
    log.header.models =
        ["m0", "m1"].map(|name| ModelRecord { name: name.to_owned(), ..ModelRecord::default() }).to_vec();
    (log, crate::probes::made_up::result(2, conditions, 31))
}

#[test]
fn a_page_of_many_conditions_draws_the_plain_ones_and_says_what_is_left_out() {
    let of = |conditions: usize| {
        let (log, probes) = swept(conditions);
        html(&log, 0.05, ItemChoice { per_place: 3, named: Vec::new() }, Some(probes), &[]).unwrap()
    };
    let (small, large) = (of(15), of(45));
    let drawings = |page: &str| page.matches("<svg").count();
    assert_eq!(drawings(&small), drawings(&large), "plots are of the plain conditions");
    let section = |page: &str, id: &str| -> String {
        let rest = page.split_once(&format!("<section id=\"{id}\">")).unwrap().1;
        rest.split_once("</section>").unwrap().0.to_owned()
    };
    let rows = |page: &str, id: &str| section(page, id).matches("<tr>").count();
    // An overview of two plain conditions of two models; then each model's conditions, curves beside each other, and a shortcut
    // table of one row for each plain condition. Every table has a row of headings.
    assert_eq!(rows(&large, "probes"), (1 + 2 * 2) + 2 * ((1 + 45) + (1 + 31) + 2 * 2));
    assert!(section(&large, "probes").contains(&format!("Left out: {} rows of transfer", 45 * 45)));
    // Two notes on label mass, one for each model.
    assert_eq!(section(&large, "summary").matches("median label mass").count(), 2);
    // Thirty conditions more cost their rows, not their pairs.
    let more = (large.len() - small.len()) / 30;
    assert!(more < 20_000, "{more} bytes per condition");
    // What a varied condition asks is shown once, with the first model.
    let items = section(&large, "items");
    let shown = |model: &str| items.matches(&format!("{model}, t, direct+ending-7<")).count();
    assert_eq!(["m0", "m1"].map(shown), [1, 0]);
}

#[test]
fn few_families_stand_beside_the_verdicts_and_ranges_have_one_form() {
    let mut run = two_models();
    for (at, item) in run.items.iter_mut().enumerate() {
        item.family = format!("f{}", at % 3);
    }
    let page = made(&run);
    let summary = page.split("<section id=\"summary\">").nth(1).unwrap().split("</section>").next().unwrap();
    let (verdicts, rest) = summary.split_once("class=\"note\"").unwrap();
    assert!(
        verdicts.contains("class=\"verdict\"") && rest.contains("few families (lights: 24 items from "),
        "{summary}"
    );
    assert!(!page.contains('`'), "what is to be typed is marked as such");
    let ranges = |form: &str| {
        let digit = |text: Option<char>| text.is_some_and(|character| character.is_ascii_digit());
        let parts: Vec<&str> = page.split(form).collect();
        parts.windows(2).filter(|pair| digit(pair[0].chars().last()) && digit(pair[1].chars().next())).count()
    };
    assert!(ranges(" to ") > 0 && ranges(" - ") == 0);
}
