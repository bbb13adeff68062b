//! Thread of a push target.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use takt_app::certificates::{trust_advice, unknown_issuer_advice};
use takt_app::{Client, ClientError, ClientOptions, Endpoint};
use takt_crypto::{CertificateError, Remedy};
use takt_ua::{DateTime, StatusCode};

use super::schedule::{PushReport, PushSchedule};
use crate::security_groups::PushSignal;
use crate::security_groups::SecurityGroups;

/// Longest wait of the thread of a target without SecurityGroups.
const IDLE: Duration = Duration::from_secs(3600);

/// Times of the last pushes to a target, for its Properties (OPC 10000-14, 8.6.1).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LastPush {
    /// Time of the last success.
    pub(super) execution: Option<DateTime>,
    /// Time of the last failure.
    pub(super) error: Option<DateTime>,
}

/// State of a target that others read.
#[derive(Debug, Default)]
pub(super) struct PushStatus(Mutex<LastPush>);

impl PushStatus {
    fn lock(&self) -> MutexGuard<'_, LastPush> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self) -> LastPush {
        *self.lock()
    }

    /// Notes a push as of now.
    fn note(&self, is_success: bool) {
        let now = Some(DateTime::now());
        let mut last = self.lock();
        match is_success {
            true => last.execution = now,
            false => last.error = now,
        }
    }
}

/// A push target with its schedules, which its thread owns.
pub(super) struct Target {
    pub(super) endpoint: Endpoint,
    /// Options of connections: they require the ApplicationUri of the target.
    pub(super) options: ClientOptions,
    pub(super) groups: Arc<SecurityGroups>,
    pub(super) schedules: Vec<PushSchedule>,
    /// Number of keys of a push.
    pub(super) keys: u16,
    /// Time after a failure until the next try, if the target has one of its own.
    pub(super) retry: Option<Duration>,
    pub(super) signal: Arc<PushSignal>,
    pub(super) status: Arc<PushStatus>,
}

impl Target {
    /// Pushes keys in time until the registry ends.
    pub(super) fn run(mut self) {
        loop {
            self.push_due();
            let next = self.schedules.iter().map(PushSchedule::next).min();
            let next = next.unwrap_or_else(|| Instant::now() + IDLE);
            let Some(changed) = self.signal.wait_until(next) else {
                return;
            };
            let now = Instant::now();
            if let Some(assigned) = self.signal.take_assigned() {
                self.assign(assigned, now);
            }
            for schedule in &mut self.schedules {
                if changed.contains(&schedule.security_group) {
                    schedule.hurry(now);
                }
            }
        }
    }

    /// Changes the SecurityGroups. New ones are due at once.
    fn assign(&mut self, mut assigned: BTreeSet<String>, now: Instant) {
        self.schedules
            .retain(|schedule| assigned.remove(&schedule.security_group));
        // Those that are left have no schedule yet.
        let new = assigned.into_iter();
        self.schedules
            .extend(new.map(|group| PushSchedule::new(group, now)));
    }

    /// Pushes the keys of all groups that are due, over one connection that is closed then: until the next push, certificates
    /// and trust may change.
    fn push_due(&mut self) {
        let now = Instant::now();
        // All keys that are due share one connection.
        let mut client = Client::new(&self.endpoint, self.options.clone());
        let due = self.schedules.iter_mut();
        for schedule in due.filter(|schedule| schedule.next() <= now) {
            let group = schedule.security_group.clone();
            let update = self.groups.keys_to_push(&group, self.keys);
            let lifetime = update.as_ref().ok().map(|update| update.key_lifetime);
            let pushed = match update {
                Ok(update) => client
                    .set_security_keys(&group, &update)
                    .map_err(PushError::Target),
                Err(status) => Err(PushError::Keys(status)),
            };
            self.status.note(pushed.is_ok());
            let failure = pushed.as_ref().err().map(PushError::kind);
            let report = schedule.note(lifetime, failure, self.retry, Instant::now());
            let target = self.options.server_uri.as_deref().unwrap_or_default();
            match (report, pushed) {
                (PushReport::Failed(retry), Err(error)) => {
                    let advice = error.advice(&self.options.application_uri, target);
                    tracing::warn!(
                        "the keys of SecurityGroup {group} cannot be pushed to {target} at {}: {error}. The next try is in \
                         {retry:?}. {advice}",
                        self.endpoint
                    );
                }
                (PushReport::Again, _) => {
                    tracing::warn!("the keys of SecurityGroup {group} are pushed to {target} again")
                }
                _ => tracing::debug!(security_group = group, target, "pushed"),
            }
        }
    }
}

