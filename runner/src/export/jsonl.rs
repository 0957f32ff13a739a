//! One JSON object per item and interface, a line each: everything that the log says of it, by names.

use std::io::Write;

use models::Reply;
use serde_json::{Map, Value, json};

use super::{line, model_name, task_name};
use crate::entry::{ItemRecord, TurnRecord};
use crate::report::{RunLog, answer_in_words, gold_in_words, verdict, worth};

/// Writes the items of a run.
pub fn write_jsonl(run: &RunLog, output: &mut dyn Write) -> std::io::Result<()> {
    run.items.iter().try_for_each(|item| line(&object(run, item), output))
}

fn object(run: &RunLog, item: &ItemRecord) -> Value {
    let (word, reason) = verdict(item.verdict);
    let tags: Map<String, Value> = item.tags.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let scores: Map<String, Value> =
        item.scores.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    json!({
        "run": run.source_of(item.at.group),
        "model": model_name(run, item.at.model),
        "task": task_name(run, item.at.task),
        "interface": item.interface,
        "item": item.item,
        "family": item.family,
        "tags": tags,
        "verdict": word,
        "reason": (!reason.is_empty()).then_some(reason),
        "worth": worth(item.verdict),
        "scores": scores,
        "usage": item.usage,
        "tries": item.tries,
        "group": item.at.group,
        "turns": item.turns.iter().map(turn).collect::<Vec<_>>(),
    })
}

fn turn(turn: &TurnRecord) -> Value {
    let (word, reason) = verdict(turn.verdict);
    let answer = answer_in_words(turn);
    let names = if turn.texts.is_empty() { &turn.labels } else { &turn.texts };
    json!({
        "prompt_hash": models::gguf::hex(&turn.prompt_hash),
        "labels": turn.labels,
        "texts": (!turn.texts.is_empty()).then_some(&turn.texts),
        "seeds": (!turn.seeds.is_empty()).then_some(&turn.seeds),
        "gold": gold_in_words(turn),
        "answer": (!answer.is_empty()).then_some(answer),
        "verdict": word,
        "reason": (!reason.is_empty()).then_some(reason),
        "rescued": turn.rescued,
        "conflict": turn.found.as_ref().map(|found| found.conflict),
        "replies": turn.replies.iter().map(|given| reply(given, names)).collect::<Vec<_>>(),
    })
}

fn reply(reply: &Reply, labels: &[String]) -> Value {
    match reply {
        Reply::Scored(scored) => {
            let label = |(at, score): (usize, &models::LabelScore)| json!({ "label": labels.get(at), "logprob": score.sum(), "rank": score.rank, "tokens": score.tokens });
            json!({
                "kind": "scored",
                "labels": scored.labels.iter().enumerate().map(label).collect::<Vec<_>>(),
                "mass": scored.mass,
                "top": scored.top,
                "watched": scored.watched,
                "entropy": scored.entropy,
                "usage": scored.usage,
            })
        }
        Reply::Generated(generated) => json!({
            "kind": "generated",
            "text": generated.text(),
            "tokens": generated.tokens.len(),
            "finish": generated.finish,
            "thinking_cut": generated.thinking_cut,
            "usage": generated.usage,
        }),
        Reply::TooLong { needed, context } => {
            json!({ "kind": "too-long", "needed": needed, "context": context })
        }
        Reply::Failed { reason, usage } => json!({ "kind": "failed", "reason": reason, "usage": usage }),
    }
}
