//! A push target whose thread runs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_app::{ClientOptions, ClientSecurity, Endpoint, SecurityChoice};
use takt_crypto::PolicyProfile;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::PubSubKeyPushTargetDataType;

use super::target::{PushStatus, Target};
use crate::error::RegistryError;
use crate::security_groups::PushSignal;
use crate::security_groups::{MOST_KEYS, SecurityGroups};

/// Time for the threads to end before they are left alone: one may wait for a target.
const GRACE: Duration = Duration::from_millis(300);

/// A push target whose thread runs.
pub(super) struct Running {
    /// Configuration as shown and stored. The groups of options are not in it.
    pub(super) record: PubSubKeyPushTargetDataType,
    /// SecurityGroups that the options of the registry name; `None` if they do not name the target.
    pub(super) configured: Option<BTreeSet<String>>,
    pub(super) signal: Arc<PushSignal>,
    pub(super) status: Arc<PushStatus>,
    thread: JoinHandle<()>,
}

impl Running {
    /// Starts the thread of a target. `client` are the options of encrypted connections.
    pub(super) fn start(
        record: PubSubKeyPushTargetDataType,
        configured: Option<BTreeSet<String>>,
        endpoint: Endpoint,
        client: &ClientOptions,
        groups: &Arc<SecurityGroups>,
    ) -> Result<Self, RegistryError> {
        let (status, signal) = (Arc::<PushStatus>::default(), Arc::<PushSignal>::default());
        let policy = PolicyProfile::by_uri(record.security_policy_uri.as_str());
        let security = ClientSecurity {
            choice: SecurityChoice::Secured {
                policy: policy.map(|profile| profile.name),
                mode: Some(MessageSecurityMode::SignAndEncrypt),
            },
            ..client.security.clone()
        };
        let retry = Duration::try_from_secs_f64(record.retry_interval / 1000.0);
        let target = Target {
            endpoint,
            options: ClientOptions {
                server_uri: Some(record.application_uri.as_str().to_owned()),
                security,
                ..client.clone()
            },
            groups: Arc::clone(groups),
            schedules: Vec::new(),
            keys: record.requested_key_count,
            retry: retry.ok().filter(|retry| !retry.is_zero()),
            signal: Arc::clone(&signal),
            status: Arc::clone(&status),
        };
        let thread = std::thread::Builder::new().name("push keys".to_owned());
        let thread = thread.spawn(move || target.run());
        let running = Self {
            record,
            configured,
            signal,
            status,
            thread: thread.map_err(RegistryError::Thread)?,
        };
        running.assign(groups);
        Ok(running)
    }

    /// Returns the SecurityGroups whose keys are pushed.
    pub(super) fn security_groups(&self) -> BTreeSet<String> {
        let stored = self.record.security_groups.iter();
        let stored = stored.map(|name| name.as_str().to_owned());
        let configured = self.configured.iter().flatten().cloned();
        stored.chain(configured).collect()
    }

    /// Tells the thread, and the SecurityGroups, whose keys are pushed.
    pub(super) fn assign(&self, groups: &SecurityGroups) {
        let names = self.security_groups();
        groups.tell_changes(&names, &self.signal);
        self.signal.assign(names);
    }

    /// Ends the threads of targets, and waits for them for a moment.
    pub(super) fn end_all(all: impl Iterator<Item = Self>) {
        let all: Vec<Self> = all.collect();
        for one in &all {
            one.signal.end();
        }
        let end = Instant::now() + GRACE;
        for one in all {
            // `JoinHandle::join` has no time limit.
            while !one.thread.is_finished() && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// Returns the number of keys that are pushed to a target.
pub(super) fn revised_key_count(requested: u16) -> u16 {
    match requested {
        0 => MOST_KEYS,
        requested => requested.min(MOST_KEYS),
    }
}
