//! Predictions and ladders, against figures from elsewhere.

use std::path::Path;

use models::gguf::{Header, Value};
use models::{Buffers, KvType, LoadSpec, Mode};

use super::fit::{Allow, Effect, choose, ladder};
use super::prediction::{Kind, cache_bytes, predict, reckoned};
use super::repack::{Features, Places};
use super::*;
use crate::supervisor::Need;

const AVX2: &str = "CPU : AVX2 = 1 | REPACK = 1 | ";
const MIB: u64 = 1 << 20;

fn header() -> Header {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/tiny-vlm.gguf");
    Header::open(&path).expect("the fixture is a model")
}

/// A header of another shape: figures under the architecture's own prefix are replaced.
fn shaped(figures: &[(&str, u64)]) -> Header {
    let mut header = header();
    let prefix = header.architecture().expect("named").to_owned();
    header.values.retain(|key, _| !key.starts_with(&format!("{prefix}.")));
    for (key, figure) in figures {
        header.values.insert(format!("{prefix}.{key}"), Value::Unsigned(*figure));
    }
    header
}

fn spec(context_tokens: u32) -> LoadSpec {
    LoadSpec {
        context_tokens,
        mode: Mode::Packed,
        cells: context_tokens,
        sequences: 128,
        parallel: 16,
        threads: 2,
        threads_batch: 2,
        ..LoadSpec::plain("m.gguf")
    }
}

fn eight_kv_heads() -> Header {
    shaped(&[
        ("block_count", 28),
        ("embedding_length", 3072),
        ("attention.head_count", 24),
        ("attention.head_count_kv", 8),
        ("attention.key_length", 128),
        ("attention.value_length", 128),
    ])
}

#[test]
fn the_cache_of_28_layers_with_8_heads_of_128_takes_448_mib_for_4096_cells() {
    let header = eight_kv_heads();
    assert_eq!(cache_bytes(&header, &spec(4096)), 448 * MIB);
    // Cells are padded to 256, and quantised rows are blocks of 34 and 18 bytes for 32 elements.
    assert_eq!(cache_bytes(&header, &spec(4000)), 448 * MIB);
    let of = |kv| cache_bytes(&header, &LoadSpec { kv, ..spec(4096) });
    assert_eq!((of(KvType::Q8_0), of(KvType::Q4_0)), (238 * MIB, 126 * MIB));
}

#[test]
fn grouped_queries_and_shared_layers_take_less() {
    let few = shaped(&[
        ("block_count", 28),
        ("embedding_length", 1536),
        ("attention.head_count", 12),
        ("attention.head_count_kv", 2),
    ]);
    assert_eq!(cache_bytes(&few, &spec(4096)), 112 * MIB);
    let mut shared = eight_kv_heads();
    let prefix = shared.architecture().expect("named").to_owned();
    shared.values.insert(format!("{prefix}.attention.shared_kv_layers"), Value::Unsigned(14));
    assert_eq!(cache_bytes(&shared, &spec(4096)), 224 * MIB);
    let key = format!("{prefix}.attention.head_count_kv");
    shared.values.insert(key, Value::Integers([8, 4].repeat(14)));
    assert_eq!(cache_bytes(&shared, &spec(4096)), 168 * MIB);
}

#[test]
fn sys_06_the_parts_of_an_estimate_from_a_header_add_up_and_grow_with_the_context() {
    let header = eight_kv_heads();
    let ground = Ground::default();
    let of = |context| predict(Some(&header), &spec(context), &ground, None);
    let (small, large) = (of(512), of(8192));
    assert!(!small.sized);
    let line = |prediction: &Prediction, word: &str| {
        prediction.lines.iter().filter(|line| line.what.contains(word)).map(|line| line.bytes).sum::<u64>()
    };
    assert_eq!(line(&small, "weights"), header.weight_bytes());
    assert_eq!(line(&large, "KV cache") - line(&small, "KV cache"), (8192 - 512) * 114_688);
    let limit = Limit { bytes: 300 * MIB, counts: Counts::Resident, origin: "as configured".into() };
    assert!(small.budget_bytes(Counts::Resident) < 300 * MIB);
    assert!(large.budget_bytes(Counts::Resident) > 300 * MIB);
    let refusal = Refusal::new("m", &limit, large.clone());
    let table = refusal.table();
    for part in ["weights", "KV cache", "computing", "logits", "remains", "smallest budget that would do"] {
        assert!(table.contains(part), "{part} is not in\n{table}");
    }
    // The smallest budget of the message is one that admits it.
    let mib: u64 = table
        .lines()
        .last()
        .unwrap()
        .split_whitespace()
        .last()
        .unwrap()
        .trim_end_matches("MiB")
        .parse()
        .unwrap();
    assert!(large.budget_bytes(Counts::Resident) <= mib * MIB);
    assert_eq!(refusal.line().lines().count(), 1);
}

