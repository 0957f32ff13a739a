//! The reader against files made here, and the field's file bugs, one test each.

use std::path::Path;
use std::time::{Duration, Instant};

use super::writer::{Writer, small};
use super::*;

mod damage;
mod split;

/// The header of a file made here.
pub(crate) fn header(writer: &Writer) -> Header {
    parse(&writer.finish()).expect("a sound file")
}

fn parse(bytes: &[u8]) -> Result<Header, GgufError> {
    Header::from_bytes(bytes, "tiny.gguf")
}

fn fault(bytes: &[u8]) -> Fault {
    parse(bytes).expect_err("a fault").fault
}

#[test]
fn a_small_model_reads_as_it_was_written() {
    let header = header(&small());
    assert_eq!(header.architecture(), Some("llama"));
    assert!(header.architecture_supported());
    assert_eq!(header.name(), Some("tiny"));
    assert_eq!(header.quantisation(), "Q4_0");
    assert_eq!(header.context_tokens(), Some(512));
    assert_eq!((header.layers(), header.width()), (Some(2), Some(64)));
    assert_eq!((header.heads(), header.kv_heads()), (vec![4], vec![2]));
    assert_eq!((header.key_width(), header.value_width()), (Some(16), Some(16)));
    assert_eq!((header.sliding_window_tokens(), header.recurrent()), (None, false));
    // 32 x 2 elements of Q4_0 are two blocks of 18 bytes; 41 elements of F32 are 164 bytes.
    assert_eq!((header.parameters(), header.weight_bytes()), (64 + 41, 36 + 164));
    assert_eq!(header.bytes_by_type(), BTreeMap::from([("F32", 164), ("Q4_0", 36)]));
    assert_eq!(header.vocabulary.tokens, 6);
    assert_eq!((header.token_id("bos"), header.token_text("bos")), (Some(1), Some("<s>")));
    assert_eq!(header.token_text("eos"), Some("</s>"));
    assert!(header.adds_bos() && !header.add_eos());
    assert!(header.notes.is_empty());
}

#[test]
fn control_texts_are_the_control_tokens_and_those_that_always_end_a_turn() {
    // `<|im_end|>` has the type of plain text in the file; llama.cpp makes it a control token all the same.
    let texts: Vec<String> = header(&small()).vocabulary.control_texts.into_iter().collect();
    assert_eq!(texts, ["</s>", "<s>", "<unk>", "<|im_end|>", "<|im_start|>"]);
}

#[test]
fn figures_per_layer_windows_and_recurrent_states_are_seen() {
    let writer = small()
        .text("general.architecture", "lfm2")
        .integers("lfm2.attention.head_count_kv", &[0, 8, 0])
        .count("lfm2.attention.sliding_window", 1024)
        .count("lfm2.shortconv.l_cache", 3);
    // The key stands twice now; build it from nothing instead.
    assert!(matches!(fault(&writer.finish()), Fault::Damaged(_)));
    let header = header(
        &Writer::default()
            .text("general.architecture", "lfm2")
            .integers("lfm2.attention.head_count_kv", &[0, 8, 0])
            .count("lfm2.attention.sliding_window", 1024)
            .count("lfm2.shortconv.l_cache", 3),
    );
    assert_eq!(header.kv_heads(), [0, 8, 0]);
    assert_eq!(header.sliding_window_tokens(), Some(1024));
    assert!(header.recurrent());
}

#[test]
fn templates_are_found_with_and_without_names() {
    let header = header(
        &small()
            .text("tokenizer.chat_template", "{{ a }}")
            .text("tokenizer.chat_template.tool_use", "{{ b }}"),
    );
    assert_eq!(header.chat_template(), Some("{{ a }}"));
    assert_eq!(header.named_chat_templates(), BTreeMap::from([("tool_use", "{{ b }}")]));
}

#[test]
fn tok_13_a_byte_pair_vocabulary_without_its_cutting_rule_is_seen() {
    assert!(!header(&small()).pre_tokenizer_missing());
    let without = Writer::default().text("tokenizer.ggml.model", "gpt2");
    assert!(header(&without).pre_tokenizer_missing());
    assert!(header(&without.clone().text("tokenizer.ggml.pre", "default")).pre_tokenizer_missing());
    assert!(!header(&Writer::default().text("tokenizer.ggml.model", "llama")).pre_tokenizer_missing());
    let shown = header(&without).inspect().to_string();
    assert!(shown.contains("MISSING"), "{shown}");
}

