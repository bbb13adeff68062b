//! The other side of every round trip: the benchmark's own program as a server or as a helper.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use serde_json::json;
use takt_app::Endpoint;
use takt_app::serve::{ServeOptions, Serving};

use super::error::BenchError;
use super::floors::iceoryx2::{PubSub, ReqRes, Server};
use super::payload::Payload;
use super::round_trip::Wait;
use super::{directory, floors, idle, seat, subject};

/// Longest wait for the end of a floor's thread.
const END: Duration = Duration::from_secs(1);

/// Assignment of a process of the benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Assignment {
    /// A server.
    Server(ServerAssignment),
    /// Clients that hold idle connections.
    IdleConsumers {
        /// Endpoint of the server.
        endpoint: String,
        /// Number of connections.
        count: usize,
    },
    /// A loop that keeps one processor busy.
    Busy,
    /// A part in a comparison of architectures.
    Directory(directory::Part),
}

/// A server and its Variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerAssignment {
    pub(crate) role: Role,
    pub(crate) wait: Wait,
    /// Core of its serving thread.
    pub(crate) core: usize,
    /// True if the system's usual scheduling policy is used even where a real-time policy is permitted.
    #[serde(default)]
    pub(crate) ordinary: bool,
    /// Payloads of the Variables of a server.
    pub(crate) payloads: Vec<Payload>,
    /// Bytes of the longest message of a floor.
    pub(crate) longest: usize,
}

/// Kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// Bytes over TCP.
    TcpEcho,
    /// Bytes in shared memory.
    SharedMemory,
    /// Bytes through iceoryx2, published.
    Iceoryx2,
    /// Bytes through iceoryx2, as requests and responses.
    Iceoryx2Request,
    /// Takt over opc.tcp.
    TaktTcp,
    /// Takt over opc.iox2.
    TaktSharedMemory,
}

/// Returns the command that runs this program with `assignment`.
pub(crate) fn command(program: &Path, assignment: &Assignment) -> Result<Command, BenchError> {
    let assignment =
        serde_json::to_string(assignment).map_err(|error| BenchError::Option(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["bench", "transport", "--serve", &assignment]);
    Ok(command)
}

/// Carries out `assignment` until the standard input ends.
pub(crate) fn run(assignment: &str) -> Result<(), BenchError> {
    let assignment: Assignment = serde_json::from_str(assignment)
        .map_err(|error| BenchError::Option(format!("no assignment: {error}")))?;
    raise_descriptors();
    match assignment {
        // A floor that waits for a client in vain has nothing to clean up.
        Assignment::Server(server) => until_input_ends(Some(END), move |announce, stop| {
            serve(&server, announce, stop)
        }),
        Assignment::IdleConsumers { endpoint, count } => {
            until_input_ends(None, move |announce, stop| {
                idle::hold(&endpoint, count, announce, stop)
            })
        }
        Assignment::Busy => until_input_ends(None, |announce, stop| {
            announce("");
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            Ok(())
        }),
        Assignment::Directory(part) => directory::play(&part),
    }
}

/// Runs `work` on a thread of its own. At the end of the standard input, the thread is told to stop, and awaited: for at most
/// `patience`, or without a limit.
fn until_input_ends(
    patience: Option<Duration>,
    work: impl FnOnce(fn(&str), &AtomicBool) -> Result<(), BenchError> + Send + 'static,
) -> Result<(), BenchError> {
    let stop = Arc::new(AtomicBool::new(false));
    let (ended, has_ended) = mpsc::channel();
    let thread = {
        let stop = Arc::clone(&stop);
        // This thread stays where the system puts it. It sees the end of the input even if the other one spins.
        std::thread::spawn(move || {
            let result = work(announce, &stop);
            if let Err(error) = &result {
                print(&json!({"ready": false, "error": error.to_string()}));
            }
            let _ = ended.send(());
            result
        })
    };
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    stop.store(true, Ordering::Release);
    thread.thread().unpark();
    if patience.is_some_and(|patience| has_ended.recv_timeout(patience).is_err()) {
        return Ok(());
    }
    thread.join().unwrap_or(Ok(()))
}

/// Announces that clients can connect.
fn announce(endpoint: &str) {
    print(&json!({"ready": true, "endpoint": endpoint, "namespace": 1}));
}

fn print(line: &serde_json::Value) {
    let mut out = std::io::stdout().lock();
    // A failure is ignored, because it means that the reader is gone.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Raises the limit of file descriptors to the hard limit, because connections take several each.
pub(crate) fn raise_descriptors() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // With fewer descriptors, each failure to open one is an error of its own.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Serves on this thread, which is the measured one. Takt starts the measured thread itself.
pub(crate) fn serve(
    assignment: &ServerAssignment,
    announce: impl FnOnce(&str),
    stop: &AtomicBool,
) -> Result<(), BenchError> {
    let (wait, core, longest) = (assignment.wait, assignment.core, assignment.longest);
    match assignment.role {
        Role::TcpEcho => {
            let failed = BenchError::system("listen for the TCP echo");
            let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
            let address = listener
                .local_addr()
                .map_err(BenchError::system("listen"))?;
            seat::take(core)?;
            announce(&address.to_string());
            floors::tcp::serve(&listener, longest, wait, stop).map_err(BenchError::system("echo"))
        }
        Role::SharedMemory => {
            let server = floors::shared_memory::Server::new(longest)?;
            seat::take(core)?;
            announce(&server.path().to_string_lossy());
            server.serve(wait, stop);
            Ok(())
        }
        Role::Iceoryx2 => {
            let name = format!("takt-bench/{}", std::process::id());
            let server = Server::<PubSub>::new(&name, longest)?;
            seat::take(core)?;
            announce(&name);
            server.serve(stop)
        }
        Role::Iceoryx2Request => {
            let name = format!("takt-bench/{}", std::process::id());
            let server = Server::<ReqRes>::new(&name, longest)?;
            seat::take(core)?;
            announce(&name);
            server.serve(stop)
        }
        Role::TaktTcp => takt(assignment, "opc.tcp://127.0.0.1:0", announce, stop),
        Role::TaktSharedMemory => {
            let name = format!("opc.iox2://TaktBench-{}", std::process::id());
            takt(assignment, &name, announce, stop)
        }
    }
}

/// Serves Takt as an application does.
fn takt(
    assignment: &ServerAssignment,
    endpoint: &str,
    announce: impl FnOnce(&str),
    stop: &AtomicBool,
) -> Result<(), BenchError> {
    let server = subject::server(&assignment.payloads, true)?;
    let endpoint: Endpoint = endpoint
        .parse()
        .map_err(BenchError::round_trip("the server"))?;
    let options = ServeOptions {
        waiting: assignment.wait.policy(),
        core: Some(assignment.core),
        policy: (!assignment.ordinary).then(seat::policy),
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
        let assignment = Assignment::Server(ServerAssignment {
            role: Role::TaktSharedMemory,
            wait: Wait::Adaptive,
            ordinary: false,
            core: 1,
            payloads: Payload::ALL.to_vec(),
            longest: 5000,
        });
        let text = serde_json::to_string(&assignment).unwrap();
        assert_eq!(
            serde_json::from_str::<Assignment>(&text).unwrap(),
            assignment
        );
        assert!(matches!(run("nonsense"), Err(BenchError::Option(_))));
    }
}
