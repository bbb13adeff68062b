//! Checks that several foreign clients have in common: `peers/README.md` describes them.
//!
//! A client is a process that runs a check for each JSON line, at a Provider itself and at the registry, which
//! forwards to the Provider.

use std::fmt::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::relay::Relay;
use crate::checker::Checker;
use crate::process::Process;
use crate::sandbox::{Provider, Registry, Sandbox, find_endpoint};

/// Time limit of one check, long enough for a loaded machine.
pub(super) const CHECK: Duration = Duration::from_secs(120);

/// Time limit of the registration of the Provider with its 10 000 nodes.
const REGISTERED: Duration = Duration::from_secs(120);

/// Least number of renewals of the SecureChannel in the check `renewal`.
const RENEWED: u64 = 2;

/// A check, and the least number of things that a client has to count in it.
pub struct Check {
    /// Name of the check.
    pub name: &'static str,
    least: u64,
}

/// All checks, in their order.
pub const CHECKS: &[Check] = &[
    check("browse_continuation", 30),
    check("all_attributes", 500),
    check("index_range", 9),
    check("write_plain", 6),
    check("write_timestamps", 4),
    check("call", 5),
    check("subscription", 4),
    check("deadband", 10),
    check("triggering", 3),
    check("republish", 4),
    check("transfer", 4),
    check("renewal", 100),
    check("ten_thousand_nodes", 10_000),
    check("million_elements", 1_000_000),
    check("machine", 5),
    check("restart", 3),
];

/// Returns a check.
pub(super) fn check_of(name: &str) -> &'static Check {
    let mut checks = CHECKS.iter();
    let found = checks.find(|check| check.name == name);
    found.expect("a check with this name")
}

const fn check(name: &'static str, least: u64) -> Check {
    Check { name, least }
}

impl Check {
    /// Returns whether a client has passed it with this answer.
    pub(super) fn is_passed(&self, answer: &Value) -> bool {
        answer["ok"] == true && answer["counted"].as_u64().unwrap_or(0) >= self.least
    }
}

/// The servers of the checks.
pub(super) struct Servers {
    pub(super) sandbox: Sandbox,
    pub(super) registry: Registry,
    registry_arguments: Vec<String>,
    program: &'static str,
    provider: Process,
    provider_name: String,
    provider_endpoint: String,
    machine: Provider,
}

impl Servers {
    pub(super) fn start(program: &'static str) -> Self {
        Self::start_in(Sandbox::new(), program, &[])
    }

    /// Starts the servers; the registry with these additional arguments.
    pub(super) fn start_in(sandbox: Sandbox, program: &'static str, arguments: &[&str]) -> Self {
        let registry = Registry::start(&sandbox, arguments);
        let machine = Provider::start(&sandbox, &registry, "machine");
        let name = sandbox.application("Checked");
        let any = "opc.tcp://127.0.0.1:0";
        let (provider, provider_endpoint) =
            Self::provider(program, &sandbox, &registry, &name, any);
        Self {
            sandbox,
            registry,
            registry_arguments: arguments.iter().map(|&argument| argument.into()).collect(),
            program,
            provider,
            provider_name: name,
            provider_endpoint,
            machine,
        }
    }

    /// Starts the Provider, and waits until it is registered.
    fn provider(
        program: &str,
        sandbox: &Sandbox,
        registry: &Registry,
        name: &str,
        endpoint: &str,
    ) -> (Process, String) {
        let mut command = Command::new(program);
        let registry = registry.shared_memory();
        sandbox
            .confine(&mut command)
            .args([&registry, name, endpoint]);
        let mut process = Process::spawn("takt-interop-provider", &mut command);
        let line = process.wait_for("its endpoint", REGISTERED, |line| {
            find_endpoint(line).is_some()
        });
        process.wait_for("its registration", REGISTERED, |line| line == "registered");
        (process, find_endpoint(&line).expect("just found"))
    }

