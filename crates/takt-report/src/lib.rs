//! Tables, charts, CSV files and JSON rows: one style for all output of Takt.
//!
//! * [`Table`]: aligned columns with their units in the heading, within the width of the terminal;
//! * [`Report`]: lines and tables for people, or JSON, one object per line, for programs;
//! * [`Progress`]: the current step, on the error output of a terminal;
//! * [`CsvFile`]: rows of a CSV file (RFC 4180);
//! * [`chart`]: charts with labels at the lines, in colours that colour-blind readers tell apart; [`Picture`] is the PNG or SVG
//!   file of a chart.
//!
//! This crate knows no command and no measurement. The commands choose columns, names, units and lines.

#![forbid(unsafe_code)]

pub mod chart;
mod csv;
pub mod number;
mod picture;
mod progress;
mod report;
mod table;
mod terminal;

pub use chart::{Axis, Chart, Figure, Line, Scale};
pub use csv::{CsvError, CsvFile};
pub use picture::{Picture, PictureError, Theme};
pub use progress::Progress;
pub use report::Report;
pub use table::{Column, Layout, Table};
pub use terminal::width;
