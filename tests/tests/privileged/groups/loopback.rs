//! Clients over the loopback interface: their Unix users decide as over shared memory, unless an option says otherwise.

use std::time::Duration;

use takt_tests::process::{self, Finished, Process};

use crate::groups::shared::{ANNA, DORA, Shared, User, wait_for};

const PATIENCE: Duration = Duration::from_secs(60);

/// A Machine of ANNA without a group and a registry.
struct Server {
    shared: Shared,
    machine: Process,
    endpoint: String,
}

impl Server {
    fn start(url: &str, options: &[&str]) -> Self {
        let shared = Shared::new();
        let name = shared.application("Machine");
        let provider = [
            "provider",
            "machine",
            "--no-certificate",
            "--endpoint",
            url,
            "--name",
            &name,
        ];
        let mut command = shared.takt_for_all(ANNA, &[&provider[..], options].concat());
        let mut machine = Process::spawn("takt provider", &mut command);
        let said = machine.wait_for("its endpoints", PATIENCE, |line| line.contains(" serves "));
        let endpoint = said.split(' ').next_back().unwrap().to_owned();
        Self {
            shared,
            machine,
            endpoint,
        }
    }

    fn run(&self, user: User, command: &str, rest: &[&str]) -> Finished {
        let arguments = [&[command, &self.endpoint], rest].concat();
        let mut command = self.shared.takt_for_all(user, &arguments);
        process::run("takt", &mut command, PATIENCE)
    }

    fn write(&self, user: User) -> Finished {
        self.run(user, "write", &["Spindle/Override", "80"])
    }

    fn call(&self, user: User, method: &str) -> Finished {
        self.run(user, "call", &[method])
    }

    fn may_all(&self, user: User) {
        let _ = self.write(user).expect_success();
        for method in ["Start", "Stop"] {
            let _ = self.call(user, method).expect_success();
        }
    }

    fn only_reads(&self, user: User) {
        let _ = self
            .run(user, "read", &["Spindle/Override"])
            .expect_success();
        for refused in [self.write(user), self.call(user, "Start")] {
            let said = refused.expect_failure();
            assert!(said.contains("BadUserAccessDenied"), "{said}");
        }
    }

    /// Waits for a line in the log at its usual level.
    fn logs(&self, parts: &[&str]) {
        wait_for("a line in the log", || {
            let said = self.machine.report();
            let mut lines = said.lines();
            let is_there = |line: &str| parts.iter().all(|part| line.contains(part));
            lines.any(is_there).then_some(())
        });
    }
}

pub fn other_users_only_read_over_tcp() {
    let mut urls = vec!["opc.tcp://127.0.0.1:0"];
    // A host may be without IPv6.
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        urls.push("opc.tcp://[::1]:0");
    }
    for url in urls {
        let server = Server::start(url, &[]);
        server.may_all(ANNA);
        server.only_reads(DORA);
        let user = DORA.id.to_string();
        for service in ["Write refused", "Call refused"] {
            server.logs(&[service, "Unix user", &user, "trust_loopback"]);
        }
        // Its table of users gives a role to the Unix user.
        let add = ["user", "add", "--unix-user", &user, "--role", "operator"];
        let mut add = server.shared.takt_for_all(ANNA, &add);
        let _ = process::run("takt user", &mut add, PATIENCE).expect_success();
        server.may_all(DORA);
        server.may_all(ANNA);
    }
}

pub fn root_and_the_user_of_the_server_have_all_rights_over_tcp() {
    let server = Server::start("opc.tcp://127.0.0.1:0", &[]);
    let mut as_root = std::process::Command::new(takt_tests::binary::takt());
    as_root.args(["write", &server.endpoint, "Spindle/Override", "70"]);
    as_root
        .args(["--timeout", "60s"])
        .env("XDG_STATE_HOME", server.shared.path());
    let _ = process::run("takt write", &mut as_root, PATIENCE).expect_success();
    server.may_all(ANNA);
}

/// The way before Unix users were asked for.
pub fn a_trusted_loopback_interface_lets_everybody_write() {
    let server = Server::start("opc.tcp://127.0.0.1:0", &["--trust-loopback"]);
    server.logs(&["trust_loopback is set", "every Unix user"]);
    server.may_all(DORA);
    server.may_all(ANNA);
}
