//! Node of `takt bench nodes`: a process in a chain of processes. A peer gives functions that connect, send and receive.

use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::time::timeout_at;

use crate::{LARGEST, arguments, input_lines, number, or_exit, print_line, ready, run};

/// Time after which a message counts as lost.
const ROUND_TRIP: Duration = Duration::from_secs(10);
/// Bytes at the beginning of a message: its stream and its number.
const HEAD: usize = 8;

/// Command line of a node.
#[derive(Debug, Clone, Default)]
pub struct NodeOptions {
    /// True for the process that sends all messages and takes them at their end; false for a hop, which passes them on.
    pub is_end: bool,
    /// Address of all nodes and of the broker.
    pub address: String,
    /// Number of this node: its port, or a part of its topic's name.
    pub port: u16,
    /// Numbers of the nodes to which messages go: one for a hop, one for each stream for the end.
    pub next: Vec<u16>,
    /// Port of the broker, or 0.
    pub broker: u16,
}

/// Returns the topic of the node with this number.
#[must_use]
pub fn node_topic(number: u16) -> String {
    format!("n{number}")
}

/// Connections of a node.
#[expect(async_fn_in_trait, reason = "both sides are in this package")]
pub trait NodeLinks: Sized {
    /// Starts to take messages.
    async fn open(options: &NodeOptions) -> Result<Self, String>;
    /// Connects to the next nodes, and returns once they can receive. By default it does nothing: a broker knows all
    /// nodes, because each was ready before.
    async fn connect(&mut self, _: &NodeOptions) -> Result<(), String> {
        Ok(())
    }
    /// Sends a message to the node with this place in `next`.
    async fn send(&mut self, place: usize, message: Bytes) -> Result<(), String>;
    /// Waits for the next message. That of a hop may pass messages on itself, and never return.
    async fn receive(&mut self) -> Result<Bytes, String>;
}

/// Runs a node until its stdin ends, if the role of the command line is one of a node. Returns false for another role.
#[must_use]
pub fn run_node<L: NodeLinks>(threads: usize) -> bool {
    let mut words = std::env::args().skip(1);
    let is_end = match words.next().as_deref() {
        Some("end") => true,
        Some("hop") => false,
        _ => return false,
    };
    let options = or_exit(parse(is_end, words));
    run(threads, serve::<L>(options));
    true
}

fn parse(is_end: bool, words: impl Iterator<Item = String>) -> Result<NodeOptions, String> {
    let mut options = NodeOptions { is_end, ..NodeOptions::default() };
    for (word, value) in arguments(words)? {
        match word.as_str() {
            "--address" => options.address = value,
            "--port" => options.port = number(&value)?,
            "--next" => options.next = value.split(',').map(number).collect::<Result<_, _>>()?,
            "--broker" => options.broker = number(&value)?,
            // Nothing is stored, and no node announces itself.
            "--folder" | "--peers" => (),
            _ => return Err(format!("unknown argument {word}")),
        }
    }
    let is_complete = !options.address.is_empty() && options.port != 0 && !options.next.is_empty();
    if !is_complete || (!is_end && options.next.len() != 1) {
        return Err("--address, --port and --next are necessary; a hop has one --next".to_owned());
    }
    Ok(options)
}

async fn serve<L: NodeLinks>(options: NodeOptions) -> Result<(), String> {
    let mut links = L::open(&options).await?;
    let mut lines = input_lines();
    ready();
    match lines.recv().await.as_deref() {
        None => return Ok(()),
        Some("connect") => links.connect(&options).await?,
        Some(line) => return Err(format!("`{line}` is no command")),
    }
    print_line("connected");
    if options.is_end {
        while let Some(line) = lines.recv().await {
            print_line(&run_command(&mut links, options.next.len(), &line).await?);
        }
        return Ok(());
    }
    tokio::select! {
        result = pass_on(&mut links) => result,
        _ = lines.recv() => Ok(()),
    }
}

async fn pass_on(links: &mut impl NodeLinks) -> Result<(), String> {
    loop {
        let message = links.receive().await?;
        links.send(0, message).await?;
    }
}

