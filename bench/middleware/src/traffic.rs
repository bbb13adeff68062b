//! Generator of network load: two processes, one of which sends datagrams or frames at a rate to the other one.

use std::io::{BufRead, Read, Write};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use takt_link::{FrameListener, FrameSender};

use crate::own::OwnPeerError;

/// Bytes of a datagram's payload, so that it fills a frame of Ethernet: 1500 without the headers of IPv4 and UDP.
const DATAGRAM: usize = 1472;
/// Bytes of a frame without its checksum.
const FRAME: usize = 1514;
/// `EtherType` for local experiments (IEEE 802, Local Experimental `EtherType` 1).
const ETHER_TYPE: [u8; 2] = [0x88, 0xb5];
/// Interval of the bursts.
const INTERVAL: Duration = Duration::from_millis(1);
/// Longest time whose bytes are sent late. What is older is left out.
const BACKLOG: Duration = Duration::from_millis(10);
/// Bytes of the receiver's buffer in the kernel.
const BUFFER: usize = 4 << 20;
/// Bytes of foreign frames that the receiver keeps.
const KEPT: u16 = 64;

/// Side of the traffic.
#[derive(Debug, Clone, Subcommand)]
pub enum TrafficSide {
    /// Count bytes until the standard input ends. Prints `ready` and its UDP port; each line of the input is answered with the number
    /// of bytes.
    Receive(TrafficPlace),
    /// Send until the standard input ends.
    Send {
        /// Interface or address.
        #[command(flatten)]
        place: TrafficPlace,
        /// UDP port of the receiver.
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// Rate in Mbit/s of payloads of UDP, or of frames.
        #[arg(long)]
        rate: u32,
    },
}

/// Interface of this side, or address of the receiver.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct TrafficPlace {
    /// Interface, for frames of Ethernet.
    #[arg(long)]
    pub interface: Option<String>,
    /// IP address of the receiver, for datagrams of UDP.
    #[arg(long)]
    pub address: Option<IpAddr>,
}

/// Runs one side. The process ends with its standard input.
///
/// # Errors
/// [`OwnPeerError`]: the interface or the address cannot be used.
pub fn traffic(side: &TrafficSide) -> Result<(), OwnPeerError> {
    match side {
        TrafficSide::Receive(TrafficPlace {
            interface: Some(name),
            ..
        }) => receive_frames(name),
        TrafficSide::Receive(TrafficPlace { address, .. }) => receive_datagrams(place(*address)?),
        TrafficSide::Send {
            place:
                TrafficPlace {
                    interface: Some(name),
                    ..
                },
            rate,
            ..
        } => send_frames(name, *rate),
        TrafficSide::Send {
            place: TrafficPlace { address, .. },
            port,
            rate,
        } => send_datagrams(SocketAddr::new(place(*address)?, *port), *rate),
    }
}

fn place(address: Option<IpAddr>) -> Result<IpAddr, OwnPeerError> {
    address.ok_or_else(|| OwnPeerError::Failed("neither an interface nor an address".to_owned()))
}

fn failed(error: impl std::fmt::Display) -> OwnPeerError {
    OwnPeerError::Failed(error.to_string())
}

fn receive_datagrams(address: IpAddr) -> Result<(), OwnPeerError> {
    let socket = UdpSocket::bind((address, 0)).map_err(failed)?;
    // Without the right to a larger buffer, more datagrams are lost.
    let _ = set_socket_recv_buffer_size_force(&socket, BUFFER);
    let port = socket.local_addr().map_err(failed)?.port();
    let received = answer_lines(&port.to_string());
    let mut buffer = vec![0; DATAGRAM + 1];
    loop {
        let length = socket.recv(&mut buffer).map_err(failed)?;
        received.fetch_add(length as u64, Ordering::Relaxed);
    }
}

