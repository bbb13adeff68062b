//! Keeper of the keys of SecurityGroups, which requests new keys in time.

use std::collections::HashSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use takt_client::{Client, ClientError, ProtocolError};
use takt_pubsub::security::{KeyRing, SecurityKeyUpdate};

use super::news::KeyNews;

/// Number of requested keys: the current one, and enough others for a temporary absence of the service.
const KEYS: u32 = 4;

/// Shortest pause after a service did not return keys.
const RETRY: Duration = Duration::from_secs(1);

/// Longest pause for which the connection stays open: before it ends, the Session or the channel could end.
const LONGEST_IDLE: Duration = Duration::from_secs(20);

/// Time for the thread to end before it is left alone: it may wait for a response.
const GRACE: Duration = Duration::from_millis(300);

/// Requests the keys of SecurityGroups from a SecurityKeyService, and new ones before they expire (OPC 10000-14, 5.4.5.3), on a
/// thread of its own.
///
/// A service that does not answer is asked again: each second for the first keys, and then after a sixteenth of the KeyLifetime.
/// Until it answers, a PubSub without keys is PreOperational, and another one uses its present keys.
#[derive(Debug)]
pub struct KeyKeeper {
    news: Receiver<KeyNews>,
    /// Unknown tokens of messages, for the thread. It ends when this is dropped.
    unknown: Option<Sender<u32>>,
}

impl KeyKeeper {
    /// Starts a keeper that asks this service, over `opc.iox2` or encrypted `opc.tcp`, for the keys of these SecurityGroups.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(client: Client, security_group_ids: Vec<String>) -> std::io::Result<Self> {
        let (tell, news) = channel();
        let (unknown, told) = channel();
        let groups = security_group_ids.into_iter().map(Group::new).collect();
        let tending = Tending {
            client,
            groups,
            tell,
        };
        std::thread::Builder::new()
            .name("takt-keys".to_owned())
            .spawn(move || tending.run(&told))?;
        Ok(Self {
            news,
            unknown: Some(unknown),
        })
    }

    /// Returns the news since the last call.
    pub fn news(&self) -> impl Iterator<Item = KeyNews> + '_ {
        self.news.try_iter()
    }

    /// Notes that a message was refused because the key of its token is unknown. If it is newer than all known ones, such as after
    /// `InvalidateKeys` (OPC 10000-14, 8.4.2), the service is asked soon: not more often than each sixteenth of the KeyLifetime,
    /// because anybody can send such messages.
    pub fn unknown_token(&self, security_token_id: u32) {
        if let Some(unknown) = &self.unknown {
            // The thread has nothing to do without SecurityGroups.
            let _ = unknown.send(security_token_id);
        }
    }
}

impl Drop for KeyKeeper {
    fn drop(&mut self) {
        self.unknown = None;
        let end = Instant::now() + GRACE;
        // The thread drops its end of the channel last.
        while self
            .news
            .recv_timeout(end.saturating_duration_since(Instant::now()))
            .is_ok()
        {}
    }
}

/// State of the thread.
struct Tending {
    client: Client,
    groups: Vec<Group>,
    tell: Sender<KeyNews>,
}

