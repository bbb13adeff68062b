//! TCP stream in one direction: the bandwidth of a link.
//!
//! The stream is no peer of the comparison. Its client has one command, `stream MILLISECONDS`, and answers `stream BYTES NANOSECONDS`: the bytes
//! that the server has received, and the time until the client knows that.

use std::io::{self, BufRead, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::error::OwnPeerError;
use super::server::until_input_ends;
use super::setting::PeerSetting;

/// Bytes of one call.
const CHUNK: usize = 64 << 10;
/// Bytes of the server's answer: the number of received bytes, in little endian.
const ANSWER: usize = 8;

/// Runs the server.
pub(super) fn serve(setting: &PeerSetting) -> Result<(), OwnPeerError> {
    setting.given(&[])?;
    let address = setting.socket(0);
    let listener = TcpListener::bind(address).map_err(OwnPeerError::system("bind"))?;
    until_input_ends(
        move |ready, stop| {
            ready();
            while !stop.load(Ordering::Relaxed) {
                let (stream, _) = listener.accept().map_err(OwnPeerError::system("accept"))?;
                // A client that is gone is no fault of the server.
                let _ = count(stream);
            }
            Ok(())
        },
        move || drop(TcpStream::connect(address)),
    )
}

/// Reads a stream to its end, and answers with the number of bytes.
fn count(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut received = 0_u64;
    loop {
        match stream.read(&mut buffer)? {
            0 => return stream.write_all(&received.to_le_bytes()),
            length => received += length as u64,
        }
    }
}

/// Runs the client.
pub(super) fn connect(setting: &PeerSetting) -> Result<(), OwnPeerError> {
    setting.given(&[])?;
    println!("ready");
    for line in io::stdin().lock().lines() {
        let line = line.map_err(OwnPeerError::system("read a command"))?;
        if line.trim() == "quit" {
            break;
        }
        let millis = line.strip_prefix("stream ").and_then(|it| it.parse().ok());
        let millis = millis.ok_or(OwnPeerError::Command(line))?;
        let stream = TcpStream::connect(setting.socket(0));
        let stream = stream.map_err(OwnPeerError::system("connect"))?;
        let sent = send(stream, Duration::from_millis(millis));
        let (bytes, time) = sent.map_err(OwnPeerError::system("send"))?;
        println!("stream {bytes} {}", time.as_nanos());
    }
    Ok(())
}

/// Sends for this time. Returns the number of bytes that the server has received, and the time until its answer.
fn send(mut stream: TcpStream, time: Duration) -> io::Result<(u64, Duration)> {
    let chunk = vec![0; CHUNK];
    let begin = Instant::now();
    while begin.elapsed() < time {
        stream.write_all(&chunk)?;
    }
    stream.shutdown(Shutdown::Write)?;
    let mut answer = [0; ANSWER];
    stream.read_exact(&mut answer)?;
    Ok((u64::from_le_bytes(answer), begin.elapsed()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn all_bytes_of_a_stream_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || count(listener.accept().unwrap().0));
        let time = Duration::from_millis(5);
        let (bytes, taken) = send(TcpStream::connect(address).unwrap(), time).unwrap();
        server.join().unwrap().unwrap();
        assert!(bytes > 0 && bytes.is_multiple_of(CHUNK as u64), "{bytes}");
        assert!(taken >= time);
    }
}