fn receive_frames(interface: &str) -> Result<(), OwnPeerError> {
    let mut listener = FrameListener::open(interface, KEPT).map_err(failed)?;
    let received = answer_lines("0");
    loop {
        let heard = listener.listen(Duration::from_secs(1), &mut |frame| {
            if frame.bytes.get(12..14) == Some(&ETHER_TYPE) {
                received.fetch_add(frame.length as u64, Ordering::Relaxed);
            }
        });
        heard.map_err(failed)?;
    }
}

/// Prints that the receiver is ready, and starts a thread that answers each line of the input with the counter. The thread ends the
/// process at the end of the input.
fn answer_lines(port: &str) -> Arc<AtomicU64> {
    let received = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&received);
    println!("ready {port}");
    std::thread::spawn(move || {
        for _ in std::io::stdin().lock().lines().map_while(Result::ok) {
            println!("{}", count.load(Ordering::Relaxed));
        }
        std::process::exit(0);
    });
    received
}

fn send_datagrams(to: SocketAddr, rate: u32) -> Result<(), OwnPeerError> {
    let any: IpAddr = match to {
        SocketAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).map_err(failed)?;
    socket.connect(to).map_err(failed)?;
    let datagram = [0x5a; DATAGRAM];
    send_at(rate, DATAGRAM, |count| {
        for _ in 0..count {
            // A full queue and a receiver that ends are no failures of a load.
            let _ = socket.send(&datagram);
        }
        Ok(())
    })
}

fn send_frames(interface: &str, rate: u32) -> Result<(), OwnPeerError> {
    let mut sender = FrameSender::open(interface, 0).map_err(failed)?;
    let mut frame = [0x5a; FRAME];
    // Destination: all stations; source: a local address.
    if let Some(header) = frame.get_mut(..14) {
        header.copy_from_slice(&[&[0xff; 6][..], &[2, 0, 0, 0, 0, 1], &ETHER_TYPE].concat());
    }
    send_at(rate, FRAME, |count| {
        sender.send(&frame, count).map(drop).map_err(failed)
    })
}

/// Sends bursts of messages of `bytes` so that their rate is `rate` Mbit/s.
fn send_at(
    rate: u32,
    bytes: usize,
    mut send: impl FnMut(usize) -> Result<(), OwnPeerError>,
) -> Result<(), OwnPeerError> {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    println!("ready");
    std::io::stdout().flush().map_err(failed)?;
    let mut pace = Pace::new(rate, bytes);
    let mut last = Instant::now();
    loop {
        std::thread::sleep(INTERVAL);
        let now = Instant::now();
        send(pace.due(now - last))?;
        last = now;
    }
}

/// Number of messages that are due.
#[derive(Debug)]
struct Pace {
    /// Messages in a second.
    rate: f64,
    /// Messages that are due and not sent yet.
    due: f64,
}

impl Pace {
    fn new(rate: u32, bytes: usize) -> Self {
        let rate = f64::from(rate) * 1e6 / 8.0 / bytes as f64;
        Self { rate, due: 0.0 }
    }

    /// Returns the number of messages that are due after this time, at most those of [`BACKLOG`] and one.
    fn due(&mut self, passed: Duration) -> usize {
        let most = (self.rate * BACKLOG.as_secs_f64()).max(1.0);
        self.due = (self.due + self.rate * passed.as_secs_f64()).min(most);
        let whole = self.due.floor();
        self.due -= whole;
        whole as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_have_the_rate_and_no_long_backlog() {
        let mut pace = Pace::new(12, 1500);
        // 1000 messages in a second.
        let sent: usize = (0..1000)
            .map(|_| pace.due(Duration::from_micros(1500)))
            .sum();
        assert!((1499..=1500).contains(&sent), "{sent}");
        assert_eq!(pace.due(Duration::from_secs(5)), 10);
        let mut slow = Pace::new(1, 1500);
        let sent: usize = (0..1200).map(|_| slow.due(INTERVAL)).sum();
        assert!((99..=100).contains(&sent), "{sent}");
    }
}