impl Tending {
    fn run(mut self, unknown: &Receiver<u32>) {
        loop {
            for group in &mut self.groups {
                if group.due_at().is_some_and(|at| at > Instant::now()) {
                    continue;
                }
                let answer = self.client.get_security_keys(&group.id, KEYS);
                if answer.as_ref().is_err_and(ClientError::is_connection) {
                    // A connection that is silent does not tell when the service is back.
                    self.client.close();
                }
                let news = group.take(answer, Instant::now());
                if news.is_some_and(|news| self.tell.send(news).is_err()) {
                    return;
                }
            }
            let next = self.groups.iter().filter_map(Group::due_at).min();
            let Some(next) = next else {
                return;
            };
            let pause = next.saturating_duration_since(Instant::now());
            if pause > LONGEST_IDLE {
                self.client.close();
            }
            match unknown.recv_timeout(pause) {
                Ok(token) => {
                    for group in &mut self.groups {
                        group.ring.unknown_token(token);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

/// State of a SecurityGroup.
struct Group {
    id: String,
    ring: KeyRing,
    /// Earliest time of the next request after a failure.
    not_before: Option<Instant>,
    /// Reasons that were reported since the last keys.
    reported: HashSet<String>,
}

impl Group {
    fn new(id: String) -> Self {
        Self {
            id,
            ring: KeyRing::new(),
            not_before: None,
            reported: HashSet::new(),
        }
    }

    /// Returns the time of the next request; `None` for now.
    fn due_at(&self) -> Option<Instant> {
        // `None` is less than any time, so one of them is enough.
        self.ring.request_at().max(self.not_before)
    }

    /// Takes an answer that came at `now`. Returns news, unless they are known already.
    fn take(
        &mut self,
        answer: Result<SecurityKeyUpdate, ClientError>,
        now: Instant,
    ) -> Option<KeyNews> {
        let taken = answer.and_then(|update| {
            self.ring
                .update(&update, now)
                .map_err(|error| ClientError::Protocol {
                    endpoint: format!("SecurityGroup {}", self.id),
                    cause: ProtocolError::Content(error.to_string()),
                })
        });
        let security_group_id = self.id.clone();
        let Err(error) = taken else {
            self.not_before = None;
            let again = !self.reported.is_empty();
            self.reported.clear();
            return Some(KeyNews::Keys {
                security_group_id,
                ring: self.ring.clone(),
                again,
            });
        };
        self.ring.request_failed(now);
        self.not_before = Some(now + RETRY);
        // A service that is gone closes connections, refuses new ones or is silent: that is one reason.
        let kind = match error.is_connection() {
            true => String::new(),
            false => error.to_string(),
        };
        let until = self.ring.expires_at().filter(|until| *until > now);
        self.reported.insert(kind).then(|| KeyNews::Missing {
            security_group_id,
            reason: error.into(),
            until,
        })
    }
}

#[cfg(test)]
mod tests {
    use takt_pubsub::security::PubSubSecurityPolicy;
    use takt_ua::StatusCode;

    use super::*;

    const LIFETIME: Duration = Duration::from_secs(160);

    fn answer(first_token_id: u32) -> SecurityKeyUpdate {
        let policy = PubSubSecurityPolicy::PubSubAes128Ctr;
        SecurityKeyUpdate {
            security_policy_uri: policy.uri().to_owned(),
            first_token_id,
            keys: vec![vec![7; policy.key_data_length()].into(); 3],
            time_to_next_key: LIFETIME,
            key_lifetime: LIFETIME,
        }
    }

    fn silence() -> ClientError {
        ClientError::Timeout {
            endpoint: "opc.tcp://keys:4840".to_owned(),
            timeout: RETRY,
        }
    }

    fn denied() -> ClientError {
        ClientError::operation("GetSecurityKeys", StatusCode::BadUserAccessDenied)
    }

    #[test]
    fn each_reason_is_reported_once_until_there_are_keys() {
        let start = Instant::now();
        let mut group = Group::new("Plant".to_owned());
        assert_eq!(group.due_at(), None);
        let missing = |news: Option<KeyNews>| match news {
            Some(KeyNews::Missing { reason, until, .. }) => Some((reason.to_string(), until)),
            None => None,
            other => panic!("{other:?}"),
        };
        let (reason, until) = missing(group.take(Err(denied()), start)).unwrap();
        assert!(reason.contains("BadUserAccessDenied"), "{reason}");
        assert_eq!(until, None);
        assert_eq!(group.due_at(), Some(start + RETRY));
        assert!(missing(group.take(Err(denied()), start + RETRY)).is_none());
        assert!(missing(group.take(Err(silence()), start + RETRY)).is_some());
        assert!(missing(group.take(Err(denied()), start + RETRY)).is_none());
        let came = group.take(Ok(answer(1)), start);
        assert!(matches!(came, Some(KeyNews::Keys { again: true, .. })));
        assert_eq!(group.due_at(), Some(start + LIFETIME / 2));

        // An outage: the present keys last for their own time and two KeyLifetimes.
        let outage = start + LIFETIME / 2;
        let (_, until) = missing(group.take(Err(silence()), outage)).unwrap();
        assert_eq!(until, Some(start + LIFETIME * 5));
        assert_eq!(group.due_at(), Some(outage + LIFETIME / 16));
        assert!(missing(group.take(Err(silence()), outage + LIFETIME / 16)).is_none());
        let came = group.take(Ok(answer(2)), start + LIFETIME);
        assert!(matches!(came, Some(KeyNews::Keys { again: true, .. })));
        let came = group.take(Ok(answer(2)), start + LIFETIME);
        assert!(matches!(came, Some(KeyNews::Keys { again: false, .. })));
    }

    #[test]
    fn a_newer_token_makes_a_request_due() {
        let start = Instant::now();
        let mut group = Group::new("Plant".to_owned());
        group.take(Ok(answer(1)), start);
        // The third key is known.
        group.ring.unknown_token(3);
        assert_eq!(group.due_at(), Some(start + LIFETIME / 2));
        group.ring.unknown_token(4);
        assert_eq!(group.due_at(), Some(start + LIFETIME / 16));
    }

    #[test]
    fn keys_that_are_not_valid_are_an_error_of_the_service() {
        let mut group = Group::new("Plant".to_owned());
        let wrong = SecurityKeyUpdate {
            security_policy_uri: "urn:other".to_owned(),
            ..answer(1)
        };
        let Some(KeyNews::Missing { reason, .. }) = group.take(Ok(wrong), Instant::now()) else {
            panic!("accepted");
        };
        assert!(reason.to_string().contains("SecurityGroup Plant"));
    }
}
