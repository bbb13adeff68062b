//! Files of runs for the tests.

use std::path::{Path, PathBuf};

use takt_analysis::CapturePort;
use takt_control::{Trace, TracePoint, trace_file};
use takt_ua::Variant;
use takt_wire::{DataSetContent, DataSetMessage, Fields, NetworkMessage, PublisherId};

/// Files of a run in a temporary directory.
pub(crate) struct Files {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) files: Vec<(PathBuf, CapturePort)>,
}

impl Files {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            files: Vec::new(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Adds a trace file; times are in TAI with this offset in seconds.
    pub(crate) fn trace(
        &mut self,
        name: &str,
        tai_offset: i64,
        records: &[(TracePoint, u64, i64)],
    ) {
        self.trace_with_room(name, tai_offset, records, records.len());
    }

    /// Adds a trace file of a thread that had memory for `room` records.
    pub(crate) fn trace_with_room(
        &mut self,
        name: &str,
        tai_offset: i64,
        records: &[(TracePoint, u64, i64)],
        room: usize,
    ) {
        let mut trace = Trace::with_capacity(room);
        for (point, counter, nanos) in records {
            trace.add(*point, *counter, *nanos);
        }
        let mut bytes = Vec::new();
        let description = [("tai_offset_s", tai_offset.to_string())];
        trace_file::write(&mut bytes, &description, &trace).unwrap();
        self.write(name, &bytes, CapturePort::default());
    }

    /// Adds a capture (pcap with nanoseconds) of frames: PublisherId, counter, time.
    pub(crate) fn capture(
        &mut self,
        name: &str,
        port: CapturePort,
        frames: &[(u16, Variant, i64)],
    ) {
        self.write(name, &capture(frames), port);
    }

    pub(crate) fn write(&mut self, name: &str, bytes: &[u8], port: CapturePort) {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        self.files.push((path, port));
    }
}

pub(crate) fn loopback_port() -> CapturePort {
    CapturePort {
        is_loopback: true,
        ..CapturePort::default()
    }
}

/// Returns the bytes of a capture (pcap with nanoseconds, little-endian, LINKTYPE_ETHERNET).
pub(crate) fn capture(frames: &[(u16, Variant, i64)]) -> Vec<u8> {
    let mut bytes = 0xA1B2_3C4D_u32.to_le_bytes().to_vec();
    bytes.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
    for (publisher, counter, nanos) in frames {
        let frame = frame(*publisher, counter);
        let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        let length = u32::try_from(frame.len()).unwrap();
        for number in [
            u32::try_from(seconds).unwrap(),
            u32::try_from(rest).unwrap(),
            length,
            length,
        ] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(frame);
    }
    bytes
}

/// Returns an Ethernet frame with a VLAN tag and a message whose first field is the counter.
fn frame(publisher: u16, counter: &Variant) -> Vec<u8> {
    let fields = vec![counter.clone(), counter.clone()];
    let message = NetworkMessage::data(
        Some(PublisherId::UInt16(publisher)),
        vec![DataSetMessage {
            data_set_writer_id: Some(1),
            ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(fields)))
        }],
    );
    let mut frame = vec![1, 0, 0x5E, 0, 0x54, 1, 2, 0, 0, 0, 0, 1];
    frame.extend([0x81, 0, 0x60, 5, 0xB6, 0x2C]);
    frame.extend(message.encode_to_vec().unwrap());
    frame
}

pub(crate) fn remove_bytes(path: &Path, count: usize) {
    let bytes = std::fs::read(path).unwrap();
    std::fs::write(path, &bytes[..bytes.len() - count]).unwrap();
}
