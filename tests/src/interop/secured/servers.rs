//! The command line at foreign servers with secured channels.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use takt_app::{
    Client, ClientError, ClientOptions, ClientSecurity, Identity, MonitoredItemOptions,
    Subscription, SubscriptionOptions,
};
use takt_ua::{NodeId, Variant};

use super::application::{Foreign, text};
use super::{Case, Token, cases};
use crate::interop::relay::Relay;
use crate::interop::results::{Results, Role};
use crate::peer::{Peer, PeerServer};
use crate::process::{Finished, Process};
use crate::sandbox::Sandbox;

/// Time limit of changes, renewals and new connections on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time after which a change is made once more.
const AGAIN: Duration = Duration::from_secs(5);

/// Renewals of each SecureChannel, and changes, that have to be seen.
const RENEWED: u64 = 4;
const CHANGES: u32 = 5;

/// Requested lifetime of a security token. A server that is late on a loaded machine refuses the old token: not less.
const LIFETIME: Duration = Duration::from_secs(2);

/// Name and password of the user that each server knows.
const USER: (&str, &str) = ("anna", "hammer");

/// Runs `takt browse`, `read`, `write`, `call` and `watch` at one foreign server: each policy and mode, each of these tokens. The
/// command line trusts the server as its error says. All policies need keys of one kind.
///
/// # Panics
/// If a command is not refused where it has to be, or if one fails.
pub fn command_line_on_secured_channels(peer: Peer, policies: &'static [&str], tokens: &[Token]) {
    let sandbox = Sandbox::new();
    let foreign = Foreign::new(&sandbox, peer.name(), policies[0]);
    let user = Foreign::new(&sandbox, "user", policies[0]);
    let mut security = foreign.described();
    security["policies"] = policies.into();
    security["userCertificate"] = text(&user.certificate()).into();
    let server = PeerServer::start_secured(peer, &security);
    let site = Site {
        peer,
        relay: Relay::start_with_port_of(&server.endpoint),
        password: sandbox.data_directory().join("password"),
        sandbox,
        server,
        user,
    };
    std::fs::write(&site.password, USER.1).expect("a file can be written");
    let cases = cases(policies, tokens);
    site.trust(&cases[0]);
    let mut results = Results::new(peer.name(), Role::Server, policies);
    for case in &cases {
        let started = Instant::now();
        site.run(case, &mut results);
        println!("{case}: {:.1?}", started.elapsed());
    }
    for token in tokens {
        site.is_refused(&Case {
            token: *token,
            ..cases[0]
        });
    }
    results.finish();
}

/// A foreign server, and the command line.
struct Site {
    peer: Peer,
    sandbox: Sandbox,
    server: PeerServer,
    relay: Relay,
    password: PathBuf,
    user: Foreign,
}

impl Site {
    /// Trusts the certificate of the server as the error says.
    fn trust(&self, case: &Case) {
        let node = self.server.node("UInt32");
        let command = "takt trust add ";
        let refused = case.attempts(self.peer, || {
            let refused = self.command("read", case, &[&node]).expect_failure();
            let names_it = refused.contains(command);
            if names_it { Ok(refused) } else { Err(refused) }
        });
        let refused = refused.unwrap_or_else(|refused| panic!("{refused}"));
        let after = refused.split(command).nth(1).unwrap_or_default();
        let digits = after.chars().take_while(char::is_ascii_hexdigit);
        let thumbprint: String = digits.collect();
        let _ = self
            .sandbox
            .run(&["trust", "add", &thumbprint])
            .expect_success();
    }

    /// Returns the options of a command.
    fn options(&self, case: &Case) -> Vec<String> {
        let (certificate, key) = (self.user.certificate(), self.user.key());
        let choice = choice(case);
        let more = match case.token {
            Token::Anonymous => vec![],
            Token::UserName => {
                vec!["--user", USER.0, "--password-file", text(&self.password)]
            }
            Token::Certificate => vec![
                "--user-certificate",
                text(&certificate),
                "--user-private-key",
                text(&key),
            ],
            Token::Jwt => panic!("no foreign server has the keys of the authorization service"),
        };
        let options = ["--security", &choice].into_iter().chain(more);
        options.map(str::to_owned).collect()
    }