/// Returns a message: its stream, its number, and bytes that depend on both.
fn message(size: usize, stream: u32, number: u32) -> Vec<u8> {
    let first = stream.wrapping_add(number);
    let mut message: Vec<u8> = (0u32..).take(size).map(|at| first.wrapping_add(at.wrapping_mul(31)) as u8).collect();
    message[..4].copy_from_slice(&stream.to_le_bytes());
    message[4..HEAD].copy_from_slice(&number.to_le_bytes());
    message
}

/// Messages of all streams with the same number, and counts of a run.
struct Round {
    size: usize,
    number: u32,
    /// Streams whose message is missing.
    open: Vec<bool>,
    wrong: u64,
    lost: usize,
}

impl Round {
    /// Takes a message at the end of its stream.
    fn take(&mut self, data: &[u8]) {
        let stream = data.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        let place = stream.and_then(|stream| self.open.get_mut(stream as usize));
        match (stream, place) {
            (Some(stream), Some(open)) if *open && message(self.size, stream, self.number) == data => *open = false,
            // A message of an earlier round that came late is one of these.
            _ => self.wrong += 1,
        }
    }
}

/// Sends one message through each stream, as often as the command says. Returns the lines of the result.
async fn run_command(links: &mut impl NodeLinks, streams: usize, line: &str) -> Result<String, String> {
    let wrong = || format!("`{line}` is no command");
    let words: Vec<_> = line.split_whitespace().collect();
    let ["run", size, count] = words[..] else {
        return Err(wrong());
    };
    let (size, count) = (size.parse().map_err(|_| wrong())?, count.parse::<u32>().map_err(|_| wrong())?);
    if !(HEAD..=LARGEST).contains(&size) {
        return Err(wrong());
    }
    let mut round = Round { size, number: 0, open: Vec::new(), wrong: 0, lost: 0 };
    let mut output = String::new();
    for number in 0..count {
        round.number = number;
        round.open = vec![true; streams];
        let begin = Instant::now();
        for (place, stream) in (0..streams).zip(0..) {
            links.send(place, message(size, stream, number).into()).await?;
        }
        let deadline = tokio::time::Instant::from_std(begin + ROUND_TRIP);
        while round.open.contains(&true) {
            match timeout_at(deadline, links.receive()).await {
                Ok(message) => round.take(&message?),
                Err(_) => break,
            }
        }
        let time = begin.elapsed();
        let lost = round.open.iter().filter(|open| **open).count();
        round.lost += lost;
        match lost {
            0 => output.push_str(&format!("sample {}\n", time.as_nanos())),
            _ => output.push_str("sample lost\n"),
        }
    }
    output.push_str(&format!("errors wrong={} lost={}\ndone", round.wrong, round.lost));
    Ok(output)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn command_line() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter();
        let line = "--address 127.0.0.1 --port 20000 --next 20001,20002 --folder /x --broker 1883";
        let options = parse(true, words(line)).unwrap();
        assert_eq!((options.port, options.next.as_slice(), options.broker), (20000, &[20001, 20002][..], 1883));
        assert!(parse(false, words(line)).is_err());
        assert!(parse(true, words("--address 127.0.0.1 --port 0 --next 1")).is_err());
        assert!(parse(true, words("--address 127.0.0.1 --port 1 --next 1, --folder /x")).is_err());
    }

    #[test]
    fn messages_are_checked() {
        assert_eq!(message(10, 2, 300), [2, 0, 0, 0, 44, 1, 0, 0, 38, 69]);
        let mut round = Round { size: 10, number: 300, open: vec![true; 3], wrong: 0, lost: 0 };
        round.take(&message(10, 2, 300));
        assert_eq!((round.open.as_slice(), round.wrong), (&[true, true, false][..], 0));
        // Twice, of an earlier round, of another stream, too short.
        for wrong in [message(10, 2, 300), message(10, 1, 299), message(10, 3, 300), vec![1, 0, 0]] {
            round.take(&wrong);
        }
        assert_eq!((round.open.as_slice(), round.wrong), (&[true, true, false][..], 4));
    }
}
