//! Checks of the model file alone.

use models::gguf::{ARCHITECTURES, Header};

use super::Check;

/// Whether the header is sound and the file whole; what is odd about it.
pub(super) fn whole(header: &Header) -> Check {
    let finding = format!(
        "GGUF version {}, {} bytes in {} file(s), {} tensors, {}",
        header.version,
        header.file_bytes,
        header.files().len(),
        header.tensors.len(),
        header.quantisation()
    );
    match header.notes.is_empty() {
        true => Check::ok("file", finding),
        false => Check::warn(
            "file",
            format!("{finding}; {}", header.notes.join("; ")),
            "compare the file with its source, or fetch it again",
        ),
    }
}

/// Whether this build can load the architecture.
pub(super) fn architecture(header: &Header) -> Check {
    const NAME: &str = "architecture";
    let Some(found) = header.architecture() else {
        return Check::fail(
            NAME,
            "the header names none",
            "it is no language model, or was converted wrongly: get another file",
        );
    };
    if header.projector() {
        return Check::fail(
            NAME,
            "it is a picture projector",
            "examine the language model that it goes with",
        );
    }
    if !header.architecture_supported() {
        return Check::fail(
            NAME,
            format!(
                "{found} is unknown to the llama.cpp of llama-cpp-2 {}, which loads {}",
                models::LLAMA_CPP_2_VERSION,
                ARCHITECTURES.join(" ")
            ),
            "use a newer edge-eval, or a model of a known architecture",
        );
    }
    let context = header.context_tokens().map_or("unknown".to_owned(), |tokens| tokens.to_string());
    let window = header.sliding_window_tokens().map(|tokens| format!(", sliding window {tokens} tokens"));
    Check::ok(
        NAME,
        format!(
            "{found}, {} million parameters, trained context {context} tokens{}{}",
            header.parameters() / 1_000_000,
            window.unwrap_or_default(),
            if header.recurrent() { ", recurrent state" } else { "" }
        ),
    )
}

/// Whether a byte-pair vocabulary has its cutting rule.
pub(super) fn pre_tokenizer(header: &Header) -> Check {
    const NAME: &str = "pre-tokenizer";
    let kind = header.tokenizer().unwrap_or("not stated");
    match (header.tokenizer(), header.pre_tokenizer_missing(), header.pre_tokenizer()) {
        (None, ..) => Check::fail(
            NAME,
            "the header has no tokenizer",
            "get a file that was converted with its vocabulary",
        ),
        (_, true, _) => Check::fail(
            NAME,
            format!(
                "tokenizer {kind} without `tokenizer.ggml.pre`: texts become other tokens than in training"
            ),
            "convert the model again, or get a newer file; `guess-pre-tokenizer = true` runs it all the same",
        ),
        (_, false, Some(pre)) => Check::ok(NAME, format!("{kind} with the cutting rule {pre}")),
        (_, false, None) => Check::ok(NAME, format!("{kind} needs no cutting rule")),
    }
}
