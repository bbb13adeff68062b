//! Keys of the SecurityGroups of `takt publish` and `takt subscribe`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use miette::IntoDiagnostic;
use takt_app::certificates::host_name;
use takt_app::client::{Client, ClientOptions};
use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_app::{
    ClientSecurity, Endpoint, KeyKeeper, KeyNews, KeyReceiver, KeyReceiverOptions, MissingKeys,
};
use takt_pubsub::configuration::key_services;
use takt_pubsub::runtime::PubSub;
use takt_pubsub::security::KeyRing;
use takt_ua::structures::PubSubConfiguration2DataType;

use super::advice;
use crate::arguments::PubSubRunArguments;
use crate::commands::user::password;
use crate::explain;

/// SecurityGroups, with the ApplicationUris of the services that may push their keys.
type Services = BTreeMap<String, BTreeSet<String>>;

/// Advice on a configuration that names no SecurityKeyService.
const NAME_THE_SERVICE: &str = "Name the service at the beginning of the configuration: default_security_key_services = \
    [{ Server = { ApplicationUri = \"urn:HOST:takt:registry:SemanticRegistryServer\", ApplicationType = \"Client\" } }]. \
    `takt discover` shows the ApplicationUri.";

/// Facts of a command that its push target needs.
pub(in crate::commands) struct PushTarget {
    /// Beginning of the default ApplicationName.
    pub(in crate::commands) kind: &'static str,
    services: Services,
}

impl PushTarget {
    /// Returns the facts of a command with a configuration.
    pub(in crate::commands) fn new(
        kind: &'static str,
        configuration: Option<&PubSubConfiguration2DataType>,
    ) -> Self {
        let services = configuration.map(key_services).unwrap_or_default();
        Self { kind, services }
    }
}

/// Keys of a running PubSub.
pub(in crate::commands) struct Keys {
    source: Source,
    /// SecurityGroups that have never had keys, with the last reason if there is one.
    without_keys: BTreeMap<String, Option<MissingKeys>>,
    /// Times at which the present keys of SecurityGroups expire, until that is reported.
    expiries: BTreeMap<String, Instant>,
}

enum Source {
    /// The command line, or no security.
    Given,
    Service(KeyKeeper),
    PushTarget(KeyReceiver),
}

impl Keys {
    /// Passes on the keys of the command line, and starts what gets the others.
    pub(in crate::commands) fn start(
        pub_sub: &PubSub,
        arguments: &PubSubRunArguments,
        target: PushTarget,
    ) -> miette::Result<Self> {
        let now = Instant::now();
        let mut needed = pub_sub.security_group_ids();
        for (group, key) in &arguments.key {
            if !needed.contains(group) {
                let groups = match needed.is_empty() {
                    true => "Its messages are not protected.".to_owned(),
                    false => format!("Its SecurityGroups are {}.", needed.join(", ")),
                };
                return Err(explain::with_help(
                    format!("--key {group}: the configuration uses no such SecurityGroup"),
                    groups,
                ));
            }
            let mut ring = KeyRing::new();
            let help = "A key is GROUP=TOKEN:SIGNING:ENCRYPTING:NONCE.";
            ring.update(&key.update, now)
                .map_err(|error| explain::with_help(error, help))?;
            pub_sub.set_keys(group, &ring);
        }
        needed.retain(|id| arguments.key.iter().all(|(group, _)| group != id));
        let source = match (&arguments.keys, &arguments.key_endpoint) {
            (Some(endpoint), _) => {
                let client = client_for_keys(endpoint, arguments)?;
                let keeper = KeyKeeper::start(client, needed.clone());
                Source::Service(keeper.into_diagnostic()?)
            }
            (None, Some(endpoint)) => {
                Source::PushTarget(receiver(endpoint, arguments, target, &needed)?)
            }
            (None, None) => Source::Given,
        };
        if let (Some(id), Source::Given) = (needed.first(), &source) {
            return Err(explain::with_help(
                format!("the keys of SecurityGroup {id} are missing"),
                "--keys opc.iox2://SemanticRegistryServer gets them from a SecurityKeyService, which \
                 `takt registry --security-group NAME` starts, --keys opc.tcp://HOST:4840 from one on another host; \
                 --key-endpoint opc.tcp://0.0.0.0:4850 lets a service push them; or give a key with --key.",
            ));
        }
        Ok(Self {
            source,
            without_keys: needed.into_iter().map(|id| (id, None)).collect(),
            expiries: BTreeMap::new(),
        })
    }

    /// Passes new keys on. Returns reports on missing keys, on expired ones, and on keys that came again.
    pub(in crate::commands) fn tend(&mut self, pub_sub: &PubSub) -> Vec<String> {
        let news = match &self.source {
            Source::Given => Vec::new(),
            Source::Service(keeper) => keeper.news().collect(),
            Source::PushTarget(receiver) => receiver.news(Instant::now()),
        };
        let mut reports = Vec::new();
        for news in news {
            match news {
                KeyNews::Keys {
                    security_group_id: id,
                    ring,
                    again,
                } => {
                    pub_sub.set_keys(&id, &ring);
                    self.without_keys.remove(&id);
                    if again {
                        reports.push(format!("SecurityGroup {id} has new keys again"));
                    }
                    if let Some(expiry) = ring.expires_at() {
                        self.expiries.insert(id, expiry);
                    }
                }
                KeyNews::Missing {
                    security_group_id: id,
                    reason,
                    until,
                } => {
                    let advice = self.advice(&id, &reason);
                    reports.push(missing(&id, &reason, until, &advice));
                    if let Some(last) = self.without_keys.get_mut(&id) {
                        *last = Some(reason);
                    }
                }
            }
        }
        let now = Instant::now();
        self.expiries.retain(|id, expiry| {
            let has_expired = *expiry < now;
            if has_expired {
                reports.push(format!(
                    "SecurityGroup {id}: the last key has expired, two KeyLifetimes after its time. Until new keys come, its \
                     messages are neither sent nor accepted"
                ));
            }
            !has_expired
        });
        reports
    }

