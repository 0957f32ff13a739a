//! Speeds under the names of llama-bench's JSON: one object for prompts and one for generation, per model, task and
//! interface. Fields that a run does not know are left out.

use serde_json::{Value, json};

use crate::entry::ItemRecord;
use crate::report::{RunLog, places};

/// The objects, as a list.
pub fn llama_bench(run: &RunLog) -> Value {
    let mut tests = Vec::new();
    for place in places(run) {
        let prompts = |item: &&ItemRecord| (u64::from(item.usage.evaluated_tokens), item.usage.prefill_us);
        let replies = |item: &&ItemRecord| (u64::from(item.usage.output_tokens), item.usage.decode_us);
        let samples = |of: &dyn Fn(&&ItemRecord) -> (u64, u64)| -> Vec<(u64, u64)> {
            place.items.iter().map(of).filter(|(tokens, us)| *tokens > 0 && *us > 0).collect()
        };
        for (samples, generates) in [(samples(&prompts), false), (samples(&replies), true)] {
            let Some(first) = place.items.first().filter(|_| !samples.is_empty()) else { continue };
            tests.push(test(run, first, &place.task, &place.interface, &samples, generates));
        }
    }
    Value::Array(tests)
}

fn test(
    run: &RunLog,
    item: &ItemRecord,
    task: &str,
    interface: &str,
    samples: &[(u64, u64)],
    generates: bool,
) -> Value {
    let model = run.header.models.get(usize::from(item.at.model)).cloned().unwrap_or_default();
    let loaded = run.loaded.iter().rev().find(|loaded| loaded.model == item.at.model);
    let tokens = samples.iter().map(|sample| sample.0).sum::<u64>();
    let mean_tokens = (tokens as f64 / samples.len() as f64).round() as u64;
    let ns: Vec<f64> = samples.iter().map(|(_, us)| *us as f64 * 1e3).collect();
    let speeds: Vec<f64> = samples.iter().map(|(tokens, us)| *tokens as f64 * 1e6 / *us as f64).collect();
    let mut object = json!({
        "cpu_info": run.header.device.cpu,
        "model_filename": model.path,
        "model_type": format!("{} {}", model.architecture, model.quantisation).trim(),
        "model_size": model.file_bytes,
        "model_n_params": model.parameters,
        "n_prompt": if generates { 0 } else { mean_tokens },
        "n_gen": if generates { mean_tokens } else { 0 },
        "avg_ns": mean(&ns),
        "stddev_ns": deviation(&ns),
        "avg_ts": mean(&speeds),
        "stddev_ts": deviation(&speeds),
        "samples_ns": ns,
        "samples_ts": speeds,
        "edge_eval": { "run": run.header.run_id, "model": model.name, "task": task, "interface": interface },
    });
    if let (Some(object), Some(loaded)) = (object.as_object_mut(), loaded) {
        let threads = if generates { loaded.spec.threads } else { loaded.spec.threads_batch };
        object.insert("n_threads".to_owned(), json!(threads));
        object.insert("n_batch".to_owned(), json!(loaded.spec.batch_tokens));
        object.insert("use_mmap".to_owned(), json!(loaded.spec.mmap));
    }
    object
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of a sample; 0 for a single value, as llama-bench says.
fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use datasets::Verdict;

    use super::*;
    use crate::report::made_up::{item, run};

    #[test]
    fn speeds_are_tokens_by_seconds_and_absent_where_nothing_was_generated() {
        let timed = |id, tokens, us| {
            let mut item = item(0, id, &[], "direct", Verdict::Right);
            (item.usage.evaluated_tokens, item.usage.prefill_us) = (tokens, us);
            item
        };
        // 100 tokens in 0.5 s, 200 in 2 s: 200 and 100 tokens per second.
        let tests =
            llama_bench(&run(&["lights"], vec![timed("a", 100, 500_000), timed("b", 200, 2_000_000)]));
        let tests = tests.as_array().unwrap();
        assert_eq!(tests.len(), 1);
        assert_eq!(
            (&tests[0]["avg_ts"], &tests[0]["n_prompt"], &tests[0]["n_gen"]),
            (&150.0.into(), &150.into(), &0.into())
        );
        assert!((tests[0]["stddev_ts"].as_f64().unwrap() - 5000.0_f64.sqrt()).abs() < 1e-9);
        assert!(tests[0].get("n_threads").is_none(), "nothing was loaded");
    }
}
