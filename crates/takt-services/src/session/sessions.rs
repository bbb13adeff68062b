//! The Sessions of a server, found by their authentication tokens.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use takt_crypto::{EphemeralKey, PolicyProfile};
use takt_rt::memory_budget::MemoryBudget;
use takt_space::Caller;
use takt_ua::{Guid, IdentifierRef, NodeId, NodeIdRef, StatusCode, UaString};

use super::continuation::ContinuationPoints;
use super::counters::Counters;
use super::expendable::expendable;
use super::history_points::HistoryPoints;
use super::{EPHEMERAL_KEY, HAS_CHANNEL, NO_CHANNEL, NONCE_LENGTH, Session};
use crate::identity::random::random;
use crate::responses::deadline::Deadline;

/// Number of checks per timeout: inactivity is detected with an error of one such fraction.
const CHECKS_PER_TIMEOUT: u32 = 8;

/// Namespace of SessionIds: that of the server itself.
const SESSION_NAMESPACE: u16 = 1;

/// All Sessions of a server.
pub(crate) struct Sessions {
    all: Mutex<Table>,
    /// Time of the next search for inactive Sessions; set while the table is locked.
    next_check: Deadline,
    /// Number of the next SessionId.
    next_id: AtomicU32,
    /// Number of the last loss of a channel by a Session.
    last_loss: AtomicU64,
}

/// The Sessions by their tokens, and the tokens by the numbers of the SessionIds.
#[derive(Default)]
struct Table {
    by_token: HashMap<Guid, Arc<Session>>,
    tokens: HashMap<u32, Guid>,
}

impl Table {
    fn insert(&mut self, session: &Arc<Session>) {
        self.tokens.insert(session.number, session.token);
        self.by_token.insert(session.token, Arc::clone(session));
    }

    fn remove(&mut self, token: &Guid) -> Option<Arc<Session>> {
        let session = self.by_token.remove(token)?;
        self.tokens.remove(&session.number);
        Some(session)
    }

    /// Keeps only the Sessions for which `keep` returns true.
    fn retain(&mut self, mut keep: impl FnMut(&Session) -> bool) {
        let Self { by_token, tokens } = self;
        by_token.retain(|_, session| {
            let keeps = keep(session);
            if !keeps {
                tokens.remove(&session.number);
            }
            keeps
        });
    }

    fn values(&self) -> impl Iterator<Item = &Arc<Session>> {
        self.by_token.values()
    }
}

/// Parameters of a new Session, as revised by CreateSession.
pub(crate) struct NewSession {
    pub(crate) timeout: Duration,
    pub(crate) endpoint_url: UaString,
    pub(crate) max_response_message_size: u32,
    pub(crate) caller: Caller,
    pub(crate) server_nonce: [u8; NONCE_LENGTH],
    /// EphemeralKey for the secret of a user, if the client has asked for one.
    pub(crate) ephemeral_key: Option<EphemeralKey>,
    pub(crate) max_sessions: u32,
    pub(crate) max_continuation_points: u16,
    pub(crate) max_history_points: u16,
    /// Memory budget of the Session after activation.
    pub(crate) memory: MemoryBudget,
    /// Memory budget of the Session before activation.
    pub(crate) memory_before: MemoryBudget,
}

