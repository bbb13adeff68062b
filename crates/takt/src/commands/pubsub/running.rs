//! Common part of `takt publish` and `takt subscribe`: options, keys, and the time until the end.

use std::time::Duration;

use takt_app::Endpoint;
use takt_app::client::Client;
use takt_link::LinkError;
use takt_pubsub::runtime::{LinkOptions, PubSub, RealTime, RuntimeOptions, StartError};
use takt_pubsub::security::VerifyError;
use takt_pubsub::{ConfigurationError, ConfigurationProblem, ReceiveError};
use takt_rt::interrupt::Interrupt;
use takt_rt::priority::Policy;
use takt_rt::time_limit::TimeLimit;
use takt_terminal::Screen;

use super::advice;
use super::keys::{Keys, PushTarget, client_options};
use super::reports::{self, Reports};
use super::watchdog::Watchdog;
use crate::arguments::PubSubRunArguments;
use crate::explain;

/// Interval at which keys and the display are updated.
pub(in crate::commands) const STEP: Duration = Duration::from_millis(250);

/// Refusal of a received message.
pub(in crate::commands) struct Refusal {
    reason: String,
    advice: &'static str,
    /// Token of the message, if its key is unknown.
    unknown_token: Option<u32>,
}

impl Refusal {
    pub(in crate::commands) fn new(error: &ReceiveError, asks_publishers: bool) -> Self {
        let unknown_token = match error {
            ReceiveError::Security(VerifyError::UnknownToken(token)) => Some(*token),
            _ => None,
        };
        Self {
            reason: error.to_string(),
            advice: advice::refused(error, asks_publishers),
            unknown_token,
        }
    }
}

/// A running PubSub with its keys.
pub(in crate::commands) struct Running {
    pub(in crate::commands) pub_sub: PubSub,
    keys: Keys,
    interrupt: Interrupt,
    end: TimeLimit,
    pub(in crate::commands) screen: Screen,
    reports: Reports,
    watchdog: Option<Watchdog>,
}

impl Running {
    pub(in crate::commands) fn new(
        pub_sub: PubSub,
        arguments: &PubSubRunArguments,
        interrupt: Interrupt,
        target: PushTarget,
    ) -> miette::Result<Self> {
        let keys = Keys::start(&pub_sub, arguments, target)?;
        Ok(Self {
            pub_sub,
            keys,
            interrupt,
            end: TimeLimit::of(arguments.run_for),
            screen: Screen::new(),
            reports: Reports::default(),
            watchdog: None,
        })
    }

    /// Watches the flows with a scenario.
    pub(in crate::commands) fn with_watchdog(self, watchdog: Option<Watchdog>) -> Self {
        Self { watchdog, ..self }
    }

    /// Returns the watch of the flows.
    pub(in crate::commands) fn watchdog(&self) -> Option<&Watchdog> {
        self.watchdog.as_ref()
    }

    /// Updates the keys, reports errors, and returns true if the command continues.
    pub(in crate::commands) fn goes_on(&mut self) -> bool {
        self.tend();
        self.check();
        !self.interrupt.is_set() && !self.end.is_over()
    }

    /// Reports a reason with advice, once.
    pub(in crate::commands) fn report(&mut self, reason: String, advice: &str) {
        self.reports.print(&self.screen, reason, advice);
    }

    /// Reports why a message was refused, with advice, once.
    pub(in crate::commands) fn refused(&mut self, refusal: Refusal) {
        if let Some(token) = refusal.unknown_token {
            self.keys.unknown_token(token);
        }
        self.report(refusal.reason, refusal.advice);
    }

    /// Stops publishing and receiving, so that the numbers of messages are the final ones.
    pub(in crate::commands) fn stop(&mut self) {
        self.tend();
        self.check();
        self.pub_sub.stop();
    }

    /// Ends the live display after [`stop`](Self::stop). Returns an error if messages could not be sent or received.
    pub(in crate::commands) fn finish(&mut self) -> miette::Result<()> {
        self.screen.finish();
        self.check();
        reports::tell_losses(&self.pub_sub);
        // Missing keys come first: they may be the reason why no message was sent or received.
        self.keys.outcome()?;
        reports::outcome(&self.pub_sub)
    }

