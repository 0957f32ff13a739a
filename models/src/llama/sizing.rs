//! How much memory a context would take: the library builds its graphs without allocating what they need.
//!
//! The library tells the sizes only in its log, so its lines are read here. Nothing is loaded but the header and the
//! vocabulary.

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{Mutex, PoisonError};

use llama_cpp_sys_2 as sys;

use super::decoder::rows;
use super::eyes::Eyes;
use super::shape::Shape;
use crate::{Buffers, EngineError, LoadSpec};

/// What stands before the size of a buffer to compute in.
const COMPUTE: &str = "compute buffer size = ";
/// What stands before the size of a cache.
const CACHE: &str = ": size = ";

/// Sizes the contexts of several specs of one model.
pub(super) fn buffers(specs: &[LoadSpec]) -> Result<Vec<Buffers>, EngineError> {
    let Some(first) = specs.first() else { return Ok(Vec::new()) };
    let name = first.model.display();
    super::backend()?;
    let path = CString::new(first.model.to_string_lossy().as_bytes())
        .map_err(|_| EngineError(format!("{name}: the path has a zero byte")))?;
    listen();
    let model = Model::open(&path);
    let sized = match &model {
        Some(model) => model.picture_bytes(first).and_then(|picture_bytes| {
            let size = |spec: &LoadSpec| Ok(Buffers { picture_bytes, ..model.size(spec)? });
            specs.iter().map(size).collect()
        }),
        None => Err(EngineError(format!("{name}: llama.cpp cannot size it: {}", last_line()))),
    };
    drop(model);
    super::quiet();
    sized
}

/// Lines of the library since the last [`heard`].
static HEARD: Mutex<String> = Mutex::new(String::new());

fn heard() -> String {
    std::mem::take(&mut *HEARD.lock().unwrap_or_else(PoisonError::into_inner))
}

fn last_line() -> String {
    heard().lines().last().unwrap_or("no reason is told").trim().to_owned()
}

#[allow(unsafe_code)]
fn listen() {
    unsafe extern "C" fn hear(_: sys::ggml_log_level, text: *const c_char, _: *mut c_void) {
        /// Lines about every tensor are of no use here; the sizes stand at the end.
        const MOST_BYTES: usize = 1 << 20;
        if text.is_null() {
            return;
        }
        // SAFETY: the library passes a string that ends in zero and lives during the call.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.len() > MOST_BYTES {
            heard.clear();
        }
        heard.push_str(&text);
    }
    heard();
    // SAFETY: the function is static and takes no data.
    unsafe {
        sys::llama_log_set(Some(hear), std::ptr::null_mut());
        sys::mtmd_log_set(Some(hear), std::ptr::null_mut());
    }
}

/// A model without its weights.
struct Model(*mut sys::llama_model);

#[allow(unsafe_code)]
impl Model {
    fn open(path: &CStr) -> Option<Self> {
        // SAFETY: the defaults are plain data, the path lives during the call.
        let model = unsafe {
            let mut params = sys::llama_model_default_params();
            params.no_alloc = true;
            params.load_mode = sys::LLAMA_LOAD_MODE_NONE;
            sys::llama_model_load_from_file(path.as_ptr(), params)
        };
        (!model.is_null()).then_some(Model(model))
    }

    /// What the picture encoder computes with. It is opened for that, with its memory, and closed again: the library has
    /// no other way to tell.
    fn picture_bytes(&self, spec: &LoadSpec) -> Result<u64, EngineError> {
        let Some(path) = &spec.mmproj else { return Ok(0) };
        heard();
        // SAFETY: the model lives as long as `self`.
        let is_open = unsafe { Eyes::rehearse(path, self.0) };
        let lines = heard();
        let told = lines.lines().rfind(|line| line.contains(COMPUTE));
        match (is_open, told.and_then(|line| mebibytes(line, COMPUTE))) {
            (true, Some(bytes)) => Ok(bytes),
            (true, None) => Ok(0),
            (false, _) => {
                let last = lines.lines().last().unwrap_or("no reason is told").trim();
                Err(EngineError(format!("{}: llama.cpp cannot size it: {last}", path.display())))
            }
        }
    }

