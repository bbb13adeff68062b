//! StatusCode (OPC 10000-4, 7.38; OPC 10000-6, 5.2.2.11): the type, the codes of the standard, and their names.

mod code;
mod generated;
mod names;

pub use code::StatusCode;
pub use generated::STATUS_CODES;