impl Sessions {
    pub(crate) fn new(first_id: u32) -> Self {
        Self {
            all: Mutex::default(),
            next_check: Deadline::default(),
            next_id: AtomicU32::new(first_id),
            last_loss: AtomicU64::default(),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a Session. If there are too many, an [`expendable`] one makes room, and its id is returned.
    pub(crate) fn create(
        &self,
        new: NewSession,
    ) -> Result<(Arc<Session>, Option<NodeId>), StatusCode> {
        let now = Instant::now();
        let mut table = self.table();
        let policy = PolicyProfile::by_uri(&new.caller.channel.security.policy_uri);
        let key = policy
            .and_then(PolicyProfile::curve)
            .map_or(0, |_| EPHEMERAL_KEY);
        let texts = new.caller.memory() + new.endpoint_url.as_str().len();
        let bytes = size_of::<Session>() + texts + key;
        // Strangers can create Sessions, which therefore count in a budget of their own until they are activated.
        let charge = new.memory_before.charge_message(bytes);
        let charge = charge.map_err(|_| StatusCode::BadOutOfMemory)?;
        let mut replaced = None;
        if table.by_token.len() >= usize::try_from(new.max_sessions).unwrap_or(usize::MAX) {
            let token = expendable(&table.by_token).ok_or(StatusCode::BadTooManySessions)?;
            if let Some(session) = table.remove(&token) {
                session.close();
                replaced = Some(session.id.clone());
            }
        }
        let number = self.next_id.fetch_add(1, Ordering::Relaxed);
        let id = NodeId::numeric(SESSION_NAMESPACE, number);
        let session = Arc::new(Session {
            token: random_token()?,
            timeout: new.timeout,
            bound: AtomicU64::new(NO_CHANNEL),
            channel_lost: AtomicU64::new(HAS_CHANNEL),
            touched: AtomicBool::new(false),
            last_activity: Mutex::new(now),
            created: now,
            endpoint_url: new.endpoint_url,
            max_response_message_size: new.max_response_message_size,
            locale_ids: Mutex::default(),
            counters: Counters::default(),
            ends: Mutex::default(),
            server_nonce: Mutex::new(new.server_nonce),
            ephemeral_key: Mutex::new(new.ephemeral_key),
            caller: ArcSwap::from_pointee(Caller {
                session_id: id.clone(),
                ..new.caller
            }),
            continuation_points: Mutex::new(ContinuationPoints::new(
                new.max_continuation_points,
                new.memory.empty_message(),
            )),
            history_points: Mutex::new(HistoryPoints::new(
                new.max_history_points,
                new.memory.empty_message(),
            )),
            memory: new.memory,
            charge: Mutex::new(charge),
            pending: Mutex::default(),
            id,
            number,
        });
        table.insert(&session);
        let check = now + session.timeout / CHECKS_PER_TIMEOUT;
        let next = self.next_check.get().map_or(check, |next| next.min(check));
        self.next_check.set(Some(next));
        Ok((session, replaced))
    }

    /// Sets the time at which a Session ends although it is used; `None` stands for no such time.
    pub(crate) fn end_at(&self, session: &Session, at: Option<Instant>) {
        // The search for inactive Sessions takes the same lock.
        let _table = self.table();
        *session.ends.lock().unwrap_or_else(PoisonError::into_inner) = at;
        let next = self.next_check.get();
        self.next_check.set(next.into_iter().chain(at).min());
    }

    /// Returns the activated Sessions, in the order of their creation.
    pub(crate) fn activated(&self) -> Vec<Arc<Session>> {
        let mut all: Vec<_> = self.table().values().cloned().collect();
        all.retain(|session| session.is_activated());
        all.sort_by_key(|session| session.created);
        all
    }

    /// Returns the Session with this number in its SessionId.
    pub(crate) fn of_number(&self, number: u32) -> Option<Arc<Session>> {
        let table = self.table();
        let token = table.tokens.get(&number)?;
        table.by_token.get(token).cloned()
    }

    /// Returns the Session with this SessionId.
    pub(crate) fn of_id(&self, id: NodeIdRef<'_>) -> Option<Arc<Session>> {
        match (id.namespace, id.identifier) {
            (SESSION_NAMESPACE, IdentifierRef::Numeric(number)) => self.of_number(number),
            _ => None,
        }
    }

    /// Returns the Session that a token names.
    pub(crate) fn find(&self, token: NodeIdRef<'_>) -> Result<Arc<Session>, StatusCode> {
        let IdentifierRef::Guid(token) = token.identifier else {
            return Err(StatusCode::BadSessionIdInvalid);
        };
        self.table()
            .by_token
            .get(&token)
            .cloned()
            .ok_or(StatusCode::BadSessionIdInvalid)
    }

    /// Returns the Session that a token names, if this channel may use it. If the client has not activated the Session first,
    /// it is closed (OPC 10000-4, 5.7.3.1).
    pub(crate) fn find_usable(
        &self,
        token: NodeIdRef<'_>,
        channel: u64,
    ) -> Result<Arc<Session>, StatusCode> {
        let session = self.find(token)?;
        if session.is_usable(channel) {
            return Ok(session);
        }
        let reason = session.why_unusable();
        // A channel other than the creating one cannot close the Session.
        if !session.is_activated() && session.is_created_on(channel) {
            self.close(&session);
        }
        Err(reason)
    }

    /// Returns a Session that is activated for this channel.
    pub(crate) fn of_channel(&self, channel: u64) -> Option<Arc<Session>> {
        let table = self.table();
        let mut bound = table.values().filter(|session| session.is_usable(channel));
        bound.next().cloned()
    }

    /// Closes a Session; its token is not valid from now on.
    pub(crate) fn close(&self, session: &Session) {
        // First: connections that remember the Session do not look into the table.
        session.close();
        let mut table = self.table();
        table.remove(&session.token);
        self.rest_if_empty(&table);
    }

    /// Clears the deadline if there are no Sessions.
    fn rest_if_empty(&self, table: &Table) {
        if table.by_token.is_empty() {
            self.next_check.set(None);
        }
    }

    /// Removes Sessions that were created through a channel and never activated. Those that were activated for it are returned:
    /// no request can use them until they are activated for another channel.
    pub(crate) fn channel_closed(&self, channel: u64) -> Vec<NodeId> {
        let mut table = self.table();
        let loss = self.last_loss.fetch_add(1, Ordering::Relaxed) + 1;
        let left_behind = table.values().filter(|session| session.is_usable(channel));
        let left_behind = left_behind
            .map(|session| {
                session.channel_lost.store(loss, Ordering::Relaxed);
                session.id.clone()
            })
            .collect();
        table.retain(|session| {
            let keep = session.is_activated() || !session.is_created_on(channel);
            if !keep {
                session.close();
            }
            keep
        });
        self.rest_if_empty(&table);
        left_behind
    }

    /// Returns the time at which [`expire`](Self::expire) is due. Takes no lock.
    #[inline]
    pub(crate) fn next_check(&self) -> Option<Instant> {
        self.next_check.get()
    }

    /// Closes the Sessions that have been inactive for longer than their timeout, and returns them.
    pub(crate) fn expire(&self, now: Instant) -> Vec<NodeId> {
        let mut gone = Vec::new();
        let mut table = self.table();
        if !self.next_check.is_due(now) {
            return gone;
        }
        table.retain(|session| {
            let expired = session.is_expired(now);
            if expired {
                session.close();
                tracing::debug!(session = %session.id, "Session timed out, or the token of its user expired");
                gone.push(session.id.clone());
            }
            !expired
        });
        let shortest = table.values().map(|session| session.timeout).min();
        let check = shortest.map(|timeout| now + timeout / CHECKS_PER_TIMEOUT);
        let ends = table.values().filter_map(|session| session.ends());
        self.next_check.set(check.into_iter().chain(ends).min());
        gone
    }

    /// Returns the number of requests of the Session with this id.
    pub(crate) fn requests(&self, id: &NodeId) -> Option<u32> {
        let session = self.of_id(id.as_ref())?;
        Some(session.counters.total())
    }

    /// Returns the number of Sessions.
    pub(crate) fn len(&self) -> usize {
        self.table().by_token.len()
    }
}

/// Returns 128 random bits, so that an authentication token cannot be guessed (OPC 10000-4, 7.35).
fn random_token() -> Result<Guid, StatusCode> {
    let [a, b, c, d, e, f, g, h, data4 @ ..] = random::<16>()?;
    Ok(Guid {
        data1: u32::from_le_bytes([a, b, c, d]),
        data2: u16::from_le_bytes([e, f]),
        data3: u16::from_le_bytes([g, h]),
        data4,
    })
}
