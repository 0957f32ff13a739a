//! Writes tiny GGUF files for tests. An independent second description of the format: nothing of the reader is used.

/// A GGUF file being put together.
#[derive(Clone, Default)]
pub(crate) struct Writer {
    keys: Vec<u8>,
    key_count: u64,
    tensors: Vec<(String, Vec<u64>, u32, usize)>,
}

fn string(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes
}

impl Writer {
    fn key(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.keys.extend(string(key));
        self.keys.extend(kind.to_le_bytes());
        self.keys.extend(value);
        self.key_count += 1;
        self
    }

    pub(crate) fn text(self, key: &str, value: &str) -> Self {
        self.key(key, 8, &string(value))
    }

    pub(crate) fn count(self, key: &str, value: u32) -> Self {
        self.key(key, 4, &value.to_le_bytes())
    }

    pub(crate) fn flag(self, key: &str, value: bool) -> Self {
        self.key(key, 7, &[u8::from(value)])
    }

    pub(crate) fn texts(self, key: &str, values: &[&str]) -> Self {
        let mut bytes = 8u32.to_le_bytes().to_vec();
        bytes.extend((values.len() as u64).to_le_bytes());
        bytes.extend(values.iter().flat_map(|value| string(value)));
        self.key(key, 9, &bytes)
    }

    pub(crate) fn integers(self, key: &str, values: &[i32]) -> Self {
        let mut bytes = 5u32.to_le_bytes().to_vec();
        bytes.extend((values.len() as u64).to_le_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.key(key, 9, &bytes)
    }

    /// A key with any type number and any bytes.
    pub(crate) fn raw(self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.key(key, kind, value)
    }

    /// A tensor of a type number with as many data bytes as told.
    pub(crate) fn tensor(mut self, name: &str, dims: &[u64], kind: u32, bytes: usize) -> Self {
        self.tensors.push((name.to_owned(), dims.to_vec(), kind, bytes));
        self
    }

    pub(crate) fn finish(&self) -> Vec<u8> {
        let pad = |n: usize| n.next_multiple_of(32);
        let mut file = b"GGUF".to_vec();
        file.extend(3u32.to_le_bytes());
        file.extend((self.tensors.len() as u64).to_le_bytes());
        file.extend(self.key_count.to_le_bytes());
        file.extend(&self.keys);
        let mut offset = 0;
        for (name, dims, kind, bytes) in &self.tensors {
            file.extend(string(name));
            file.extend((dims.len() as u32).to_le_bytes());
            file.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
            file.extend(kind.to_le_bytes());
            file.extend((offset as u64).to_le_bytes());
            offset += pad(*bytes);
        }
        for (index, (_, _, _, bytes)) in self.tensors.iter().enumerate() {
            file.resize(pad(file.len()), 0);
            file.extend(vec![index as u8 + 1; *bytes]);
        }
        file
    }
}

/// A small model of the architecture `llama`: two tensors, 200 data bytes, a vocabulary of six.
pub(crate) fn small() -> Writer {
    Writer::default()
        .text("general.architecture", "llama")
        .text("general.name", "tiny")
        .count("general.file_type", 2)
        .count("llama.context_length", 512)
        .count("llama.block_count", 2)
        .count("llama.embedding_length", 64)
        .count("llama.attention.head_count", 4)
        .count("llama.attention.head_count_kv", 2)
        .text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", "smollm")
        .texts("tokenizer.ggml.tokens", &["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "a"])
        .integers("tokenizer.ggml.token_type", &[2, 3, 3, 3, 1, 1])
        .count("tokenizer.ggml.bos_token_id", 1)
        .count("tokenizer.ggml.eos_token_id", 2)
        .flag("tokenizer.ggml.add_bos_token", true)
        .tensor("token_embd.weight", &[32, 2], 2, 36)
        .tensor("output_norm.weight", &[41], 0, 164)
}
