//! The server's side of every round trip: what the benchmark's own program does when it is started as a server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use takt_app::Endpoint;
use takt_app::serve::{ServeOptions, Serving};

use super::error::BenchError;
use super::floors::{self, MessageSizes};
use super::round_trip::Wait;
use super::{seat, subject};

/// How long to wait for the serving thread to end.
const END: Duration = Duration::from_secs(1);

/// What a server process is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Assignment {
    pub(super) role: Role,
    pub(super) wait: Wait,
    /// The core of its serving thread.
    pub(super) core: usize,
    /// How long the messages of a floor are.
    pub(super) sizes: MessageSizes,
}

/// Which server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Role {
    /// Bytes over TCP.
    TcpEcho,
    /// Bytes in shared memory.
    SharedMemory,
    /// Bytes through iceoryx2.
    Iceoryx2,
    /// Takt over opc.tcp.
    TaktTcp,
    /// Takt over opc.iox2.
    TaktSharedMemory,
}

/// Serves as `assignment` says, until the standard input ends.
pub(super) fn run(assignment: &str) -> Result<(), BenchError> {
    let assignment: Assignment = serde_json::from_str(assignment)
        .map_err(|error| BenchError::Option(format!("no assignment: {error}")))?;
    let stop = Arc::new(AtomicBool::new(false));
    let (ended, has_ended) = mpsc::channel();
    let thread = {
        let stop = Arc::clone(&stop);
        let announce = |endpoint: &str| {
            let line = json!({"ready": true, "endpoint": endpoint, "namespace": 1});
            let mut out = std::io::stdout().lock();
            // Nobody to tell if nobody listens.
            let _ = writeln!(out, "{line}").and_then(|()| out.flush());
        };
        // This thread stays where the system puts it, and sees the end of the input even if the other one spins.
        std::thread::spawn(move || {
            let result = serve(&assignment, announce, &stop);
            if let Err(error) = &result {
                let line = json!({"ready": false, "error": error.to_string()});
                println!("{line}");
            }
            let _ = ended.send(());
            result
        })
    };
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    stop.store(true, Ordering::Release);
    thread.thread().unpark();
    // A floor that waits for a client that never came has nothing to clean up.
    if has_ended.recv_timeout(END).is_err() {
        return Ok(());
    }
    thread.join().unwrap_or(Ok(()))
}

/// Serves on this thread, which is the measured one, or in the case of Takt starts the measured one.
pub(super) fn serve(
    assignment: &Assignment,
    announce: impl FnOnce(&str),
    stop: &AtomicBool,
) -> Result<(), BenchError> {
    let Assignment {
        role,
        wait,
        core,
        sizes,
    } = assignment;
    match role {
        Role::TcpEcho => {
            let failed = BenchError::system("listen for the TCP echo");
            let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
            let address = listener
                .local_addr()
                .map_err(BenchError::system("listen"))?;
            seat::take(*core)?;
            announce(&address.to_string());
            floors::tcp::serve(&listener, sizes, *wait, stop).map_err(BenchError::system("echo"))
        }
        Role::SharedMemory => {
            let server = floors::shared_memory::Server::new()?;
            seat::take(*core)?;
            announce(&server.path().to_string_lossy());
            server.serve(sizes, *wait, stop);
            Ok(())
        }
        Role::Iceoryx2 => {
            let name = format!("takt-bench/{}", std::process::id());
            let server = floors::iceoryx2::Server::new(&name, *sizes)?;
            seat::take(*core)?;
            announce(&name);
            server.serve(stop)
        }
        Role::TaktTcp => takt("opc.tcp://127.0.0.1:0", *wait, *core, announce, stop),
        Role::TaktSharedMemory => {
            let name = format!("opc.iox2://TaktBench-{}", std::process::id());
            takt(&name, *wait, *core, announce, stop)
        }
    }
}

/// Takt as an application has it.
fn takt(
    endpoint: &str,
    wait: Wait,
    core: usize,
    announce: impl FnOnce(&str),
    stop: &AtomicBool,
) -> Result<(), BenchError> {
    let server = subject::server()?;
    let endpoint: Endpoint = endpoint
        .parse()
        .map_err(BenchError::round_trip("the server"))?;
    let options = ServeOptions {
        waiting: wait.policy(),
        core: Some(core),
        policy: Some(seat::policy()),
        ..ServeOptions::default()
    };
    let serving = Serving::start(&server, &[endpoint], options)
        .map_err(BenchError::round_trip("the server"))?;
    let endpoint = serving.endpoints().first().map(ToString::to_string);
    announce(&endpoint.unwrap_or_default());
    while !stop.load(Ordering::Acquire) {
        std::thread::park();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_survive_the_command_line() {
        let assignment = Assignment {
            role: Role::TaktSharedMemory,
            wait: Wait::Adaptive,
            core: 1,
            sizes: MessageSizes::new(|payload| (80, payload.bytes() + 60)),
        };
        let text = serde_json::to_string(&assignment).unwrap();
        assert_eq!(
            serde_json::from_str::<Assignment>(&text).unwrap(),
            assignment
        );
        assert!(matches!(run("nonsense"), Err(BenchError::Option(_))));
    }
}
