//! Output of Takt's programs: results on the standard output, errors with advice and the log on the error output.
//!
//! * [`line()`], [`lines()`], [`try_line()`], [`bytes()`]: results. If nobody reads them any more, the program ends as other Unix tools do.
//! * [`Screen`]: live data, rewritten in place, of lines in colours ([`StyledLine`]).
//! * [`status`], [`clear_status`]: the state of long work, on the error output.
//! * [`error()`], [`warning()`]: an error with its advice ([`with_help`]), in lines that fit the terminal.
//! * [`start_tracing`]: the log.
//!
//! Texts of strangers must not command the terminal: all of these but [`bytes()`] escape what they print. Programs print in no other
//! way. [`escaped`], [`printable`] and [`shown_source`] are for texts whose length counts before they are printed.
//!
//! Tables and charts are in `takt-figures`. This crate knows no command.

#![forbid(unsafe_code)]

mod explanation;
mod log;
mod print;
mod screen;
mod styled;

pub use explanation::with_help;
pub use log::start_tracing;
pub use print::{
    bytes, clear_status, complain, error, line, lines, status, try_line, warning, written,
};
pub use screen::Screen;
pub use styled::{Style, StyledLine};
pub use takt_figures::text::{escaped, printable, shown_source};
