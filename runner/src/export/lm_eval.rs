//! The layout of lm-evaluation-harness: per model a folder with `results_DATE.json` and a `samples_TASK_DATE.jsonl` for
//! each task through each interface, which the harness knows as tasks of their own.

use std::io::Write;
use std::path::{Path, PathBuf};

use datasets::Verdict;
use models::gguf::hex;
use models::{Prompt, Reply};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::line;
use crate::entry::{ItemRecord, ModelRecord, TurnRecord};
use crate::exit::Failure;
use crate::log::{NameSet, stamp};
use crate::material::Prompts;
use crate::report::{Place, RunLog, answer_in_words, cells, gold_in_words, places, worth};

/// Writes the folders of a run's models and gives the files.
pub fn write_lm_eval(run: &RunLog, dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let date = date(run);
    let prompts = Prompts::of(&run.header);
    let mut names = NameSet::default();
    let mut written = Vec::new();
    for model in &run.header.models {
        let folder = dir.join(names.claim(&model.name));
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::disk(format!("{}: {error}", folder.display())))?;
        let own: Vec<Place<'_>> = places(run).into_iter().filter(|place| place.model == model.name).collect();
        for place in &own {
            let path = folder.join(format!("samples_{}_{date}.jsonl", file_name(&name(place))));
            create(&path, |out| samples(place, &prompts, out))?;
            written.push(path);
        }
        let path = folder.join(format!("results_{date}.json"));
        let results = results(run, model, &own);
        create(&path, |out| serde_json::to_writer_pretty(&mut *out, &results).map_err(Into::into))?;
        written.push(path);
    }
    Ok(written)
}

fn create(path: &Path, write: impl Fn(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::disk(format!("{}: {error}", path.display()));
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).map_err(failed)?);
    write(&mut out).and_then(|()| out.flush()).map_err(failed)
}

/// A task through an interface is a task.
fn name(place: &Place<'_>) -> String {
    format!("{}-{}", place.task, place.interface)
}

/// The harness writes every character of a task's name that is no letter or digit as `_`.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

/// When the run began, as the harness writes it: `2026-03-01T12-00-00.000000`.
fn date(run: &RunLog) -> String {
    let wall_us = run.sessions.first().map_or(0, |session| session.wall_us);
    let stamp = stamp(wall_us);
    let part = |range: std::ops::Range<usize>| stamp.get(range).unwrap_or_default().to_owned();
    let fraction = wall_us.rem_euclid(1_000_000);
    format!(
        "{}-{}-{}T{}-{}-{}.{fraction:06}",
        part(0..4),
        part(4..6),
        part(6..8),
        part(9..11),
        part(11..13),
        part(13..15)
    )
}

/// What reads the answer: a filter in the words of the harness.
fn filter(place: &Place<'_>) -> &'static str {
    let generated = |turn: &TurnRecord| matches!(turn.replies.first(), Some(Reply::Generated(_)));
    if place.items.iter().flat_map(|item| &item.turns).any(generated) { "extract" } else { "none" }
}

fn results(run: &RunLog, model: &ModelRecord, places: &[Place<'_>]) -> Value {
    let cells = cells(run);
    let each = |value: &dyn Fn(&Place<'_>) -> Value| -> Map<String, Value> {
        places.iter().map(|place| (name(place), value(place))).collect()
    };
    let task = |place: &Place<'_>| run.header.tasks.get(place.task_index);
    let figures = |place: &Place<'_>| {
        let of = |cell: &&crate::report::Cell| {
            (&cell.model, &cell.task, &cell.interface) == (&place.model, &place.task, &place.interface)
        };
        let Some(cell) = cells.iter().find(of) else { return Value::Null };
        let filter = filter(place);
        json!({
            "alias": name(place),
            "name": name(place),
            "sample_len": cell.n,
            format!("acc,{filter}"): cell.accuracy,
            format!("acc_stderr,{filter}"): standard_error(&place.items),
            format!("unanswered,{filter}"): (cell.n > 0).then(|| cell.unanswered_total() as f64 / cell.n as f64),
        })
    };
    let config = |place: &Place<'_>| {
        let params = task(place).and_then(|task| serde_json::from_str::<Value>(&task.params_json).ok());
        json!({
            "task": name(place),
            "output_type": if filter(place) == "none" { "multiple_choice" } else { "generate_until" },
            "num_fewshot": 0,
            "metadata": { "version": task(place).map(|task| task.version), "params": params },
        })
    };
    let counts = |place: &Place<'_>| {
        let effective = place.items.iter().filter(|item| counts(item)).count();
        json!({ "original": task(place).map_or(effective as u32, |task| task.items), "effective": effective })
    };
    json!({
        "results": each(&figures),
        "group_subtasks": each(&|_| json!([])),
        "configs": each(&config),
        "versions": each(&|place| json!(task(place).map(|task| task.version))),
        "n-shot": each(&|_| json!(0)),
        "higher_is_better": each(&|_| json!({ "acc": true, "unanswered": false })),
        "n-samples": each(&counts),
        "config": {
            "model": "edge-eval",
            "model_args": model.path,
            "model_num_parameters": model.parameters,
            "model_dtype": model.quantisation,
            "model_sha": model.sha256,
            "batch_size": null,
        },
        "git_hash": null,
        "date": run.sessions.first().map(|session| session.wall_us as f64 / 1e6),
        "task_hashes": each(&|place| json!(task(place).map(|task| &task.items_sha256))),
        "model_source": "edge-eval",
        "model_name": model.name,
        "model_name_sanitized": model.name,
        "chat_template": (!model.template.is_empty()).then_some(&model.template),
        "chat_template_sha": (!model.template.is_empty()).then_some(&model.template_sha256),
        "edge_eval": { "run_id": run.header.run_id, "program": run.header.program, "cpu_level": run.header.level, "device": run.header.device },
    })
}

