//! Receiver of keys that a SecurityKeyService pushes (OPC 10000-14, 8.6.2 and 9.1.3.3).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use takt_client::Endpoint;
use takt_crypto::KeyKind;
use takt_pubsub::security::{KeyRing, SecurityKeyUpdate};
use takt_services::{BuildError, Server, ServerBudgets};
use takt_space::{AddressSpaceError, CallError, Caller, MethodHandler};
use takt_ua::{NodeId, StatusCode, Variant, ids};

use super::arguments::read;
use super::news::{KeyNews, MissingKeys};
use super::stored::{ReceivedKeys, StoredKeys};
use crate::serve::{ServeError, ServeOptions, Serving};

/// Time after which missing first keys are reported. The registry pushes, or tries again, each 10 s.
const FIRST: Duration = Duration::from_secs(12);

/// Largest number of Sessions: a SecurityKeyService needs one for a moment, an engineer may look at the server.
const SESSIONS: u32 = 16;

/// Memory in bytes that the server holds for its clients.
const MEMORY: usize = 16 << 20;

/// Options of a [`KeyReceiver`].
#[derive(Debug, Clone)]
pub struct KeyReceiverOptions {
    /// ApplicationName of the server, and name of its certificate.
    pub application_name: String,
    /// Endpoint over `opc.tcp`.
    pub endpoint: Endpoint,
    /// The SecurityGroups, with the ApplicationUris of the services that may set their keys:
    /// [`key_services`](takt_pubsub::configuration::key_services) of the configuration.
    pub services: BTreeMap<String, BTreeSet<String>>,
    /// Options of the serving thread.
    pub serve: ServeOptions,
}

