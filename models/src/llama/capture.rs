//! Hidden states on their way through the model, by the scheduler's own callback, which the binding does not wrap.
//!
//! The library's embeddings output would give the state behind the final norm too, but makes every token of a batch an
//! output: logits of the whole vocabulary for each of them. The callback copies the rows that are read and no others.

use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex};

use llama_cpp_sys_2::{GGML_TYPE_F32, ggml_backend_tensor_get, ggml_tensor, llama_context_params};

use crate::States;
use crate::logits::Hidden;

/// What the library calls the state behind the final norm.
const NORMED: &str = "result_norm";
/// What it calls the state behind a layer; the layer's number follows.
const LAYER: &str = "l_out-";

/// A capture that the library and the decoder share.
pub(super) type Shared = Arc<Mutex<Capture>>;

/// Rows of hidden states of the call at hand.
#[derive(Debug)]
pub(super) struct Capture {
    dimension: usize,
    layers: usize,
    wish: States,
    /// Whether a call of ours is under way; others go through the same context unheard.
    is_listening: bool,
    /// Places in the batch that are read, ascending.
    places: Vec<usize>,
    tokens: usize,
    micro_batch_tokens: usize,
    /// Which micro-batch is evaluated.
    micro_batch: usize,
    /// The tensor seen last, as the number of its state: a lower one opens the next micro-batch.
    last: Option<usize>,
    /// States of each place, one behind the other.
    values: Vec<f32>,
    /// How many of the states of each place were seen.
    seen: Vec<usize>,
    fault: Option<String>,
}

impl Capture {
    pub(super) fn new(dimension: usize, layers: usize) -> Shared {
        Arc::new(Mutex::new(Capture {
            dimension,
            layers,
            wish: States::None,
            is_listening: false,
            places: Vec::new(),
            tokens: 0,
            micro_batch_tokens: 1,
            micro_batch: 0,
            last: None,
            values: Vec::new(),
            seen: Vec::new(),
            fault: None,
        }))
    }

    /// A round begins: which states are copied in its calls. What an earlier round met is no fault of this one.
    pub(super) fn begin_round(&mut self, wish: States) {
        self.wish = wish;
        self.fault = None;
    }

    /// A call with so many tokens begins; rows at these places are read.
    pub(super) fn begin(&mut self, places: &[i32], tokens: usize, micro_batch_tokens: usize) {
        self.is_listening = self.wish != States::None && !places.is_empty();
        self.places = places.iter().map(|&place| place as usize).collect();
        (self.tokens, self.micro_batch_tokens) = (tokens, micro_batch_tokens.max(1));
        (self.micro_batch, self.last) = (0, None);
        self.values.clear();
        self.seen.clear();
        if self.is_listening {
            self.values.resize(self.places.len() * self.states() * self.dimension, 0.0);
            self.seen.resize(self.places.len(), 0);
        }
    }

    /// The call is over.
    pub(super) fn end(&mut self) {
        self.is_listening = false;
    }

    /// The states at a place, by the number of the place among those that are read; `None` where one was not seen.
    pub(super) fn hidden(&self, number: usize) -> Option<Hidden<'_>> {
        if *self.seen.get(number)? != self.states() {
            return None;
        }
        let width = self.states() * self.dimension;
        let values = self.values.get(number * width..(number + 1) * width)?;
        Some(Hidden { dimension: self.dimension, values })
    }

    /// Why states of this round are missing, where something is known.
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// States per place.
    fn states(&self) -> usize {
        if self.wish == States::Layers { self.layers + 1 } else { 1 }
    }

    /// The number of the state that a tensor holds, if it is wanted: the layers', then the normed one's.
    fn wanted(&self, name: &str) -> Option<usize> {
        if !self.is_listening {
            return None;
        }
        if name == NORMED {
            return Some(self.states() - 1);
        }
        let layer: usize = name.strip_prefix(LAYER)?.parse().ok()?;
        (self.wish == States::Layers && layer < self.layers).then_some(layer)
    }

    /// Takes the rows of a tensor that was just computed.
    fn take(&mut self, state: usize, rows: usize, width: usize, mut read: impl FnMut(usize, &mut [f32])) {
        if self.last.is_some_and(|last| state <= last) {
            self.micro_batch += 1;
        }
        self.last = Some(state);
        let start = self.micro_batch * self.micro_batch_tokens;
        let end = (start + self.micro_batch_tokens).min(self.tokens);
        let inside: Vec<(usize, usize)> = (0..self.places.len())
            .filter(|&number| (start..end).contains(&self.places[number]))
            .map(|number| (number, self.places[number] - start))
            .collect();
        if width != self.dimension {
            self.fault = Some(format!("a state has {width} numbers where {} are due", self.dimension));
            return;
        }
        // The last layer is computed for the tokens alone whose logits are wanted; the others for all.
        let all = rows == end.saturating_sub(start);
        if !all && rows != inside.len() {
            self.fault = Some(format!(
                "a state has {rows} rows, which are neither all tokens nor those that are read"
            ));
            return;
        }
        let (states, dimension) = (self.states(), self.dimension);
        for (ordinal, (number, place)) in inside.into_iter().enumerate() {
            let at = (number * states + state) * dimension;
            if let Some(target) = self.values.get_mut(at..at + dimension) {
                read(if all { place } else { ordinal }, target);
                self.seen[number] += 1;
            }
        }
    }
}

