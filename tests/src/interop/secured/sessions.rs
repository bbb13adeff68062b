//! Clients that answer JSON lines, on secured channels of a registry.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::site::{Site, add_user_with};
use super::{Case, Token, cases};
use crate::interop::relay::Relay;
use crate::interop::results::{Results, Role};
use crate::peer::{Peer, PeerClient};
use crate::sandbox::{Provider, Registry, Sandbox};

/// Time limit of changes, renewals and new connections on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Renewals of the SecureChannel, and changes, that have to be seen.
const RENEWED: u64 = 2;
const CHANGES: usize = 5;

/// Lifetime of a security token in milliseconds. A client that renews late on a loaded machine loses its channel: not less.
const LIFETIME: u64 = 2000;

/// Uses a registry and a Provider behind it with one foreign client: each policy and mode, each of these tokens. All policies need
/// keys of one kind.
///
/// # Panics
/// If the client is not refused where it has to be, or if a service fails.
pub fn client_on_secured_channels(peer: Peer, policies: &'static [&str], tokens: &[Token]) {
    let sandbox = Sandbox::new();
    let site = Site::new(&sandbox, peer.name(), policies[0]);
    let registry = Registry::start(&sandbox, &site.registry_arguments());
    let provider = Provider::start(&sandbox, &registry, "machine");
    let relay = Relay::start(&registry.endpoint);
    let cases = cases(policies, tokens);
    let first = site.security(&cases[0]);
    let refused = PeerClient::connect_secured(peer, &relay.endpoint, &first);
    assert!(refused.is_err(), "it is not trusted yet");
    site.client
        .is_trusted_now(&sandbox, &sandbox.data_directory().join("pki"));
    let session = cases[0].attempts(peer, || {
        PeerClient::connect_secured(peer, &relay.endpoint, &first)
    });
    let session = session.unwrap_or_else(|error| panic!("{error}"));
    let mut results = Results::new(peer.name(), Role::Client, policies);
    let mut use_of = Use {
        session,
        relay,
        provider: provider.name.clone(),
        setpoint: String::new(),
        security: Value::Null,
    };
    for case in &cases {
        let started = Instant::now();
        use_of.run(case, site.security(case), &mut results);
        println!("{case}: {:.1?}", started.elapsed());
    }
    for token in tokens.iter().filter(|token| **token != Token::Anonymous) {
        let case = Case {
            mode: "SignAndEncrypt",
            token: *token,
            ..cases[0]
        };
        let expected = ["BadUserAccessDenied", "BadIdentityTokenRejected"];
        let refused = case.attempts(peer, || {
            let refused = use_of.connect(site.refused(&sandbox, &case));
            let error = refused.expect_err("another user is refused");
            let is_expected = expected.iter().any(|status| error.contains(status));
            is_expected.then_some(()).ok_or(error)
        });
        refused.unwrap_or_else(|error| panic!("{token}: {error}"));
    }
    results.finish();
}

/// Logs a user in with one foreign client on a channel without security, where the password alone is encrypted.
///
/// # Panics
/// If the right password is refused, or a wrong one is not.
pub fn client_logs_in_without_security(peer: Peer) {
    let sandbox = Sandbox::new();
    let (name, password) = add_user_with(&sandbox, "operator");
    let registry = Registry::start(&sandbox, &[]);
    let connect = |password: &str| {
        let user = json!({"user": name, "password": password});
        PeerClient::connect_secured(peer, &registry.endpoint, &user)
    };
    let mut session = connect(password).unwrap_or_else(|error| panic!("{peer:?}: {error}"));
    let read = session.read("i=2255");
    assert_eq!(read["value"][0], "http://opcfoundation.org/UA/", "{read}");
    let error = connect("nail").expect_err("a wrong password is refused");
    let expected = ["BadUserAccessDenied", "BadIdentityTokenRejected"];
    let is_refused = expected.iter().any(|status| error.contains(status));
    assert!(is_refused, "{peer:?}: {error}");
}

/// Use of one service.
type Service = fn(&mut Use) -> Result<(), String>;

/// A client with a Session.
struct Use {
    session: PeerClient,
    relay: Relay,
    provider: String,
    setpoint: String,
    security: Value,
}

impl Use {
    /// Uses all services in one case.
    fn run(&mut self, case: &Case, security: Value, results: &mut Results) {
        let names = [case.policy, case.mode, &case.token.to_string()];
        let peer = self.session.peer();
        let connected = case.attempts(peer, || self.connect(security.clone()));
        results.add(names, "connect", &connected);
        if connected.is_err() {
            return;
        }
        let services: [(&str, Service); 5] = [
            ("browse", Self::browse),
            ("read", Self::read),
            ("write", Self::write),
            ("call", Self::call),
            ("subscribe", Self::subscribe),
        ];
        for (name, service) in services {
            results.add(names, name, &service(self));
        }
        // Both are about the channel; the user is the one whose password has to be encrypted again.
        if case.token == Token::UserName {
            let mut is_lost = false;
            let renewal = case.attempts(peer, || {
                if std::mem::replace(&mut is_lost, true) {
                    self.connect(security.clone())?;
                    self.subscribe()?;
                }
                self.renewal()
            });
            results.add(names, "renewal", &renewal);
            let reconnect = case.attempts(peer, || self.reconnect());
            results.add(names, "reconnect", &reconnect);
        }
    }

