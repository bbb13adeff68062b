//! Process of one of Takt's own nodes.

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::end;
use super::link::{self, Incoming, Next};
use super::setting::{NodeRole, NodeSetting};
use crate::own::OwnPeerError;

/// Runs a node until the standard input ends. Prints `ready` when it takes messages. After the line `connect` it connects to the next
/// nodes and prints `connected`. The end then takes lines `run BYTES REPETITIONS`.
///
/// # Errors
/// [`OwnPeerError`]: the node cannot start, or a next node does not take messages.
pub fn node(setting: &NodeSetting) -> Result<(), OwnPeerError> {
    let failed = OwnPeerError::Failed;
    let (messages, received) = channel();
    let _receiver = link::Receiver::start(setting, messages.clone()).map_err(failed)?;
    print("ready")?;
    match read_line()? {
        None => return Ok(()),
        Some(line) if line == "connect" => {}
        Some(line) => return Err(failed(format!("`{line:.100}` is no command"))),
    }
    let next = setting.next.iter();
    let next = next.map(|port| Next::connect(setting, *port));
    let mut next = next
        .collect::<Result<Vec<Next>, String>>()
        .map_err(failed)?;
    print("connected")?;
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

/// Passes messages on until the standard input ends.
fn pass_on(
    next: &mut [Next],
    end: Sender<Incoming>,
    received: &Receiver<Incoming>,
) -> Result<(), String> {
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
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