fn counts(item: &ItemRecord) -> bool {
    !matches!(item.verdict, Verdict::Skipped(_) | Verdict::Lost(_))
}

/// As the harness calculates it: the sample's standard deviation over the root of n. A single item has none.
fn standard_error(items: &[&ItemRecord]) -> Value {
    let worths: Vec<f64> = items.iter().filter_map(|item| worth(item.verdict)).collect();
    let n = worths.len() as f64;
    if worths.len() < 2 {
        return json!("N/A");
    }
    let mean = worths.iter().sum::<f64>() / n;
    let squares: f64 = worths.iter().map(|worth| (worth - mean).powi(2)).sum();
    json!((squares / (n - 1.0) / n).sqrt())
}

fn samples(place: &Place<'_>, prompts: &Prompts<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let filter = filter(place);
    let asked = place.items.iter().filter(|item| counts(item)).enumerate();
    asked.into_iter().try_for_each(|(number, item)| line(&sample(number, item, prompts, filter), out))
}

fn sample(number: usize, item: &ItemRecord, prompts: &Prompts<'_>, filter: &str) -> Value {
    let last = item.turns.last();
    let target = last.map(gold_in_words).unwrap_or_default();
    let labels: &[String] = last.map_or(&[], |turn| &turn.labels);
    let tags: Map<String, Value> = item.tags.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let doc =
        json!({ "id": item.item, "family": item.family, "tags": tags, "labels": labels, "gold": target });
    let prompt = prompts.first(item).map(|prompt| words(&prompt));
    let scored = last.and_then(TurnRecord::scored);
    let answer = last.map(answer_in_words).unwrap_or_default();
    let (arguments, resps, filtered) = match scored.filter(|_| filter == "none") {
        Some(scored) => {
            let answers: Vec<Value> =
                scored.labels.iter().map(|label| json!([label.sum(), label.rank == 1])).collect();
            let texts = last.map_or(labels, |turn| if turn.texts.is_empty() { labels } else { &turn.texts });
            let asked = texts.iter().map(|text| json!({ "arg_0": prompt, "arg_1": text })).collect();
            (numbered(asked), answers.iter().map(|answer| json!([answer])).collect(), answers)
        }
        None => {
            let texts = item.turns.iter().flat_map(|turn| &turn.replies).filter_map(|reply| match reply {
                Reply::Generated(generated) => Some(json!([generated.text()])),
                _ => None,
            });
            (
                numbered(vec![json!({ "arg_0": prompt, "arg_1": {} })]),
                texts.collect::<Vec<_>>(),
                vec![json!(answer)],
            )
        }
    };
    json!({
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": arguments,
        "resps": resps,
        "filtered_resps": filtered,
        "filter": filter,
        "metrics": ["acc", "unanswered"],
        "doc_hash": digest(&doc.to_string()),
        "prompt_hash": prompt.as_deref().map(digest),
        "target_hash": digest(&target),
        "acc": worth(item.verdict),
        "unanswered": f64::from(u8::from(matches!(item.verdict, Verdict::Unanswered(_)))),
    })
}

fn numbered(arguments: Vec<Value>) -> Map<String, Value> {
    arguments.into_iter().enumerate().map(|(at, value)| (format!("gen_args_{at}"), value)).collect()
}

/// A prompt before the chat template, turn by turn.
fn words(prompt: &Prompt) -> String {
    let turns = prompt.turns.iter().map(|turn| format!("[{}]\n{}\n", turn.role.as_str(), turn.text));
    turns.chain([prompt.lead.clone()]).collect()
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
