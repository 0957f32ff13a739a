//! Some items as the model saw them, with what it answered. Prompts are made anew from the log's parameters; where that
//! gives other items, replies stand alone.

use std::collections::BTreeMap;

use models::{Finish, PictureAt, Reply, Turn};

use super::Material;
use crate::entry::{ItemRecord, TurnRecord};
use crate::material::Prompts;
use crate::report::extent::is_varied;
use crate::report::html::markup::{Markup, all, details, element, paragraph, raw, table, text};
use crate::report::html::thumbnail::thumbnail;
use crate::report::{answer_in_words, gold_in_words, places, verdict_in_words};

/// Characters of a text that are shown; the log has it whole.
const MOST_CHARACTERS: usize = 20_000;

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let prompts = Prompts::of(&material.run.header);
    let mut shown = Vec::new();
    let first = material.models().next().unwrap_or_default();
    for place in places(material.run) {
        // Of a sweep's many conditions one item each shows what was asked, and one model is enough for that.
        let most = match is_varied(&place.interface) {
            false => material.items.per_place,
            true => usize::from(place.model == first || material.is_plain(&place.task, &place.interface)),
        };
        let chosen = chosen(material, &place.items, most.min(material.items.per_place));
        if chosen.is_empty() {
            continue;
        }
        let items = chosen.into_iter().map(|item| one(&prompts, item));
        let title = format!("{}, {}, {}", place.model, place.task, place.interface);
        shown.push(details(&title, items.collect::<Vec<_>>()));
    }
    if shown.is_empty() {
        return None;
    }
    shown.insert(
        0,
        paragraph(
            "One item of each verdict in turn; --items and --item of the report choose others. Where a task has many conditions, \
             those that vary something are shown once, with the first model.",
        ),
    );
    Some(all(shown))
}

