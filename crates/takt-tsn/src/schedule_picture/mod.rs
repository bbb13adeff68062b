//! Pictures of gate schedules, as text and as SVG.

mod picture;
mod svg;
mod text;

pub use picture::{ScheduleGates, SchedulePicture};
