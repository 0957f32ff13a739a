//! Quantised copies of a model file, made by the library.

use std::ffi::CString;
use std::path::Path;

use llama_cpp_sys_2 as sys;

use crate::EngineError;

/// A kind of file that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileType {
    /// As users write it: `Q4_K_M`.
    pub name: &'static str,
    id: sys::llama_ftype,
}

const fn of(name: &'static str, id: sys::llama_ftype) -> FileType {
    FileType { name, id }
}

/// What can be made without an importance matrix, from the largest to the smallest.
pub fn file_types() -> &'static [FileType] {
    const TYPES: &[FileType] = &[
        of("F32", sys::LLAMA_FTYPE_ALL_F32),
        of("F16", sys::LLAMA_FTYPE_MOSTLY_F16),
        of("BF16", sys::LLAMA_FTYPE_MOSTLY_BF16),
        of("Q8_0", sys::LLAMA_FTYPE_MOSTLY_Q8_0),
        of("Q6_K", sys::LLAMA_FTYPE_MOSTLY_Q6_K),
        of("Q5_K_M", sys::LLAMA_FTYPE_MOSTLY_Q5_K_M),
        of("Q5_K_S", sys::LLAMA_FTYPE_MOSTLY_Q5_K_S),
        of("Q5_1", sys::LLAMA_FTYPE_MOSTLY_Q5_1),
        of("Q5_0", sys::LLAMA_FTYPE_MOSTLY_Q5_0),
        of("Q4_K_M", sys::LLAMA_FTYPE_MOSTLY_Q4_K_M),
        of("Q4_K_S", sys::LLAMA_FTYPE_MOSTLY_Q4_K_S),
        of("Q4_1", sys::LLAMA_FTYPE_MOSTLY_Q4_1),
        of("Q4_0", sys::LLAMA_FTYPE_MOSTLY_Q4_0),
        of("IQ4_NL", sys::LLAMA_FTYPE_MOSTLY_IQ4_NL),
        of("IQ4_XS", sys::LLAMA_FTYPE_MOSTLY_IQ4_XS),
        of("Q3_K_L", sys::LLAMA_FTYPE_MOSTLY_Q3_K_L),
        of("Q3_K_M", sys::LLAMA_FTYPE_MOSTLY_Q3_K_M),
        of("Q3_K_S", sys::LLAMA_FTYPE_MOSTLY_Q3_K_S),
        of("Q2_K", sys::LLAMA_FTYPE_MOSTLY_Q2_K),
    ];
    TYPES
}

/// Writes a quantised copy. `requantise` lets a source pass that is quantised already.
#[allow(unsafe_code)]
pub fn quantise(
    source: &Path,
    target: &Path,
    kind: FileType,
    threads: u32,
    requantise: bool,
) -> Result<(), EngineError> {
    let text = |path: &Path| {
        CString::new(path.to_string_lossy().as_bytes())
            .map_err(|_| EngineError(format!("{}: the path has a zero byte", path.display())))
    };
    let (from, to) = (text(source)?, text(target)?);
    super::backend()?;
    // SAFETY: the defaults are plain data; both paths live during the call.
    let code = unsafe {
        let mut params = sys::llama_model_quantize_default_params();
        params.nthread = threads as i32;
        params.ftype = kind.id;
        params.allow_requantize = requantise;
        sys::llama_model_quantize(from.as_ptr(), to.as_ptr(), &raw const params)
    };
    match code {
        0 => Ok(()),
        code => Err(EngineError(format!(
            "{}: llama.cpp could not make {} of it (code {code}); its reason stands above",
            source.display(),
            kind.name
        ))),
    }
}
