//! Two hosts: network namespaces, joined by a cable.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use takt_tests::{Process, Sandbox};

use crate::PATIENCE;

/// A network namespace, and the process that holds it.
pub struct Host {
    holder: Process,
    /// Network interface.
    pub interface: &'static str,
}

impl Host {
    fn new(interface: &'static str) -> Self {
        let mut command = Command::new("unshare");
        command.args(["--net", "sh", "-c", "echo there; exec cat"]);
        let mut holder = Process::spawn("a network namespace", &mut command);
        holder.wait_for("its beginning", PATIENCE, |line| line == "there");
        Self { holder, interface }
    }

    /// Returns the file of the namespace.
    pub fn namespace(&self) -> String {
        format!("/proc/{}/ns/net", self.holder.id())
    }

    /// Returns a command line that runs a program here: with the process id of the program itself.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        let holder = self.holder.id().to_string();
        command.args(["--target", &holder, "--net", "--", program]);
        command
    }

    /// Runs a program of iproute2, and returns its output.
    pub fn run(&self, program: &str, arguments: &str) -> String {
        let mut command = self.command(program);
        let output = command.args(arguments.split(' ')).output().unwrap();
        assert!(output.status.success(), "{program} {arguments}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns a `takt` command line that runs here.
    pub fn takt(&self, sandbox: &Sandbox, arguments: &[&str]) -> Command {
        let takt = takt_tests::binary::takt();
        let mut command = self.command(takt.to_str().unwrap());
        sandbox.confine(&mut command).args(arguments);
        command
    }
}

/// Two hosts with a cable. They vanish with this value.
pub struct Network {
    pub first: Host,
    pub second: Host,
}

impl Network {
    /// Makes the hosts, and waits until the interfaces are up.
    pub fn new() -> Self {
        let (first, second) = (Host::new("takt0"), Host::new("takt1"));
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
