//! Raw TCP: the floor of all peers over TCP. A header of four bytes precedes each message: its length, and the kind of the request in
//! the highest bit. The wrong peers of the tests are variants of its server.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::client::{Exchange, serve_commands};
use super::error::OwnPeerError;
use super::payload::{Mode, answer_to};
use super::server::until_input_ends;
use super::setting::{Given, PeerSetting};

/// Fault of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// No fault.
    None,
    /// Answer before the payload of the request was read.
    Early,
    /// Delay of each answer, by the time of the option `delay-us`.
    Slow,
}

const HEADER: usize = 4;
const ACK: u32 = 1 << 31;
/// Bytes of the longest request.
const LONGEST: usize = 1 << 20;

fn header(mode: Mode, length: usize) -> [u8; HEADER] {
    let length = u32::try_from(length).unwrap_or(0);
    let flag = if mode == Mode::Ack { ACK } else { 0 };
    (length | flag).to_le_bytes()
}

/// Reads until `buffer` is full, spinning if the stream does not block. Returns false at the end of the stream, or once `is_over`.
fn fill(
    stream: &mut TcpStream,
    buffer: &mut [u8],
    mut is_over: impl FnMut() -> bool,
) -> io::Result<bool> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(buffer.get_mut(filled..).unwrap_or_default()) {
            Ok(0) => return Ok(false),
            Ok(count) => filled += count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if is_over() {
                    return Ok(false);
                }
                std::hint::spin_loop();
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Sends all bytes, spinning if the stream does not block.
fn send(stream: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Runs the server.
pub(super) fn serve(setting: &PeerSetting, fault: Fault) -> Result<(), OwnPeerError> {
    let given = setting.given(options(fault))?;
    let listener = TcpListener::bind(setting.socket(0)).map_err(OwnPeerError::system("bind"))?;
    println!("info setting tcp_nodelay=true");
    let address = setting.socket(0);
    until_input_ends(
        move |ready, stop| {
            ready();
            while !stop.load(Ordering::Acquire) {
                let (stream, _) = listener.accept().map_err(OwnPeerError::system("accept"))?;
                // A client that is gone is no fault of the server.
                let _ = serve_client(stream, &given, fault, stop);
            }
            Ok(())
        },
        // A server that waits for a client gets one. One that waits for a request ends with its process.
        move || drop(TcpStream::connect(address).map(|stream| stream.shutdown(Shutdown::Both))),
    )
}

fn options(fault: Fault) -> &'static [&'static str] {
    match fault {
        Fault::Slow => &["poll", "delay-us"],
        _ => &["poll"],
    }
}

fn serve_client(
    mut stream: TcpStream,
    given: &Given,
    fault: Fault,
    stop: &AtomicBool,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(given.poll)?;
    let mut buffer = vec![0; LONGEST];
    let (mut answer, mut message) = (Vec::new(), Vec::new());
    loop {
        let mut head = [0; HEADER];
        let is_over = || stop.load(Ordering::Relaxed);
        if !fill(&mut stream, &mut head, is_over)? {
            return Ok(());
        }
        let head = u32::from_le_bytes(head);
        let mode = if head & ACK == 0 {
            Mode::Echo
        } else {
            Mode::Ack
        };
        let length = usize::try_from(head & !ACK).unwrap_or(usize::MAX);
        let Some(request) = buffer.get_mut(..length) else {
            return Err(ErrorKind::InvalidData.into());
        };
        if fault == Fault::Early {
            // Memory that no request has filled yet.
            request.fill(0);
            answer_to(mode, request, &mut answer);
        }
        if fault != Fault::Early && !fill(&mut stream, request, is_over)? {
            return Ok(());
        }
        if fault != Fault::Early {
            answer_to(mode, request, &mut answer);
        }
        if fault == Fault::Slow {
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_micros(given.delay_us) {
                std::hint::spin_loop();
            }
        }
        message.clear();
        message.extend_from_slice(&header(mode, answer.len()));
        message.extend_from_slice(&answer);
        send(&mut stream, &message)?;
        if fault == Fault::Early && !fill(&mut stream, request, is_over)? {
            return Ok(());
        }
    }
}

struct TcpExchange {
    stream: TcpStream,
    message: Vec<u8>,
}

/// Runs the client.
pub(super) fn connect(setting: &PeerSetting, fault: Fault) -> Result<(), OwnPeerError> {
    let given = setting.given(options(fault))?;
    let open = || -> io::Result<TcpStream> {
        let stream = TcpStream::connect(setting.socket(0))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(given.poll)?;
        // A lost answer ends the wait.
        stream.set_read_timeout(Some(Duration::from_millis(200)))?;
        Ok(stream)
    };
    let stream = open().map_err(OwnPeerError::system("connect"))?;
    serve_commands(&mut TcpExchange {
        stream,
        message: Vec::new(),
    })
}

impl Exchange for TcpExchange {
    fn send(&mut self, mode: Mode, request: &[u8]) -> Result<(), OwnPeerError> {
        self.message.clear();
        self.message.extend_from_slice(&header(mode, request.len()));
        self.message.extend_from_slice(request);
        send(&mut self.stream, &self.message).map_err(OwnPeerError::system("send"))
    }

    fn receive(&mut self, timeout: Duration, answer: &mut Vec<u8>) -> Result<bool, OwnPeerError> {
        let begin = Instant::now();
        let mut looks = 0_u32;
        let mut is_over = || {
            looks = looks.wrapping_add(1);
            looks.is_multiple_of(64) && begin.elapsed() > timeout
        };
        let mut head = [0; HEADER];
        let failed = OwnPeerError::system::<io::Error>;
        if !fill(&mut self.stream, &mut head, &mut is_over).map_err(failed("receive"))? {
            return Ok(false);
        }
        let length = usize::try_from(u32::from_le_bytes(head) & !ACK).unwrap_or(0);
        answer.resize(length.min(LONGEST), 0);
        fill(&mut self.stream, answer, &mut is_over).map_err(failed("receive"))
    }
}
