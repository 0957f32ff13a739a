//! One file that carries others: members behind an executable, found by a fixed trailer at the file's end.
//!
//! ```text
//! executable | content of member, content of member, ... | index (one frame) | trailer of 72 bytes
//! ```
//!
//! The kernel starts such a file as if nothing followed the executable. An executable's own headers tell where it ends,
//! so a file that is longer and has no whole trailer is known to be cut or changed, and is refused. Hashes tell damage
//! from wholeness; they do not tell who made a file.

mod elf;
mod error;
mod index;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use elf::{Executable, Machine};
pub use error::ParcelError;
pub use index::{Kind, MAX_INDEX_BYTES, MAX_MEMBERS, MAX_NAME_BYTES, Member, check_name};
pub use read::{Content, Parcel};
pub use write::{Base, Material, Origin, write, write_unless};

/// What names of engine workers built for one processor level begin with.
pub const LEVELS: &str = "level/";

/// What names of everything that belongs to a field bundle begin with.
pub const BUNDLE: &str = "bundle/";
