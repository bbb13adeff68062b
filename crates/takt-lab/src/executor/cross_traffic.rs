//! Cross traffic: a thread that sends the frames of a flow at their times.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use takt_link::{FrameSender, LinkError, MacAddress};
use takt_rt::clock::Clock;
use takt_rt::sleeping::{monotonic_at, sleep_until};
use takt_rt::timer_slack;
use takt_scenario::{CrossTraffic, Scenario};
use takt_sim::CrossTrafficTimes;

/// EtherType of IPv4.
const IPV4: u16 = 0x0800;
/// EtherType for experiments (IEEE 802, Local Experimental EtherType 1): frames without room for headers of IPv4 and UDP.
const EXPERIMENTAL: u16 = 0x88B5;
/// Bytes of the headers of IPv4 and UDP.
const DATAGRAM: usize = 28;
/// First UDP port. Each flow has its own, so that disciplines tell flows apart.
const FIRST_PORT: u16 = 40_000;
/// Longest sleep before the thread looks whether it shall end, in nanoseconds.
const STEP: i64 = 20_000_000;

/// Numbers of a flow of cross traffic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TrafficCounts {
    /// Number of frames that the kernel took.
    pub(crate) sent: u64,
    /// Number of frames that the kernel refused, because the queue was full.
    pub(crate) refused: u64,
    /// Number of frames whose time had come before the end, for which the thread was too slow.
    pub(crate) late: u64,
}

/// Flow of cross traffic at its sender.
#[derive(Debug)]
pub(crate) struct TrafficSource {
    /// Name of the sending device.
    pub(crate) device: String,
    /// Bytes of each frame.
    pub(crate) frame: Vec<u8>,
    /// Priority of the socket.
    pub(crate) priority: u8,
    /// Times of the frames: those of `takt simulate`.
    pub(crate) times: CrossTrafficTimes,
}

impl TrafficSource {
    /// Makes the source of the flow with this index. `addresses` are those of the flow and of the device. `seed` determines its times.
    pub(crate) fn new(
        scenario: &Scenario,
        index: usize,
        device: &str,
        addresses: (MacAddress, MacAddress),
        seed: u64,
    ) -> Option<Self> {
        let flow = scenario.cross_traffic.get(index)?;
        Some(Self {
            device: device.to_owned(),
            frame: frame(flow, index, addresses),
            priority: flow.pcp,
            times: CrossTrafficTimes::of(scenario, index, seed)?,
        })
    }

    /// Sends frames from `begin` (nanoseconds of CLOCK_TAI) until `stop` is set. A thread that is late sends what is due at once.
    pub(crate) fn run(mut self, begin: i64, stop: &AtomicBool) -> Result<TrafficCounts, LinkError> {
        let mut sender = FrameSender::open(&self.device, self.priority)?;
        // Without it, the kernel wakes this thread up to 50 us late, together with others.
        let _ = timer_slack::minimize();
        let mut counts = TrafficCounts::default();
        // A clock that is set must neither end the flow nor send its frames at once.
        let clock = Clock::Monotonic;
        let begin = monotonic_at(Clock::Tai, begin);
        let (mut at, mut frames) = self.times.next_frames();
        loop {
            let wanted = begin.saturating_add(at.as_nanoseconds());
            while !stop.load(Ordering::Relaxed) && clock.nanos() < wanted {
                let until = wanted.min(clock.nanos().saturating_add(STEP));
                sleep_until(clock, until, Duration::ZERO);
            }
            if stop.load(Ordering::Relaxed) {
                let now = clock.nanos().saturating_sub(begin);
                while at.as_nanoseconds() < now {
                    counts.late += u64::from(frames);
                    (at, frames) = self.times.next_frames();
                }
                return Ok(counts);
            }
            let due = frames as usize;
            let taken = sender.send(&self.frame, due)?;
            counts.sent += taken as u64;
            counts.refused += (due - taken) as u64;
            (at, frames) = self.times.next_frames();
        }
    }
}

