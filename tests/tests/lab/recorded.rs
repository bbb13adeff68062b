//! Files of a case as the tests read them: with the parsers of captures and traces, not with those of the lab.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde_json::Value;
use takt_control::TracePoint;
use takt_control::trace_file::TraceReader;

/// Directory of a case.
pub struct RecordedCase {
    pub directory: PathBuf,
    /// Case in `run.json`.
    pub case: Value,
    /// `case.json`.
    pub record: Value,
}

/// Frame with a UADP message in a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaggedFrame {
    pub destination: [u8; 6],
    pub vlan: u16,
    pub pcp: u8,
    /// Payload behind the EtherType.
    pub payload: Vec<u8>,
    /// Nanoseconds since 1970.
    pub nanos: u128,
}

pub fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// Returns the cases of a run.
pub fn cases(run: &Path) -> Vec<RecordedCase> {
    let description = json(&run.join("run.json"));
    let cases = description["cases"].as_array().unwrap().iter();
    cases
        .map(|case| {
            let directory = run.join(case["directory"].as_str().unwrap());
            assert_eq!(case["failure"], Value::Null, "{case}");
            let record = json(&directory.join("case.json"));
            RecordedCase {
                directory,
                case: case.clone(),
                record,
            }
        })
        .collect()
}

impl RecordedCase {
    /// Returns the times of each counter at the trace points of a file.
    pub fn trace(&self, file: &Value) -> BTreeMap<TracePoint, Vec<(u64, i64)>> {
        let path = self.directory.join(file.as_str().unwrap());
        let mut reader = TraceReader::new(BufReader::new(File::open(path).unwrap())).unwrap();
        let mut points: BTreeMap<TracePoint, Vec<(u64, i64)>> = BTreeMap::new();
        for record in reader.by_ref() {
            let record = record.unwrap();
            let of_point = points.entry(record.point).or_default();
            of_point.push((record.counter, record.nanos));
        }
        assert_eq!(reader.header().lost, 0);
        points
    }

    /// Returns the files of an application, or of a way to one of its subscribers.
    pub fn files(&self, name: &str) -> &Value {
        let applications = self.case["applications"].as_array().unwrap().iter();
        let mut found = applications.filter(|it| it["name"] == name);
        found
            .next()
            .unwrap_or_else(|| panic!("no {name}: {}", self.case))
    }

    /// Returns the UADP frames of a capture.
    pub fn capture(&self, file: &str) -> Vec<TaggedFrame> {
        let bytes = std::fs::read(self.directory.join(file)).unwrap();
        let (packets, damage) = takt_capture::packets(&bytes);
        assert_eq!(damage, None, "{file}");
        let frames = packets.into_iter().filter_map(|packet| {
            let bytes = packet.bytes;
            let number = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
            // Every frame of the lab has a tag.
            assert_eq!(number(12), 0x8100, "{file}: {bytes:02x?}");
            let time = packet.time.unwrap().duration_since(std::time::UNIX_EPOCH);
            (number(16) == 0xB62C).then(|| TaggedFrame {
                destination: *bytes.first_chunk().unwrap(),
                vlan: number(14) & 0xFFF,
                pcp: (number(14) >> 13) as u8,
                payload: bytes[18..].to_vec(),
                nanos: time.unwrap().as_nanos(),
            })
        });
        frames.collect()
    }

    /// Returns the record of an end.
    pub fn end(&self, application: &str, end: &str) -> &Value {
        let ends = self.record["ends"].as_array().unwrap().iter();
        let mut found = ends.filter(|it| it["application"] == application && it["end"] == end);
        found.next().unwrap()
    }
}

/// Returns a number of a JSON object.
pub fn number(object: &Value, name: &str) -> u64 {
    let number = object[name].as_u64();
    number.unwrap_or_else(|| panic!("no number `{name}`: {object}"))
}
