//! Value cells.
mod cell;
mod error;
mod read;
mod scalar;
mod set;
mod shape;
mod slots;
mod sync;
mod words;

pub use cell::{Cell, MAX_CAPACITY};
pub use error::CellError;
pub use read::Reading;
pub use scalar::{Element, Scalar};
pub use shape::Shape;