#[test]
fn sys_07_mapped_weights_beyond_what_is_free_are_let_through_and_read_ones_are_not() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("proc")).unwrap();
    let meminfo = "MemTotal: 4000000 kB\nMemAvailable: 2097152 kB\n";
    std::fs::write(dir.path().join("proc/meminfo"), meminfo).unwrap();
    let limit = Budget::Auto.limit(&System::below(dir.path()), Counts::Resident, None).unwrap();
    let mut header = eight_kv_heads();
    header.tensors[0].bytes = 3_500_000_000;
    let needs = |mmap| {
        let spec = LoadSpec { mmap, ..spec(512) };
        predict(Some(&header), &spec, &Ground::default(), None).budget_bytes(limit.counts)
    };
    assert!(needs(true) <= limit.bytes);
    assert!(needs(false) > limit.bytes);
}

#[test]
fn weights_that_are_copied_count_twice_when_they_are_mapped() {
    let mut header = header();
    let names = ["blk.0.ffn_up.weight", "blk.0.attn_q.weight"];
    let q4 = models::gguf::Header::open(&header.path).unwrap().tensors[0].kind;
    assert!(names.iter().all(|name| header.tensors.iter().any(|tensor| tensor.name == *name)));
    for tensor in &mut header.tensors {
        if names.contains(&tensor.name.as_str()) {
            tensor.kind = models::gguf::TensorType { name: "Q4_0", ..q4 };
            tensor.dims = vec![64, 64];
        }
    }
    let copied: u64 = header
        .tensors
        .iter()
        .filter(|tensor| names.contains(&tensor.name.as_str()))
        .map(|tensor| tensor.bytes)
        .sum();
    let places = Places::of(&header, &Features::of(AVX2));
    assert_eq!(places.copied.values().sum::<u64>(), copied);
    assert_eq!(places.plain.values().sum::<u64>(), header.weight_bytes() - copied);
    let ground = Ground { features: Features::of(AVX2), ..Ground::default() };
    let private = |mmap| {
        let spec = LoadSpec { mmap, ..spec(512) };
        let prediction = predict(Some(&header), &spec, &ground, Some(Buffers::default()));
        (prediction.of(Kind::Private), prediction.of(Kind::File))
    };
    let (mapped, read) = (private(true), private(false));
    assert_eq!(read.0 - mapped.0, header.weight_bytes() - copied);
    assert_eq!(read.1, 0);
    assert!(mapped.1 > 0);
}

fn fitted_at(mib: u64, spec: &LoadSpec, allow: &[Allow], need: &Need) -> Result<Fitted, Prediction> {
    let header = eight_kv_heads();
    let ground = Ground::default();
    let limit = Limit { bytes: mib * MIB, counts: Counts::Resident, origin: String::new() };
    let rungs = ladder(&Rung::wanted(spec), need, allow, limit.counts, &header, &ground.features, true);
    let of = |rung: &Rung| predict(Some(&header), &rung.spec, &ground, Some(reckoned(&header, &rung.spec)));
    let predictions = rungs.iter().map(of).collect();
    choose(rungs, predictions, &limit)
}

#[test]
fn the_ladder_lowers_one_thing_after_the_other_and_never_the_context_unless_allowed() {
    let wanted = LoadSpec { cells: 8192, ..spec(2048) };
    let need = Need { longest_prompt_tokens: 1500, longest_tokens: 2048, ..Need::default() };
    let fitted = fitted_at(600, &wanted, &[], &need).expect("half the cells do");
    assert_eq!((fitted.spec.cells, fitted.spec.context_tokens), (4096, 2048));
    assert_eq!(fitted.spec.batch_tokens, 512);
    assert!(fitted.steps.iter().all(|step| step.effect == Effect::Noise));
    let smallest = fitted_at(200, &wanted, &[], &need).expect_err("2048 cells take 224 MiB");
    assert!(smallest.resident_bytes() > 224 * MIB);
    let quantised = fitted_at(200, &wanted, &[Allow::QuantisedKv], &need).expect("8-bit keys and values do");
    assert_eq!(quantised.spec.kv, KvType::Q8_0);
    assert_eq!(quantised.steps.last().map(|step| step.effect), Some(Effect::Changes));
    let shorter = fitted_at(220, &wanted, &[Allow::ShorterGeneration], &need).expect("shorter replies do");
    // 1500 tokens of prompt, and half of the 548 that replies may have, in blocks of 256.
    assert_eq!((shorter.spec.context_tokens, shorter.spec.kv), (1792, KvType::F16));
}

#[test]
fn in_exact_mode_cells_and_sequences_cost_nothing() {
    let wanted = LoadSpec { cells: 8192, mode: Mode::Exact, ..spec(1024) };
    let fitted = fitted_at(300, &wanted, &[], &Need::default()).expect("it fits");
    assert!(fitted.steps.iter().all(|step| step.effect == Effect::Identical), "{:?}", fitted.steps);
    assert_eq!((fitted.spec.cells, fitted.spec.sequences), (1024, 1));
}
