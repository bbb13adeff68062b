//! Network namespace of one peer, with two joined interfaces.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use takt_rt::child::{ChildProcess, Ending};

use crate::protocol::{END, START, SessionError};

/// Names of the interfaces that are joined, of server and client.
pub(crate) const INTERFACES: [&str; 2] = ["takt0", "takt1"];

/// Starts the holder of a network namespace with two joined interfaces. The namespace ends with its processes.
pub(crate) fn joined_interfaces(
    folder: &Path,
    interrupted: &AtomicBool,
) -> Result<ChildProcess, SessionError> {
    let [one, other] = INTERFACES;
    let script = format!(
        "ip link set lo up && ip link add {one} type veth peer name {other} && ip link set {one} up && ip link set {other} up && \
         until ip link show {one} | grep -q 'state UP' && ip link show {other} | grep -q 'state UP'; do sleep 0.01; done && \
         echo ready && exec cat"
    );
    let errors = folder.join("network.stderr");
    let file = File::create(&errors).map_err(SessionError::failed)?;
    let mut command = Command::new("unshare");
    command
        .args(["--net", "sh", "-c", &script])
        .stderr(Stdio::from(file));
    let what = "network namespace (which root may make)";
    let failed = |error| SessionError::of(what, error, &errors);
    let holder = ChildProcess::start("network", &mut command, Ending::Input).map_err(failed)?;
    holder.line(START, interrupted).map_err(failed)?;
    Ok(holder.with_grace(END))
}
