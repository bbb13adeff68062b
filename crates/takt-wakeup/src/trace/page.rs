//! Pages of a trace buffer, as `per_cpu/cpuN/trace_pipe_raw` gives them (`kernel/trace/ring_buffer.c`).
//!
//! A page begins with the time of its first event (8 bytes) and the number of its bytes (that of a `long`, with flags in its upper
//! bits). Each record begins with 32 bits: 5 for its type and length, 27 for the time since the record before.

use super::bytes::unsigned;

/// Size in bytes of the time at the beginning of a page.
const TIME: usize = 8;

/// Bits of the number of bytes (`COMMIT_MASK` of libtraceevent).
const LENGTH: u64 = (1 << 27) - 1;

/// Flag of a page before which events were lost (`RB_MISSED_EVENTS`).
const MISSED: u64 = 1 << 31;

/// Greatest type of a record with data: the length in words.
const MOST_WORDS: u32 = 28;
const PADDING: u32 = 29;
const TIME_EXTENDED: u32 = 30;

/// Bits of the time since the record before.
const TIME_BITS: u32 = 27;

/// Bits of a time that is not relative (`TS_MSB` of the kernel: the upper five are those of the page).
const ABSOLUTE_BITS: u32 = 59;

/// Records of a page.
#[derive(Debug, Clone)]
pub struct TracePage<'a> {
    rest: &'a [u8],
    nanos: u64,
    is_after_loss: bool,
}

/// Record of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRecord<'a> {
    /// Time in nanoseconds of the trace clock.
    pub nanos: u64,
    /// Data of the event.
    pub data: &'a [u8],
}

impl<'a> TracePage<'a> {
    /// Reads the beginning of a page. `long` is the size in bytes of a `long` of the kernel, 4 or 8. `None` for bytes without one.
    #[must_use]
    pub fn new(bytes: &'a [u8], long: usize) -> Option<Self> {
        let nanos = unsigned(bytes, 0, TIME)?;
        let commit = unsigned(bytes, TIME, long)?;
        let records = bytes.get(TIME + long..)?;
        let length = usize::try_from(commit & LENGTH).ok()?.min(records.len());
        Some(Self {
            rest: records.get(..length)?,
            nanos,
            is_after_loss: commit & MISSED != 0,
        })
    }

    /// Returns true if events before this page were lost.
    #[must_use]
    pub fn is_after_loss(&self) -> bool {
        self.is_after_loss
    }

    /// Returns the time of the page, in nanoseconds of the trace clock.
    #[must_use]
    pub fn nanos(&self) -> u64 {
        self.nanos
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        let bytes = self.take(4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    }

    fn record(&mut self) -> Option<PageRecord<'a>> {
        loop {
            let header = self.word()?;
            // Bit fields begin at the other end on hosts with the other byte order.
            let (kind, delta) = match cfg!(target_endian = "little") {
                true => (header & 0x1F, header >> 5),
                false => (header >> TIME_BITS, header & ((1 << TIME_BITS) - 1)),
            };
            let delta = u64::from(delta);
            match kind {
                0 => {
                    // The length in bytes has its own word, which it includes.
                    let length = usize::try_from(self.word()?).ok()?.checked_sub(4)?;
                    self.nanos = self.nanos.saturating_add(delta);
                    return Some(PageRecord {
                        nanos: self.nanos,
                        data: self.take(length)?,
                    });
                }
                1..=MOST_WORDS => {
                    self.nanos = self.nanos.saturating_add(delta);
                    return Some(PageRecord {
                        nanos: self.nanos,
                        data: self.take(usize::try_from(kind).ok()? * 4)?,
                    });
                }
                // The rest of the page is empty.
                PADDING if delta == 0 => return None,
                PADDING => {
                    // A record that the filter of its event refused.
                    let length = usize::try_from(self.word()?).ok()?.checked_sub(4)?;
                    self.take(length)?;
                    self.nanos = self.nanos.saturating_add(delta);
                }
                TIME_EXTENDED => {
                    let upper = u64::from(self.word()?) << TIME_BITS;
                    self.nanos = self.nanos.saturating_add(upper | delta);
                }
                _ => {
                    let upper = u64::from(self.word()?) << TIME_BITS;
                    let of_page = self.nanos >> ABSOLUTE_BITS << ABSOLUTE_BITS;
                    self.nanos = of_page | (upper | delta) & ((1 << ABSOLUTE_BITS) - 1);
                }
            }
        }
    }
}

impl<'a> Iterator for TracePage<'a> {
    type Item = PageRecord<'a>;

    fn next(&mut self) -> Option<PageRecord<'a>> {
        let record = self.record();
        if record.is_none() {
            self.rest = &[];
        }
        record
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;

    fn page(nanos: u64, commit_flags: u64, records: &[u8]) -> Vec<u8> {
        let mut bytes = nanos.to_ne_bytes().to_vec();
        bytes.extend((records.len() as u64 | commit_flags).to_ne_bytes());
        bytes.extend(records);
        // The kernel hands out whole pages.
        bytes.resize(bytes.len() + 64, 0xAA);
        bytes
    }

    fn header(kind: u32, delta: u32) -> [u8; 4] {
        match cfg!(target_endian = "little") {
            true => kind | delta << 5,
            false => kind << TIME_BITS | delta,
        }
        .to_ne_bytes()
    }

    #[test]
    fn records_have_their_times() {
        let mut records = Vec::new();
        records.extend(header(1, 10));
        records.extend(*b"abcd");
        records.extend(header(TIME_EXTENDED, 3));
        records.extend(1_u32.to_ne_bytes());
        records.extend(header(0, 0));
        records.extend(8_u32.to_ne_bytes());
        records.extend(*b"long");
        records.extend(header(PADDING, 5));
        records.extend(8_u32.to_ne_bytes());
        records.extend(*b"gone");
        records.extend(header(2, 1));
        records.extend(*b"12345678");
        records.extend(header(31, 9));
        records.extend(2_u32.to_ne_bytes());
        records.extend(header(1, 0));
        records.extend(*b"last");
        records.extend(header(PADDING, 0));
        records.extend(*b"not read");
        let bytes = page(1000, MISSED, &records);
        let page = TracePage::new(&bytes, 8).unwrap();
        assert!(page.is_after_loss());
        let found: Vec<(u64, &[u8])> = page.map(|it| (it.nanos, it.data)).collect();
        let extended = 1010 + (1 << 27) + 3;
        assert_eq!(
            found,
            [
                (1010, b"abcd".as_slice()),
                (extended, b"long"),
                (extended + 6, b"12345678"),
                ((2 << 27) + 9, b"last"),
            ]
        );
    }

    #[test]
    fn a_page_ends_where_its_length_says() {
        let mut records = header(1, 1).to_vec();
        records.extend(*b"abcd");
        let bytes = page(0, 0, &records);
        assert_eq!(TracePage::new(&bytes, 8).unwrap().count(), 1);
        assert!(TracePage::new(&bytes[..15], 8).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_finite_page(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(page) = TracePage::new(&bytes, 8) {
                let from = page.nanos();
                let mut bytes_of_data = 0;
                for record in page {
                    bytes_of_data += record.data.len();
                    prop_assert!(record.nanos >= from || from >> ABSOLUTE_BITS == record.nanos >> ABSOLUTE_BITS);
                }
                prop_assert!(bytes_of_data <= bytes.len());
            }
        }
    }
}
