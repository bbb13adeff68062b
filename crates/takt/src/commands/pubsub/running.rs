//! Common part of `takt publish` and `takt subscribe`: options, keys, and the time until the end.

use std::time::{Duration, Instant};

use takt_app::client::{Client, ClientOptions};
use takt_app::{ClientSecurity, Endpoint, KeyKeeper, SecurityChoice};
use takt_demo::screen::Screen;
use takt_pubsub::runtime::{PubSub, RealTime, RuntimeOptions, StartError};
use takt_pubsub::security::KeyRing;
use takt_rt::interrupt::Interrupt;
use takt_rt::priority::Policy;
use takt_ua::enumerations::MessageSecurityMode;

use super::reports::{self, Reports};
use crate::arguments::RunArguments;
use crate::commands::user::password;
use crate::explain;

/// Interval at which keys and the display are updated.
pub(in crate::commands) const STEP: Duration = Duration::from_millis(250);

/// A running PubSub with its keys.
pub(in crate::commands) struct Running {
    pub(in crate::commands) pub_sub: PubSub,
    keeper: Option<KeyKeeper>,
    interrupt: Interrupt,
    end: Option<Instant>,
    /// Last refusal of the SecurityKeyService. A repeated refusal is shown once.
    refusal: Option<String>,
    pub(in crate::commands) screen: Screen,
    reports: Reports,
}

impl Running {
    pub(in crate::commands) fn new(
        pub_sub: PubSub,
        arguments: &RunArguments,
        interrupt: Interrupt,
    ) -> miette::Result<Self> {
        let now = Instant::now();
        for (group, key) in &arguments.key {
            let mut ring = KeyRing::new();
            let help = "A key is GROUP=TOKEN:SIGNING:ENCRYPTING:NONCE.";
            ring.update(&key.update, now)
                .map_err(|error| explain::with_help(error, help))?;
            pub_sub.set_keys(group, &ring);
        }
        let keeper = match &arguments.keys {
            Some(endpoint) => Some(KeyKeeper::new(connect_for_keys(endpoint, arguments)?)),
            None => None,
        };
        let needed = pub_sub.security_group_ids();
        let given = |id: &String| arguments.key.iter().any(|(group, _)| group == id);
        if let Some(id) = needed.iter().find(|id| keeper.is_none() && !given(id)) {
            return Err(explain::with_help(
                format!("the keys of SecurityGroup {id} are missing"),
                "--keys opc.iox2://SemanticRegistryServer gets them from a SecurityKeyService, which \
                 `takt registry --security-group NAME` starts, --keys opc.tcp://HOST:4840 from one on another host; or give \
                 a key with --key.",
            ));
        }
        let end = arguments.run_for.map(|time| now + time);
        let mut running = Self {
            pub_sub,
            keeper,
            interrupt,
            end,
            refusal: None,
            screen: Screen::new(),
            reports: Reports::default(),
        };
        running.tend();
        Ok(running)
    }

    /// Updates the keys, reports errors, and returns true if the command continues.
    pub(in crate::commands) fn goes_on(&mut self) -> bool {
        self.tend();
        self.reports.check(&self.screen, &self.pub_sub);
        !self.interrupt.is_set() && self.end.is_none_or(|end| Instant::now() < end)
    }

    /// Reports a reason with advice, once.
    pub(in crate::commands) fn report(&mut self, reason: String, advice: &str) {
        self.reports.print(&self.screen, reason, advice);
    }

    /// Ends the live display. Returns an error if messages could not be sent or received.
    pub(in crate::commands) fn finish(&mut self) -> miette::Result<()> {
        self.screen.finish();
        self.reports.check(&self.screen, &self.pub_sub);
        reports::outcome(&self.pub_sub)
    }

    /// Returns the time until the next update.
    pub(in crate::commands) fn step(&self) -> Duration {
        self.end.map_or(STEP, |end| {
            end.saturating_duration_since(Instant::now()).min(STEP)
        })
    }

    /// Waits until the next update.
    pub(in crate::commands) fn wait(&self) {
        self.interrupt.wait(Some(self.step()));
    }

    fn tend(&mut self) {
        let Some(keeper) = &mut self.keeper else {
            return;
        };
        let refusal = keeper
            .tend(&self.pub_sub, Instant::now())
            .err()
            .map(|error| error.to_string());
        if refusal != self.refusal {
            if let Some(refusal) = &refusal {
                tracing::warn!("no keys: {refusal}");
            }
            self.refusal = refusal;
        }
    }
}

/// Opens a session.
pub(in crate::commands) fn connect(
    endpoint: &Endpoint,
    arguments: &RunArguments,
) -> miette::Result<Client> {
    open(endpoint, arguments, arguments.security.options())
}

/// Opens a session with a SecurityKeyService, which gives keys over shared memory and encrypted connections only.
fn connect_for_keys(endpoint: &Endpoint, arguments: &RunArguments) -> miette::Result<Client> {
    let mut security = arguments.security.options();
    if security.choice == SecurityChoice::Automatic {
        security.choice = SecurityChoice::Secured {
            policy: None,
            mode: Some(MessageSecurityMode::SignAndEncrypt),
        };
    }
    open(endpoint, arguments, security)
}

fn open(
    endpoint: &Endpoint,
    arguments: &RunArguments,
    security: ClientSecurity,
) -> miette::Result<Client> {
    let options = ClientOptions {
        timeout: arguments.timeout,
        group: arguments.share.group.clone(),
        identity: arguments.security.identity(password)?,
        security,
        ..ClientOptions::named("takt")
    };
    Client::connect(endpoint, options).map_err(|error| explain::client(&error))
}

/// Returns the options of the threads.
pub(in crate::commands) fn runtime_options(arguments: &RunArguments) -> RuntimeOptions {
    let real_time = RealTime {
        policy: arguments.priority.map(Policy::Fifo),
        core: arguments.core,
        spin: Duration::ZERO,
    };
    RuntimeOptions {
        publishing: real_time.clone(),
        subscribing: real_time,
        ..RuntimeOptions::default()
    }
}

/// Explains why a configuration does not start, with advice.
pub(in crate::commands) fn explain_start(error: &StartError) -> miette::Report {
    let help = match error {
        StartError::Configuration(_) => {
            "docs/pubsub.md describes the permitted values of each parameter. Fields without a source: --from ENDPOINT, --set NAME=VALUE, \
            or --simulate."
        }
        StartError::Link { .. } => {
            "Is the address one of this host, and is the network interface right? opc.eth needs the right to raw sockets \
            (root, or `setcap cap_net_raw+ep`)."
        }
        StartError::Priority(_) => "Without --priority threads run as any other.",
        StartError::Affinity(_) => "`nproc` says how many cores there are; they count from 0.",
        _ => "`takt pubsub config check FILE` says more.",
    };
    explain::with_help(error, help)
}
