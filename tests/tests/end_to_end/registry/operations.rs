//! Operations of a client on a secured channel, which the tests of faults carry out before, during and after a fault.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use takt_app::{
    Client, ClientError, ClientOptions, ClientSecurity, EventQuery, HistoryRange, Identity,
    Provider, Subscription, SubscriptionOptions, model,
};
use takt_crypto::{Certificate, KeyKind, OwnCertificate, issue};
use takt_tests::authority::Authority;
use takt_tests::{Registry, Sandbox};
use takt_ua::structures::TrustListDataType;
use takt_ua::{ByteString, DateTime, NodeId, StatusCode, Variant, ids};

use crate::registry::certificates::{CANCEL, begin, call};
use crate::registry::roles::{PASSWORD, add_user};
use crate::registry::{PATIENCE, consumer, eventually, tank, wait_until_available};

/// ApplicationName of the client; its ApplicationUri ends with it.
pub(crate) const DESK: &str = "desk";
const DESK_URI: &str = "urn:plant:desk";

const USER: &str = "anna";
const ROLES: &str = "operator,engineer,security-admin";

/// Interval between two samples of recorded values.
const SAMPLED: &str = "50ms";

/// Publishing interval.
const PUBLISHING: Duration = Duration::from_millis(100);

/// Time for which a server keeps the Sessions and Subscriptions of clients that are not killed.
const LASTING: Duration = Duration::from_secs(3600);

/// The last recorded value.
const NEWEST: HistoryRange = HistoryRange {
    start: None,
    end: Some(DateTime(i64::MAX)),
    limit: 1,
    bounds: false,
};

/// An operation of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A Write that the registry passes on.
    Write,
    /// A Call that the registry passes on.
    Call,
    /// ConditionRefresh, and its Events.
    Events,
    /// Read of a recorded value.
    History,
    /// GetSecurityKeys.
    Keys,
    /// A change of the trust list that is taken back before it is applied.
    TrustList,
    /// A new certificate of the server for its present key.
    Renewal,
}

impl Operation {
    pub(crate) const ALL: [Self; 7] = [
        Self::Write,
        Self::Call,
        Self::Events,
        Self::History,
        Self::Keys,
        Self::TrustList,
        Self::Renewal,
    ];
}

/// Place of a client: the server, its folder, and the NamespaceIndex of the Provider.
#[derive(Debug, Clone)]
pub(crate) struct Seat {
    pub(crate) endpoint: String,
    /// Folder with the certificates, and with those of the authority.
    pub(crate) data: PathBuf,
    pub(crate) namespace: u16,
}

/// A client with one operation. Its Session has a Subscription to Events in each case.
pub(crate) struct Desk {
    operation: Operation,
    seat: Seat,
    subscription: Subscription,
}

impl Desk {
    /// Opens a channel, a Session and a Subscription. `lifetime` is the time for which the server keeps the last two without a client.
    pub(crate) fn sit_down(
        seat: &Seat,
        operation: Operation,
        lifetime: Duration,
    ) -> Result<Self, ClientError> {
        let options = ClientOptions {
            application_uri: DESK_URI.to_owned(),
            identity: Identity::UserName {
                name: USER.to_owned(),
                password: PASSWORD.to_owned(),
            },
            timeout: PATIENCE,
            session_timeout: lifetime,
            security: ClientSecurity {
                choice: "encrypt".parse().unwrap(),
                // The applications of one folder trust each other.
                certificates: Some(seat.data.join("pki")),
                ..ClientSecurity::default()
            },
            ..ClientOptions::named(DESK)
        };
        let client = Client::connect(&seat.endpoint.parse().unwrap(), options)?;
        let intervals = u32::try_from(lifetime.as_millis() / PUBLISHING.as_millis()).unwrap();
        let lasting = SubscriptionOptions {
            publishing_interval: PUBLISHING,
            lifetime_count: intervals,
            max_keep_alive_count: intervals / 4,
            ..SubscriptionOptions::default()
        };
        let mut subscription = Subscription::create(client, lasting)?;
        subscription.monitor_events(&NodeId::from(ids::SERVER), EventQuery::new(["EventType"]))?;
        Ok(Self {
            operation,
            seat: seat.clone(),
            subscription,
        })
    }

    pub(crate) fn operation(&self) -> Operation {
        self.operation
    }

    pub(crate) fn client(&mut self) -> &mut Client {
        self.subscription.client()
    }

    /// Carries out the operation once.
    pub(crate) fn work(&mut self) -> Result<(), StatusCode> {
        match self.operation {
            Operation::TrustList => self.change_trust(),
            Operation::Renewal => self.renew(false),
            _ => self.use_data().map_err(|error| error.status_code()),
        }
    }

    fn use_data(&mut self) -> Result<(), ClientError> {
        let node = |name: &str| NodeId::string(self.seat.namespace, name);
        let (level, double) = (node("Level"), node("Double"));
        let client = self.subscription.client();
        match self.operation {
            Operation::Write => client.write(&level, 50.0.into())?,
            Operation::Call => {
                let tank = NodeId::numeric(self.seat.namespace, model::provider::OBJECT);
                let outputs = client.call_method(&tank, &double, vec![4.0.into()])?;
                assert_eq!(outputs, [Variant::from(8.0)]);
            }
            Operation::Events => self.refresh()?,
            Operation::History => assert_eq!(client.history_raw(&level, NEWEST)?.len(), 1),
            Operation::Keys => assert!(!client.get_security_keys("Plant", 1)?.keys.is_empty()),
            Operation::TrustList | Operation::Renewal => {}
        }
        Ok(())
    }

