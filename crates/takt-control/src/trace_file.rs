//! Trace files: the trace points of one thread.
//!
//! All numbers are little-endian.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `TAKTTRC1` |
//! | 8 | 4 | length `n` of the description |
//! | 12 | `n` | description: UTF-8 text, lines `name = value` |
//! | 12 + `n` | 8 | number of records that were lost because the memory was full |
//! | 20 + `n` | 17 each | records, until the end of the file |
//!
//! A record is the number of the trace point (1 byte, 1 to 8), the counter of the message (8 bytes, unsigned), and the time
//! (8 bytes, signed: nanoseconds of CLOCK_TAI). The description has what a reader needs to compare files, such as `node`,
//! `application`, `cycle_ns` and `tai_offset_s`; readers ignore names that they do not know.

use std::io::{self, Read, Write};

use crate::trace::{TracePoint, TraceRecord};

/// First bytes of a file.
const MAGIC: &[u8; 8] = b"TAKTTRC1";

/// Bytes of a record.
const RECORD: usize = 17;

/// Longest description in bytes.
const LONGEST_DESCRIPTION: u32 = 64 << 10;

/// Error of a file that is not a complete trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceFileError {
    /// The file cannot be read.
    #[error("the trace cannot be read")]
    Io(#[from] io::Error),
    /// The file has another format.
    #[error("not a trace of Takt: the file does not begin with TAKTTRC1")]
    Magic,
    /// The description is too long, or not UTF-8.
    #[error("the description of the trace is damaged")]
    Description,
    /// A record is damaged.
    #[error("record {index} is damaged: there is no trace point {point}")]
    Point {
        /// Index of the record, from 0.
        index: u64,
        /// Number of the trace point.
        point: u8,
    },
    /// The file ends within its beginning or within a record.
    #[error("the trace is incomplete: it ends within record {index}")]
    Truncated {
        /// Index of the record, from 0.
        index: u64,
    },
}

/// Beginning of a trace file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceHeader {
    /// Names and values.
    pub description: Vec<(String, String)>,
    /// Number of records that were lost because the memory was full.
    pub lost: u64,
}

/// Writes a trace. Line breaks in names and values become spaces.
///
/// # Errors
/// Those of `output`.
pub fn write(
    output: &mut dyn Write,
    description: &[(&str, String)],
    trace: &crate::Trace,
) -> io::Result<()> {
    let pairs = description.iter();
    write_beginning(output, pairs.map(|(name, value)| (*name, value.as_str())))?;
    output.write_all(&trace.lost().to_le_bytes())?;
    for record in trace.records() {
        let mut bytes = [0; RECORD];
        bytes[0] = record.point.number();
        bytes[1..9].copy_from_slice(&record.counter.to_le_bytes());
        bytes[9..].copy_from_slice(&record.nanos.to_le_bytes());
        output.write_all(&bytes)?;
    }
    output.flush()
}

/// Writes the beginning of a file, with its description.
fn write_beginning<'a>(
    output: &mut dyn Write,
    description: impl Iterator<Item = (&'a str, &'a str)>,
) -> io::Result<()> {
    let line = |text: &str| text.replace(['\n', '\r'], " ");
    let text: String = description
        .map(|(name, value)| format!("{} = {}\n", line(name), line(value)))
        .collect();
    let length = u32::try_from(text.len())
        .ok()
        .filter(|length| *length <= LONGEST_DESCRIPTION)
        .ok_or_else(|| io::Error::other("the description of the trace is too long"))?;
    output.write_all(MAGIC)?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(text.as_bytes())
}

/// Returns a trace file with another description. All records are kept.
///
/// # Errors
/// [`TraceFileError`]: the beginning of the file is damaged, or the new description is too long.
pub fn described(
    file: &[u8],
    change: impl Fn(&[(String, String)]) -> Vec<(String, String)>,
) -> Result<Vec<u8>, TraceFileError> {
    let description = change(&TraceReader::new(file)?.header.description);
    // The reader has checked that there are as many bytes.
    let length = file.get(8..12).and_then(|bytes| bytes.first_chunk());
    let length = u32::from_le_bytes(*length.unwrap_or(&[0; 4])) as usize;
    let rest = file.get(12 + length..).unwrap_or_default();
    let mut output = Vec::with_capacity(file.len());
    let pairs = description.iter();
    write_beginning(
        &mut output,
        pairs.map(|(name, value)| (name.as_str(), value.as_str())),
    )?;
    output.extend_from_slice(rest);
    Ok(output)
}

/// Reader of a trace file: an iterator over its records, which keeps none of them.
#[derive(Debug)]
pub struct TraceReader<R> {
    input: R,
    header: TraceHeader,
    index: u64,
    is_finished: bool,
}

