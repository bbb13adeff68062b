//! Tests with a damaged table: damage only makes nodes absent.

use super::bytes::BYTES;
use super::table::Table;

/// Reads all parts of the table. The result does not matter, only that the function returns.
fn read_all(table: Table<'_>) -> usize {
    let mut sum = 0;
    for position in 0..table.len() {
        sum += table.string(position, 4).map_or(0, str::len)
            + table.string(position, 8).map_or(0, str::len);
        sum += table.blob(position, 24).map_or(0, <[u8]>::len)
            + table.blob(position, 28).map_or(0, <[u8]>::len);
        sum += table
            .references(position)
            .map(|entry| table.u32(entry.other, 0) as usize & 1)
            .sum::<usize>();
        sum += usize::from(table.is_subtype_of(position, 0)) + usize::from(table.u8(position, 33));
        sum += table.find(table.u32(position, 0)).map_or(0, usize::from);
    }
    sum
}

#[test]
fn damage_does_not_panic() {
    let original = &BYTES.0;
    assert!(Table::new(original).is_some());
    for length in [0, 1, 3, 4, 63, 64, 1000, original.len() - 1] {
        assert!(Table::new(&original[..length]).is_none(), "{length}");
    }
    // A reproducible sequence of changes; each changes 400 bytes anywhere after the header.
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for _ in 0..2 {
        let mut damaged = original.to_vec();
        for _ in 0..400 {
            let at = 64 + random() as usize % (damaged.len() - 64);
            damaged[at] = random() as u8;
        }
        let table = Table::new(&damaged).unwrap();
        std::hint::black_box(read_all(table));
        // Changes of the header: a section with another offset, or one that is too long.
        for field in (8..60).step_by(4) {
            let mut shifted = damaged.clone();
            shifted[field + random() as usize % 4] ^= random() as u8;
            if let Some(table) = Table::new(&shifted) {
                std::hint::black_box(read_all(table));
            }
        }
    }
}
