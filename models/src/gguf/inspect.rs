//! A header at a glance, for `models inspect` and for logs.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::Header;

/// What there is to say of a model file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// The files of the model.
    pub files: Vec<String>,
    /// Bytes of all of them.
    pub file_bytes: u64,
    /// GGUF format version.
    pub format_version: u32,
    /// Architecture.
    pub architecture: Option<String>,
    /// Whether this build can load the architecture.
    pub architecture_supported: bool,
    /// Whether it is a picture projector.
    pub projector: bool,
    /// Name that the makers gave.
    pub name: Option<String>,
    /// Quantisation.
    pub quantisation: String,
    /// Elements of all tensors.
    pub parameters: u64,
    /// Bytes of all tensors.
    pub weight_bytes: u64,
    /// Bytes of the tensors of each type.
    pub bytes_by_type: BTreeMap<String, u64>,
    /// Number of tensors.
    pub tensors: usize,
    /// Trained context.
    pub context_tokens: Option<u64>,
    /// Layers.
    pub layers: Option<u64>,
    /// Width of the hidden state.
    pub width: Option<u64>,
    /// Attention heads; one entry where all layers agree.
    pub heads: Vec<u64>,
    /// Key-value heads, in the same way.
    pub kv_heads: Vec<u64>,
    /// Sliding window.
    pub sliding_window_tokens: Option<u64>,
    /// Whether the model keeps a recurrent state.
    pub recurrent: bool,
    /// Kind of tokenizer.
    pub tokenizer: Option<String>,
    /// Cutting rule of the tokenizer.
    pub pre_tokenizer: Option<String>,
    /// Whether that rule is missing where one is needed.
    pub pre_tokenizer_missing: bool,
    /// Tokens of the vocabulary.
    pub vocabulary_tokens: u64,
    /// Number of control tokens.
    pub control_tokens: usize,
    /// Whether the tokenizer puts a begin-of-sequence token first.
    pub adds_bos: bool,
    /// Named tokens as `id text`.
    pub named_tokens: BTreeMap<String, String>,
    /// Bytes of the chat template.
    pub chat_template_bytes: Option<usize>,
    /// Names of further templates.
    pub further_templates: Vec<String>,
    /// Oddities.
    pub notes: Vec<String>,
}

impl Header {
    /// The header at a glance.
    pub fn inspect(&self) -> Inspection {
        let own = |text: Option<&str>| text.map(str::to_owned);
        let named = self.vocabulary.named.iter();
        let shown = |id: u64, text: Option<&str>| match text {
            Some(text) => format!("{id} {text:?}"),
            None => format!("{id} (no such token)"),
        };
        Inspection {
            files: self.files().iter().map(|path| path.display().to_string()).collect(),
            file_bytes: self.file_bytes,
            format_version: self.version,
            architecture: own(self.architecture()),
            architecture_supported: self.architecture_supported(),
            projector: self.projector(),
            name: own(self.name()),
            quantisation: self.quantisation(),
            parameters: self.parameters(),
            weight_bytes: self.weight_bytes(),
            bytes_by_type: self.bytes_by_type().into_iter().map(|(k, n)| (k.to_owned(), n)).collect(),
            tensors: self.tensors.len(),
            context_tokens: self.context_tokens(),
            layers: self.layers(),
            width: self.width(),
            heads: same(self.heads()),
            kv_heads: same(self.kv_heads()),
            sliding_window_tokens: self.sliding_window_tokens(),
            recurrent: self.recurrent(),
            tokenizer: own(self.tokenizer()),
            pre_tokenizer: own(self.pre_tokenizer()),
            pre_tokenizer_missing: self.pre_tokenizer_missing(),
            vocabulary_tokens: self.vocabulary.tokens,
            control_tokens: self.vocabulary.control_texts.len(),
            adds_bos: self.adds_bos(),
            named_tokens: named
                .map(|(k, token)| (k.clone(), shown(token.id, token.text.as_deref())))
                .collect(),
            chat_template_bytes: self.chat_template().map(str::len),
            further_templates: self.named_chat_templates().into_keys().map(str::to_owned).collect(),
            notes: self.notes.clone(),
        }
    }
}

/// One entry where all agree.
fn same(mut all: Vec<u64>) -> Vec<u64> {
    if all.windows(2).all(|pair| pair[0] == pair[1]) {
        all.truncate(1);
    }
    all
}

/// Key and value a line; control characters of the file are escaped, so that it cannot write to the terminal.
impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys too: names of tokens come from the file.
        let plain = |text: &str| text.replace(char::is_control, "\u{fffd}");
        let mut line = |key: &str, value: String| writeln!(f, "{:<17} {}", plain(key), plain(&value));
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "not stated".to_owned());
        let count = |value: Option<u64>| value.map_or_else(|| "not stated".to_owned(), |n| n.to_string());
        let list = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let flag = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        for file in &self.files {
            line("file", file.clone())?;
        }
        line("bytes", self.file_bytes.to_string())?;
        line("format", format!("GGUF version {}", self.format_version))?;
        let support = match (self.projector, self.architecture_supported) {
            (true, _) => " (a picture projector: give it beside its language model)",
            (false, true) => "",
            (false, false) => " (not supported by this build)",
        };
        line("architecture", format!("{}{support}", text(&self.architecture)))?;
        line("name", text(&self.name))?;
        line("quantisation", self.quantisation.clone())?;
        line("parameters", self.parameters.to_string())?;
        line("tensors", format!("{} in {} bytes", self.tensors, self.weight_bytes))?;
        for (kind, bytes) in &self.bytes_by_type {
            line(&format!("  {kind}"), format!("{bytes} bytes"))?;
        }
        line("context", format!("{} tokens", count(self.context_tokens)))?;
        line("layers", count(self.layers))?;
        line("width", count(self.width))?;
        line("heads", format!("{} (key-value {})", list(&self.heads), list(&self.kv_heads)))?;
        if let Some(tokens) = self.sliding_window_tokens {
            line("sliding window", format!("{tokens} tokens"))?;
        }
        line("recurrent", flag(self.recurrent))?;
        line("tokenizer", text(&self.tokenizer))?;
        let missing =
            if self.pre_tokenizer_missing { " (MISSING: texts may become wrong tokens)" } else { "" };
        line("pre-tokenizer", format!("{}{missing}", text(&self.pre_tokenizer)))?;
        line("vocabulary", format!("{} tokens, {} control", self.vocabulary_tokens, self.control_tokens))?;
        line("adds BOS", flag(self.adds_bos))?;
        for (name, token) in &self.named_tokens {
            line(&format!("  {name}"), token.clone())?;
        }
        let template = self.chat_template_bytes.map_or_else(|| "none".to_owned(), |n| format!("{n} bytes"));
        line("chat template", template)?;
        if !self.further_templates.is_empty() {
            line("other templates", self.further_templates.join(" "))?;
        }
        for note in &self.notes {
            line("note", note.clone())?;
        }
        Ok(())
    }
}