    /// Waits for the Event that ends a ConditionRefresh.
    fn refresh(&mut self) -> Result<(), ClientError> {
        self.subscription.refresh_conditions()?;
        let end = Variant::from(NodeId::from(ids::REFRESH_END_EVENT_TYPE));
        loop {
            let event = self.subscription.next_event(PATIENCE)?;
            let event = event.unwrap_or_else(|| panic!("ConditionRefresh does not end"));
            if event.fields.first() == Some(&end) {
                return Ok(());
            }
        }
    }

    fn change_trust(&mut self) -> Result<(), StatusCode> {
        let authority = std::fs::read(self.seat.data.join("ca.der")).unwrap();
        let authority = Certificate::from_der(&authority).unwrap();
        begin(self.client(), &authority)?;
        call(self.client(), CANCEL, Vec::new()).map(drop)
    }

    /// Gives the server a certificate of the authority.
    pub(crate) fn renew(&mut self, with_new_key: bool) -> Result<(), StatusCode> {
        let data = &self.seat.data;
        let authority = OwnCertificate::from_files(&data.join("ca.der"), &data.join("ca.pem"));
        let authority = authority.unwrap();
        let client = self.subscription.client();
        let status = |error: ClientError| error.status_code();
        let request = client
            .create_signing_request(KeyKind::Rsa, with_new_key)
            .map_err(status)?;
        let day = Duration::from_secs(24 * 3600);
        let new = issue(request.as_bytes(), &authority, day).unwrap();
        let issuers = [authority.certificate().der()];
        client
            .update_certificate(KeyKind::Rsa, new.der(), &issuers)
            .map_err(status)
    }

    /// Lets the server trust one more certificate.
    pub(crate) fn trust(&mut self, certificate: &[u8]) -> Result<(), ClientError> {
        let client = self.client();
        let mut trusted = client.read_trust_list()?.trusted_certificates;
        trusted.push(ByteString::from(certificate));
        client.write_trust_list(&TrustListDataType {
            specified_lists: 1,
            trusted_certificates: trusted,
            ..TrustListDataType::default()
        })
    }
}

/// A registry that records and has keys, a Provider, and a user with all roles that the operations need.
pub(crate) struct Plant {
    pub(crate) sandbox: Sandbox,
    pub(crate) registry: Registry,
    pub(crate) seat: Seat,
    _tank: Provider,
}

impl Plant {
    /// Starts the registry after a change of its environment.
    pub(crate) fn start(change: impl FnOnce(&mut Command)) -> Self {
        let sandbox = Sandbox::new();
        let data = sandbox.data_directory();
        let authority = Authority::new(&data);
        let pki = data.join("pki");
        let trust = |file: &Path| {
            let add = ["trust", "add", text(file), "--certificates", text(&pki)];
            let _ = sandbox.run(&add).expect_success();
        };
        trust(&authority.certificate);
        trust(&authority.revocations);
        let _ = add_user(&sandbox, USER, ROLES);
        let endpoint = format!("opc.tcp://127.0.0.1:{}", takt_ports::reserve());
        let registry = Self::registry(&sandbox, &endpoint, change);
        let name = sandbox.application("Tank");
        let tank = tank(&sandbox, &name, &registry.shared_memory()).unwrap();
        wait_until_available(&mut consumer(&sandbox, &registry), &name);
        let mut client = crate::registry::client(&sandbox, &registry.shared_memory());
        let namespace = client.namespace_index(&model::provider_uri(&name));
        let namespace = namespace.unwrap().unwrap();
        let level = NodeId::string(namespace, "Level");
        eventually("a value is recorded", PATIENCE, || {
            let recorded = client.history_raw(&level, NEWEST);
            recorded.is_ok_and(|values| values.len() == 1)
        });
        let seat = Seat {
            endpoint: registry.endpoint.clone(),
            data: data.clone(),
            namespace,
        };
        // The first client creates its certificate. Both sides are trusted with these certificates when they have new ones, too.
        drop(Desk::sit_down(&seat, Operation::Write, LASTING).unwrap());
        for name in [&registry.name, DESK] {
            trust(&pki.join(format!("own/certs/{name}.der")));
        }
        Self {
            sandbox,
            registry,
            seat,
            _tank: tank,
        }
    }

    fn registry(sandbox: &Sandbox, endpoint: &str, change: impl FnOnce(&mut Command)) -> Registry {
        let group = format!("Plant:{DESK_URI}");
        let options = [
            "--endpoint",
            endpoint,
            "--security-group",
            &group,
            "--history",
            "*/Level",
            "--history-interval",
            SAMPLED,
            "--history-events",
            "Server",
        ];
        Registry::start_in(sandbox, &options, change)
    }

    /// Kills the registry and starts it again.
    pub(crate) fn restart(&mut self) {
        self.registry.process.kill();
        self.registry = Self::registry(&self.sandbox, &self.seat.endpoint, |_| {});
    }

    /// Opens a channel and a Session for an operation.
    pub(crate) fn desk(&self, operation: Operation) -> Result<Desk, ClientError> {
        Desk::sit_down(&self.seat, operation, LASTING)
    }

    /// Carries out all operations, each on a new channel.
    pub(crate) fn all_work(&self) -> Vec<Desk> {
        let working = Operation::ALL.into_iter().map(|operation| {
            let mut desk = self.desk(operation).unwrap();
            desk.work()
                .unwrap_or_else(|error| panic!("{operation:?}: {error}"));
            desk
        });
        working.collect()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
