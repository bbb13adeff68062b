//! Process of one of Takt's own nodes.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::end;
use super::incoming::Incoming;
use super::link::{self, Next};
use super::pubsub::Hop;
use super::setting::{NodeRole, NodeSetting, NodeTransport};
use crate::own::OwnPeerError;

/// Runs a node until the standard input ends. Prints `ready` when it takes messages. After the line `connect` it connects to the next
/// nodes and prints `connected`. The end then takes lines `run BYTES REPETITIONS`.
///
/// # Errors
/// [`OwnPeerError`]: the node cannot start, or a next node does not take messages.
pub fn node(setting: &NodeSetting) -> Result<(), OwnPeerError> {
    use NodeTransport::{PubsubIox2, PubsubUdp};
    let failed = OwnPeerError::Failed;
    takt_rt::heap::share_one_heap();
    if let (NodeRole::Hop, PubsubUdp | PubsubIox2) = (setting.role, setting.transport) {
        return hop_of_pubsub(setting);
    }
    let (messages, received) = channel();
    let _receiver = link::Receiver::start(setting, messages.clone()).map_err(failed)?;
    if !is_told_to_connect()? {
        return Ok(());
    }
    let next = setting.next.iter();
    let next = next.map(|port| Next::connect(setting, *port));
    let mut next = next
        .collect::<Result<Vec<Next>, String>>()
        .map_err(failed)?;
    connected()?;
    match setting.role {
        NodeRole::Hop => pass_on(&mut next, messages, &received).map_err(failed),
        NodeRole::End => {
            while let Some(line) = read_line()? {
                let output = end::run(&line, &mut next, &received).map_err(failed)?;
                print(&output)?;
            }
            Ok(())
        }
    }
}

/// Runs a hop that passes messages on in the thread that receives them.
fn hop_of_pubsub(setting: &NodeSetting) -> Result<(), OwnPeerError> {
    let failed = OwnPeerError::Failed;
    let hop = Hop::open(setting).map_err(failed)?;
    if !is_told_to_connect()? {
        return Ok(());
    }
    let next = hop.connect(setting).map_err(failed)?;
    connected()?;
    let is_ended = Arc::new(AtomicBool::new(false));
    let input = Arc::clone(&is_ended);
    std::thread::spawn(move || {
        wait_for_end_of_input();
        input.store(true, Ordering::Relaxed);
    });
    hop.pass_on(next, &is_ended).map_err(failed)
}

/// Prints `ready`, and waits for `connect`. Returns false if the standard input ends.
fn is_told_to_connect() -> Result<bool, OwnPeerError> {
    print("ready")?;
    match read_line()? {
        None => Ok(false),
        Some(line) if line == "connect" => Ok(true),
        Some(line) => Err(OwnPeerError::Failed(format!("`{line:.100}` is no command"))),
    }
}

/// Gives the memory of the start back, as `takt provider` does, and prints `connected`.
fn connected() -> Result<(), OwnPeerError> {
    takt_rt::heap::give_back();
    print("connected")
}

fn wait_for_end_of_input() {
    let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
}

/// Passes messages on until the standard input ends.
fn pass_on(
    next: &mut [Next],
    end: Sender<Incoming>,
    received: &Receiver<Incoming>,
) -> Result<(), String> {
    std::thread::spawn(move || {
        wait_for_end_of_input();
        let _ = end.send(None);
    });
    while let Ok(Some(message)) = received.recv() {
        for next in &mut *next {
            next.send(&message)?;
        }
    }
    Ok(())
}

fn print(text: &str) -> Result<(), OwnPeerError> {
    let mut output = std::io::stdout().lock();
    let printed = writeln!(output, "{text}").and_then(|()| output.flush());
    printed.map_err(|error| OwnPeerError::Failed(error.to_string()))
}

/// Reads a line of the standard input; `None` at its end.
fn read_line() -> Result<Option<String>, OwnPeerError> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    match read.map_err(|error| OwnPeerError::Failed(error.to_string()))? {
        0 => Ok(None),
        _ => Ok(Some(line.trim_end().to_owned())),
    }
}
