//! A report for machines.

use serde_json::{Value, json};

use super::baselines::Control;
use super::cells::Cell;
use super::costs::Cost;
use super::decoding::Decoding;
use super::figures::FigureRow;
use super::load::RunLog;
use super::memory::memory;
use super::note::Note;
use super::papers::Published;
use super::parity::Parity;
use super::phases::PhaseCost;
use super::pictures::picture_costs;
use super::strata::Stratum;

/// What a report holds beside its table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Views<'a> {
    /// Figures by tags, where tags were named.
    pub strata: Option<&'a [Stratum]>,
    /// Controls without a model: over all items, then by the named tags.
    pub baselines: &'a [Control],
    /// Named figures.
    pub figures: &'a [FigureRow],
    /// Latency and energy.
    pub costs: &'a [Cost],
    /// Prompts and replies.
    pub phases: &'a [PhaseCost],
    /// The parity sample.
    pub parity: &'a [Parity],
    /// Published and measured figures, where they were asked for.
    pub papers: Option<&'a [Published]>,
    /// The decoding laboratory, where there is anything of it.
    pub decoding: Option<&'a Decoding>,
}

/// The figures with what the run was. Numbers that do not exist are `null`, never 0 and never NaN.
pub fn to_json(run: &RunLog, cells: &[Cell], notes: &[Note], views: Views<'_>) -> Value {
    let config: Value = serde_json::from_str(&run.header.config_json).unwrap_or(Value::Null);
    json!({
        "run_id": run.header.run_id,
        "program": run.header.program,
        "cpu_level": run.header.level,
        "complete": run.complete.is_some(),
        "groups": { "done": run.groups.len(), "planned": run.header.own_groups() },
        "shard": run.header.shard.map(|shard| shard.to_string()),
        "config": config,
        "models": run.header.models.iter().map(|model| json!({
            "name": model.name,
            "path": model.path,
            "file_bytes": model.file_bytes,
            "sha256": model.sha256,
            "architecture": model.architecture,
            "quantisation": model.quantisation,
            "parameters": model.parameters,
            "template_source": model.template_source,
            "template_sha256": model.template_sha256,
            "mmproj": model.mmproj,
        })).collect::<Vec<_>>(),
        "tasks": run.header.tasks,
        "device": run.header.device,
        "sources": run.sources,
        "visits": run.visits,
        "supervisor_peak_bytes": run.complete.and_then(|complete| complete.supervisor_peak_bytes),
        "worker_peak_bytes": run.complete.and_then(|complete| complete.worker_peak_bytes),
        "last_session_s": run.complete.map(|complete| complete.session_us as f64 / 1e6),
        "share_outside_library": run.complete.and_then(|complete| outside(complete.session_us, complete.library_us)),
        "memory": memory(run),
        "parity": views.parity,
        "pictures": picture_costs(run),
        "cells": cells,
        "costs": views.costs,
        "phases": views.phases,
        "measured": run.measured.began,
        "strata": views.strata,
        "baselines": views.baselines,
        "figures": views.figures,
        "papers": views.papers,
        "decoding": views.decoding,
        "notes": notes,
    })
}

/// Share of a session that was not spent inside the model library.
fn outside(session_us: u64, library_us: u64) -> Option<f64> {
    (session_us > 0).then(|| 1.0 - library_us as f64 / session_us as f64)
}
