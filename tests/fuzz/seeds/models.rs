//! Model files: tiny ones, with every type of value.

#[path = "../../../models/src/gguf/writer.rs"]
mod writer;

use writer::{Writer, small};

pub(crate) fn all() -> Vec<Vec<u8>> {
    let bare = Writer::default()
        .text("general.architecture", "lfm2")
        .integers("lfm2.attention.head_count_kv", &[0, 8]);
    let full =
        small().text("tokenizer.chat_template", "{{ messages[0].content }}").count("general.alignment", 32);
    let types =
        Writer::default().raw("a", 6, &[0; 4]).raw("b", 12, &[1; 8]).raw("c", 11, &[2; 8]).raw("d", 1, &[3]);
    let files = [small(), bare, full, types];
    files.iter().map(Writer::finish).collect()
}