/// Named items, then one of each verdict in turn, in the order of the plan.
fn chosen<'a>(material: &Material<'_>, items: &[&'a ItemRecord], per_place: usize) -> Vec<&'a ItemRecord> {
    let mut chosen: Vec<&ItemRecord> =
        items.iter().copied().filter(|item| material.items.named.contains(&item.item)).collect();
    let mut kinds: BTreeMap<String, Vec<&ItemRecord>> = BTreeMap::new();
    for item in items.iter().filter(|item| !material.items.named.contains(&item.item)) {
        kinds.entry(verdict_in_words(item.verdict)).or_default().push(item);
    }
    let most = kinds.values().map(Vec::len).max().unwrap_or_default().min(per_place);
    let mut more = Vec::new();
    for round in 0..most {
        more.extend(kinds.values().filter_map(|kind| kind.get(round).copied()));
    }
    chosen.extend(more.into_iter().take(per_place));
    chosen
}

/// The first prompt of an item, turn by turn.
fn prompt(prompts: &Prompts<'_>, record: &ItemRecord) -> Option<Markup> {
    let prompt = prompts.first(record)?;
    let turn = |turn: &Turn| match turn.pictures.is_empty() {
        true => spoken(turn.role.as_str(), &turn.text),
        false => all([pictures(prompts, record, turn), spoken(turn.role.as_str(), &marked(turn))]),
    };
    let lead = (!prompt.lead.is_empty()).then(|| spoken("assistant begins", &prompt.lead));
    Some(all(prompt.turns.iter().map(turn).chain(lead)))
}

/// The text of a turn with a mark where each picture stands.
fn marked(turn: &Turn) -> String {
    let mut text = String::new();
    let mut done = 0;
    for (picture, number) in turn.pictures.iter().zip(1..) {
        let at = (picture.at as usize).min(turn.text.len());
        text.push_str(turn.text.get(done..at).unwrap_or_default());
        text.push_str(&format!("[picture {number}]"));
        done = at;
    }
    text + turn.text.get(done..).unwrap_or_default()
}

/// The pictures of a turn, made anew, in their order.
fn pictures(prompts: &Prompts<'_>, record: &ItemRecord, turn: &Turn) -> Markup {
    let figure = |(at, number): (&PictureAt, usize)| {
        let name = format!("picture {number}");
        match prompts.picture(record, &at.address).map(|picture| thumbnail(&picture)) {
            Some(Ok(source)) => element(
                "figure",
                &[("class", "picture")],
                [
                    raw(&format!("<img alt=\"{name}\" src=\"{source}\">")),
                    element("figcaption", &[], [text(&name)]),
                ],
            ),
            Some(Err(reason)) => paragraph(&format!("{name} cannot be shown: {reason}")),
            None => paragraph(&format!("{name} cannot be made anew by this version of the program.")),
        }
    };
    element("div", &[("class", "pictures")], turn.pictures.iter().zip(1..).map(figure))
}

fn one(prompts: &Prompts<'_>, record: &ItemRecord) -> Markup {
    let tags: Vec<String> = record.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let title = format!("{}: {}", record.item, verdict_in_words(record.verdict));
    let heading = element("h3", &[], [text(&title)]);
    let facts = paragraph(&format!(
        "family {}; {}; {} tokens in, {} out, {:.0} ms",
        record.family,
        tags.join(" "),
        record.usage.prompt_tokens,
        record.usage.output_tokens,
        (record.usage.prefill_us + record.usage.decode_us) as f64 / 1e3
    ));
    let prompt = prompt(prompts, record)
        .unwrap_or_else(|| paragraph("The prompt cannot be made anew by this version of the program."));
    let turns = record.turns.iter().enumerate().map(|(at, turn)| answer(at, record.turns.len(), turn));
    element("div", &[], [heading, facts, prompt].into_iter().chain(turns.collect::<Vec<_>>()))
}

fn spoken(role: &str, words: &str) -> Markup {
    let head = element("p", &[("class", "faint")], [text(&format!("[{role}]"))]);
    all([head, element("pre", &[], [text(&shortened(words))])])
}

fn answer(at: usize, count: usize, turn: &TurnRecord) -> Markup {
    let said = match answer_in_words(turn) {
        said if said.is_empty() => "no answer".to_owned(),
        said => said,
    };
    let number = if count > 1 { format!("question {}: ", at + 1) } else { String::new() };
    let mut parts = vec![paragraph(&format!(
        "{number}answer {said}; right is {}; {}{}",
        gold_in_words(turn),
        verdict_in_words(turn.verdict),
        if turn.rescued { "; rescued by scoring the labels" } else { "" }
    ))];
    for reply in &turn.replies {
        match reply {
            Reply::Generated(generated) => {
                let cut = if generated.finish == Finish::Stop { "" } else { " (ended early)" };
                parts.push(spoken(&format!("reply{cut}"), &generated.text()));
            }
            Reply::Scored(scored) => {
                let rows: Vec<Vec<String>> = turn
                    .labels
                    .iter()
                    .zip(&scored.labels)
                    .map(|(label, score)| {
                        vec![label.clone(), format!("{:.4}", score.sum()), score.rank.to_string()]
                    })
                    .collect();
                let mass = scored.mass.map_or(String::new(), |mass| format!("; label mass {mass:.4}"));
                parts.push(table(
                    &format!("Log-probability of each label{mass}"),
                    &["label", "log-probability", "rank"],
                    1,
                    &rows,
                ));
            }
            Reply::TooLong { needed, context } => {
                parts
                    .push(paragraph(&format!("the prompt needs {needed} tokens, the context has {context}")));
            }
            Reply::Failed { reason, .. } => parts.push(paragraph(&format!("the engine failed: {reason}"))),
        }
    }
    all(parts)
}

fn shortened(words: &str) -> String {
    match words.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}\n[... {} bytes more]", &words[..end], words.len() - end),
        None => words.to_owned(),
    }
}
