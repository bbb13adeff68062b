//! An open62541 server with the nodes of `peers/README.md`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::{Value, json};
use takt_peer_open62541::bench::prepare_thread;
use takt_peer_open62541::server::Server;

const USAGE: &str = "\
usage: open62541-server PORT [SECURITY] [--core N] [--fifo PRIORITY] [--variables COUNT]
       open62541-server PORT [SECURITY] [--recorded COUNT] [--reverse-connect URL]";

static ENDED: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match serve(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(arguments: &[String]) -> Result<(), String> {
    let (port, mut options) = arguments.split_first().ok_or(USAGE)?;
    let mut port: u16 = port.parse().map_err(|_| USAGE)?;
    let mut security = Value::Null;
    if let Some((description, rest)) = options.split_first()
        && description.starts_with('{')
    {
        security = serde_json::from_str(description).map_err(|error| error.to_string())?;
        options = rest;
    }
    let (mut core, mut fifo, mut variables) = (None, None, None);
    let (mut recorded, mut clients) = (None, None);
    for pair in options.chunks(2) {
        match pair {
            [name, value] if name == "--core" => core = Some(value.parse().map_err(|_| USAGE)?),
            [name, value] if name == "--fifo" => fifo = Some(value.parse().map_err(|_| USAGE)?),
            [name, value] if name == "--variables" => {
                variables = Some(value.parse().map_err(|_| USAGE)?);
            }
            [name, value] if name == "--recorded" => {
                recorded = Some(value.parse().map_err(|_| USAGE)?);
            }
            [name, value] if name == "--reverse-connect" => clients = Some(value),
            _ => return Err(USAGE.to_owned()),
        }
    }
    if port == 0 {
        port = free_port().map_err(|error| format!("no free port: {error}"))?;
    }
    let mut server = Server::new(port, &security)?;
    if let Some(count) = variables {
        let added = server.add_lines(count);
        added.map_err(|error| error.to_string())?;
    }
    if let Some(count) = recorded {
        let added = server.add_recorded(count);
        added.map_err(|error| error.to_string())?;
    }
    if let Some(url) = clients {
        let added = server.connect_to(url);
        added.map_err(|error| error.to_string())?;
    }
    let namespace = server.namespace();
    // Nothing is ever sent to us: the end of the input is the end.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ENDED.store(true, Ordering::Relaxed);
    });
    prepare_thread(core, fifo)?;
    let ready = || {
        let line = json!({"ready": true, "endpoint": format!("opc.tcp://127.0.0.1:{port}"), "namespace": namespace});
        let mut out = std::io::stdout().lock();
        // Nobody to tell if nobody listens.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    };
    let begin = Instant::now();
    let (mut counted, mut reported) = (0, 0);
    server
        .run_with(
            ready,
            || ENDED.load(Ordering::Relaxed),
            |server| {
                // Tenths of seconds.
                let now = u32::try_from(begin.elapsed().as_millis() / 100).unwrap_or(u32::MAX);
                if now == counted {
                    return Ok(());
                }
                counted = now;
                if recorded.is_some() {
                    // From 100 to 1000.
                    reported = reported % 1000 + 100;
                    server.report(reported)?;
                }
                match variables {
                    Some(_) => server.count(now),
                    None => Ok(()),
                }
            },
        )
        .map_err(|error| error.to_string())
}

/// A port that nobody listens on now: open62541 cannot say which one it got for 0.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