#[test]
fn gguf_01_a_truncated_file_says_how_many_bytes_are_missing() {
    let whole = small().finish();
    let cut = whole.len() * 99 / 100;
    let Fault::Truncated { missing_bytes, .. } = fault(&whole[..cut]) else { panic!("not seen") };
    assert_eq!(missing_bytes, (whole.len() - cut) as u64);
    for percent in [25, 60] {
        let cut = whole.len() * percent / 100;
        let Fault::Truncated { missing_bytes, .. } = fault(&whole[..cut]) else { panic!("not seen") };
        assert!(
            missing_bytes > 0 && missing_bytes <= (whole.len() - cut) as u64,
            "{percent}: {missing_bytes}"
        );
    }
}

#[test]
fn gguf_02_files_that_are_no_models_are_named() {
    let long = |start: &str| format!("{start}{}", " ".repeat(200)).into_bytes();
    assert_eq!(fault(b""), Fault::Empty);
    assert_eq!(fault(&long("<!DOCTYPE html><html>")), Fault::WebPage);
    assert_eq!(fault(&long("\n <HTML>")), Fault::WebPage);
    assert_eq!(
        fault(&long("version https://git-lfs.github.com/spec/v1\noid sha256:00\n")),
        Fault::LfsPointer
    );
    assert_eq!(fault(&long("Access denied, é")), Fault::Text);
    assert_eq!(fault(&long("lmgg")), Fault::OldFormat("ggml"));
    assert_eq!(fault(b"tjgg\x03\x00\x00\x00"), Fault::OldFormat("ggjt"));
    assert_eq!(fault(b"PK\x03\x04rest"), Fault::OtherFormat("ZIP or PyTorch"));
    assert_eq!(fault(b"\x02\0\0\0\0\0\0\0{\""), Fault::OtherFormat("safetensors"));
    assert_eq!(fault(b"\x00\x01\x02\x03\x04"), Fault::NotGguf("00 01 02 03".to_owned()));
    assert!(matches!(fault(b"GG"), Fault::Truncated { .. }));
}

#[test]
fn gguf_02_folders_and_absent_files_are_named_too() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(Header::open(folder.path()).expect_err("a folder").fault, Fault::Directory);
    assert_eq!(Header::open(&folder.path().join("no.gguf")).expect_err("absent").fault, Fault::NotFound);
    assert!(Header::open(Path::new("/dev/null")).is_err());
}

#[test]
fn gguf_03_an_unknown_layout_is_whole_and_only_its_architecture_unsupported() {
    let header =
        header(&Writer::default().text("general.architecture", "llama").tensor("odd.name", &[8], 0, 32));
    assert_eq!(header.tensors[0].name, "odd.name");
}

#[test]
fn gguf_05_byte_order_is_told_from_the_version() {
    let mut bytes = small().finish();
    bytes[4..8].copy_from_slice(&[0, 0, 0, 3]);
    assert_eq!(fault(&bytes[..24]), Fault::BigEndian);
    assert_eq!(fault(b"FUGG\x00\x00\x00\x03"), Fault::BigEndian);
}

#[test]
fn gguf_06_format_versions_are_named_with_the_supported_range() {
    for version in [1u32, 99] {
        let mut bytes = small().finish();
        bytes[4..8].copy_from_slice(&version.to_le_bytes());
        let text = parse(&bytes).expect_err("unsupported").to_string();
        assert!(text.contains(&format!("version {version}; versions 2 to 3")), "{text}");
    }
    let mut second = small().finish();
    second[4..8].copy_from_slice(&2u32.to_le_bytes());
    assert_eq!(parse(&second).expect("version 2 has the same layout").version, 2);
}

#[test]
fn gguf_07_an_unknown_architecture_is_read_and_marked() {
    let header = header(&Writer::default().text("general.architecture", "zzz9"));
    assert!(!header.architecture_supported());
    assert!(header.inspect().to_string().contains("zzz9 (not supported by this build)"));
    assert!(ARCHITECTURES.is_sorted());
    let projector = super::tests::header(&Writer::default().text("general.architecture", "clip"));
    assert!(projector.inspect().to_string().contains("picture projector"));
}