impl<R: Read> TraceReader<R> {
    /// Reads the beginning of a file. Use a buffered input: records are read one by one.
    ///
    /// # Errors
    /// [`TraceFileError`].
    pub fn new(mut input: R) -> Result<Self, TraceFileError> {
        let mut magic = [0; 8];
        exact(&mut input, &mut magic, 0)?;
        if &magic != MAGIC {
            return Err(TraceFileError::Magic);
        }
        let mut length = [0; 4];
        exact(&mut input, &mut length, 0)?;
        let length = u32::from_le_bytes(length);
        // The length may be damaged, so it is checked before memory is allocated for it.
        if length > LONGEST_DESCRIPTION {
            return Err(TraceFileError::Description);
        }
        let mut text = vec![0; length as usize];
        exact(&mut input, &mut text, 0)?;
        let text = String::from_utf8(text).map_err(|_| TraceFileError::Description)?;
        let description = text
            .lines()
            .filter_map(|line| line.split_once(" = "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut lost = [0; 8];
        exact(&mut input, &mut lost, 0)?;
        Ok(Self {
            input,
            header: TraceHeader {
                description,
                lost: u64::from_le_bytes(lost),
            },
            index: 0,
            is_finished: false,
        })
    }

    /// Returns the beginning of the file.
    pub const fn header(&self) -> &TraceHeader {
        &self.header
    }

    fn record(&mut self) -> Result<Option<TraceRecord>, TraceFileError> {
        let mut bytes = [0; RECORD];
        let mut filled = 0;
        // `read_exact` does not tell the end of a complete file from an end within a record.
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.input.read(rest) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(TraceFileError::Truncated { index: self.index }),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        let [point, rest @ ..] = bytes;
        let (counter, nanos) = rest.split_at(8);
        let number = |bytes: &[u8]| bytes.first_chunk().copied().unwrap_or_default();
        let record = TraceRecord {
            point: TracePoint::from_number(point).ok_or(TraceFileError::Point {
                index: self.index,
                point,
            })?,
            counter: u64::from_le_bytes(number(counter)),
            nanos: i64::from_le_bytes(number(nanos)),
        };
        self.index += 1;
        Ok(Some(record))
    }
}

impl<R: Read> Iterator for TraceReader<R> {
    type Item = Result<TraceRecord, TraceFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_finished {
            return None;
        }
        let record = self.record().transpose();
        self.is_finished = !matches!(record, Some(Ok(_)));
        record
    }
}

fn exact(input: &mut impl Read, bytes: &mut [u8], index: u64) -> Result<(), TraceFileError> {
    input.read_exact(bytes).map_err(|error| {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            TraceFileError::Truncated { index }
        } else {
            error.into()
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;
    use crate::Trace;

    fn read(bytes: &[u8]) -> Result<(TraceHeader, Vec<TraceRecord>), TraceFileError> {
        let mut reader = TraceReader::new(bytes)?;
        let records = reader.by_ref().collect::<Result<_, _>>()?;
        Ok((reader.header().clone(), records))
    }

    fn file(trace: &Trace) -> Vec<u8> {
        let mut bytes = Vec::new();
        let description = [
            ("node", "host 1".to_owned()),
            ("cycle_ns", "250\n000".to_owned()),
        ];
        write(&mut bytes, &description, trace).unwrap();
        bytes
    }

    #[test]
    fn the_layout_is_that_of_the_table() {
        let mut trace = Trace::with_capacity(1);
        trace.add(TracePoint::T8, 0x0102, -2);
        trace.add(TracePoint::T8, 3, 3);
        let bytes = file(&trace);
        let text = b"node = host 1\ncycle_ns = 250 000\n";
        let mut expected = b"TAKTTRC1".to_vec();
        expected.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        expected.extend(text);
        expected.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        expected.extend([8, 2, 1, 0, 0, 0, 0, 0, 0]);
        expected.extend([0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn damage_is_reported_with_its_place() {
        let mut trace = Trace::with_capacity(2);
        trace.add(TracePoint::T1, 1, 1);
        trace.add(TracePoint::T4, 2, 2);
        let bytes = file(&trace);
        for length in 0..bytes.len() {
            let error = match read(&bytes[..length]) {
                Err(error) => error.to_string(),
                // The file may end after any record.
                Ok((_, records)) => {
                    assert_eq!(length, bytes.len() - RECORD * (2 - records.len()));
                    continue;
                }
            };
            assert!(error.contains("incomplete"), "{length}: {error}");
        }
        let mut damaged = bytes.clone();
        let last = damaged.len() - RECORD;
        damaged[last] = 9;
        let error = read(&damaged).unwrap_err().to_string();
        assert_eq!(error, "record 1 is damaged: there is no trace point 9");
        assert!(matches!(read(b"TAKTTRC2...."), Err(TraceFileError::Magic)));
    }

    proptest! {
        #[test]
        fn records_are_read_as_they_were_written(
            records in prop::collection::vec((1_u8..=8, any::<u64>(), any::<i64>()), 0..50),
        ) {
            let mut trace = Trace::with_capacity(records.len());
            for (point, counter, nanos) in records {
                trace.add(TracePoint::from_number(point).unwrap(), counter, nanos);
            }
            let (header, found) = read(&file(&trace)).unwrap();
            prop_assert_eq!(found, trace.records());
            prop_assert_eq!(header.lost, 0);
            prop_assert_eq!(&header.description[0].1, "host 1");
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
            let _ = read(&[MAGIC.as_slice(), &bytes].concat());
        }
    }
}