/// Lets a context that is opened with these parameters tell the capture what it computes. The capture must outlive it.
pub(super) fn listen(params: &mut llama_context_params, capture: &Shared) {
    params.cb_eval = Some(hear);
    params.cb_eval_user_data = Arc::as_ptr(capture).cast_mut().cast();
}

/// The scheduler asks whether a tensor is wanted, and hands it over once it is computed.
#[allow(unsafe_code)]
unsafe extern "C" fn hear(tensor: *mut ggml_tensor, ask: bool, capture: *mut c_void) -> bool {
    // SAFETY: the library passes a tensor of its graph, and the pointer that was set with this function.
    let (tensor, capture) = unsafe { (&*tensor, &*capture.cast::<Mutex<Capture>>()) };
    let Ok(mut capture) = capture.lock() else { return !ask };
    // SAFETY: names end in zero within their 64 bytes.
    let name = unsafe { CStr::from_ptr(tensor.name.as_ptr()) };
    let state = name.to_str().ok().and_then(|name| capture.wanted(name));
    let Some(state) = state else { return !ask };
    if ask {
        return true;
    }
    let [width, rows, more, most] = tensor.ne.map(|n| usize::try_from(n).unwrap_or(0));
    if tensor.type_ != GGML_TYPE_F32 || more != 1 || most != 1 || tensor.nb[0] != 4 {
        capture.fault = Some("the states are not rows of 32-bit floats".into());
        return true;
    }
    capture.take(state, rows, width, |row, target| {
        // SAFETY: the row lies inside the tensor, whose rows are `nb[1]` bytes apart, and the target is as long as it.
        unsafe {
            ggml_backend_tensor_get(
                tensor,
                target.as_mut_ptr().cast(),
                row * tensor.nb[1],
                size_of_val(target),
            );
        }
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a tensor of `rows` rows, each filled with its own number, leaves.
    fn give(capture: &mut Capture, name: &str, rows: usize) {
        let state = capture.wanted(name).expect("wanted");
        capture.take(state, rows, 2, |row, target| target.fill(row as f32));
    }

    #[test]
    fn rows_are_found_across_micro_batches_whether_all_tokens_or_the_read_ones_are_computed() {
        let shared = Capture::new(2, 2);
        let mut capture = shared.lock().unwrap();
        capture.begin_round(States::Layers);
        // Ten tokens in micro-batches of four; places 1, 3, 4 and 9 are read.
        capture.begin(&[1, 3, 4, 9], 10, 4);
        for (tokens, read) in [(4, 2), (4, 1), (2, 1)] {
            give(&mut capture, "l_out-0", tokens);
            give(&mut capture, "l_out-1", read);
            give(&mut capture, "result_norm", read);
        }
        let rows: Vec<Vec<f32>> =
            (0..4).map(|number| capture.hidden(number).unwrap().values.to_vec()).collect();
        assert_eq!(rows[0], [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(rows[1], [3.0, 3.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(rows[2], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(rows[3], [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(capture.fault(), None);
    }

    #[test]
    fn what_does_not_fit_is_a_fault_and_no_state() {
        let shared = Capture::new(2, 2);
        let mut capture = shared.lock().unwrap();
        assert_eq!(capture.wanted("result_norm"), None, "nothing is wanted yet");
        capture.begin_round(States::Final);
        capture.begin(&[0, 2], 3, 8);
        assert_eq!((capture.wanted("l_out-0"), capture.wanted("result_norm")), (None, Some(0)));
        give(&mut capture, "result_norm", 1);
        assert!(capture.fault().is_some_and(|fault| fault.contains("1 rows")));
        assert!(capture.hidden(0).is_none() && capture.hidden(1).is_none());
    }

    #[test]
    fn a_fault_is_that_of_its_round_whatever_calls_follow_in_it() {
        let shared = Capture::new(2, 2);
        let mut capture = shared.lock().unwrap();
        capture.begin_round(States::Final);
        capture.begin(&[0, 2], 3, 8);
        give(&mut capture, "result_norm", 1);
        capture.end();
        // A later call of the same round goes well; the answers of the first one still lack their states.
        capture.begin(&[1], 3, 8);
        give(&mut capture, "result_norm", 3);
        capture.end();
        assert!(capture.hidden(0).is_some());
        assert!(capture.fault().is_some_and(|fault| fault.contains("1 rows")));
        capture.begin_round(States::Final);
        assert_eq!(capture.fault(), None);
        capture.begin(&[1], 3, 8);
        give(&mut capture, "result_norm", 1);
        assert_eq!((capture.fault(), capture.hidden(0).is_some()), (None, true));
    }

    #[test]
    fn nothing_is_heard_between_calls() {
        let shared = Capture::new(2, 2);
        let mut capture = shared.lock().unwrap();
        capture.begin_round(States::Layers);
        capture.begin(&[0], 1, 8);
        assert_eq!(capture.wanted("l_out-1"), Some(1));
        capture.end();
        assert_eq!(capture.wanted("l_out-1"), None);
    }
}
