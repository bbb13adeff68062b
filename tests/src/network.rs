//! Two hosts: network namespaces, joined by a cable.

use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::binary;
use crate::process::Process;
use crate::sandbox::Sandbox;

/// Requirement of these hosts: a namespace with a pair of interfaces.
pub const NETWORKS: &[&str] = &[
    "unshare", "--net", "--uts", "ip", "link", "add", "takt0", "type", "veth", "peer", "name",
    "takt1",
];

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A network namespace with a host name of its own, and the process that holds it.
#[derive(Debug)]
pub struct NamespaceHost {
    holder: Process,
    /// Network interface.
    pub interface: &'static str,
}

impl NamespaceHost {
    fn new(interface: &'static str) -> Self {
        let mut command = Command::new("unshare");
        let begin = format!("echo {interface} > /proc/sys/kernel/hostname; echo there; exec cat");
        command.args(["--net", "--uts", "sh", "-c", &begin]);
        let mut holder = Process::spawn("a network namespace", &mut command);
        holder.wait_for("its beginning", PATIENCE, |line| line == "there");
        Self { holder, interface }
    }

    /// Returns the file of the namespace.
    #[must_use]
    pub fn namespace(&self) -> String {
        format!("/proc/{}/ns/net", self.holder.id())
    }

    /// Returns the default ApplicationUri of a registry with this name here: the name of the host is that of its interface.
    #[must_use]
    pub fn registry_uri(&self, name: &str) -> String {
        format!("urn:{}:takt:registry:{name}", self.interface)
    }

    /// Returns a command line that runs a program here: with the process id of the program itself.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        let holder = self.holder.id().to_string();
        command.args(["--target", &holder, "--net", "--uts", "--", program]);
        command
    }

    /// Returns an entrance for a thread.
    ///
    /// # Panics
    /// If the host is gone.
    #[must_use]
    pub fn entrance(&self) -> Entrance {
        Entrance(File::open(self.namespace()).expect("the namespace exists"))
    }

    /// Runs a program of iproute2, and returns its output.
    ///
    /// # Panics
    /// If it fails.
    pub fn run(&self, program: &str, arguments: &str) -> String {
        let mut command = self.command(program);
        let output = command.args(arguments.split(' ')).output();
        let output = output.expect("it can be started");
        assert!(output.status.success(), "{program} {arguments}: {output:?}");
        String::from_utf8(output.stdout).expect("its output is text")
    }

    /// Returns a `takt` command line that runs here.
    #[must_use]
    pub fn takt(&self, sandbox: &Sandbox, arguments: &[&str]) -> Command {
        let takt = binary::takt();
        let mut command = self.command(takt.to_str().expect("a path in UTF-8"));
        sandbox.confine(&mut command).args(arguments);
        command
    }
}

/// Entrance to a host.
#[derive(Debug)]
pub struct Entrance(File);

impl Entrance {
    /// Moves the calling thread to the host.
    ///
    /// # Panics
    /// If it may not.
    pub fn enter(&self) {
        let kind = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(self.0.as_fd(), kind).expect("the namespace can be entered");
    }
}

/// Two hosts with a cable. They vanish with this value.
#[derive(Debug)]
pub struct HostPair {
    /// Host with the interface `takt0`.
    pub first: NamespaceHost,
    /// Host with the interface `takt1`.
    pub second: NamespaceHost,
}

impl HostPair {
    /// Makes the hosts, and waits until the interfaces are up.
    ///
    /// # Panics
    /// If that is not possible.
    #[must_use]
    pub fn new() -> Self {
        let (first, second) = (NamespaceHost::new("takt0"), NamespaceHost::new("takt1"));
        let there = second.holder.id();
        first.run(
            "ip",
            &format!(
                "link add takt0 numtxqueues 4 type veth peer name takt1 numtxqueues 4 netns {there}"
            ),
        );
        for host in [&first, &second] {
            host.run("ip", &format!("link set {} up", host.interface));
        }
        let begin = Instant::now();
        for host in [&first, &second] {
            let shown = format!("link show {}", host.interface);
            while !host.run("ip", &shown).contains("state UP") {
                assert!(begin.elapsed() < PATIENCE, "no carrier");
                thread::sleep(Duration::from_millis(5));
            }
        }
        Self { first, second }
    }
}

impl Default for HostPair {
    fn default() -> Self {
        Self::new()
    }
}
