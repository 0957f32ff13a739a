//! Damaged files: each is refused or read in no time, none panics.

use super::*;

/// A small generator of its own: the damage must be the same on every run.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

fn read_quickly(bytes: &[u8], what: &str) -> bool {
    let start = Instant::now();
    let outcome = parse(bytes);
    assert!(start.elapsed() < Duration::from_secs(1), "{what} took {:?}", start.elapsed());
    match outcome {
        Ok(header) => {
            assert!(!header.inspect().to_string().is_empty());
            true
        }
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 1, "{what}: {error}");
            false
        }
    }
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let whole = small().finish();
    for end in 0..whole.len() {
        assert!(!read_quickly(&whole[..end], &format!("cut at {end}")), "cut at {end} was accepted");
    }
    assert!(read_quickly(&whole, "whole"));
}

#[test]
fn flipped_bits_and_absurd_numbers_never_panic() {
    let whole = small().text("tokenizer.chat_template", "{{ messages }}").finish();
    let mut noise = Noise(1);
    for round in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..=noise.below(4) {
            let at = noise.below(bytes.len());
            bytes[at] ^= 1 << noise.below(8);
        }
        if round % 3 == 0 {
            let at = noise.below(bytes.len() - 8);
            let number = [u64::MAX, 1 << 63, 1 << 40, u64::from(u32::MAX), 0][noise.below(5)];
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        if round % 5 == 0 {
            bytes.truncate(noise.below(bytes.len()));
        }
        read_quickly(&bytes, &format!("round {round}"));
    }
}

#[test]
fn a_large_vocabulary_keeps_little_and_reads_in_linear_time() {
    let words: Vec<String> = (0..260_000).map(|n| format!("word{n}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut kinds = vec![1; words.len()];
    kinds[7] = 3;
    let writer = Writer::default()
        .text("tokenizer.ggml.model", "gpt2")
        .texts("tokenizer.ggml.tokens", &words)
        .integers("tokenizer.ggml.token_type", &kinds);
    let bytes = writer.finish();
    let start = Instant::now();
    let header = parse(&bytes).expect("sound");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(header.vocabulary.tokens, 260_000);
    assert_eq!(header.vocabulary.control_texts.into_iter().collect::<Vec<_>>(), ["word7"]);
    assert!(header.values.values().all(|value| !matches!(value, Value::Integers(all) if all.len() > 4096)));
}

#[test]
fn more_control_tokens_than_any_model_has_are_refused() {
    let word = "w".repeat(1000);
    let words = vec![word.as_str(); 5000];
    let writer = Writer::default()
        .texts("tokenizer.ggml.tokens", &words)
        .integers("tokenizer.ggml.token_type", &vec![3; words.len()]);
    assert!(matches!(fault(&writer.finish()), Fault::Absurd(_)));
}