/// Reason of a push that failed.
#[derive(Debug, thiserror::Error)]
enum PushError {
    /// The registry has no keys for it.
    #[error("the registry has no keys to push: {0}")]
    Keys(StatusCode),
    /// The target does not take them.
    #[error(transparent)]
    Target(ClientError),
}

impl PushError {
    /// Returns what distinguishes this reason from others. A target that is gone refuses connections or is silent: that is one
    /// reason.
    fn kind(&self) -> String {
        match self {
            // An application that is not there fails in several ways, which are one failure.
            Self::Target(error) if error.is_connection() => String::new(),
            error => error.to_string(),
        }
    }

    /// Returns advice; `own` and `target` are the ApplicationUris of the registry and of the target.
    fn advice(&self, own: &str, target: &str) -> String {
        let error = match self {
            Self::Keys(StatusCode::BadNotFound) => {
                return "The registry has no such SecurityGroup: add it.".to_owned();
            }
            Self::Keys(_) => return "Is there space on the disk of the database?".to_owned(),
            Self::Target(error) => error,
        };
        match error {
            error if error.is_connection() => {
                "Is the application running, and is this its address and port?".to_owned()
            }
            ClientError::ServerCertificate {
                cause: CertificateError::Uri,
                ..
            } => format!(
                "Another application answers there: the certificate of the right one has the ApplicationUri {target}."
            ),
            ClientError::ServerCertificate {
                thumbprint,
                certificates,
                cause: CertificateError::Untrusted,
                ..
            } => format!(
                "If this is the right thumbprint, {}.",
                trust_advice(thumbprint, certificates.as_deref())
            ),
            ClientError::ServerCertificate {
                issuer,
                certificates,
                cause: CertificateError::ChainIncomplete,
                ..
            } => unknown_issuer_advice(issuer, certificates.as_deref()),
            ClientError::NotTrusted {
                own: Some(error), ..
            } => format!("The certificate of this registry cannot be used: {error}."),
            ClientError::NotTrusted { thumbprint, .. } => format!(
                "The target does not trust this registry yet: trust the certificate {thumbprint} there{}.",
                Remedy::Trust {
                    thumbprint,
                    folder: None
                }
            ),
            error => match error.status_code() {
                StatusCode::BadUserAccessDenied => format!(
                    "The configuration of the target has to name {own} in default_security_key_services, with the ApplicationType \
                     Client."
                ),
                StatusCode::BadNotFound => {
                    "No enabled group of the target has this SecurityGroup.".to_owned()
                }
                _ => String::new(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_advice() {
        let advice = |error: ClientError| PushError::Target(error).advice("urn:own", "urn:target");
        let certificate = |cause| ClientError::ServerCertificate {
            endpoint: "opc.tcp://a:1".to_owned(),
            thumbprint: "0123ABCD".to_owned(),
            certificates: Some("/plant/pki".into()),
            issuer: "CN=Plant CA".to_owned(),
            cause,
        };
        let denied = ClientError::operation("SetSecurityKeys", StatusCode::BadUserAccessDenied);
        for (error, expected) in [
            (denied, "urn:own"),
            (certificate(CertificateError::Uri), "urn:target"),
            (
                certificate(CertificateError::Untrusted),
                "trust it in /plant/pki",
            ),
            // The certificate alone would not be accepted.
            (
                certificate(CertificateError::ChainIncomplete),
                "The issuer (CA) CN=Plant CA is unknown. Trust it and add its revocation list",
            ),
        ] {
            let said = advice(error);
            assert!(said.contains(expected), "{said}");
        }
        let unknown = PushError::Keys(StatusCode::BadNotFound).advice("", "");
        assert!(unknown.contains("SecurityGroup"));
    }
}