    /// Notes that a message was refused because the key of its token is unknown.
    pub(in crate::commands) fn unknown_token(&self, token: u32) {
        if let Source::Service(keeper) = &self.source {
            keeper.unknown_token(token);
        }
    }

    /// Returns an error if a SecurityGroup has never had keys, for a reason that is known.
    pub(in crate::commands) fn outcome(&self) -> miette::Result<()> {
        for (id, reason) in &self.without_keys {
            if let Some(reason) = reason {
                let text = format!("SecurityGroup {id} got no keys: {reason}");
                return Err(explain::with_help(text, self.advice(id, reason)));
            }
        }
        Ok(())
    }

    fn advice(&self, id: &str, reason: &MissingKeys) -> String {
        match (reason, &self.source) {
            (MissingKeys::NotPushed, Source::PushTarget(receiver)) => {
                let endpoint = receiver.endpoint().map(Endpoint::to_string);
                advice::not_pushed(
                    id,
                    receiver.application_uri(),
                    &endpoint.unwrap_or_default(),
                )
            }
            (MissingKeys::NotReturned(error), _) => advice::not_returned(id, error),
            (MissingKeys::NotPushed, _) => String::new(),
        }
    }
}

/// Returns the text of missing keys, with the consequence and advice.
fn missing(id: &str, reason: &MissingKeys, until: Option<Instant>, advice: &str) -> String {
    let Some(until) = until else {
        return format!(
            "SecurityGroup {id} has no keys: {reason}. Without keys its messages are neither sent nor accepted. {advice}"
        );
    };
    let left = until.saturating_duration_since(Instant::now()).as_secs();
    let left = Duration::from_secs(left);
    format!(
        "SecurityGroup {id} gets no new keys: {reason}. The present ones are used for {left:?} at most. {advice}"
    )
}

/// Returns a client of a SecurityKeyService, which gives keys over shared memory and encrypted connections only. It connects
/// later, because the service may start after this application.
fn client_for_keys(endpoint: &Endpoint, arguments: &PubSubRunArguments) -> miette::Result<Client> {
    let security = arguments.security.encrypted();
    Ok(Client::new(endpoint, client_options(arguments, security)?))
}

/// Returns the options of a client of this command.
pub(super) fn client_options(
    arguments: &PubSubRunArguments,
    security: ClientSecurity,
) -> miette::Result<ClientOptions> {
    Ok(ClientOptions {
        timeout: arguments.timeout,
        group: arguments.share.group.clone(),
        identity: arguments.security.identity(password)?,
        security,
        ..ClientOptions::named("takt")
    })
}

/// Opens the endpoint at which a SecurityKeyService pushes the keys of the `needed` groups.
fn receiver(
    endpoint: &Endpoint,
    arguments: &PubSubRunArguments,
    target: PushTarget,
    needed: &[String],
) -> miette::Result<KeyReceiver> {
    if endpoint.is_shared_memory() {
        return Err(explain::with_help(
            format!("keys are not pushed to {endpoint}"),
            "Within a host, --keys opc.iox2://NAME gets them. Keys are pushed over opc.tcp: --key-endpoint opc.tcp://0.0.0.0:4850.",
        ));
    }
    let mut services = target.services;
    // A service must not replace the keys that the command line gives for the other groups.
    services.retain(|id, _| needed.contains(id));
    for id in needed {
        if services.get(id).is_none_or(BTreeSet::is_empty) {
            return Err(explain::with_help(
                format!("no SecurityKeyService may push the keys of SecurityGroup {id}"),
                NAME_THE_SERVICE,
            ));
        }
    }
    let name = arguments.key_name.clone();
    let name = name.unwrap_or_else(|| format!("{}-{}", target.kind, host_name()));
    let receiver = KeyReceiver::start(KeyReceiverOptions {
        application_name: name,
        endpoint: endpoint.clone(),
        services,
        serve: ServeOptions {
            security: EndpointSecurity {
                certificates: arguments.security.certificates.clone(),
                // Keys come on encrypted channels only, also from a service on this host.
                secured_loopback: true,
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        },
    });
    let receiver = receiver.map_err(|error| {
        explain::with_help(
            error,
            "If the port is in use, choose another one with --key-endpoint. --certificates DIRECTORY names a folder for the \
             certificate.",
        )
    })?;
    if let Some(endpoint) = receiver.endpoint() {
        tracing::info!(
            "keys are accepted at {endpoint}, as {}",
            receiver.application_uri()
        );
    }
    Ok(receiver)
}
