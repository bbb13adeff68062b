//! Output of Takt's programs: results on the standard output, errors with advice and the log on the error output.
//!
//! * [`line()`], [`bytes()`]: results. If nobody reads them any more, the program ends as other Unix tools do.
//! * [`error()`], [`warning()`]: an error with its advice ([`with_help`]), in lines that fit the terminal.
//! * [`start_tracing`]: the log.
//! * [`printable`], [`escaped`], [`shown_source`]: texts of strangers, which must not command the terminal.
//!
//! Tables and charts are in `takt-figures`. This crate knows no command.

#![forbid(unsafe_code)]

mod explanation;
mod log;
mod print;

pub use explanation::with_help;
pub use log::start_tracing;
pub use print::{bytes, complain, error, line, warning, written};
pub use takt_figures::text::{escaped, printable, shown_source};
