//! Typed answers from a header.

use std::collections::BTreeMap;

use super::{ARCHITECTURES, Header, Value, file_type_name};

impl Header {
    /// `general.architecture`: `llama`.
    pub fn architecture(&self) -> Option<&str> {
        self.text("general.architecture")
    }

    /// Whether the pinned llama.cpp can load this architecture.
    pub fn architecture_supported(&self) -> bool {
        self.architecture().is_some_and(|name| ARCHITECTURES.binary_search(&name).is_ok())
    }

    /// Whether it is a picture projector, which goes with a language model and is none itself.
    pub fn projector(&self) -> bool {
        self.architecture() == Some("clip")
    }

    /// `general.name`.
    pub fn name(&self) -> Option<&str> {
        self.text("general.name")
    }

    /// Name of the quantisation: from `general.file_type`, else the type that most tensor bytes have.
    pub fn quantisation(&self) -> String {
        let stated = self.values.get("general.file_type").and_then(Value::count).and_then(file_type_name);
        let most = || self.bytes_by_type().into_iter().max_by_key(|row| row.1).map(|row| row.0);
        stated.or_else(most).unwrap_or("unknown").to_owned()
    }

    /// Bytes of the tensors of each type.
    pub fn bytes_by_type(&self) -> BTreeMap<&'static str, u64> {
        let mut sums = BTreeMap::new();
        for tensor in &self.tensors {
            let sum: &mut u64 = sums.entry(tensor.kind.name).or_default();
            *sum = sum.saturating_add(tensor.bytes);
        }
        sums
    }

    /// Elements of all tensors.
    pub fn parameters(&self) -> u64 {
        self.tensors.iter().fold(0, |sum, tensor| sum.saturating_add(tensor.elements))
    }

    /// Bytes of all tensors.
    pub fn weight_bytes(&self) -> u64 {
        self.tensors.iter().fold(0, |sum, tensor| sum.saturating_add(tensor.bytes))
    }

    /// Context that the model was trained for, in tokens.
    pub fn context_tokens(&self) -> Option<u64> {
        self.of_architecture("context_length")
    }

    /// Number of layers.
    pub fn layers(&self) -> Option<u64> {
        self.of_architecture("block_count")
    }

    /// Width of the hidden state.
    pub fn width(&self) -> Option<u64> {
        self.of_architecture("embedding_length")
    }

    /// Attention heads of each layer; one entry where all layers agree, none where the header is silent.
    pub fn heads(&self) -> Vec<u64> {
        self.per_layer("attention.head_count")
    }

    /// Key-value heads of each layer, as [`Header::heads`]; equal to the heads where the header does not say.
    pub fn kv_heads(&self) -> Vec<u64> {
        let stated = self.per_layer("attention.head_count_kv");
        if stated.is_empty() { self.heads() } else { stated }
    }

    /// Elements of one key of one head.
    pub fn key_width(&self) -> Option<u64> {
        self.of_architecture("attention.key_length").or_else(|| self.head_width())
    }

    /// Elements of one value of one head.
    pub fn value_width(&self) -> Option<u64> {
        self.of_architecture("attention.value_length").or_else(|| self.head_width())
    }

    /// Sliding window in tokens; `None` where every layer sees everything.
    pub fn sliding_window_tokens(&self) -> Option<u64> {
        self.of_architecture("attention.sliding_window").filter(|&tokens| tokens > 0)
    }

    /// Whether the header has figures of a recurrent state: such models cannot roll a sequence back.
    pub fn recurrent(&self) -> bool {
        let Some(architecture) = self.architecture() else { return false };
        let part = |key: &str, name: &str| {
            key.strip_prefix(architecture)
                .and_then(|rest| rest.strip_prefix('.'))
                .is_some_and(|k| k.starts_with(name))
        };
        let signs = ["ssm.", "wkv.", "shortconv.", "kda."];
        self.values.keys().any(|key| signs.iter().any(|sign| part(key, sign)))
    }

    /// `tokenizer.ggml.model`: `gpt2` (byte pairs), `llama` (SentencePiece) ...
    pub fn tokenizer(&self) -> Option<&str> {
        self.text("tokenizer.ggml.model")
    }

    /// `tokenizer.ggml.pre`: how text is cut before byte pairs are merged.
    pub fn pre_tokenizer(&self) -> Option<&str> {
        self.text("tokenizer.ggml.pre")
    }

    /// Whether a byte-pair tokenizer lacks its cutting rule: llama.cpp then guesses one, and texts become other
    /// tokens than the model was trained on. Such a model needs an explicit wish to be run.
    pub fn pre_tokenizer_missing(&self) -> bool {
        self.tokenizer() == Some("gpt2") && matches!(self.pre_tokenizer(), None | Some("" | "default"))
    }

    /// What the header says on a begin-of-sequence token; `None` leaves it to the kind of tokenizer.
    pub fn add_bos(&self) -> Option<bool> {
        self.values.get("tokenizer.ggml.add_bos_token").and_then(Value::bool)
    }

    /// Whether the tokenizer puts a begin-of-sequence token first: as the header says, else as llama.cpp's default
    /// for this kind of tokenizer.
    pub fn adds_bos(&self) -> bool {
        let llama3 =
            ["llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"];
        self.add_bos().unwrap_or_else(|| match self.tokenizer() {
            Some("llama" | "bert") => true,
            Some("gpt2") => self.pre_tokenizer().is_some_and(|pre| llama3.contains(&pre)),
            _ => false,
        })
    }

    /// Whether the header wants an end-of-sequence token after every text; it must not stand after a prompt.
    pub fn add_eos(&self) -> bool {
        self.values.get("tokenizer.ggml.add_eos_token").and_then(Value::bool).unwrap_or(false)
    }

    /// Number of a token that the header names: `bos`, `eos`, `eot`, `unknown`, `padding`.
    pub fn token_id(&self, name: &str) -> Option<u64> {
        self.vocabulary.named.get(name).map(|token| token.id)
    }

    /// Text of a token that the header names.
    pub fn token_text(&self, name: &str) -> Option<&str> {
        self.vocabulary.named.get(name)?.text.as_deref()
    }

    /// The chat template.
    pub fn chat_template(&self) -> Option<&str> {
        self.text("tokenizer.chat_template").filter(|text| !text.trim().is_empty())
    }

    /// Further chat templates by name (`tool_use`, `rag`).
    pub fn named_chat_templates(&self) -> BTreeMap<&str, &str> {
        let name = |key| str::strip_prefix(key, "tokenizer.chat_template.");
        self.values.iter().filter_map(|(key, value)| Some((name(key.as_str())?, value.text()?))).collect()
    }

    /// A text value.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key).and_then(Value::text)
    }

    /// A count under the architecture's own prefix: `context_length` reads `llama.context_length`.
    pub fn of_architecture(&self, key: &str) -> Option<u64> {
        self.values.get(&format!("{}.{key}", self.architecture()?)).and_then(Value::count)
    }

    fn head_width(&self) -> Option<u64> {
        let heads = *self.heads().iter().max()?;
        self.width()?.checked_div(heads)
    }

    fn per_layer(&self, key: &str) -> Vec<u64> {
        let Some(architecture) = self.architecture() else { return Vec::new() };
        match self.values.get(&format!("{architecture}.{key}")) {
            Some(Value::Integers(all)) => all.iter().map(|&n| u64::try_from(n).unwrap_or(0)).collect(),
            Some(value) => value.count().into_iter().collect(),
            None => Vec::new(),
        }
    }
}
