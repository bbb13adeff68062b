//! The test: starts all servers, sends messages, measures.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use takt_report::Report;
use takt_rt::child::{ChildProcess, Ending};

use super::options::{NodesOptions, NodesTransport};
use super::report;
use super::row::NodesRow;
use super::stream::{Next, serve};
use crate::error::MiddlewareError;
use crate::statistics::SortedTimes;
use crate::usage::PeerUsage;

/// Longest time until all servers are ready or connected.
const START: Duration = Duration::from_secs(300);
/// Longest time until a message is back.
const ROUND_TRIP: Duration = Duration::from_secs(10);
/// Ports that are tried: below those that the system hands out.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// Bytes of a message that name its stream and its number.
const HEAD: usize = 8;

/// Runs the test with each transport, and prints its lines.
///
/// # Errors
/// [`MiddlewareError`]: an interrupt, or a program or folder that cannot be used. Servers that fail are a result.
pub fn run(
    options: &NodesOptions,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), MiddlewareError> {
    let mut rows = Vec::new();
    for transport in &options.transport {
        let mut row = NodesRow {
            transport: *transport,
            nodes: usize::from(options.streams) * usize::from(options.hops),
            bytes: options.bytes,
            started: 0,
            start_s: None,
            connect_s: None,
            memory: 0,
            median_ms: None,
            p99_ms: None,
            faults: 0,
            failure: None,
            is_debug: cfg!(debug_assertions),
        };
        let measured = measure(options, *transport, &mut row, interrupted);
        row.failure = measured.err();
        if interrupted.load(Ordering::Relaxed) {
            return Err(MiddlewareError::Interrupted);
        }
        rows.push(row);
    }
    report::show(&mut Report::new(line, options.json), &rows)
}

/// Finds free TCP ports.
fn free_ports(count: usize) -> Vec<u16> {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    PORTS.filter(is_free).take(count).collect()
}

/// Starts the servers, sends the messages, and fills the row. The error is the reason why the test ended early.
fn measure(
    options: &NodesOptions,
    transport: NodesTransport,
    row: &mut NodesRow,
    interrupted: &AtomicBool,
) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let folder = tempfile::Builder::new().prefix("takt-nodes-").tempdir();
    let folder = folder.map_err(|error| text(&error))?;
    let ports = free_ports(row.nodes + 1);
    let Some((last, ports)) = ports
        .split_last()
        .filter(|(_, ports)| ports.len() == row.nodes)
    else {
        return Err(format!("there are no {} free ports", row.nodes + 1));
    };
    let process = std::process::id();
    let name = |port: u16| format!("TaktHop{process}x{port}");
    let endpoint = |port: u16| transport.endpoint(&name(port), port);
    let (messages, received) = channel();
    let _sink = serve(&name(*last), *last, folder.path(), messages)?;
    let chains = ports.chunks(usize::from(options.hops));
    let begin = Instant::now();
    let mut children = Vec::with_capacity(row.nodes);
    for chain in chains.clone() {
        let next = chain.iter().skip(1).chain([last]);
        for (port, next) in chain.iter().zip(next) {
            let child = start(&name(*port), *port, folder.path(), &endpoint(*next));
            children.push(child.map_err(|error| failure(children.len(), &error))?);
        }
    }
    wait(&children, "ready", row, interrupted)?;
    row.start_s = Some(begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    for (place, child) in children.iter_mut().enumerate() {
        child
            .tell("connect")
            .map_err(|error| failure(place, &error))?;
    }
    wait(&children, "connected", row, interrupted)?;
    row.connect_s = Some(begin.elapsed().as_secs_f64());
    let clients = chains.filter_map(<[u16]>::first);
    let clients = clients.map(|first| Next::connect(&endpoint(*first), folder.path()));
    let mut clients = clients.collect::<Result<Vec<Next>, String>>()?;
    let mut times = Vec::new();
    let mut message = vec![0; usize::try_from(options.bytes).unwrap_or(0)];
    for number in 0..options.repetitions {
        if interrupted.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        let begin = Instant::now();
        for (stream, client) in (0..).zip(&mut clients) {
            fill(&mut message, stream, number);
            client.send(&message).map_err(|error| text(&error))?;
        }
        let faults = collect(&received, &mut message, clients.len(), number);
        row.faults += faults;
        if faults == 0 {
            times.push(begin.elapsed().as_secs_f64() * 1000.0);
        }
    }
    row.memory = children
        .iter()
        .map(|child| PeerUsage::of_group(child.id()).memory)
        .sum();
    let times = SortedTimes::new(times);
    row.median_ms = times.quantile(0.5);
    row.p99_ms = times.quantile(0.99);
    // All of them are asked first, so that they end at the same time.
    children.iter_mut().for_each(ChildProcess::ask_to_end);
    Ok(())
}