    /// Returns the time until the next update.
    pub(in crate::commands) fn step(&self) -> Duration {
        self.end.left().min(STEP)
    }

    /// Waits until the next update.
    pub(in crate::commands) fn wait(&self) {
        self.interrupt.wait(Some(self.step()));
    }

    /// Reports problems, and flows that came near their bounds.
    fn check(&mut self) {
        self.reports.check(&self.screen, &self.pub_sub);
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.check(&self.screen);
        }
    }

    /// Passes new keys on, and reports missing ones.
    fn tend(&mut self) {
        for report in self.keys.tend(&self.pub_sub) {
            // The next table is shown below.
            self.screen.finish();
            tracing::warn!("{report}");
        }
    }
}

/// Refuses the user and the security of a connection if no server is used.
pub(in crate::commands) fn refuse_stray_user(
    arguments: &PubSubRunArguments,
    uses_server: bool,
) -> miette::Result<()> {
    let uses_server = uses_server || arguments.keys.is_some() || arguments.key_endpoint.is_some();
    match !uses_server && arguments.security.connection.is_given() {
        false => Ok(()),
        true => Err(explain::with_help(
            "a user, and the security of a connection, are for a server, and none is used",
            "--keys ENDPOINT names a SecurityKeyService, and --from ENDPOINT of `takt publish` a server with Variables.",
        )),
    }
}

/// Opens a session.
pub(in crate::commands) fn connect(
    endpoint: &Endpoint,
    arguments: &PubSubRunArguments,
) -> miette::Result<Client> {
    let options = client_options(arguments, arguments.security.options())?;
    Client::connect(endpoint, options).map_err(|error| explain::client(&error))
}

/// Returns the options of the threads.
pub(in crate::commands) fn runtime_options(
    arguments: &PubSubRunArguments,
) -> miette::Result<RuntimeOptions> {
    let real_time = RealTime {
        policy: arguments.priority.map(Policy::Fifo),
        core: arguments.core,
        spin: Duration::ZERO,
    };
    Ok(RuntimeOptions {
        link: LinkOptions {
            mqtt: arguments.mqtt.options()?,
            ..LinkOptions::default()
        },
        publishing: real_time.clone(),
        subscribing: real_time,
        ..RuntimeOptions::default()
    })
}

fn is_about_credentials(error: &ConfigurationError) -> bool {
    let ConfigurationProblem::Parameter { parameter, .. } = &error.problem else {
        return false;
    };
    ["ResourceUri", "AuthenticationProfileUri"].contains(parameter)
}

/// Explains why a configuration does not start, with advice.
pub(in crate::commands) fn explain_start(error: &StartError) -> miette::Report {
    let help = match error {
        StartError::Mistake(_) => {
            "docs/pubsub.md describes the permitted values of each parameter."
        }
        StartError::Configuration(error) if is_about_credentials(error) => {
            "--mqtt-user and --mqtt-password-file name user and password at all brokers, --mqtt-resource those of one resource_uri."
        }
        StartError::Configuration(ConfigurationError {
            problem: ConfigurationProblem::Unbound("source"),
            ..
        }) => {
            "--set NAME=VALUE gives the value of a field, --from ENDPOINT those of a server, and --simulate those of all types but \
             structures."
        }
        StartError::Configuration(_) => {
            "`takt pubsub config check FILE` checks the whole file; docs/pubsub.md describes the permitted values of each parameter."
        }
        StartError::Link {
            source: LinkError::Certificate { .. },
            ..
        } => {
            "--mqtt-ca names the certificate of an authority, --mqtt-certificate and --mqtt-private-key those of this client, all in PEM."
        }
        StartError::Link {
            source: source @ LinkError::TooMany { .. },
            ..
        } => advice::link(source),
        StartError::Link { .. } => {
            "Is the address one of this host, and is the network interface right? opc.eth needs the right to raw sockets \
            (root, or `setcap cap_net_raw+ep`)."
        }
        StartError::Priority(_) => "Without --priority threads run as any other.",
        StartError::Affinity(_) => "`nproc` says how many cores there are; they count from 0.",
        StartError::Thread(_) => {
            "Is the limit of processes of this user reached? `ulimit -u` shows it."
        }
        _ => "docs/pubsub.md describes the permitted values of each parameter.",
    };
    explain::with_help(error, help)
}
