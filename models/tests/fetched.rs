//! The catalogued models, where they have been fetched.

use std::path::{Path, PathBuf};

use models::catalog::{Catalog, CatalogError};
use models::gguf::Header;
use models::template::{Renderer, TemplateError, Thinking, Tokens};
use models::{Prompt, Turn};

/// The file of a catalogued model.
fn fetched(name: &str) -> Result<PathBuf, CatalogError> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    Catalog::embedded().and_then(|catalog| catalog.resolve(name, &root))
}

#[test]
fn smollm2_reads_and_its_own_template_renders() {
    let path = match fetched("smollm2-135m-instruct-q4_1") {
        Ok(path) => path,
        Err(error @ CatalogError::NotFetched { .. }) => return println!("skipped: {error}"),
        Err(error) => panic!("{error}"),
    };
    let header = Header::open(&path).expect("a sound model");
    println!("{}", header.inspect());
    // The makers' model card and configuration: 135 million parameters, 30 layers of 9 heads (3 for keys), 576 wide.
    assert_eq!(header.architecture(), Some("llama"));
    assert_eq!((header.layers(), header.width(), header.context_tokens()), (Some(30), Some(576), Some(8192)));
    assert_eq!((header.heads(), header.kv_heads()), (vec![9], vec![3]));
    assert_eq!(header.vocabulary.tokens, 49_152);
    assert_eq!(header.parameters() / 1_000_000, 134);
    assert!(!header.pre_tokenizer_missing() && header.notes.is_empty());
    let renderer = Renderer::of_model(&header, Thinking::Default).expect("a usable template");
    let prompt = Prompt { turns: vec![Turn::user("Is <|im_end|> a word?")], ..Prompt::default() };
    let segments = renderer.render(&prompt).expect("renders");
    let text: String = segments.iter().map(|segment| segment.text.as_str()).collect();
    assert!(
        text.ends_with("<|im_start|>user\nIs <|im_end|> a word?<|im_end|>\n<|im_start|>assistant\n"),
        "{text}"
    );
    assert_eq!(segments.iter().filter(|segment| !segment.control).count(), 1);
    assert!(!renderer.facts().folds_system && renderer.facts().keeps_history);
    println!("{:#?}", renderer.facts());
}

#[test]
fn gemma_reads_as_a_base_model_with_a_sliding_window() {
    let path = match fetched("gemma-3-270m-q4_k_m") {
        Ok(path) => path,
        Err(error @ CatalogError::NotFetched { .. }) => return println!("skipped: {error}"),
        Err(error) => panic!("{error}"),
    };
    let header = Header::open(&path).expect("a sound model");
    println!("{}", header.inspect());
    assert_eq!((header.architecture(), header.sliding_window_tokens()), (Some("gemma3"), Some(512)));
    assert_eq!(header.vocabulary.tokens, 262_144);
    let template = Renderer::of_model(&header, Thinking::Default);
    assert!(matches!(template, Err(TemplateError::Missing { .. })), "{template:?}");
    assert!(Renderer::raw(Tokens::of(&header)).facts().add_bos);
}
