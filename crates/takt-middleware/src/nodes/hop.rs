//! Process of one server.

use std::io::BufRead;
use std::path::PathBuf;
use std::sync::mpsc::channel;

use clap::Args;

use super::stream::{Next, serve};
use crate::own::OwnPeerError;

/// Arguments of a server.
#[derive(Debug, Clone, Args)]
pub struct HopSetting {
    /// ApplicationName.
    #[arg(long)]
    pub name: String,
    /// TCP port.
    #[arg(long)]
    pub port: u16,
    /// Folder that all servers share.
    #[arg(long)]
    pub folder: PathBuf,
    /// Endpoint of the next server.
    #[arg(long)]
    pub next: String,
}

/// Runs a server until the standard input ends. Prints `ready` when it takes messages; the first line of the input lets it connect to
/// the next server, after which it prints `connected`.
///
/// # Errors
/// [`OwnPeerError`]: the Provider cannot start, or the next server does not take messages.
pub fn hop(setting: &HopSetting) -> Result<(), OwnPeerError> {
    let failed = OwnPeerError::Failed;
    let (messages, received) = channel();
    let end = messages.clone();
    let _provider =
        serve(&setting.name, setting.port, &setting.folder, messages).map_err(failed)?;
    println!("ready");
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    if read.map_err(|error| failed(error.to_string()))? == 0 {
        return Ok(());
    }
    let mut next = Next::connect(&setting.next, &setting.folder).map_err(failed)?;
    println!("connected");
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = end.send(None);
    });
    while let Ok(Some(message)) = received.recv() {
        next.send(&message)
            .map_err(|error| OwnPeerError::Failed(error.to_string()))?;
    }
    Ok(())
}
