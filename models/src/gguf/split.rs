//! Models in several files: `NAME-00002-of-00003.gguf`.

use std::path::{Path, PathBuf};

use super::error::Fault;
use super::{Header, Tensor, Value};

/// Most parts; llama.cpp's names hold five digits, nobody uses more than three.
const PARTS: u32 = 1000;

/// Where a file stands among the parts of its model, by its name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    stem: PathBuf,
    pub(crate) number: u32,
    pub(crate) count: u32,
}

impl Place {
    /// Paths of all parts, in order.
    pub(crate) fn parts(&self) -> Vec<PathBuf> {
        (1..=self.count).map(|number| self.part(number)).collect()
    }

    fn part(&self, number: u32) -> PathBuf {
        let mut path = self.stem.clone().into_os_string();
        path.push(format!("-{number:05}-of-{:05}.gguf", self.count));
        PathBuf::from(path)
    }
}

/// The place that a file name states; `None` for models in one file.
pub(crate) fn place(path: &Path) -> Option<Place> {
    let name = path.file_name()?.to_str()?;
    let rest = name.strip_suffix(".gguf")?;
    let (rest, count) = rest.rsplit_once("-of-")?;
    let (stem, number) = rest.rsplit_once('-')?;
    let five = |digits: &str| digits.len() == 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !five(number) || !five(count) {
        return None;
    }
    let (number, count) = (number.parse().ok()?, count.parse().ok()?);
    let sound = (2..=PARTS).contains(&count) && (1..=count).contains(&number);
    sound.then(|| Place { stem: path.with_file_name(stem), number, count })
}

/// A fault where a file says that it is a part but is not named as one.
pub(crate) fn unnamed(header: &Header) -> Option<Fault> {
    let figure = |key| header.values.get(key).and_then(Value::count).and_then(|n| u32::try_from(n).ok());
    let count = figure("split.count")?;
    let number = figure("split.no").unwrap_or(0).saturating_add(1);
    (count > 1).then_some(Fault::RenamedShard { number, count })
}

/// Adds a further part to the first.
pub(crate) fn join(first: &mut Header, part: Header) {
    first.file_bytes += part.file_bytes;
    let number = first.data_starts.len() as u32;
    first.tensors.extend(part.tensors.into_iter().map(|tensor| Tensor { part: number, ..tensor }));
    first.data_starts.extend(part.data_starts);
    let name = file_name(&part.path);
    first.notes.extend(part.notes.into_iter().map(|note| format!("{name}: {note}")));
}

/// The last element of a path, for messages.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
