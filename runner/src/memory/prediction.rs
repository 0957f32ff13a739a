//! What a worker will take, line by line.

use models::gguf::Header;
use models::{Buffers, LoadSpec, Mode};
use serde::{Deserialize, Serialize};

use super::budget::Counts;
use super::ground::Ground;
use super::repack::Places;

/// Whether the system can drop memory and read it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It cannot: the heap, caches, copies.
    Private,
    /// It can: what is mapped from a file.
    File,
}

/// One line of a prediction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// What takes it.
    pub what: String,
    /// How much.
    pub bytes: u64,
    /// Of which kind.
    pub kind: Kind,
}

/// What a worker takes at its peak.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prediction {
    /// Line by line.
    pub lines: Vec<Line>,
    /// Whether the library sized its buffers itself; otherwise they are reckoned from the header, and less sure.
    pub sized: bool,
}

impl Prediction {
    /// Memory of a kind.
    pub fn of(&self, kind: Kind) -> u64 {
        self.lines.iter().filter(|line| line.kind == kind).map(|line| line.bytes).sum()
    }

    /// All of it.
    pub fn resident_bytes(&self) -> u64 {
        self.of(Kind::Private) + self.of(Kind::File)
    }

    /// What counts against a budget.
    pub fn counted(&self, counts: Counts) -> u64 {
        match counts {
            Counts::Resident => self.resident_bytes(),
            Counts::Private => self.of(Kind::Private),
        }
    }

    /// The smallest budget that admits it: a prediction may be up to 3 % under what comes.
    pub fn budget_bytes(&self, counts: Counts) -> u64 {
        let counted = self.counted(counts);
        counted + counted * 3 / 100
    }
}

/// Predicts. `buffers` are what the library said, or [`reckoned`].
pub fn predict(
    header: Option<&Header>,
    spec: &LoadSpec,
    ground: &Ground,
    buffers: Option<Buffers>,
) -> Prediction {
    let mut lines = Vec::new();
    let mut add = |what: String, bytes: u64, kind: Kind| {
        if bytes > 0 {
            lines.push(Line { what, bytes, kind });
        }
    };
    add("program".into(), ground.program_file_bytes(), Kind::File);
    add("program and vocabulary".into(), ground.private_bytes, Kind::Private);
    if let Some(header) = header {
        let places = Places::of(header, &ground.features);
        let plain = if spec.mmap { Kind::File } else { Kind::Private };
        for (kind, bytes) in &places.plain {
            let how = if spec.mmap { "mapped" } else { "read" };
            add(format!("weights {kind}, {how}"), *bytes, plain);
        }
        // What lies between them in the file stays mapped with them, copied or not.
        let between = places.mapped_bytes.saturating_sub(places.plain.values().sum());
        if spec.mmap {
            add("weights whose copies are used, mapped".into(), between, Kind::File);
        }
        for (kind, bytes) in &places.copied {
            add(format!("weights {kind}, copied into another layout"), *bytes, Kind::Private);
        }
    }
    let sized = buffers.is_some();
    let buffers = buffers.or_else(|| Some(reckoned(header?, spec))).unwrap_or_default();
    add(cache_name(header, spec), buffers.cache_bytes, Kind::Private);
    add(format!("computing, batches of {} tokens", micro_batch(spec)), buffers.compute_bytes, Kind::Private);
    add(format!("logits, {} sequences", spec.sequences), buffers.output_bytes, Kind::Private);
    add("graphs, threads, scratch".into(), overhead_bytes(header, spec), Kind::Private);
    Prediction { lines, sized }
}

fn cache_name(header: Option<&Header>, spec: &LoadSpec) -> String {
    match header {
        Some(_) => format!("KV cache {:?}, {} cells", spec.kv, cells(spec)),
        None => "ballast of the fake engine".into(),
    }
}

/// Cells as the library pads them.
fn cells(spec: &LoadSpec) -> u64 {
    u64::from(spec.cells.max(spec.context_tokens).max(1)).div_ceil(256) * 256
}

fn micro_batch(spec: &LoadSpec) -> u64 {
    u64::from(spec.batch_tokens.clamp(1, 512)).min(cells(spec))
}

/// What the library takes beside its buffers: the graph's description, the cells' bookkeeping, converted inputs of
/// products, threads.
fn overhead_bytes(header: Option<&Header>, spec: &LoadSpec) -> u64 {
    let Some(header) = header else { return 0 };
    let tensors = header.tensors.len() as u64;
    // Three graphs of eight nodes for each tensor, each node described by some 400 bytes, half of them in use.
    let graphs = 3 * 8 * tensors.max(128) * 400 / 2;
    let threads = u64::from(spec.threads.max(spec.threads_batch)) * (256 << 10);
    let widest = feed_forward(header).max(header.width().unwrap_or(0));
    let scratch = 2 * widest * micro_batch(spec);
    graphs + threads + scratch + cells(spec) * 64
}

fn feed_forward(header: &Header) -> u64 {
    let rows =
        header.tensors.iter().filter(|tensor| tensor.name.contains("ffn_")).flat_map(|t| t.dims.first());
    rows.copied().max().unwrap_or(0)
}

/// Buffers reckoned from the header alone, where no library can be asked: an upper bound for plain transformers.
pub(super) fn reckoned(header: &Header, spec: &LoadSpec) -> Buffers {
    let vocab = header
        .tensors
        .iter()
        .find(|tensor| tensor.name == "token_embd.weight")
        .and_then(|tensor| tensor.dims.get(1).copied())
        .unwrap_or(0);
    let batch = micro_batch(spec);
    /// What the engine lets the logits of one call take.
    const ROWS_BYTES: u64 = 32 << 20;
    let fitting = (ROWS_BYTES / (4 * vocab.max(1))).max(1);
    let rows = match spec.mode {
        Mode::Packed => fitting.min(u64::from(spec.batch_tokens)),
        Mode::Exact => 8,
    };
    let rows = rows.max(u64::from(spec.sequences) + 1);
    let logits = rows * vocab * 4;
    let width = header.width().unwrap_or(0);
    let activations = batch * (4 * width + 3 * feed_forward(header)) * 4;
    let mask = batch * cells(spec) * 2;
    Buffers {
        cache_bytes: cache_bytes(header, spec),
        compute_bytes: logits.max(activations) + batch * width * 4 + mask,
        output_bytes: logits,
        picture_bytes: 0,
    }
}

/// Bytes of the KV cache by the shapes in the header: every layer has all cells.
pub(super) fn cache_bytes(header: &Header, spec: &LoadSpec) -> u64 {
    let layers = header.layers().unwrap_or(0);
    // Layers that use the keys and values of another one keep none.
    let shared = header.of_architecture("attention.shared_kv_layers").unwrap_or(0);
    let heads = header.kv_heads();
    let (Some(key), Some(value)) = (header.key_width(), header.value_width()) else { return 0 };
    // A compressed cache (MLA) holds keys alone.
    let compressed = header.of_architecture("attention.kv_lora_rank").is_some();
    let row = |heads: u64| {
        let keys = spec.kv.row_bytes(heads * key);
        if compressed { keys } else { keys + spec.kv.row_bytes(heads * value) }
    };
    let per_cell: u64 = match heads.len() {
        1 => row(heads[0]) * layers.saturating_sub(shared),
        _ => heads.iter().take(layers.saturating_sub(shared) as usize).map(|&heads| row(heads)).sum(),
    };
    per_cell * cells(spec)
}