    /// Kills a server and starts it again at the same endpoint.
    fn restart(&mut self, place: Place) {
        match place {
            Place::Provider => {
                self.provider.kill();
                (self.provider, _) = Self::provider(
                    self.program,
                    &self.sandbox,
                    &self.registry,
                    &self.provider_name,
                    &self.provider_endpoint,
                );
            }
            Place::Registry => {
                self.registry.process.kill();
                let arguments: Vec<&str> =
                    self.registry_arguments.iter().map(String::as_str).collect();
                self.registry =
                    Registry::start_at(&self.sandbox, &self.registry.endpoint, &arguments);
            }
        }
    }
}

/// Server that a client connects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Provider,
    Registry,
}

/// Runs all checks with one client, at a Provider and at the registry. `provider` is the program
/// `takt-interop-provider`; `lacking` are the checks that the library cannot do.
///
/// # Panics
/// If a check fails, or if others than `lacking` are missing.
pub fn client_passes_checks(client: Checker, provider: &'static str, lacking: &[&str]) {
    let mut servers = Servers::start(provider);
    let mut command = client.command();
    // async-opcua makes a folder for certificates.
    let mut process = Process::spawn(client.name(), servers.sandbox.confine(&mut command));
    let mut failed = String::new();
    for place in [Place::Provider, Place::Registry] {
        let mut missing = Vec::new();
        for check in CHECKS {
            let started = Instant::now();
            let answer = run(&mut process, &mut servers, place, check.name, &json!({}));
            println!("{place:?}, {}: {:.1?}", check.name, started.elapsed());
            let passed = check.is_passed(&answer);
            if answer["missing"] == true {
                missing.push(check.name);
            } else if !passed {
                let _ = writeln!(failed, "{place:?}, {}: {answer}", check.name);
            }
        }
        assert_eq!(missing, lacking, "checks that {client:?} lacks");
    }
    assert!(
        failed.is_empty(),
        "{client:?}\n{failed}{}",
        process.report()
    );
    process.close_input();
    let _ = process.finish(CHECK).expect_success();
}

/// Runs one check, and returns the client's answer. `security` has the additional fields of the request.
pub(super) fn run(
    process: &mut Process,
    servers: &mut Servers,
    place: Place,
    check: &str,
    security: &Value,
) -> Value {
    let server = match (place, check) {
        (Place::Registry, _) => &servers.registry.endpoint,
        (Place::Provider, "machine") => &servers.machine.endpoint,
        (Place::Provider, _) => &servers.provider_endpoint,
    };
    let relay = (check == "renewal").then(|| Relay::start(server));
    let endpoint = relay.as_ref().map_or(server, |relay| &relay.endpoint);
    let provider = match check {
        "machine" => &servers.machine.name,
        _ => &servers.provider_name,
    };
    // Both serve the same namespace 0.
    let start = match place {
        Place::Provider => "i=85",
        Place::Registry => "i=84",
    };
    let mut request = json!({
        "check": check, "endpoint": endpoint, "namespace": format!("urn:takt:provider:{provider}"), "start": start,
    });
    for (name, value) in security.as_object().into_iter().flatten() {
        request[name] = value.clone();
    }
    process.send_line(&request.to_string());
    loop {
        let line = process.wait_for(check, CHECK, |line| line.starts_with('{'));
        let mut answer: Value = serde_json::from_str(&line).expect("the line is JSON");
        match answer["want"].as_str() {
            Some("restart") => {
                servers.restart(place);
                process.send_line("{}");
                continue;
            }
            Some("renewed") => {
                let renewed = relay.as_ref().map_or(0, Relay::renewed);
                process.send_line(&json!({"renewed": renewed}).to_string());
                continue;
            }
            _ => {}
        }
        assert_eq!(answer["check"], check, "{line}");
        let renewed = relay.as_ref().map_or(RENEWED, Relay::renewed);
        if renewed < RENEWED && answer["ok"] == true {
            answer = json!({"check": check, "ok": false, "error": format!("{renewed} renewals")});
        }
        return answer;
    }
}