fn failure(place: usize, error: &dyn std::fmt::Display) -> String {
    format!("server {} {error}", place + 1)
}

fn start(name: &str, port: u16, folder: &Path, next: &str) -> Result<ChildProcess, String> {
    let takt = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(takt);
    command
        .args(["bench", "hop", "--name", name, "--port", &port.to_string()])
        .arg("--folder")
        .arg(folder)
        .args(["--next", next])
        .stderr(Stdio::inherit());
    ChildProcess::start(name, &mut command, Ending::Input).map_err(|error| error.to_string())
}

/// Waits until all servers have printed a line.
fn wait(
    children: &[ChildProcess],
    expected: &str,
    row: &mut NodesRow,
    interrupted: &AtomicBool,
) -> Result<(), String> {
    let deadline = Instant::now() + START;
    row.started = 0;
    for (place, child) in children.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = child.line(left, interrupted);
        let line = line.map_err(|error| failure(place, &error))?;
        if line != expected {
            return Err(failure(place, &format!("printed `{line:.100}`")));
        }
        row.started += 1;
    }
    Ok(())
}

/// Writes a message: its stream, its number, and bytes that depend on both.
fn fill(message: &mut [u8], stream: u32, number: u32) {
    for (place, byte) in message.iter_mut().enumerate() {
        *byte = (stream as usize)
            .wrapping_add(number as usize)
            .wrapping_add(place * 31) as u8;
    }
    let head = [stream.to_le_bytes(), number.to_le_bytes()].concat();
    if let Some(place) = message.get_mut(..HEAD) {
        place.copy_from_slice(&head);
    }
}

/// Takes the messages of all streams with this number. Returns the number of those that are missing or wrong.
fn collect(
    received: &Receiver<Option<Vec<u8>>>,
    expected: &mut [u8],
    streams: usize,
    number: u32,
) -> u64 {
    let deadline = Instant::now() + ROUND_TRIP;
    let mut is_open = vec![true; streams];
    let mut wrong = 0;
    while is_open.contains(&true) {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(Some(message)) = received.recv_timeout(left) else {
            break;
        };
        let stream = message
            .first_chunk()
            .map(|bytes| u32::from_le_bytes(*bytes));
        let place = stream.and_then(|stream| usize::try_from(stream).ok());
        let Some(open) = place.and_then(|place| is_open.get_mut(place)) else {
            wrong += 1;
            continue;
        };
        fill(expected, stream.unwrap_or_default(), number);
        match message == expected && *open {
            true => *open = false,
            // A message of an earlier repetition that was lost comes late.
            false => wrong += 1,
        }
    }
    let missing = is_open.iter().filter(|open| **open).count();
    wrong + u64::try_from(missing).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn missing_twice_and_strange_messages_are_faults() {
        let message = |stream, number| {
            let mut message = vec![0; 16];
            fill(&mut message, stream, number);
            Some(message)
        };
        let (sender, received) = channel();
        let mut expected = vec![0; 16];
        for stream in [1, 0] {
            sender.send(message(stream, 7)).unwrap();
        }
        assert_eq!(collect(&received, &mut expected, 2, 7), 0);
        // A late one, one twice, one of no stream; then the sender is gone.
        for (stream, number) in [(0, 7), (1, 8), (1, 8), (5, 8)] {
            sender.send(message(stream, number)).unwrap();
        }
        drop(sender);
        assert_eq!(collect(&received, &mut expected, 2, 8), 4);
    }
}
