//! Reports: they read logs and nothing else.

mod cells;
mod items_csv;
mod json;
mod load;
mod table;

pub use cells::{Cell, cells};
pub use items_csv::{COLUMNS, write_items_csv};
pub use json::to_json;
pub use load::RunLog;
pub use table::{notes, table};
