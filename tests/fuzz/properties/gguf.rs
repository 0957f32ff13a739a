//! Any file is a header or one line that says why not.

use std::path::Path;

use models::gguf::Header;
use models::template::Tokens;

/// The bytes are the file.
pub(crate) fn check(bytes: &[u8]) {
    match Header::from_bytes(bytes, "fuzz.gguf") {
        Ok(header) => sound(&header, bytes.len() as u64),
        Err(error) => one_line(&error.to_string()),
    }
}

fn sound(header: &Header, file_bytes: u64) {
    assert_eq!(header.file_bytes, file_bytes);
    assert_eq!(header.files(), [Path::new("fuzz.gguf")]);
    assert!(header.weight_bytes() <= file_bytes, "weights that the file does not have");
    assert_eq!(header.bytes_by_type().values().sum::<u64>(), header.weight_bytes());
    assert!(header.vocabulary.control_texts.len() as u64 <= header.vocabulary.tokens);
    assert!(header.vocabulary.tokens <= file_bytes / 8);
    let shown = header.inspect().to_string();
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    header.notes.iter().for_each(|note| one_line(note));
    header.key_width();
    header.value_width();
    header.named_chat_templates();
    let tokens = Tokens::of(header);
    if let Some(text) = header.chat_template() {
        tokens.control.count(text);
    }
}

fn one_line(text: &str) {
    assert!(!text.is_empty() && !text.contains(char::is_control), "{text:?}");
}
