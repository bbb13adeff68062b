//! Raw TCP: the floor of all peers over TCP. A header of four bytes precedes each message: its length, and the kind of the request in
//! the highest bit. The wrong peers of the tests are variants of its server.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::client::{Messages, serve_commands};
use super::error::OwnPeerError;
use super::payload::{Mode, sum};
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

/// Received bytes. One system call usually takes a whole message.
struct Incoming {
    buffer: Vec<u8>,
    /// Bytes of `buffer` that were received and not taken yet.
    unread: Range<usize>,
}

impl Incoming {
    fn new() -> Self {
        Self {
            buffer: vec![0; HEADER + LONGEST],
            unread: 0..0,
        }
    }

    /// Takes the next `length` bytes. Waits for them, spinning if the stream does not block. Returns `None` at the end of the stream,
    /// or once `is_over`.
    fn take(
        &mut self,
        stream: &mut TcpStream,
        length: usize,
        mut is_over: impl FnMut() -> bool,
    ) -> io::Result<Option<&[u8]>> {
        if self.buffer.len() - self.unread.start < length || self.unread.is_empty() {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        while self.unread.len() < length {
            let free = self.buffer.get_mut(self.unread.end..);
            match stream.read(free.unwrap_or_default()) {
                Ok(0) => return Ok(None),
                Ok(count) => self.unread.end += count,
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    if is_over() {
                        return Ok(None);
                    }
                    std::hint::spin_loop();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let taken = self.unread.start..self.unread.start + length;
        self.unread.start = taken.end;
        Ok(self.buffer.get(taken))
    }

    /// Takes a header: the kind of the request, and the size of the payload.
    fn take_header(
        &mut self,
        stream: &mut TcpStream,
        is_over: impl FnMut() -> bool,
    ) -> io::Result<Option<(Mode, usize)>> {
        let Some(head) = self.take(stream, HEADER, is_over)? else {
            return Ok(None);
        };
        let head = u32::from_le_bytes(head.try_into().map_err(io::Error::other)?);
        let mode = if head & ACK == 0 {
            Mode::Echo
        } else {
            Mode::Ack
        };
        match usize::try_from(head & !ACK) {
            Ok(length) if length <= LONGEST => Ok(Some((mode, length))),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }
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
    let mut incoming = Incoming::new();
    let (mut unread, mut message) = (Vec::new(), Vec::new());
    loop {
        let is_over = || stop.load(Ordering::Relaxed);
        let Some((mode, length)) = incoming.take_header(&mut stream, is_over)? else {
            return Ok(());
        };
        let request = if fault == Fault::Early {
            // Memory that no request has filled yet.
            unread.resize(length, 0);
            unread.as_slice()
        } else {
            match incoming.take(&mut stream, length, is_over)? {
                Some(request) => request,
                None => return Ok(()),
            }
        };
        message.clear();
        match mode {
            Mode::Echo => {
                message.extend_from_slice(&header(mode, length));
                message.extend_from_slice(request);
            }
            Mode::Ack => {
                message.extend_from_slice(&header(mode, 1));
                message.push(sum(request));
            }
        }
        if fault == Fault::Slow {
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_micros(given.delay_us) {
                std::hint::spin_loop();
            }
        }
        send(&mut stream, &message)?;
        if fault == Fault::Early && incoming.take(&mut stream, length, is_over)?.is_none() {
            return Ok(());
        }
    }
}

struct TcpExchange {
    stream: TcpStream,
    incoming: Incoming,
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
        incoming: Incoming::new(),
        message: Vec::new(),
    })
}

impl Messages for TcpExchange {
    fn send(&mut self, mode: Mode, request: &[u8]) -> Result<(), OwnPeerError> {
        self.message.clear();
        self.message.extend_from_slice(&header(mode, request.len()));
        self.message.extend_from_slice(request);
        send(&mut self.stream, &self.message).map_err(OwnPeerError::system("send"))
    }

    fn receive(&mut self, timeout: Duration) -> Result<Option<&[u8]>, OwnPeerError> {
        let begin = Instant::now();
        let mut looks = 0_u32;
        let mut is_over = || {
            looks = looks.wrapping_add(1);
            looks.is_multiple_of(64) && begin.elapsed() > timeout
        };
        let failed = OwnPeerError::system::<io::Error>;
        let header = self.incoming.take_header(&mut self.stream, &mut is_over);
        let Some((_, length)) = header.map_err(failed("receive"))? else {
            return Ok(None);
        };
        let answer = self.incoming.take(&mut self.stream, length, &mut is_over);
        answer.map_err(failed("receive"))
    }
}
