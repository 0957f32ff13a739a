//! x
pub(crate) fn header(w: &super::writer::Writer) -> super::Header {
    super::Header::from_bytes(&w.finish(), "tiny.gguf").unwrap()
}
