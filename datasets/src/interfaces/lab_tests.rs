//! Conditions of the decoding laboratory, and the interfaces with several requests.

use models::{Prompt, Reply, Request, Sampling};

use super::*;
use crate::condition::Condition;
use crate::forms::LabelSet;
use crate::import::question as imported;
use crate::item::tags;
use crate::item::{Item, Question};
use crate::replies::{scored, scores, text};
use crate::verdict::NoAnswer;

fn question() -> Question {
    let options = ["rain", "heavy snow"].map(str::to_owned).to_vec();
    imported("What falls?", "", LabelSet::Letters.of(2).unwrap(), options, 1)
}

fn item() -> Item {
    Item::one("q", "q", tags([]), question())
}

fn asks(condition: &str, settings: &Settings) -> Vec<(Prompt, Request)> {
    let condition = Condition::named(condition).unwrap_or_else(|| panic!("{condition}"));
    let question = condition.question(&question());
    match (condition.interface.open)(&question, &condition.settings(settings)).step(&[]) {
        Move::Ask(asks) => asks,
        other => panic!("{other:?}"),
    }
}

fn scored_texts(request: &Request) -> &[String] {
    match request {
        Request::Score(score) => &score.continuations,
        Request::Generate(_) => panic!("not scored"),
    }
}

fn swept(text: &str) -> Settings {
    toml::from_str(text).expect("settings")
}

fn names(interfaces: &[&str], settings: &Settings) -> Vec<String> {
    let interfaces: Vec<&Interface> =
        interfaces.iter().map(|name| Interface::named(name).expect("listed")).collect();
    Condition::of(&interfaces, settings).iter().map(|condition| condition.name().to_owned()).collect()
}

#[test]
fn without_anything_varied_conditions_are_the_interfaces() {
    assert_eq!(names(&["direct", "free-cot"], &Settings::default()), ["direct", "free-cot"]);
    let json = serde_json::to_value(Settings::default()).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    // What a run's identity was before conditions could be varied.
    let before =
        "cue cue-place loop-guard-off max-tokens normalisation rescue separator stop thinking-max-tokens top";
    assert_eq!(keys, before.split(' ').collect::<Vec<_>>());
}

#[test]
fn a_sweep_makes_a_condition_of_every_combination_that_differs() {
    let settings = swept("endings = ['answer-colon', 'explain-first']\nlabel-sets = ['numbers']");
    assert_eq!(
        names(&["direct", "cot-prefix", "free-cot"], &settings),
        [
            "direct",
            "direct+answer-colon",
            "direct+labels=numbers",
            "direct+answer-colon+labels=numbers",
            "cot-prefix",
            "cot-prefix+explain-first",
            "cot-prefix+labels=numbers",
            "cot-prefix+explain-first+labels=numbers",
            "free-cot",
        ]
    );
    let settings =
        swept("cue-places = ['user-turn', 'assistant-lead', 'raw']\ncaps = [8, 64]\nendings = ['nothing']");
    assert_eq!(
        names(&["direct", "cot-prefix", "free-cot"], &settings),
        [
            "direct",
            "direct+nothing",
            // Nothing could begin the assistant's turn without an ending.
            "direct+nothing+at=assistant-lead",
            "direct+at=raw",
            "direct+nothing+at=raw",
            "cot-prefix",
            "cot-prefix+at=assistant-lead",
            "cot-prefix+at=raw",
            "free-cot",
            "free-cot+cap=8",
            "free-cot+cap=64",
        ]
    );
    let all = swept("endings = ['all']\nwrite-endings = true\nlabel-sets = ['numbers', 'consonants']");
    let every = names(&["direct", "cot-prefix", "free-cot", "full-string", "self-consistency"], &all);
    for name in &every {
        assert_eq!(Condition::named(name).map(|condition| condition.name().to_owned()).as_ref(), Some(name));
    }
    let distinct: std::collections::BTreeSet<&String> = every.iter().collect();
    assert_eq!(distinct.len(), every.len());
    // 13 endings: 7 that ask for no rationale and 6 that do, under the own labels and two other sets.
    let of = |interface: &str| every.iter().filter(|name| name.split('+').next() == Some(interface)).count();
    assert_eq!((of("direct"), of("cot-prefix"), of("free-cot"), of("full-string")), (24, 21, 14, 14));
    for wrong in [
        "cot",
        "direct+no-such",
        "direct+labels=greek",
        "direct+at=here",
        "direct+cap=x",
        "direct+x=1",
        "direct+labels=numbers+answer-colon",
    ] {
        assert_eq!(Condition::named(wrong), None, "{wrong}");
    }
}

