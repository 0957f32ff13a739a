//! The tensor table: what there is, where it lies, and whether the file has all of it.

use super::bytes::{Bytes, Source};
use super::error::Fault;
use super::kinds::TensorType;

/// Most tensors; the largest mixtures of experts have under 50 000.
const TENSORS: u64 = 1 << 18;
/// Longest name; the library holds 63 bytes, some converters wrote more.
const NAME_BYTES: u64 = 1024;

/// A tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Name: `blk.0.attn_q.weight`.
    pub name: String,
    /// How its elements are stored.
    pub kind: TensorType,
    /// Elements along each dimension, the fastest first.
    pub dims: Vec<u64>,
    /// Number of elements.
    pub elements: u64,
    /// Bytes of its data.
    pub bytes: u64,
    /// Where its data begin, counted from the start of the data of its file.
    pub offset: u64,
    /// Which of the model's files holds it, from 0.
    pub part: u32,
}

/// Reads `count` entries.
pub(crate) fn read<R: Source>(bytes: &mut Bytes<R>, count: u64) -> Result<Vec<Tensor>, Fault> {
    if count > TENSORS {
        return Err(Fault::Absurd(format!("the header is said to have {count} tensors")));
    }
    let mut tensors = Vec::new();
    for number in 1..=count {
        tensors.push(one(bytes, &format!("tensor {number} of {count} in the table"))?);
    }
    Ok(tensors)
}

fn one<R: Source>(bytes: &mut Bytes<R>, what: &str) -> Result<Tensor, Fault> {
    let name = bytes.text(NAME_BYTES, what)?;
    let name =
        String::from_utf8(name).map_err(|_| Fault::Damaged(format!("the name of {what} is not text")))?;
    let rank = bytes.u32(what)?;
    if rank > 4 {
        return Err(Fault::Damaged(format!("tensor {name} has {rank} dimensions")));
    }
    let mut dims = Vec::with_capacity(4);
    for _ in 0..rank {
        dims.push(bytes.u64(what)?);
    }
    let id = bytes.u32(what)?;
    let offset = bytes.u64(what)?;
    if let Some((removed, remedy)) = TensorType::removed(id) {
        return Err(Fault::RemovedType { name: removed, tensor: name, remedy });
    }
    let Some(kind) = TensorType::numbered(id) else {
        return Err(Fault::UnknownType { id, tensor: name });
    };
    let elements = dims.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim));
    let size = elements.and_then(|n| (n / kind.block_elements).checked_mul(kind.block_bytes));
    let (Some(elements), Some(size)) = (elements, size) else {
        return Err(Fault::Absurd(format!("tensor {name} is said to have the shape {dims:?}")));
    };
    if dims.first().is_some_and(|row| row % kind.block_elements != 0) {
        let unit = kind.block_elements;
        return Err(Fault::Damaged(format!("rows of tensor {name} are no multiple of {unit} elements")));
    }
    Ok(Tensor { name, kind, dims, elements, bytes: size, offset, part: 0 })
}

/// `value` rounded up to a multiple of `alignment`.
pub(crate) fn padded(value: u64, alignment: u64) -> Option<u64> {
    value.checked_next_multiple_of(alignment)
}

/// Checks that tensors follow each other without gap or overlap, as the library demands, and gives the bytes from
/// the start of the data part to the end of the last tensor.
pub(crate) fn extent(tensors: &[Tensor], alignment: u64) -> Result<u64, Fault> {
    let mut next = 0u64;
    let mut end = 0u64;
    for tensor in tensors {
        let name = &tensor.name;
        if tensor.offset != next {
            let found = tensor.offset;
            return Err(Fault::Damaged(format!("tensor {name} lies at {found} where {next} is due")));
        }
        end = tensor.offset.checked_add(tensor.bytes).ok_or_else(|| too_far(name))?;
        next = padded(end, alignment).ok_or_else(|| too_far(name))?;
    }
    Ok(end)
}

fn too_far(name: &str) -> Fault {
    Fault::Absurd(format!("tensor {name} is said to end beyond any file"))
}
