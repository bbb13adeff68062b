//! Value cells.
