//! x
pub mod clock;
pub mod frame;
pub mod log;
