//! What the tokenizer part of a header says.
//!
//! A vocabulary has up to some 260 000 tokens. Their texts stay in the file; kept are only those that mean something
//! to the template: control tokens and the begin and end tokens.

use std::collections::{BTreeMap, BTreeSet};

use super::bytes::{Bytes, Source};
use super::error::Fault;
use super::value::{self, Array, Value};

/// Bound on the texts that are kept.
const KEPT_BYTES: u64 = 4 << 20;
/// Longest text of one token; the longest real ones have a few hundred bytes.
const TOKEN_BYTES: u64 = 1 << 16;

/// What a header says of the vocabulary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// Number of tokens.
    pub tokens: u64,
    /// Spellings that become a control token when special tokens are parsed.
    pub control_texts: BTreeSet<String>,
    /// Texts of the tokens that the header names (`bos`, `eos`, `eot`, `unknown`, `padding` ...).
    pub named: BTreeMap<String, NamedToken>,
}

/// A token that the header names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedToken {
    /// Its number.
    pub id: u64,
    /// Its text; `None` when the vocabulary has no such number.
    pub text: Option<String>,
}

/// Texts that llama.cpp treats as control tokens whatever their stated type is, because they end a turn.
const ALWAYS_CONTROL: &[&str] = &[
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
];

/// Reads what matters of the vocabulary; the key-value part has been read.
pub(crate) fn read<R: Source>(
    bytes: &mut Bytes<R>,
    values: &BTreeMap<String, Value>,
) -> Result<Vocabulary, Fault> {
    let mut vocabulary = Vocabulary { named: named(values), ..Vocabulary::default() };
    let Some(Value::Array(tokens)) = values.get("tokenizer.ggml.tokens") else {
        return Ok(vocabulary);
    };
    if tokens.element != value::STRING {
        return Err(Fault::Damaged("its vocabulary is not a list of texts".to_owned()));
    }
    vocabulary.tokens = tokens.count;
    let controls = controls(bytes, values.get("tokenizer.ggml.token_type"), tokens.count)?;
    let by_id: BTreeMap<u64, Vec<String>> =
        vocabulary.named.iter().fold(BTreeMap::new(), |mut map, (name, token)| {
            map.entry(token.id).or_insert_with(Vec::new).push(name.clone());
            map
        });
    keep(bytes, *tokens, &controls, &by_id, &mut vocabulary)?;
    Ok(vocabulary)
}

fn keep<R: Source>(
    bytes: &mut Bytes<R>,
    tokens: Array,
    controls: &[bool],
    named: &BTreeMap<u64, Vec<String>>,
    vocabulary: &mut Vocabulary,
) -> Result<(), Fault> {
    let longest = ALWAYS_CONTROL.iter().map(|text| text.len() as u64).max().unwrap_or(0);
    let mut kept = 0;
    bytes.seek(tokens.at)?;
    for id in 0..tokens.count {
        let length = bytes.u64("the vocabulary")?;
        let control = controls.get(id as usize).copied().unwrap_or(false);
        let names = named.get(&id);
        if !control && names.is_none() && length > longest {
            bytes.skip(length, "the vocabulary")?;
            continue;
        }
        if length > TOKEN_BYTES {
            return Err(Fault::Absurd(format!("token {id} is said to have {length} bytes")));
        }
        let text = bytes.take(length, "the vocabulary")?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let control = (control || ALWAYS_CONTROL.contains(&text.as_str())) && !text.trim().is_empty();
        // Any number of names may share one token, and each keeps its text.
        let copies = names.map_or(0, Vec::len) as u64 + u64::from(control);
        kept += copies * length;
        if kept > KEPT_BYTES {
            return Err(Fault::Absurd(format!("its control and named tokens exceed {KEPT_BYTES} bytes")));
        }
        for name in names.into_iter().flatten() {
            if let Some(token) = vocabulary.named.get_mut(name) {
                token.text = Some(text.clone());
            }
        }
        if control {
            vocabulary.control_texts.insert(text);
        }
    }
    Ok(())
}

/// Which tokens act only where special tokens are parsed: those that stand for unknown text (2) and control tokens
/// (3). User-defined tokens (4) are found in any text, whatever is asked, so there is nothing to keep from acting.
fn controls<R: Source>(bytes: &mut Bytes<R>, value: Option<&Value>, count: u64) -> Result<Vec<bool>, Fault> {
    match value {
        Some(Value::Integers(numbers)) => Ok(numbers.iter().map(|number| matches!(number, 2 | 3)).collect()),
        Some(Value::Array(array)) if value::scalar_bytes(array.element) == Some(4) => {
            bytes.seek(array.at)?;
            let mut all = Vec::new();
            for _ in 0..array.count.min(count) {
                all.push(matches!(bytes.u32("the token types")?, 2 | 3));
            }
            Ok(all)
        }
        _ => Ok(Vec::new()),
    }
}

/// The tokens that keys of the form `tokenizer.ggml.NAME_token_id` name.
fn named(values: &BTreeMap<String, Value>) -> BTreeMap<String, NamedToken> {
    let name = |key: &str| key.strip_prefix("tokenizer.ggml.")?.strip_suffix("_token_id").map(str::to_owned);
    let tokens = values.iter().filter_map(|(key, value)| Some((name(key)?, value.count()?)));
    let mut all: BTreeMap<_, _> = tokens.map(|(name, id)| (name, NamedToken { id, text: None })).collect();
    // SentencePiece models may leave out the numbers that everybody uses; llama.cpp assumes these.
    if values.get("tokenizer.ggml.model").and_then(Value::text) == Some("llama") {
        for (name, id) in [("unknown", 0), ("bos", 1), ("eos", 2)] {
            all.entry(name.to_owned()).or_insert(NamedToken { id, text: None });
        }
    }
    all
}