/// Returns the frame of a flow: tagged, with headers of IPv4 and UDP if there is room for them, and zeros.
fn frame(flow: &CrossTraffic, index: usize, addresses: (MacAddress, MacAddress)) -> Vec<u8> {
    let (destination, source) = addresses;
    let payload = flow.frame.payload() as usize;
    let control = (u16::from(flow.pcp & 7) << 13) | (flow.vlan & 0xFFF);
    let mut frame = Vec::with_capacity(payload + 18);
    frame.extend(destination.0);
    frame.extend(source.0);
    frame.extend([0x81, 0x00]);
    frame.extend(control.to_be_bytes());
    if payload < DATAGRAM {
        frame.extend(EXPERIMENTAL.to_be_bytes());
    } else {
        frame.extend(IPV4.to_be_bytes());
        frame.extend(datagram_headers(payload, index));
    }
    // The kernel pads no frame of a packet socket.
    frame.resize(18 + payload.max(46), 0);
    frame
}

/// Returns the headers of IPv4 and UDP of a datagram from 192.0.2.1 to 192.0.2.2 (RFC 5737), `length` bytes with these headers.
fn datagram_headers(length: usize, index: usize) -> Vec<u8> {
    let whole = u16::try_from(length).unwrap_or(u16::MAX);
    // The remainder keeps ports below 60 000.
    let port = FIRST_PORT.wrapping_add(u16::try_from(index % 20_000).unwrap_or(0));
    let mut headers = vec![0x45, 0];
    headers.extend(whole.to_be_bytes());
    // Don't Fragment, 64 hops, UDP. The checksum is computed with zeros in its place.
    headers.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    let sum = headers.chunks(2).fold(0_u32, |sum, pair| {
        sum + u32::from(pair[0]) * 256 + u32::from(*pair.last().unwrap_or(&0))
    });
    let folded = (sum & 0xFFFF) + (sum >> 16);
    // The sum is folded once more, because the first fold may carry (RFC 1071).
    let folded = (folded & 0xFFFF) + (folded >> 16);
    let checksum = !u16::try_from(folded).unwrap_or(u16::MAX);
    headers[10..12].copy_from_slice(&checksum.to_be_bytes());
    headers.extend(port.to_be_bytes());
    headers.extend(port.to_be_bytes());
    // The length is 8 at least: shorter payloads get no headers.
    headers.extend((whole - 20).to_be_bytes());
    // No checksum.
    headers.extend([0, 0]);
    headers
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use takt_scenario::{Frame, NodeIndex, Pattern};

    use super::*;

    fn flow(payload: u32) -> CrossTraffic {
        CrossTraffic {
            name: "load".to_owned(),
            from: NodeIndex(0),
            to: NodeIndex(1),
            frame: Frame::new(payload).unwrap(),
            interval: "10 us".parse().unwrap(),
            vlan: 5,
            pcp: 2,
            pattern: Pattern::Constant,
        }
    }

    #[test]
    fn frames_have_the_length_and_tag_of_the_flow() {
        let addresses = (MacAddress([2; 6]), MacAddress([4; 6]));
        for payload in [1_u32, 27, 28, 46, 1500] {
            let frame = frame(&flow(payload), 3, addresses);
            assert_eq!(frame.len(), 18 + payload.max(46) as usize);
            assert_eq!(frame[..12], [[2; 6], [4; 6]].concat());
            assert_eq!(frame[12..16], [0x81, 0, 0x40, 5]);
            let ether_type = u16::from_be_bytes([frame[16], frame[17]]);
            assert_eq!(ether_type, if payload < 28 { EXPERIMENTAL } else { IPV4 });
            if payload >= 28 {
                let header = &frame[18..38];
                let sum: u32 = header
                    .chunks(2)
                    .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
                    .sum();
                assert_eq!((sum & 0xFFFF) + (sum >> 16), 0xFFFF, "checksum");
                assert_eq!(header[2..4], u16::try_from(payload).unwrap().to_be_bytes());
            }
        }
    }
}