    fn command(&self, command: &str, case: &Case, arguments: &[&str]) -> Finished {
        let options = self.options(case);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let all = [&[command, &self.server.endpoint], arguments, &options].concat();
        self.sandbox.run(&all)
    }

    /// Runs a command whose output has to contain a text.
    fn shows(
        &self,
        command: &str,
        case: &Case,
        arguments: &[&str],
        shown: &str,
    ) -> Result<(), String> {
        case.attempts(self.peer, || {
            contains(self.command(command, case, arguments), shown)
        })
    }

    /// Runs all commands in one case.
    fn run(&self, case: &Case, results: &mut Results) {
        let names = [case.policy, case.mode, &case.token.to_string()];
        let node = |name: &str| self.server.node(name);
        let (number, method) = (node("UInt32"), node("Multiply"));
        let watch = || {
            let watch = ["watch", &self.server.endpoint, &number, "--for", "1s"];
            let mut watch = self.sandbox.takt(&watch);
            Process::spawn("takt watch", watch.args(self.options(case)))
        };
        let mut running = Some(watch());
        results.add(
            names,
            "browse",
            &self.shows("browse", case, &["Peer"], "Multiply"),
        );
        results.add(names, "read", &self.shows("read", case, &[&number], "42"));
        results.add(names, "write", &self.writes(case));
        results.add(
            names,
            "call",
            &self.shows("call", case, &[&method, "6", "7"], "42"),
        );
        let subscribe = case.attempts(self.peer, || {
            let watch = running.take().unwrap_or_else(watch);
            contains(watch.finish(PATIENCE), "42")
        });
        results.add(names, "subscribe", &subscribe);
        // Both are about the channel; the user is the one whose password has to be encrypted again.
        if case.token == Token::UserName {
            let connect = || self.link(case).map_err(|error| error.to_string());
            if self.peer.accepts_previous_tokens() {
                let renewal = case.attempts(self.peer, || connect()?.renewal(&self.relay));
                results.add(names, "renewal", &renewal);
            }
            let reconnect = case.attempts(self.peer, || connect()?.reconnect(&self.relay));
            results.add(names, "reconnect", &reconnect);
        }
    }

    fn writes(&self, case: &Case) -> Result<(), String> {
        let (string, value) = (self.server.node("String"), case.to_string());
        self.shows("write", case, &[&string, &value], "")?;
        self.shows("read", case, &[&string], &value)
    }

    /// A user that the server does not know is refused.
    fn is_refused(&self, case: &Case) {
        let number = self.server.node("UInt32");
        let refused = match case.token {
            Token::UserName => {
                std::fs::write(&self.password, "nail").expect("a file can be written");
                self.command("read", case, &[&number])
            }
            Token::Certificate => {
                let stranger = Foreign::new(&self.sandbox, "stranger", case.policy);
                let (certificate, key) = (stranger.certificate(), stranger.key());
                let read = ["read", &self.server.endpoint, &number];
                let user = ["--user-certificate", text(&certificate)];
                let key = ["--user-private-key", text(&key)];
                let choice = choice(case);
                let choice = ["--security", &choice];
                self.sandbox
                    .run(&[&read[..], &user, &key, &choice].concat())
            }
            Token::Anonymous | Token::Jwt => return,
        };
        let refused = refused.expect_failure();
        let expected = ["BadUserAccessDenied", "BadIdentityTokenRejected"];
        assert!(
            expected.iter().any(|status| refused.contains(status)),
            "{case}: {refused}"
        );
    }