    fn connect(&mut self, mut security: Value) -> Result<(), String> {
        security["lifetime"] = LIFETIME.into();
        self.security = security;
        self.request(json!({
            "op": "connect", "endpoint": self.relay.endpoint, "security": self.security,
        }))?;
        Ok(())
    }

    fn request(&mut self, request: Value) -> Result<Value, String> {
        self.session.request(request)
    }

    fn browse(&mut self) -> Result<(), String> {
        let started = Instant::now();
        loop {
            let path = [self.provider.as_str(), "Spindle", "SpeedSetpoint"];
            match self.session.try_find(&path) {
                Ok(found) => self.setpoint = found,
                // The Provider is registered a moment later.
                Err(_) if started.elapsed() < PATIENCE => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    fn value(&mut self) -> Result<f64, String> {
        let read = self.request(json!({"op": "read", "nodes": [self.setpoint]}))?;
        let value = read[0]["value"].as_f64();
        value.ok_or_else(|| read.to_string())
    }

    fn read(&mut self) -> Result<(), String> {
        let read = self.request(json!({"op": "read", "nodes": ["i=2255"]}))?;
        let is_standard = read[0]["value"][0] == "http://opcfoundation.org/UA/";
        is_standard.then_some(()).ok_or_else(|| read.to_string())
    }

    fn set(&mut self, value: f64) -> Result<(), String> {
        let write = json!({"op": "write", "node": self.setpoint, "type": "Double", "value": value});
        let written = self.request(write)?;
        let is_good = written["status"] == "Good";
        is_good.then_some(()).ok_or_else(|| written.to_string())
    }

    fn write(&mut self) -> Result<(), String> {
        for value in [4000.0, 3000.0] {
            self.set(value)?;
            let read = self.value()?;
            if (read - value).abs() > 0.0 {
                return Err(format!("{read} instead of {value}"));
            }
        }
        Ok(())
    }

    /// Calls Methods. One of them refuses, because the Machine runs already.
    fn call(&mut self) -> Result<(), String> {
        let object = self.session.try_find(&[&self.provider])?;
        for (method, status) in [
            ("Start", "Good"),
            ("Start", "BadInvalidState"),
            ("Stop", "Good"),
        ] {
            let path = [self.provider.as_str(), method];
            let method = self.session.try_find(&path)?;
            let called = self.request(json!({"op": "call", "object": object, "method": method}))?;
            if called["status"] != status {
                return Err(format!("{} instead of {status}", called["status"]));
            }
        }
        Ok(())
    }

    /// Gets each value that it writes.
    fn subscribe(&mut self) -> Result<(), String> {
        let nodes = [self.setpoint.as_str(), "i=2258"];
        let subscribe = json!({"op": "subscribe", "nodes": nodes, "interval": 50, "queue": 10});
        let created = self.request(subscribe)?;
        if created != json!(["Good", "Good"]) {
            return Err(created.to_string());
        }
        for value in [1500.0, 2500.0] {
            self.set(value)?;
            let started = Instant::now();
            while !self.changes()?.contains(&value) {
                if started.elapsed() > PATIENCE {
                    return Err(format!("{value} did not come"));
                }
            }
        }
        Ok(())
    }

    /// Returns the changes of the setpoint.
    fn changes(&mut self) -> Result<Vec<f64>, String> {
        let changes = self.request(json!({"op": "changes", "timeout": 1}))?;
        let of_setpoint = changes.as_array().into_iter().flatten();
        Ok(of_setpoint
            .filter(|change| change["node"] == self.setpoint.as_str())
            .filter_map(|change| change["value"].as_f64())
            .collect())
    }

    /// Reads, writes and gets changes while the channel is renewed.
    fn renewal(&mut self) -> Result<(), String> {
        let (before, started) = (self.relay.renewed(), Instant::now());
        let (mut value, mut changes) = (1000.0, 0);
        while self.relay.renewed() < before + RENEWED || changes < CHANGES {
            if started.elapsed() > PATIENCE {
                let renewed = self.relay.renewed() - before;
                return Err(format!("{renewed} renewals, {changes} changes"));
            }
            value += 1.0;
            self.set(value)?;
            if (self.value()? - value).abs() > 0.0 {
                return Err("another value was read".to_owned());
            }
            changes += self.changes()?.len();
        }
        Ok(())
    }

    /// Is used again after its connection was cut.
    fn reconnect(&mut self) -> Result<(), String> {
        self.relay.cut();
        let started = Instant::now();
        loop {
            let read = self.read();
            if read.is_ok() || started.elapsed() > PATIENCE {
                return read;
            }
            if !self.session.peer().connects_again() {
                self.connect(self.security.clone())?;
            }
        }
    }
}
