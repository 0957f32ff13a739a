//! The end of the model as the file holds it: the final norm, and rows of the vocabulary projection. With them labels can
//! be read out of any layer's state, later and without the model. Of a model in several files each tensor is read where it lies.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use llama_cpp_sys_2::{ggml_get_type_traits, ggml_type};

use crate::gguf::{Header, Tensor, Value};
use crate::{FinalNorm, HiddenStates, OutputRow, Readout, Reply};

/// Reads the end of one model; what was told once is not told again.
pub(super) struct Unembedding {
    header: Header,
    told: BTreeSet<i32>,
    norm_is_told: bool,
}

impl Unembedding {
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let header = Header::open(path).map_err(|error| error.to_string())?;
        Ok(Unembedding { header, told: BTreeSet::new(), norm_is_told: false })
    }

    /// The norm, and rows for the first tokens of these replies' labels, as far as they were not told before.
    pub(super) fn readout(&mut self, replies: &[Reply]) -> Readout {
        let mut readout = Readout::default();
        if !std::mem::replace(&mut self.norm_is_told, true) {
            match self.norm() {
                Ok(norm) => readout.norm = Some(norm),
                Err(reason) => readout.refusals.push(format!("no logit lens: {reason}")),
            }
        }
        let scored = replies.iter().filter_map(|reply| match reply {
            Reply::Scored(scored) if scored.states.is_some() => Some(&scored.labels),
            _ => None,
        });
        let firsts: BTreeSet<i32> =
            scored.flatten().filter_map(|label| label.tokens.first().copied()).collect();
        for token in firsts {
            if !self.told.insert(token) {
                continue;
            }
            match self.row(token) {
                Ok(row) => readout.rows.push(OutputRow { token, row }),
                Err(reason) => readout.refusals.push(format!("no row of token {token}: {reason}")),
            }
        }
        readout.refusals.dedup();
        readout
    }

    fn norm(&self) -> Result<FinalNorm, String> {
        let architecture = self.header.architecture().unwrap_or_default();
        let number = |key: &str| match self.header.values.get(&format!("{architecture}.attention.{key}")) {
            Some(Value::Float(value)) => Some(*value as f32),
            _ => None,
        };
        let (epsilon, centred) = match (number("layer_norm_rms_epsilon"), number("layer_norm_epsilon")) {
            (Some(epsilon), _) => (epsilon, false),
            (None, Some(epsilon)) => (epsilon, true),
            (None, None) => return Err("the file does not say what its norms add to the mean square".into()),
        };
        let all = |name: &str| match self.tensor(name) {
            Some(tensor) => self.floats(tensor, 0, tensor.elements),
            None => Ok(Vec::new()),
        };
        // Files of this family have the norm under the name of another one.
        let name = if architecture.starts_with("lfm2") { "token_embd_norm" } else { "output_norm" };
        let [weight, bias] = ["weight", "bias"].map(|part| all(&format!("{name}.{part}")));
        Ok(FinalNorm { centred, epsilon, weight: weight?, bias: bias? })
    }

    fn row(&self, token: i32) -> Result<HiddenStates, String> {
        let tensor = self
            .tensor("output.weight")
            .or_else(|| self.tensor("token_embd.weight"))
            .ok_or("the file has no vocabulary projection")?;
        let [width, rows] = tensor.dims[..] else { return Err("the projection is no table".into()) };
        let token = u64::try_from(token).ok().filter(|&token| token < rows).ok_or("there is none")?;
        let values = self.floats(tensor, token * width, width)?;
        HiddenStates::pack(values.len(), &values).ok_or_else(|| "it is not finite".into())
    }

    fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.header.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// Elements of a tensor as numbers, whole blocks of it.
    fn floats(&self, tensor: &Tensor, from: u64, count: u64) -> Result<Vec<f32>, String> {
        let kind = tensor.kind;
        let block = kind.block_elements.max(1);
        let (path, start) =
            self.header.place(tensor).ok_or_else(|| format!("{} lies nowhere", tensor.name))?;
        let mut bytes = vec![0; (count / block * kind.block_bytes) as usize];
        // Opened for each reading: they are few, and a split model may have more parts than a process may hold files.
        File::open(path)
            .and_then(|file| file.read_exact_at(&mut bytes, start + from / block * kind.block_bytes))
            .map_err(|error| format!("{} cannot be read in {}: {error}", tensor.name, path.display()))?;
        dequantised(kind.id, &bytes, count as usize)
            .ok_or_else(|| format!("{} is of a type without numbers", tensor.name))
    }
}

/// Numbers of a stretch of blocks, by the library's own tables. `None` for types that hold none.
#[allow(unsafe_code)]
fn dequantised(kind: u32, bytes: &[u8], count: usize) -> Option<Vec<f32>> {
    if kind == 0 {
        let floats =
            bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        return Some(floats.collect());
    }
    // SAFETY: the number comes from a table of the types that the library knows; the result is static.
    let traits = unsafe { &*ggml_get_type_traits(kind as ggml_type) };
    let to_float = traits.to_float?;
    let mut values = vec![0f32; count];
    // SAFETY: `bytes` are the blocks of exactly `count` elements, by the sizes of the same table.
    unsafe { to_float(bytes.as_ptr().cast(), values.as_mut_ptr(), count as i64) };
    Some(values)
}
