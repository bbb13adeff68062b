//! Capture at a port: a thread that writes all frames of a device to a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use takt_analysis::SentStamp;
use takt_capture::CaptureWriter;
use takt_link::{FrameListener, HeardFrame, MacAddress};

use super::node::LabNode;
use crate::error::LabError;

/// Bytes that are kept of frames without a UADP message: their headers.
const OTHERS: u16 = 64;

/// Mark of a frame that the link device hands to captures when it is sent (`TAKT_LINK_MARK` in `uml/takt_link/takt_link.h`).
const SENT_MARK: u32 = 0x5441_4B54;

/// Longest wait for a frame before the thread looks whether it shall end.
const STEP: Duration = Duration::from_millis(20);

/// Size of the buffer of a file, in bytes.
const BUFFER: usize = 1 << 18;

/// Running capture.
#[derive(Debug)]
pub(crate) struct PortCapture {
    name: String,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<CaptureCounts, LabError>>,
}

/// Numbers of a capture.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CaptureCounts {
    /// Frames by destination address.
    pub(crate) frames: BTreeMap<[u8; 6], u64>,
    /// Number of frames for which the kernel had no room.
    pub(crate) lost: u64,
}

impl CaptureCounts {
    /// Returns the number of frames to a destination address.
    pub(crate) fn to(&self, address: MacAddress) -> u64 {
        self.frames.get(&address.0).copied().unwrap_or(0)
    }
}

impl PortCapture {
    /// Starts a capture at a device of a node. It hears all frames from the return of this function on.
    pub(crate) fn start(
        node: &LabNode,
        device: &str,
        name: &str,
        stamp: SentStamp,
        file: File,
    ) -> Result<Self, LabError> {
        let stop = Arc::new(AtomicBool::new(false));
        let (opened, outcome) = mpsc::channel();
        let place = name.to_owned();
        let (ends, device) = (Arc::clone(&stop), device.to_owned());
        let thread = node.spawn("capture", move || {
            let failed = |error| LabError::Link {
                place: place.clone(),
                error,
            };
            let opened_listener = match stamp {
                SentStamp::Driver | SentStamp::Unknown => FrameListener::open(&device, OTHERS),
                SentStamp::FirstBit => FrameListener::open_marked(&device, OTHERS, SENT_MARK),
            };
            let mut listener = opened_listener.map_err(failed)?;
            // `start` waits for this message, so the channel is open.
            let _ = opened.send(());
            write(&mut listener, file, &ends, &place)
        })?;
        match outcome.recv() {
            Ok(()) => Ok(Self {
                name: name.to_owned(),
                stop,
                thread,
            }),
            // The channel closes without a message only if the thread has ended.
            Err(_) => match thread.join() {
                Ok(Err(error)) => Err(error),
                _ => Err(LabError::Panicked),
            },
        }
    }

    /// Ends the capture: what has arrived is written.
    pub(crate) fn finish(self) -> Result<(String, CaptureCounts), LabError> {
        self.stop.store(true, Ordering::Relaxed);
        let counts = self.thread.join().map_err(|_| LabError::Panicked)??;
        Ok((self.name, counts))
    }
}

/// Writes frames until the capture shall end and no frame waits.
fn write(
    listener: &mut FrameListener,
    file: File,
    stop: &AtomicBool,
    place: &str,
) -> Result<CaptureCounts, LabError> {
    let of_file = |error| LabError::Io {
        path: place.into(),
        error,
    };
    let mut writer = CaptureWriter::new(BufWriter::with_capacity(BUFFER, file)).map_err(of_file)?;
    let mut counts = CaptureCounts::default();
    let mut frame = Vec::with_capacity(2048);
    loop {
        // The flag is read before the attempt: the loop ends only when an attempt after the stop has heard nothing.
        let ends = stop.load(Ordering::Relaxed);
        let timeout = if ends { Duration::ZERO } else { STEP };
        let mut outcome = Ok(());
        let heard = listener.listen(timeout, &mut |heard| {
            if let Some(destination) = heard.bytes.first_chunk::<6>() {
                *counts.frames.entry(*destination).or_default() += 1;
            }
            let length = tagged(&heard, &mut frame);
            let written = writer.write_beginning(time_of(&heard), &frame, length);
            // The first error tells the cause.
            if outcome.is_ok() {
                outcome = written;
            }
        });
        let heard = heard.map_err(|error| LabError::Link {
            place: place.to_owned(),
            error,
        })?;
        outcome.map_err(of_file)?;
        if ends && heard == 0 {
            break;
        }
    }
    counts.lost = listener.lost();
    finish(writer).map_err(of_file)?;
    Ok(counts)
}

fn finish(writer: CaptureWriter<BufWriter<File>>) -> io::Result<()> {
    // Dropping the buffer would hide an error of the last write.
    let buffer = writer.finish()?;
    buffer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    Ok(())
}

/// Returns the time of a frame: that of the kernel, or now.
fn time_of(heard: &HeardFrame<'_>) -> SystemTime {
    let nanos = heard.time.and_then(|time| u64::try_from(time.nanos()).ok());
    match nanos {
        Some(nanos) => UNIX_EPOCH + Duration::from_nanos(nanos),
        None => SystemTime::now(),
    }
}

/// Writes a frame as it is on the wire: with the tag that the kernel took out. Returns the length of the whole frame.
fn tagged(heard: &HeardFrame<'_>, frame: &mut Vec<u8>) -> usize {
    frame.clear();
    let Some((tag, (addresses, rest))) = heard.tag.zip(heard.bytes.split_at_checked(12)) else {
        frame.extend_from_slice(heard.bytes);
        return heard.length;
    };
    let control = (u16::from(tag.priority & 7) << 13) | (tag.id & 0xFFF);
    frame.extend_from_slice(addresses);
    frame.extend_from_slice(&[0x81, 0x00]);
    frame.extend_from_slice(&control.to_be_bytes());
    frame.extend_from_slice(rest);
    heard.length + 4
}

#[cfg(test)]
mod tests {
    use takt_link::VlanTag;

    use super::*;

    #[test]
    fn a_tag_that_was_taken_out_is_put_back() {
        let bytes: Vec<u8> = (0..20).collect();
        let mut frame = Vec::new();
        let heard = |tag| HeardFrame {
            bytes: &bytes,
            length: 100,
            tag,
            time: None,
        };
        assert_eq!(tagged(&heard(None), &mut frame), 100);
        assert_eq!(frame, bytes);
        let tag = VlanTag { id: 5, priority: 6 };
        assert_eq!(tagged(&heard(Some(tag)), &mut frame), 104);
        let expected = [&bytes[..12], &[0x81, 0, 0xC0, 5], &bytes[12..]].concat();
        assert_eq!(frame, expected);
    }
}