/// Error of a receiver that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum KeyReceiverError {
    /// The server could not be built.
    #[error(transparent)]
    Server(#[from] BuildError),
    /// The Method could not be bound.
    #[error(transparent)]
    Method(#[from] AddressSpaceError),
    /// The endpoint could not be opened.
    #[error(transparent)]
    Serve(#[from] ServeError),
}

/// A push target: a small server whose Method SetSecurityKeys takes the keys of SecurityGroups. It serves until it is dropped.
///
/// Keys are accepted on encrypted channels only, and from the applications that are named for their SecurityGroup. They are kept
/// beside the private key of the target, so that it has them after a restart.
pub struct KeyReceiver {
    serving: Serving,
    application_uri: String,
    groups: Arc<Groups>,
    news: Receiver<KeyNews>,
}

impl KeyReceiver {
    /// Opens the endpoint.
    ///
    /// # Errors
    /// [`KeyReceiverError`].
    pub fn start(options: KeyReceiverOptions) -> Result<Self, KeyReceiverError> {
        let application_uri = format!("urn:takt:pubsub:{}", options.application_name);
        let budgets = ServerBudgets {
            max_sessions: SESSIONS,
            ..ServerBudgets::default().with_memory(MEMORY)
        };
        let server = Server::builder(&options.application_name, &application_uri);
        let server = server.budgets(budgets).build()?;
        let (tell, news) = channel();
        let groups = Arc::new(Groups::new(options.services, tell, Instant::now()));
        let setting = Arc::clone(&groups);
        let handler = move |caller: &Caller, _: &NodeId, inputs: &[Variant]| {
            setting.set(caller, inputs, Instant::now())?;
            Ok::<_, CallError>(Vec::new())
        };
        let method = NodeId::from(ids::PUBLISH_SUBSCRIBE_SET_SECURITY_KEYS);
        let space = server.address_space();
        space.set_method(&method, MethodHandler::local(handler))?;
        let serving = Serving::start(&server, &[options.endpoint], options.serve)?;
        // The folder of the certificate is known only now.
        if let Some(security) = server.security() {
            let (_, key) = security
                .store()
                .own_files(&options.application_name, KeyKind::Rsa);
            groups.restore(StoredKeys::new(key.with_extension("keys")));
        }
        Ok(Self {
            serving,
            application_uri,
            groups,
            news,
        })
    }

    /// Returns the endpoint, with the actual port.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        self.serving.endpoints().first()
    }

    /// Returns the ApplicationUri, by which a SecurityKeyService knows this target.
    pub fn application_uri(&self) -> &str {
        &self.application_uri
    }

    /// Returns the news since the last call. Call it about once per second.
    pub fn news(&self, now: Instant) -> Vec<KeyNews> {
        let mut news: Vec<KeyNews> = self.news.try_iter().collect();
        news.extend(self.groups.overdue(now));
        news
    }
}

/// SecurityGroups whose keys are pushed.
struct Groups {
    services: BTreeMap<String, BTreeSet<String>>,
    pushed: Mutex<BTreeMap<String, Pushed>>,
    tell: Sender<KeyNews>,
    started: Instant,
    /// File of the keys, if the target has a certificate.
    stored: OnceLock<StoredKeys>,
}

/// Keys of a SecurityGroup.
#[derive(Default)]
struct Pushed {
    ring: KeyRing,
    /// Last pushed keys. A service pushes keys again before they change.
    last: Option<ReceivedKeys>,
    /// True if missing keys were reported since the last ones.
    is_reported: bool,
}

impl Pushed {
    /// Returns whether these are the keys that were pushed last.
    fn has(&self, update: &SecurityKeyUpdate) -> bool {
        self.last.as_ref().is_some_and(|last| {
            let last = &last.update;
            // TimeToNextKey is another one each time.
            last.security_policy_uri == update.security_policy_uri
                && last.first_token_id == update.first_token_id
                && last.key_lifetime == update.key_lifetime
                && last.keys == update.keys
        })
    }
}

impl Groups {
    fn new(
        services: BTreeMap<String, BTreeSet<String>>,
        tell: Sender<KeyNews>,
        started: Instant,
    ) -> Self {
        let pushed = services.keys().map(|id| (id.clone(), Pushed::default()));
        Self {
            pushed: Mutex::new(pushed.collect()),
            services,
            tell,
            started,
            stored: OnceLock::new(),
        }
    }

    /// Takes the keys of the last run that can still be used, and keeps later ones in the file.
    fn restore(&self, file: StoredKeys) {
        let now = Instant::now();
        let mut pushed = self.pushed();
        // The endpoint is open already. Keys that came before are not in the file.
        let has_come = pushed.values().any(|group| group.last.is_some());
        for (id, received) in file.load() {
            let aged = received.aged(SystemTime::now());
            let Some((update, over)) = aged else { continue };
            // Keys may have come already.
            let group = pushed.get_mut(&id).filter(|group| group.last.is_none());
            let (Some(group), Some(at)) = (group, now.checked_sub(over)) else {
                continue;
            };
            // The ring is dated back by the time that the last key is over: its grace ends as without the restart.
            let mut ring = KeyRing::default();
            let is_usable = ring.update(&update, at).is_ok()
                && ring.expires_at().is_some_and(|expiry| now < expiry);
            if !is_usable {
                continue;
            }
            tracing::info!(
                security_group = id,
                token = update.first_token_id,
                "stored keys are used"
            );
            group.ring = ring.clone();
            group.last = Some(received);
            let _ = self.tell.send(KeyNews::Keys {
                security_group_id: id,
                ring,
                again: false,
            });
        }
        // With the lock, so that keys which come now find the file.
        let _ = self.stored.set(file);
        if has_come {
            self.save(&pushed);
        }
    }

    /// Keeps the present keys in the file. If that fails, the target waits for the next push after a restart.
    fn save(&self, pushed: &BTreeMap<String, Pushed>) {
        let Some(file) = self.stored.get() else {
            return;
        };
        let groups = pushed.iter();
        let groups = groups.filter_map(|(id, group)| Some((id, group.last.as_ref()?)));
        if let Err(error) = file.save(groups) {
            let file = file.path().display();
            tracing::warn!(%file, %error, "the keys cannot be stored: after a restart they are missing until the next push");
        }
    }

    fn pushed(&self) -> MutexGuard<'_, BTreeMap<String, Pushed>> {
        // Every change is complete when the lock is released.
        self.pushed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles `SetSecurityKeys` (OPC 10000-14, 9.1.3.3).
    fn set(&self, caller: &Caller, inputs: &[Variant], now: Instant) -> Result<(), StatusCode> {
        // First of all: keys that came in clear may be known to others, and are of no use.
        let application = encrypted_application(caller)?;
        let (id, update) = read(inputs).ok_or(StatusCode::BadInvalidArgument)?;
        if !self.may_set(&application, &id) {
            tracing::warn!(
                security_group = id,
                application,
                "keys refused: the configuration does not name this application as a SecurityKeyService"
            );
            return Err(StatusCode::BadUserAccessDenied);
        }
        let mut pushed = self.pushed();
        let group = pushed.get_mut(&id).ok_or(StatusCode::BadNotFound)?;
        if group.has(&update) {
            return Ok(());
        }
        group.ring.update(&update, now).map_err(|error| {
            tracing::warn!(security_group = id, application, %error, "keys refused");
            StatusCode::BadInvalidArgument
        })?;
        tracing::info!(
            security_group = id,
            application,
            token = update.first_token_id,
            keys = update.keys.len(),
            "keys set"
        );
        group.last = Some(ReceivedKeys {
            update,
            at: SystemTime::now(),
        });
        let news = KeyNews::Keys {
            security_group_id: id,
            ring: group.ring.clone(),
            again: std::mem::take(&mut group.is_reported),
        };
        self.save(&pushed);
        self.tell.send(news).map_err(|_| StatusCode::BadShutdown)
    }

    /// Returns whether an application may set the keys of a group. An application that is named for another group learns whether
    /// this one exists here; others do not.
    fn may_set(&self, application: &str, id: &str) -> bool {
        match self.services.get(id) {
            Some(named) => named.contains(application),
            None => self
                .services
                .values()
                .any(|named| named.contains(application)),
        }
    }

    /// Returns the groups whose keys should have come, each once until keys come.
    fn overdue(&self, now: Instant) -> Vec<KeyNews> {
        let mut news = Vec::new();
        for (id, group) in self.pushed().iter_mut() {
            let due_at = group.ring.ends_at().unwrap_or(self.started + FIRST);
            if now < due_at || group.is_reported {
                continue;
            }
            group.is_reported = true;
            news.push(KeyNews::Missing {
                security_group_id: id.clone(),
                reason: MissingKeys::NotPushed,
                until: group.ring.expires_at(),
            });
        }
        news
    }
}

/// Returns the ApplicationUri in the certificate of a caller on an encrypted channel.
fn encrypted_application(caller: &Caller) -> Result<String, StatusCode> {
    let security = &caller.channel.security;
    if !security.is_encrypted() {
        return Err(StatusCode::BadSecurityModeInsufficient);
    }
    let certificate = security.client_certificate.leaf();
    let uri = certificate.and_then(|certificate| certificate.application_uri.clone());
    uri.ok_or(StatusCode::BadUserAccessDenied)
}

#[cfg(test)]
mod tests {
    use takt_pubsub::security::PubSubSecurityPolicy;
    use takt_ua::ByteString;

    use super::*;

    const LIFETIME: Duration = Duration::from_secs(100);

    fn inputs(token: u32, keys: usize) -> Vec<Variant> {
        let policy = PubSubSecurityPolicy::PubSubAes128Ctr;
        let key = ByteString::from(vec![7; policy.key_data_length()]);
        let lifetime = LIFETIME.as_secs_f64() * 1000.0;
        vec![
            "Plant".into(),
            policy.uri().into(),
            token.into(),
            key.clone().into(),
            vec![key; keys - 1].into(),
            lifetime.into(),
            lifetime.into(),
        ]
    }

    #[test]
    fn only_the_inputs_of_the_method_are_taken() {
        let (id, update) = read(&inputs(7, 3)).unwrap();
        assert_eq!((id.as_str(), update.first_token_id), ("Plant", 7));
        assert_eq!((update.keys.len(), update.key_lifetime), (3, LIFETIME));
        let mut without_future = inputs(7, 3);
        without_future[4] = Variant::Empty;
        assert_eq!(read(&without_future).unwrap().1.keys.len(), 1);
        for (index, wrong) in [
            (2, Variant::from(7_u16)),
            (4, vec![1_u32].into()),
            (5, (-1.0).into()),
            (6, f64::NAN.into()),
        ] {
            let mut inputs = inputs(7, 3);
            inputs[index] = wrong;
            assert!(read(&inputs).is_none(), "{index}");
        }
        assert!(read(&inputs(7, 3)[..6]).is_none());
    }

    #[test]
    fn keys_need_an_encrypted_channel() {
        let (tell, news) = channel();
        let groups = Groups::new(BTreeMap::new(), tell, Instant::now());
        let set = groups.set(&Caller::local(), &inputs(1, 2), Instant::now());
        assert_eq!(set, Err(StatusCode::BadSecurityModeInsufficient));
        assert!(news.try_recv().is_err());
    }

    #[test]
    fn a_service_sets_keys_of_the_groups_that_name_it() {
        let named = |uris: &[&str]| uris.iter().map(|uri| (*uri).to_owned()).collect();
        let services = BTreeMap::from([
            ("Plant".to_owned(), named(&["urn:keys", "urn:spare"])),
            ("Line".to_owned(), named(&["urn:line"])),
        ]);
        let groups = Groups::new(services, channel().0, Instant::now());
        assert!(groups.may_set("urn:keys", "Plant"));
        assert!(groups.may_set("urn:spare", "Plant"));
        assert!(!groups.may_set("urn:line", "Plant"));
        assert!(!groups.may_set("urn:stranger", "Line"));
        assert!(groups.may_set("urn:line", "Unknown"));
        assert!(!groups.may_set("urn:stranger", "Unknown"));
    }

    /// The endpoint is open before the file is known.
    #[test]
    fn keys_that_come_before_the_file_is_known_are_stored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("target.keys");
        let (tell, _news) = channel();
        let services = BTreeMap::from([
            ("Plant".to_owned(), BTreeSet::new()),
            ("Line".to_owned(), BTreeSet::new()),
        ]);
        let keys = |token| ReceivedKeys {
            update: read(&inputs(token, 2)).unwrap().1,
            at: SystemTime::now(),
        };
        let (plant, line) = ("Plant".to_owned(), "Line".to_owned());
        let before = [(&plant, &keys(1)), (&line, &keys(2))];
        StoredKeys::new(path.clone())
            .save(before.into_iter())
            .unwrap();
        let groups = Groups::new(services, tell, Instant::now());
        groups.pushed().get_mut("Plant").unwrap().last = Some(keys(5));
        groups.restore(StoredKeys::new(path.clone()));
        let stored = StoredKeys::new(path).load();
        let tokens = stored
            .iter()
            .map(|(id, keys)| (id.as_str(), keys.update.first_token_id));
        assert_eq!(tokens.collect::<Vec<_>>(), [("Line", 2), ("Plant", 5)]);
    }

    #[test]
    fn keys_that_do_not_come_are_reported_once() {
        let start = Instant::now();
        let (tell, _news) = channel();
        let services = BTreeMap::from([("Plant".to_owned(), BTreeSet::new())]);
        let groups = Groups::new(services, tell, start);
        assert!(groups.overdue(start).is_empty());
        let late = groups.overdue(start + FIRST);
        assert!(matches!(late[..], [KeyNews::Missing { until: None, .. }]));
        assert!(groups.overdue(start + FIRST * 2).is_empty());
        let (_, update) = read(&inputs(1, 2)).unwrap();
        {
            let mut pushed = groups.pushed();
            let group = pushed.get_mut("Plant").unwrap();
            group.ring.update(&update, start).unwrap();
            group.is_reported = false;
        }
        // The second key lasts for a lifetime, and can be used for two more.
        let end = start + LIFETIME * 2;
        assert!(groups.overdue(end - FIRST).is_empty());
        let late = groups.overdue(end);
        let expires_at = Some(end + LIFETIME * 2);
        assert!(matches!(late[..], [KeyNews::Missing { until, .. }] if until == expires_at));
        assert!(groups.overdue(end + LIFETIME).is_empty());
    }
}