    /// Connects with a Client and a Subscription of this process, through the relay.
    fn link(&self, case: &Case) -> Result<Link, ClientError> {
        let options = ClientOptions {
            timeout: PATIENCE,
            identity: Identity::UserName {
                name: USER.0.to_owned(),
                password: USER.1.to_owned(),
            },
            security: ClientSecurity {
                choice: choice(case).parse().expect("a choice"),
                certificates: Some(self.sandbox.data_directory().join("takt/pki")),
                // The certificate does not name the relay.
                any_host: true,
                token_lifetime: Some(LIFETIME),
                ..ClientSecurity::default()
            },
            ..ClientOptions::named("Interoperability")
        };
        let endpoint = self.relay.endpoint.parse().expect("an endpoint");
        let node: NodeId = self.server.node("UInt32").parse().expect("a NodeId");
        let client = Client::connect(&endpoint, options.clone())?;
        let interval = Duration::from_millis(50);
        let wanted = SubscriptionOptions {
            publishing_interval: interval,
            ..SubscriptionOptions::default()
        };
        let mut subscription = Subscription::create(Client::connect(&endpoint, options)?, wanted)?;
        let item = MonitoredItemOptions {
            sampling_interval: interval,
            ..MonitoredItemOptions::default()
        };
        subscription.monitor(&node, item)?;
        Ok(Link {
            client,
            subscription,
            node,
        })
    }
}

/// Client and Subscription through a relay.
struct Link {
    client: Client,
    subscription: Subscription,
    node: NodeId,
}

impl Link {
    /// Writes a value and reads it.
    fn set(&mut self, value: u32) -> Result<(), String> {
        let node = &self.node;
        let set = self.client.write(node, Variant::UInt32(value));
        let read = set.and_then(|()| self.client.read_good(node));
        match read.map_err(|error| error.to_string())? {
            Variant::UInt32(read) if read == value => Ok(()),
            other => Err(format!("{other:?} instead of {value}")),
        }
    }

    /// Reads, writes and gets changes while both channels are renewed. Afterwards the value is again 42.
    fn renewal(&mut self, relay: &Relay) -> Result<(), String> {
        let (before, started) = (relay.renewed(), Instant::now());
        let (mut value, mut changes) = (1000, 0);
        while relay.renewed() < before + RENEWED || changes < CHANGES {
            if started.elapsed() > PATIENCE {
                let renewed = relay.renewed() - before;
                return Err(format!("{renewed} renewals, {changes} changes"));
            }
            value += 1;
            self.set(value)?;
            changes += u32::from(self.change(Duration::from_millis(20))?.is_some());
        }
        self.set(42)
    }

    fn change(&mut self, within: Duration) -> Result<Option<Option<Variant>>, String> {
        let change = self.subscription.next(within);
        let change = change.map_err(|error| error.to_string())?;
        Ok(change.map(|change| change.value.value))
    }

    /// Both go on after their connections were cut.
    fn reconnect(&mut self, relay: &Relay) -> Result<(), String> {
        relay.cut();
        let started = Instant::now();
        self.set_until(43, started)?;
        let mut written = Instant::now();
        loop {
            // Milo answers the Publish requests of the lost connection first: those changes do not come. A later one has to.
            if written.elapsed() > AGAIN {
                self.set_until(42, started)?;
                self.set_until(43, started)?;
                written = Instant::now();
            }
            let change = self.change(Duration::from_millis(100));
            if matches!(change, Ok(Some(Some(Variant::UInt32(43))))) {
                // A server that limits the number of new connections may close one of them again.
                return self.set_until(42, started);
            }
            if started.elapsed() > PATIENCE {
                return Err(format!("the change did not come: {change:?}"));
            }
        }
    }

    /// Writes a value as often as necessary: a Write is not sent twice by itself.
    fn set_until(&mut self, value: u32, started: Instant) -> Result<(), String> {
        while let Err(error) = self.set(value) {
            if started.elapsed() > PATIENCE {
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Returns the value of `--security`.
fn choice(case: &Case) -> String {
    let mode = match case.mode {
        "Sign" => "sign",
        _ => "encrypt",
    };
    format!("{},{mode}", case.policy)
}

/// Checks that a command has succeeded and shown a text.
fn contains(finished: Finished, shown: &str) -> Result<(), String> {
    let said = format!("{}{}", finished.stdout, finished.stderr);
    let is_shown = finished.status.success() && finished.stdout.contains(shown);
    is_shown.then_some(()).ok_or(said)
}
