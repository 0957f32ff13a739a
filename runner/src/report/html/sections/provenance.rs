//! What it takes to make the run again, and to know that it is this one.

use super::Material;
use crate::report::html::markup::{Markup, all, details, element, table, text};

pub(super) fn render(material: &Material<'_>) -> Option<Markup> {
    let run = material.run;
    let header = &run.header;
    let device = &header.device;
    let mut facts = vec![
        ("run", header.run_id.clone()),
        ("made with", header.program.clone()),
        ("CPU level", header.level.clone()),
        ("log", format!("format {}, {}", header.format, run.summary)),
        ("extraction policy", header.reading_version.to_string()),
        ("groups", format!("{} of {}", run.groups.len(), header.groups)),
        ("sessions", sessions(material)),
        ("machine", device.model.clone()),
        ("system", device.system.clone()),
        (
            "processor",
            format!("{}, {} cores, {} threads", device.cpu, device.physical_cores, device.logical_cores),
        ),
        ("memory", format!("{} MB", device.memory_bytes / 1_000_000)),
        ("deaths of workers", run.deaths.len().to_string()),
    ];
    if let Some(complete) = run.complete {
        let megabytes =
            |bytes: Option<u64>| bytes.map_or("-".to_owned(), |bytes| format!("{} MB", bytes / 1_000_000));
        facts.push(("peak memory of the last worker", megabytes(complete.worker_peak_bytes)));
        facts.push(("peak memory of the supervisor", megabytes(complete.supervisor_peak_bytes)));
    }
    facts.retain(|(_, value)| !value.is_empty());
    let facts: Vec<Vec<String>> =
        facts.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    let models: Vec<Vec<String>> = header
        .models
        .iter()
        .map(|model| {
            vec![
                model.name.clone(),
                model.architecture.clone(),
                model.quantisation.clone(),
                model.template_source.clone(),
                model.sha256.clone(),
                model.template_sha256.clone(),
                (model.file_bytes / 1_000_000).to_string(),
                (model.parameters / 1_000_000).to_string(),
            ]
        })
        .collect();
    let tasks: Vec<Vec<String>> = header
        .tasks
        .iter()
        .map(|task| {
            let (name, own) = (task.name.clone(), task.task.clone());
            vec![name, own, task.items_sha256.clone(), task.version.to_string(), task.items.to_string()]
        })
        .collect();
    let engines: Vec<Vec<String>> = run
        .loaded
        .iter()
        .map(|loaded| {
            let model = header.models.get(usize::from(loaded.model)).map(|model| model.name.clone());
            vec![
                model.unwrap_or_default(),
                loaded.facts.engine.clone(),
                loaded.facts.level.clone(),
                loaded.facts.system.clone(),
                format!("{:?}", loaded.spec.mode).to_lowercase(),
                loaded.facts.context_tokens.to_string(),
                loaded.spec.threads.to_string(),
                loaded.spec.threads_batch.to_string(),
            ]
        })
        .collect();
    let sources: Vec<Vec<String>> = run
        .sources
        .iter()
        .map(|source| {
            let device = &source.device;
            let groups = source.groups.len().to_string();
            vec![
                source.run_id.clone(),
                device.model.clone(),
                device.cpu.clone(),
                device.system.clone(),
                groups,
            ]
        })
        .collect();
    let merged = match sources.is_empty() {
        true => Markup::default(),
        false => table("Merged from", &["run", "machine", "processor", "system", "groups"], 4, &sources),
    };
    let config: serde_json::Value = serde_json::from_str(&header.config_json).unwrap_or_default();
    let config = element("pre", &[], [text(&format!("{config:#}"))]);
    Some(all([
        table("The run", &["what", "value"], 2, &facts),
        table(
            "Models",
            &[
                "model",
                "architecture",
                "quantisation",
                "template",
                "SHA-256",
                "template's",
                "file, MB",
                "parameters, M",
            ],
            6,
            &models,
        ),
        table("Tasks", &["name", "task", "SHA-256 of the items", "version", "items"], 3, &tasks),
        table(
            "Loads",
            &["model", "engine", "CPU level", "features", "mode", "context", "threads", "for prompts"],
            5,
            &engines,
        ),
        merged,
        details("Effective configuration", [config]),
    ]))
}

fn sessions(material: &Material<'_>) -> String {
    let at = |session: &crate::entry::Session| crate::log::stamp(session.wall_us);
    material.run.sessions.iter().map(at).collect::<Vec<_>>().join(", ")
}