#[test]
fn conditions_share_the_question_and_differ_behind_it() {
    let settings = Settings::default();
    let user = |name: &str| asks(name, &settings)[0].0.turns[0].text.clone();
    let stem = "What falls?\nA. rain\nB. heavy snow";
    assert_eq!(user("direct+answer-colon"), format!("{stem}\nAnswer:"));
    assert_eq!(user("direct+nothing"), stem);
    assert_eq!(user("direct+labels-only"), format!("{stem}\nReply with A or B and nothing else."));
    assert_eq!(user("cot-prefix+reasoning-colon"), format!("{stem}\nReasoning:"));
    assert_eq!(
        user("direct+labels-only+labels=numbers"),
        "What falls?\n1. rain\n2. heavy snow\nReply with 1 or 2 and nothing else."
    );
    let (prompt, request) = asks("cot-prefix+reasoning-colon+at=assistant-lead", &settings).remove(0);
    assert_eq!(
        (prompt.turns[0].text.as_str(), prompt.lead.as_str(), prompt.raw),
        (stem, "Reasoning:", false)
    );
    assert_eq!(scored_texts(&request), [" A", " B"]);
    let (prompt, request) = asks("direct+the-answer-is+at=raw", &settings).remove(0);
    assert!(prompt.raw && prompt.turns[0].text.ends_with("\nThe answer is"));
    assert_eq!(scored_texts(&request), [" A", " B"], "labels follow running text where there is no template");
    let (_, request) = asks("direct+labels=consonants", &settings).remove(0);
    assert_eq!(scored_texts(&request), ["Q", "X"]);
    let Request::Score(score) = request else { panic!("scored") };
    assert_eq!(score.watch[1], ["Q", " Q", "X", " X"], "both ways to write each label are watched");
    assert!(score.watch[0].iter().any(|text| text == " First"));
    let (_, request) = asks("free-cot+cap=9", &settings).remove(0);
    assert!(matches!(request, Request::Generate(generate) if generate.max_tokens == 9));
    assert!(
        Condition::named("direct+labels=letters").is_some_and(|condition| !condition.fits(&item())),
        "it has letters"
    );
}

#[test]
fn the_text_of_an_option_is_judged_in_four_ways() {
    // rain: 4 bytes, one token; heavy snow: 10 bytes, two tokens.
    let given = scored(&[&[-3.0], &[-2.0, -2.5]]);
    let alone = scored(&[&[-4.0], &[-2.5, -4.0]]);
    let choice = |by: &str| {
        let settings = swept(&format!("full-string = '{by}'"));
        let mut exchange = (Interface::named("full-string").unwrap().open)(&question(), &settings);
        let Move::Ask(asks) = exchange.step(&[]) else { panic!("asks") };
        assert_eq!(asks.len(), 2);
        assert!(asks.iter().all(|(_, request)| scored_texts(request) == ["rain", "heavy snow"]));
        assert!(asks[0].0.turns[0].text.starts_with("What falls?"));
        assert_eq!(
            asks[1].0.turns[0].text,
            "Answer with the option's letter from the given choices directly."
        );
        match exchange.step(&[given.clone(), alone.clone()]) {
            Move::Said { said, .. } => said,
            other => panic!("{other:?}"),
        }
    };
    // -3 and -4.5; -3 and -2.25; -0.75 and -0.45; 1 and 2.
    assert_eq!(choice("sum"), Said::Choice(0));
    assert_eq!(choice("per-token"), Said::Choice(1));
    assert_eq!(choice("per-byte"), Said::Choice(1));
    assert_eq!(choice("unconditional"), Said::Choice(1));
}

