//! One item as a model would see it.

use std::path::PathBuf;

use datasets::bayes::choice::{Parameters, Problem};
use datasets::interfaces::ALL;
use datasets::tasks::iip::routes::Kind;
use datasets::{Condition, Gold, Item, Question, Settings};
use models::template::Thinking;
use models::{Request, Turn};

use crate::config::ModelChoice;
use crate::exit::Failure;
use crate::gallery::Gallery;
use crate::plan::PlannedModel;
use crate::prompting;
use crate::track::Track;

/// Renders an item: its facts, then the prompt of each interface.
pub fn show(
    item: &Item,
    interface: Option<&str>,
    model: Option<&str>,
    template: Option<String>,
    gallery: &Gallery<'_>,
) -> Result<String, Failure> {
    let conditions: Vec<Condition> = match interface {
        None => ALL.iter().map(|interface| Condition::plain(interface)).collect(),
        Some(name) => vec![Condition::named(name).ok_or_else(|| {
            Failure::usage(format!("unknown interface {name:?}; see `edge-eval list interfaces`"))
        })?],
    };
    let choice = model.map(|path| ModelChoice {
        path: PathBuf::from(path),
        name: None,
        template,
        thinking: Thinking::Default,
        guess_pre_tokenizer: false,
        memory_budget: None,
        mmproj: None,
    });
    let model = choice.as_ref().map(PlannedModel::open).transpose()?;
    let tags: Vec<String> = item.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut text = format!("item {}  family {}  {}\n", item.id, item.family, tags.join(" "));
    let question = item.first_question();
    let labels: Vec<String> = question.labels.iter().map(|label| format!("\"{label}\"")).collect();
    let labels = if labels.is_empty() { "none".to_owned() } else { labels.join(" ") };
    text.push_str(&format!("labels {labels}  gold {}\n", gold(question)));
    text.push_str(&routes(item));
    let settings = Settings::default();
    for condition in conditions.iter().filter(|condition| condition.fits(item)) {
        let track = Track::start(item, condition, &settings);
        for (prompt, request) in track.asks() {
            text.push_str(&format!("\n===== {}: {}\n", condition.name(), asked(request)));
            match &model {
                Some(model) => {
                    let rendered = prompting::job(&model.renderer, 0, prompt, request)
                        .map_err(|error| Failure::input(error.to_string()))?;
                    for segment in &rendered.job.prompt {
                        match &segment.picture {
                            Some(address) => text.push_str(&gallery.label(address)),
                            None => text.push_str(&segment.text),
                        }
                    }
                    text.push('\n');
                }
                None => {
                    for turn in &prompt.turns {
                        text.push_str(&format!("[{}]\n{}\n", turn.role.as_str(), with_labels(turn, gallery)));
                    }
                    if !prompt.lead.is_empty() {
                        text.push_str(&format!("[assistant]\n{}\n", prompt.lead));
                    }
                }
            }
        }
    }
    Ok(text)
}

/// What is right, as a reader of the labels would say it.
fn gold(question: &Question) -> String {
    let named = |index: u16| {
        question
            .labels
            .get(usize::from(index))
            .map_or_else(|| format!("option {}", index + 1), |it| format!("\"{it}\""))
    };
    match &question.gold {
        Gold::Label(label) => named(*label),
        Gold::Route { label, kinds, .. } => match kinds.get(usize::from(*label)) {
            Some(kind) => format!("{} ({kind})", named(*label)),
            None => named(*label),
        },
        Gold::Ordering { chain, free } => {
            let rank = |rank: &String| rank.chars().map(String::from).collect::<Vec<_>>().join(" = ");
            let mut text = chain.iter().map(rank).collect::<Vec<_>>().join(" > ");
            if !free.is_empty() {
                let free: Vec<String> = free.chars().map(String::from).collect();
                text.push_str(&format!(", and {} anywhere", free.join(", ")));
            }
            text
        }
    }
}

/// The text of a turn with a line in place of each picture.
fn with_labels(turn: &Turn, gallery: &Gallery<'_>) -> String {
    let mut text = String::new();
    let mut done = 0;
    for picture in &turn.pictures {
        let at = (picture.at as usize).min(turn.text.len());
        text.push_str(turn.text.get(done..at).unwrap_or_default());
        text.push_str(&gallery.label(&picture.address));
        text.push('\n');
        done = at;
    }
    text + turn.text.get(done..).unwrap_or_default()
}

/// What the recursive Bayesian model, with the parameters of people, expects of an item that offers routes.
fn routes(item: &Item) -> String {
    let Some((scene, routes)) = datasets::tasks::iip::shown(item) else { return String::new() };
    let chances = Problem::new(&scene, &routes).choices(&Parameters::OF_PEOPLE, 2);
    let chances = Kind::ALL.iter().zip(chances).map(|(kind, chance)| format!("{} {chance:.3}", kind.word()));
    format!("expected of people (order 2): {}\n", chances.collect::<Vec<_>>().join("  "))
}

fn asked(request: &Request) -> String {
    match request {
        Request::Score(score) => format!("scores {:?}", score.continuations),
        Request::Generate(generate) => format!("generates up to {} tokens", generate.max_tokens),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datasets::{Params, Task};

    #[test]
    fn what_is_right_is_said_in_the_words_of_the_item() {
        let first =
            |task: &str| (Task::named(task).unwrap().items)(&Params::default(), 1).unwrap().swap_remove(0);
        let lights = first("lights");
        let question = lights.first_question();
        let label = question.gold.label().map(|label| &question.labels[usize::from(label)]).unwrap();
        assert_eq!(gold(question), format!("\"{label}\""));
        let ordering = |chain: &[&str], free: &str| {
            let chain = chain.iter().map(|&rank| rank.to_owned()).collect();
            gold(&Question { gold: Gold::Ordering { chain, free: free.to_owned() }, ..question.clone() })
        };
        assert_eq!(ordering(&["L", "M", "KT"], ""), "L > M > K = T");
        assert_eq!(ordering(&["L"], "KT"), "L, and K, T anywhere");
        for task in ["ir", "iip", "lights"] {
            let item = first(task);
            let shown = show(&item, None, None, None, &Gallery::of(&item, 0)).unwrap();
            let line = shown.lines().nth(1).unwrap();
            assert!(line.contains("  gold ") && !line.contains(['{', '[', '(']) || task == "iip", "{line}");
            assert!(!line.contains("Label(") && !line.contains("chain:"), "{line}");
        }
    }
}