    /// The cache of prompts, and that of replies where they have one.
    fn shapes(&self, spec: &LoadSpec) -> (Shape, Option<Shape>) {
        // SAFETY: the model lives as long as `self`.
        let keeps = unsafe { sys::llama_model_is_recurrent(self.0) || sys::llama_model_is_hybrid(self.0) };
        match Shape::apart(spec, keeps) {
            Some((prompts, replies)) => (prompts, Some(replies)),
            None => (Shape::of(spec, keeps), None),
        }
    }

    fn size(&self, spec: &LoadSpec) -> Result<Buffers, EngineError> {
        let (shape, replies) = self.shapes(spec);
        // SAFETY: the model lives as long as `self`.
        let vocab_tokens = unsafe { sys::llama_vocab_n_tokens(sys::llama_model_get_vocab(self.0)) }.max(1);
        let in_a_call = rows(spec.mode, vocab_tokens as usize).min(shape.batch_tokens as usize) as u32;
        // The library keeps a row for every sequence, and wants room for as many when it computes; but rows that no call
        // asks for are never touched.
        let kept = in_a_call.max(shape.sequences);
        let whole = self.open_context(spec, shape, kept)?;
        let computing = match in_a_call < shape.sequences {
            true => self.open_context(spec, Shape { sequences: in_a_call, ..shape }, in_a_call)?,
            false => whole.clone(),
        };
        let reply_rows = replies.map_or(0, |replies| replies.sequences);
        let replies = replies.map(|replies| self.open_context(spec, replies, reply_rows)).transpose()?;
        let replies = replies.unwrap_or_default();
        let untold =
            || EngineError(format!("{}: llama.cpp does not tell a context's size", spec.model.display()));
        // A reply is copied when it moves, at its full length at the most.
        let moved_bytes = mebibytes(&replies, CACHE).unwrap_or(0) / u64::from(reply_rows.max(1));
        Ok(Buffers {
            cache_bytes: [&whole, &replies].into_iter().filter_map(|lines| mebibytes(lines, CACHE)).sum(),
            compute_bytes: mebibytes(&computing, COMPUTE).ok_or_else(untold)?
                + mebibytes(&replies, COMPUTE).unwrap_or(0)
                + moved_bytes,
            output_bytes: u64::from(kept + reply_rows) * vocab_tokens as u64 * 4,
            picture_bytes: 0,
        })
    }

    /// Opens a context without memory and closes it; gives what the library says of it.
    fn open_context(&self, spec: &LoadSpec, shape: Shape, outputs: u32) -> Result<String, EngineError> {
        heard();
        // SAFETY: the defaults are plain data, the model lives as long as `self`, the context is freed at once.
        let made = unsafe {
            let mut params = shape.params(spec);
            params.n_outputs_max = outputs;
            let context = sys::llama_init_from_model(self.0, params);
            if !context.is_null() {
                sys::llama_free(context);
            }
            !context.is_null()
        };
        let lines = heard();
        let last = lines.lines().last().unwrap_or("no reason is told").trim();
        made.then(|| lines.clone()).ok_or_else(|| {
            EngineError(format!("{}: llama.cpp cannot size a context: {last}", spec.model.display()))
        })
    }
}

#[allow(unsafe_code)]
impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: it was made by the library and is freed once.
        unsafe { sys::llama_model_free(self.0) };
    }
}

/// The sum of what stands behind `mark`, a number in MiB, in all lines.
fn mebibytes(lines: &str, mark: &str) -> Option<u64> {
    let found = lines.lines().filter_map(|line| {
        let number = line.split_once(mark)?.1.trim_start().split_once(" MiB")?.0;
        number.parse::<f64>().ok().map(|number| (number * 1_048_576.0) as u64)
    });
    let all: Vec<u64> = found.collect();
    (!all.is_empty()).then(|| all.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_the_lines_that_name_them() {
        let lines = "llama_kv_cache: size =  180.00 MiB (  8192 cells,  30 layers, 129/1 seqs), K (f16):   90.00 MiB\n\
            llama_kv_cache: size =    0.50 MiB (   256 cells,   1 layers)\nsched_reserve:        CPU compute buffer size =    97.50 MiB\n";
        assert_eq!(mebibytes(lines, CACHE), Some(361 << 19));
        assert_eq!(mebibytes(lines, "compute buffer size = "), Some(195 << 19));
        assert_eq!(mebibytes(lines, "nothing of the kind = "), None);
    }
}