#[test]
fn opt_08_what_is_taken_off_does_not_depend_on_the_order_of_the_options() {
    let forms = crate::forms::forms(&item(), 5);
    let settings = swept("full-string = 'unconditional'");
    // A model whose scores depend on nothing but the text.
    let score = |text: &String| -(text.len() as f32) / 3.0 - if text.contains("snow") { 0.5 } else { 0.0 };
    let chosen = |item: &Item| {
        let question = item.first_question();
        let mut exchange = (Interface::named("full-string").unwrap().open)(question, &settings);
        let Move::Ask(asks) = exchange.step(&[]) else { panic!("asks") };
        let reply = |(place, (_, request)): (usize, &(Prompt, Request))| {
            scores(scored_texts(request).iter().map(|text| score(text) * (1.0 + place as f32)))
        };
        let replies: Vec<Reply> = asks.iter().enumerate().map(reply).collect();
        match exchange.step(&replies) {
            Move::Said { said: Said::Choice(choice), .. } => question.options[usize::from(choice)].clone(),
            other => panic!("{other:?}"),
        }
    };
    let choices: std::collections::BTreeSet<String> = forms.iter().map(chosen).collect();
    assert_eq!(choices.len(), 1, "{choices:?}");
}

fn drawn(asks: &[(Prompt, Request)]) -> Vec<u64> {
    let seed = |(_, request): &(Prompt, Request)| match request {
        Request::Generate(models::Generate {
            sampling: Sampling::Temperature { seed, temperature }, ..
        }) => {
            assert!((temperature - 0.7).abs() < 1e-6);
            *seed
        }
        other => panic!("{other:?}"),
    };
    asks.iter().map(seed).collect()
}

#[test]
fn log_11_every_drawn_reply_has_a_seed_of_its_own_that_follows_from_the_run_s() {
    let of_seed = |seed| drawn(&asks("self-consistency", &Settings { seed, ..Settings::default() }));
    let seeds = of_seed(1);
    assert_eq!(seeds.len(), 5);
    assert_eq!(seeds.iter().collect::<std::collections::BTreeSet<_>>().len(), 5);
    assert_eq!(seeds, of_seed(1));
    assert!(seeds.iter().all(|seed| !of_seed(2).contains(seed)));
}

fn majority_of(replies: &[&str]) -> Said {
    let settings = Settings { samples: replies.len() as u16, ..Settings::default() };
    let mut exchange = (Interface::named("self-consistency").unwrap().open)(&question(), &settings);
    exchange.step(&[]);
    let replies: Vec<Reply> = replies.iter().map(|reply| text(reply)).collect();
    match exchange.step(&replies) {
        Move::Said { said, .. } => said,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_majority_answers_and_replies_without_an_answer_do_not_vote() {
    assert_eq!(majority_of(&["Answer: A", "Answer: B", "Answer: B"]), Said::Choice(1));
    assert_eq!(majority_of(&["Hm.", "Hm.", "Hm.", "Answer: A", "Hm."]), Said::Choice(0));
    assert_eq!(
        majority_of(&["Answer: B", "Answer: A", "Answer: A", "Answer: B"]),
        Said::Choice(1),
        "first to be said"
    );
    assert_eq!(majority_of(&["Hm.", "Hm."]), Said::Nothing(NoAnswer::Unparsed));
}

#[test]
fn the_thought_with_most_votes_answers() {
    let answer = |votes: [&str; 5]| {
        let mut exchange =
            (Interface::named("tree-of-thought").unwrap().open)(&question(), &Settings::default());
        let Move::Ask(thoughts) = exchange.step(&[]) else { panic!("asks") };
        let Move::Ask(ballots) =
            exchange.step(&["Answer: A", "Answer: A", "Answer: B", "Hm.", "Answer: A"].map(text))
        else {
            panic!("asks")
        };
        let mut seeds = drawn(&thoughts);
        seeds.extend(drawn(&ballots));
        assert_eq!(seeds.iter().collect::<std::collections::BTreeSet<_>>().len(), 10);
        assert!(ballots.iter().all(|(prompt, _)| is_vote(prompt)) && !is_vote(&thoughts[0].0));
        assert!(ballots[0].0.turns[0].text.contains("Line 3:\nAnswer: B\n"));
        match exchange.step(&votes.map(text)) {
            Move::Said { said, reply, .. } => (said, reply),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        answer(["Answer: 3", "Answer: 1", "I like line 3. Answer: 3", "", "Answer: 9"]),
        (Said::Choice(1), "Answer: B".into())
    );
    assert_eq!(answer(["Answer: 4"; 5]).0, Said::Nothing(NoAnswer::Unparsed), "the winner has no answer");
    assert_eq!(answer(["Hm."; 5]).0, Said::Nothing(NoAnswer::Unparsed), "nobody voted");
    assert_eq!(
        answer(["Answer: 3", "Answer: 2", "Answer: 2", "Answer: 3", "Hm."]).0,
        Said::Choice(0),
        "the first of equals"
    );
}
