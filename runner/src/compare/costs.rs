//! What a side costs beside time: its file, its memory.

use serde::Serialize;

use super::side::Side;

/// A side with what it takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// How the comparison calls it.
    pub name: String,
    /// The run folder.
    pub run: String,
    /// Identity of the run.
    pub run_id: String,
    /// Quantisation of the model.
    pub quantisation: String,
    /// Hash of the model's file.
    pub sha256: String,
    /// Size of the model's file.
    pub file_bytes: u64,
    /// Its ratio to the reference's.
    pub file_ratio: Option<f64>,
    /// Peak memory of the worker; only known where the run had this model alone.
    pub peak_bytes: Option<u64>,
    /// Its ratio to the reference's.
    pub peak_ratio: Option<f64>,
}

/// What a side costs, against another.
pub(super) fn costs(side: &Side, reference: &Side) -> Costs {
    let ratio = |own: u64, other: u64| (own > 0 && other > 0).then(|| own as f64 / other as f64);
    Costs {
        name: side.name.clone(),
        run: side.dir.display().to_string(),
        run_id: side.header.run_id.clone(),
        quantisation: side.model.quantisation.clone(),
        sha256: side.model.sha256.clone(),
        file_bytes: side.model.file_bytes,
        file_ratio: ratio(side.model.file_bytes, reference.model.file_bytes),
        peak_bytes: side.peak_bytes,
        peak_ratio: side.peak_bytes.zip(reference.peak_bytes).and_then(|(own, other)| ratio(own, other)),
    }
}
