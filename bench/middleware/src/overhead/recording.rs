//! Recording of a session: broker, server and client in a namespace whose traffic is captured.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use takt_rt::child::{ChildProcess, Ending};

use super::course::{Course, Window};
use super::entry::Side;
use super::shared_memory::{LastMessages, last_messages};
use crate::environment::{Environment, INTERFACES};
use crate::own::Mode;
use crate::protocol::{START, SessionError};
use crate::session::Session;
use crate::sockets;
use crate::table::{PeerEntry, PeerNetwork, PeerTable};

/// Capture of a session, with its course.
pub(super) struct Recording {
    pub(super) file: Vec<u8>,
    pub(super) course: Course,
    /// Messages in shared memory, for each size.
    pub(super) memory: Vec<LastMessages>,
}

fn now() -> Duration {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
}

impl Recording {
    /// Starts a peer, sends one request of each size with a pause after it, and ends the peer.
    pub(super) fn make(
        table: &PeerTable,
        peer: &PeerEntry,
        options: &[String],
        (sizes, pause): (&[u32], Duration),
        interrupted: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let pause = || std::thread::sleep(pause);
        let folder = tempfile::Builder::new().prefix("takt-capture-").tempdir();
        let folder = folder.map_err(SessionError::failed)?;
        let path = folder.path().join("capture.pcapng");
        let capture = |_: &Path| capture(peer.environment, &path, interrupted).map(Some);
        let mut session = Session::prepare(
            &Environment::Loopback,
            table,
            peer,
            (options, 1),
            capture,
            interrupted,
        )?;
        session.start_server(interrupted)?;
        let mut course = Course {
            server_ready: now(),
            ..Course::default()
        };
        session.start_client(interrupted)?;
        pause();
        let [server, client, broker] = session.sides();
        let sides = [
            (Side::Broker, broker),
            (Side::Server, server),
            (Side::Client, client),
        ];
        let ports = |(side, id): (Side, Option<u32>)| Some((side, sockets::ports(id?)));
        course.ports = sides.into_iter().filter_map(ports).collect();
        // The first request opens what a library opens late.
        let smallest = sizes.iter().min().map(|size| (None, *size));
        let counted = sizes.iter().map(|size| (Some(*size), *size));
        let mut memory = Vec::new();
        for (payload, size) in smallest.into_iter().chain(counted) {
            let begin = now();
            let result = session.run((Mode::Echo, size), 1, 0, 1, interrupted)?;
            let done = now();
            if result.samples.iter().any(Option::is_none) || result.wrong > 0 {
                return Err(SessionError::Failed(format!(
                    "no right answer to a request of {size} bytes"
                )));
            }
            if payload.is_some() {
                memory.push(client.map(last_messages).unwrap_or_default());
            }
            pause();
            let end = now();
            course.windows.push(Window {
                payload,
                begin,
                done,
                end,
            });
        }
        session.end_client();
        pause();
        course.end = now();
        drop(session);
        let file = std::fs::read(&path).map_err(|_| {
            SessionError::failed("the capture is not there: frames were lost, or it was ended")
        })?;
        Ok(Self {
            file,
            course,
            memory,
        })
    }
}

/// Starts a process that captures in a network namespace of its own. The namespace ends with its processes.
fn capture(
    network: PeerNetwork,
    path: &Path,
    interrupted: &AtomicBool,
) -> Result<ChildProcess, SessionError> {
    let [one, other] = INTERFACES;
    let (interface, prepare) = match network {
        PeerNetwork::Loopback | PeerNetwork::Memory => ("lo", String::new()),
        PeerNetwork::Veth => (
            one,
            format!(
                "ip link add {one} type veth peer name {other} && ip link set {one} up && ip link set {other} up && \
                 until ip link show {one} | grep -q 'state UP' && ip link show {other} | grep -q 'state UP'; do sleep 0.01; done && "
            ),
        ),
    };
    let script = format!("ip link set lo up && {prepare} exec \"$@\"");
    let program = std::env::current_exe().map_err(SessionError::failed)?;
    let errors = path.with_extension("stderr");
    let file = File::create(&errors).map_err(SessionError::failed)?;
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    command
        .args(["--net", "sh", "-c", &script, "sh"])
        .arg(program)
        .args(["capture", interface])
        .arg(path)
        .stderr(Stdio::from(file));
    let what = "capture in a network namespace";
    let failed = |error| SessionError::of(what, error, &errors);
    let process = ChildProcess::start("capture", &mut command, Ending::Input).map_err(failed)?;
    process.line(START, interrupted).map_err(failed)?;
    Ok(process)
}
