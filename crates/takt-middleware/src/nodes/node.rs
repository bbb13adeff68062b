//! Process of one of Takt's own nodes.

use std::io::{BufRead, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use clap::{Args, ValueEnum};

use super::end;
use super::link::{self, Incoming, Next};
use crate::own::OwnPeerError;

/// Transport of Takt's own nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NodeTransport {
    /// Bare sockets.
    RawTcp,
    /// `opc.tcp`, without security.
    Tcp,
    /// `opc.iox2`.
    Iox2,
}

/// Role of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NodeRole {
    /// Passes each message on.
    Hop,
    /// Sends all messages, and takes them at the end of their streams.
    End,
}

/// Arguments of a node.
#[derive(Debug, Clone, Args)]
pub struct NodeSetting {
    /// Transport.
    #[arg(value_enum)]
    pub transport: NodeTransport,
    /// Role.
    #[arg(value_enum)]
    pub role: NodeRole,
    /// Address of all nodes.
    #[arg(long)]
    pub address: IpAddr,
    /// TCP port.
    #[arg(long)]
    pub port: u16,
    /// Ports of the nodes to which messages go: one for a hop, one for each stream for the end.
    #[arg(long, value_delimiter = ',', required = true)]
    pub next: Vec<u16>,
    /// Folder that all nodes share.
    #[arg(long)]
    pub folder: PathBuf,
}

impl NodeSetting {
    /// Returns the ApplicationName of the node with this port. The folder has the nodes of one run only.
    pub(super) fn name(&self, port: u16) -> String {
        let folder = self.folder.file_name().unwrap_or_default();
        let run: String = folder
            .to_string_lossy()
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        format!("TaktNode{run}x{port}")
    }
}

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