#[test]
fn gguf_08_removed_types_are_named_with_the_remedy() {
    for (id, name) in [(31, "Q4_0_4_4"), (32, "Q4_0_4_8"), (33, "Q4_0_8_8")] {
        let bytes = Writer::default().tensor("blk.0.attn_q.weight", &[32], id, 18).finish();
        let text = parse(&bytes).expect_err("removed").to_string();
        assert!(
            text.contains(name) && text.contains("as Q4_0:") && text.contains("blk.0.attn_q.weight"),
            "{text}"
        );
    }
    let unknown = Writer::default().tensor("t", &[32], 77, 18).finish();
    assert_eq!(fault(&unknown), Fault::UnknownType { id: 77, tensor: "t".to_owned() });
}

#[test]
fn gguf_10_zero_padding_is_accepted_and_other_trailing_bytes_are_reported() {
    let whole = small().finish();
    let padded = [&whole[..], &[0; 31]].concat();
    assert!(parse(&padded).expect("padding").notes.is_empty());
    let trailed = [&whole[..], &[7; 31]].concat();
    assert_eq!(
        parse(&trailed).expect("readable").notes,
        ["31 bytes that belong to no tensor follow the last one"]
    );
}

#[test]
fn absurd_counts_and_lengths_are_refused_before_anything_is_allocated() {
    let huge = u64::MAX.to_le_bytes();
    let mut tensors = small().finish();
    tensors[8..16].copy_from_slice(&huge);
    let mut keys = small().finish();
    keys[16..24].copy_from_slice(&huge);
    let mut key_length = small().finish();
    key_length[24..32].copy_from_slice(&huge);
    let text = Writer::default().raw("general.name", 8, &huge).finish();
    let array = Writer::default().raw("a", 9, &[&4u32.to_le_bytes()[..], &huge].concat()).finish();
    let shape = Writer::default().tensor("t", &[1 << 40, 1 << 40], 0, 32).finish();
    for bytes in [tensors, keys, key_length, text, array, shape] {
        assert!(matches!(fault(&bytes), Fault::Absurd(_)), "{:?}", fault(&bytes));
    }
    let nested =
        Writer::default().raw("a", 9, &[&9u32.to_le_bytes()[..], &1u64.to_le_bytes()].concat()).finish();
    assert!(matches!(fault(&nested), Fault::Damaged(_)));
}

/// 100 keys that name one token of 60 000 bytes: 66 KB in the file, 6 MB when each keeps a copy.
#[test]
fn names_that_share_one_long_token_do_not_multiply_it() {
    let token = "x".repeat(60_000);
    let one =
        Writer::default().text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", &[&token]);
    let named = |writer: Writer, n: u32| writer.count(&format!("tokenizer.ggml.n{n}_token_id"), 0);
    assert_eq!(header(&(0..10).fold(one.clone(), named)).token_text("n9"), Some(token.as_str()));
    assert!(matches!(fault(&(0..100).fold(one, named).finish()), Fault::Absurd(_)));
}

#[test]
fn a_text_value_that_writes_to_the_terminal_is_shown_without_its_control_characters() {
    let shown = header(&Writer::default().text("general.name", "a\u{1b}[31m\nb")).inspect().to_string();
    assert!(!shown.contains('\u{1b}') && shown.contains("a\u{fffd}[31m\u{fffd}b"), "{shown}");
    let named = small().count("tokenizer.ggml.b\u{1b}\ns_token_id", 1);
    let shown = header(&named).inspect().to_string();
    assert!(!shown.contains('\u{1b}') && shown.contains("b\u{fffd}\u{fffd}s"), "{shown}");
}

#[test]
fn sha256_is_that_of_the_standard() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("abc");
    std::fs::write(&path, "abc").expect("written");
    let mut heard = 0;
    // FIPS 180-4, example for "abc".
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256_file(&path, &mut |done| heard = done), Ok(expected.to_owned()));
    assert_eq!(heard, 3);
}

#[test]
fn the_tiny_vision_model_of_the_project_reads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/models/tiny-vlm/tiny-vlm.gguf");
    if !path.is_file() {
        println!("skipped: {} is not there", path.display());
        return;
    }
    // Its README: 649 tokens, 5 layers, 3 409 472 bytes.
    let header = Header::open(&path).expect("a sound model");
    assert_eq!((header.vocabulary.tokens, header.layers(), header.file_bytes), (649, Some(5), 3_409_472));
    println!("{}", header.inspect());
}
