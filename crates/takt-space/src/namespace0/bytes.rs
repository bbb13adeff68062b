//! The committed table.

use super::table::Table;

/// Bytes of the table with the alignment that is required to read ArrayDimensions in place.
#[repr(C, align(4))]
pub(super) struct Aligned<T>(pub(super) T);

pub(super) static BYTES: Aligned<[u8; include_bytes!("table.bin").len()]> =
    Aligned(*include_bytes!("table.bin"));

/// A constant, so that its addresses are computed and not stored: it needs no relocation.
#[allow(clippy::panic, reason = "evaluated by the compiler, which reports it")]
pub(super) const TABLE: Table<'static> = match Table::new(&BYTES.0) {
    Some(table) => table,
    None => panic!("table.bin is damaged: run `cargo xtask generate namespace0`"),
};
