//! Tables, charts, CSV files and JSON rows: one style for all output of Takt.
//!
//! * [`Table`]: aligned columns with their units in the heading, within the width of the terminal;
//! * [`Report`]: lines and tables for people, or JSON, one object per line, for programs;
//! * [`text`]: texts of strangers and files, without commands to the terminal;
//! * [`Progress`]: the current step, on the error output of a terminal;
//! * [`CsvFile`]: rows of a CSV file (RFC 4180);
//! * [`Page`]: one HTML file with texts, tables and figures, without scripts and without references to other files;
//! * [`chart`]: charts with labels at the series, in colours that colour-blind readers tell apart; [`Picture`] is the PNG or SVG
//!   file of a chart.
//!
//! This crate knows no command and no measurement. The commands choose columns, names, units and lines.

#![forbid(unsafe_code)]

pub mod chart;
mod csv;
pub mod number;
mod page;
mod picture;
mod progress;
mod report;
mod table;
mod terminal;
pub mod text;

pub use chart::{
    Axis, Bar, BoxPlot, Chart, ChartSeries, Figure, IntervalMark, Level, Scale, SeriesRole,
    SeriesShape,
};
pub use csv::{CsvError, CsvFile};
pub use page::{Notice, Page};
pub use picture::{Picture, PictureError, Theme};
pub use progress::Progress;
pub use report::Report;
pub use table::{Column, Layout, Table};
pub use terminal::width;
