//! Sessions (OPC 10000-4, 5.7): created and activated by services, and named by a token in every request.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_space::Caller;
use takt_ua::{Guid, IdentifierRef, NodeId, NodeIdRef, StatusCode};

use crate::continuation::ContinuationPoints;
use crate::deadline::Deadline;
use crate::pending::Pending;

/// Channel number of a Session that is not activated, or is closed.
const NO_CHANNEL: u64 = 0;

/// Value of `channel_lost` while the Session has a channel; no loss has this number.
const HAS_CHANNEL: u64 = 0;

/// Number of checks per timeout: inactivity is detected with an error of one such fraction.
const CHECKS_PER_TIMEOUT: u32 = 8;

/// A Session of a client.
pub(crate) struct Session {
    pub(crate) id: NodeId,
    /// Identifier of the authentication token, which is a secret between client and server.
    pub(crate) token: Guid,
    pub(crate) timeout: Duration,
    /// The channel that the Session is activated for, or [`NO_CHANNEL`].
    bound: AtomicU64,
    closed: AtomicBool,
    /// Number of the loss of the channel that the Session was activated for, or [`HAS_CHANNEL`] if that channel is open.
    channel_lost: AtomicU64,
    /// Set by each request, and cleared by the search for inactive Sessions.
    touched: AtomicBool,
    last_activity: Mutex<Instant>,
    /// The caller that the Session acts for; replaced when the Session is activated.
    pub(crate) caller: ArcSwap<Caller>,
    continuation_points: Mutex<ContinuationPoints>,
    /// Memory budget of the Session; `charge` is the memory of the Session itself.
    pub(crate) memory: MemoryBudget,
    charge: Mutex<Charge>,
    /// Requests that are answered later; Cancel searches them.
    pub(crate) pending: Mutex<Vec<Arc<Pending>>>,
}

impl Session {
    /// Returns true if requests of this channel may use the Session. A single comparison, because this is on the hot path.
    #[inline]
    pub(crate) fn is_usable(&self, channel: u64) -> bool {
        self.bound.load(Ordering::Relaxed) == channel
    }

    /// Returns true if this is the authentication token of the Session.
    #[inline]
    pub(crate) fn has_token(&self, token: NodeIdRef<'_>) -> bool {
        token.namespace == 0 && token.identifier == IdentifierRef::Guid(self.token)
    }

    /// Returns the reason why requests of this channel may not use the Session.
    #[cold]
    fn why_unusable(&self) -> StatusCode {
        if self.closed.load(Ordering::Relaxed) {
            StatusCode::BadSessionClosed
        } else if self.bound.load(Ordering::Relaxed) == NO_CHANNEL {
            StatusCode::BadSessionNotActivated
        } else {
            StatusCode::BadSecureChannelIdInvalid
        }
    }

    /// Records a request, which keeps the Session active.
    #[inline]
    pub(crate) fn touch(&self) {
        self.touched.store(true, Ordering::Relaxed);
    }

    /// Returns true if the Session was activated before.
    pub(crate) fn is_activated(&self) -> bool {
        self.bound.load(Ordering::Relaxed) != NO_CHANNEL
    }

    /// Returns true if CreateSession of a Session that is not activated yet was received through this channel: only this
    /// channel may activate it.
    pub(crate) fn is_created_on(&self, channel: u64) -> bool {
        self.caller.load().channel.id == channel
    }

    /// Activates the Session for a caller and its channel, and for no other.
    pub(crate) fn activate(&self, caller: Arc<Caller>) {
        let channel = caller.channel.id;
        self.caller.store(caller);
        if !self.closed.load(Ordering::Relaxed) {
            self.bound.store(channel, Ordering::Relaxed);
            self.channel_lost.store(HAS_CHANNEL, Ordering::Relaxed);
        }
        self.touch();
    }

    /// Moves the charge of the Session to its own memory budget. Called before [`activate`](Self::activate).
    pub(crate) fn take_memory(&self) -> Result<(), StatusCode> {
        let mut charge = self.charge.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = charge.move_to(&self.memory);
        moved.map_err(|_| StatusCode::BadOutOfMemory)
    }

    /// Returns the continuation points of Browse.
    pub(crate) fn continuation_points(&self) -> MutexGuard<'_, ContinuationPoints> {
        self.continuation_points
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a request that is answered later, so that Cancel can find it.
    pub(crate) fn keep_pending(&self, pending: Pending) -> Arc<Pending> {
        let pending = Arc::new(pending);
        let mut all = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|pending| !pending.is_answered());
        all.push(Arc::clone(&pending));
        pending
    }

    /// Removes the requests that have been answered.
    pub(crate) fn forget_answered(&self) {
        self.pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|pending| !pending.is_answered());
    }

    /// Returns true if the Session is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.bound.store(NO_CHANNEL, Ordering::Relaxed);
    }

    fn is_expired(&self, now: Instant) -> bool {
        let mut last = self
            .last_activity
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.touched.swap(false, Ordering::Relaxed) {
            *last = now;
        }
        now.saturating_duration_since(*last) >= self.timeout
    }

    /// Returns the rank in which the Session makes room for a new one, the lowest first; `None`: never. `created` holds the
    /// number of Sessions that each channel created and did not activate.
    fn expendability(&self, created: &HashMap<u64, u32>) -> Option<Expendability> {
        if self.is_activated() {
            let lost = self.channel_lost.load(Ordering::Relaxed);
            return (lost != HAS_CHANNEL).then_some(Expendability::WithoutChannel(lost));
        }
        let since = self.last_activity();
        Some(match created.get(&self.caller.load().channel.id) {
            Some(&count) if count > 1 => Expendability::OneOfSeveral(Reverse(count), since),
            _ => Expendability::NotActivated(since),
        })
    }

    fn last_activity(&self) -> Instant {
        *self
            .last_activity
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The order in which Sessions make room for a new one (OPC 10000-4, 5.7.2.1). A client that activates the Sessions that it
/// creates is not displaced by one that creates many Sessions, nor by new Sessions while there are abandoned ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Expendability {
    /// One of several Sessions that a channel created and did not activate: the channel with the most Sessions first, then the
    /// oldest Session.
    OneOfSeveral(Reverse<u32>, Instant),
    /// An activated Session whose channel is closed, with the number of the loss.
    WithoutChannel(u64),
    /// The only Session that a channel created and did not activate yet.
    NotActivated(Instant),
}

/// Returns the token of the Session that makes room for a new one, if one may be closed.
fn expendable(table: &Table) -> Option<Guid> {
    let mut created: HashMap<u64, u32> = HashMap::new();
    for session in table.values().filter(|session| !session.is_activated()) {
        let channel = session.caller.load().channel.id;
        *created.entry(channel).or_default() += 1;
    }
    let expendable = table
        .values()
        .filter_map(|session| Some((session.expendability(&created)?, session.token)));
    let (_, token) = expendable.min_by_key(|(expendability, _)| *expendability)?;
    Some(token)
}

/// All Sessions of a server.
#[derive(Default)]
pub(crate) struct Sessions {
    by_token: Mutex<Table>,
    /// Time of the next search for inactive Sessions; set while the table is locked.
    next_check: Deadline,
    last_id: AtomicU32,
    /// Number of the last loss of a channel by a Session.
    last_loss: AtomicU64,
}

type Table = HashMap<Guid, Arc<Session>>;

/// Parameters of a new Session, as revised by CreateSession.
pub(crate) struct NewSession {
    pub(crate) timeout: Duration,
    pub(crate) caller: Caller,
    pub(crate) max_sessions: u32,
    pub(crate) max_continuation_points: u16,
    /// Memory budget of the Session after activation.
    pub(crate) memory: MemoryBudget,
    /// Memory budget of the Session before activation.
    pub(crate) memory_before: MemoryBudget,
}

impl Sessions {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.by_token.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a Session. If there are too many, an [expendable](Expendability) one makes room, and its id is returned.
    pub(crate) fn create(
        &self,
        new: NewSession,
    ) -> Result<(Arc<Session>, Option<NodeId>), StatusCode> {
        let now = Instant::now();
        let mut table = self.table();
        let bytes = size_of::<Session>() + new.caller.memory();
        let charge = new.memory_before.charge(bytes);
        let charge = charge.map_err(|_| StatusCode::BadOutOfMemory)?;
        let mut replaced = None;
        if table.len() >= usize::try_from(new.max_sessions).unwrap_or(usize::MAX) {
            let token = expendable(&table).ok_or(StatusCode::BadTooManySessions)?;
            if let Some(session) = table.remove(&token) {
                session.close();
                replaced = Some(session.id.clone());
            }
        }
        let id = self.last_id.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let id = NodeId::numeric(1, id);
        let session = Arc::new(Session {
            token: random_token()?,
            timeout: new.timeout,
            bound: AtomicU64::new(NO_CHANNEL),
            closed: AtomicBool::new(false),
            channel_lost: AtomicU64::new(HAS_CHANNEL),
            touched: AtomicBool::new(false),
            last_activity: Mutex::new(now),
            caller: ArcSwap::from_pointee(Caller {
                session_id: id.clone(),
                ..new.caller
            }),
            continuation_points: Mutex::new(ContinuationPoints::new(
                new.max_continuation_points,
                new.memory.empty_charge(),
            )),
            memory: new.memory,
            charge: Mutex::new(charge),
            pending: Mutex::default(),
            id,
        });
        table.insert(session.token, Arc::clone(&session));
        let check = now + session.timeout / CHECKS_PER_TIMEOUT;
        let next = self.next_check.get().map_or(check, |next| next.min(check));
        self.next_check.set(Some(next));
        Ok((session, replaced))
    }

    /// Returns the Session that a token names.
    pub(crate) fn find(&self, token: NodeIdRef<'_>) -> Result<Arc<Session>, StatusCode> {
        let IdentifierRef::Guid(token) = token.identifier else {
            return Err(StatusCode::BadSessionIdInvalid);
        };
        self.table()
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
        session.close();
        let mut table = self.table();
        table.remove(&session.token);
        self.rest_if_empty(&table);
    }

    /// Clears the deadline if there are no Sessions.
    fn rest_if_empty(&self, table: &Table) {
        if table.is_empty() {
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
        table.retain(|_, session| {
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
        table.retain(|_, session| {
            let expired = session.is_expired(now);
            if expired {
                session.close();
                tracing::debug!(session = %session.id, "Session timed out");
                gone.push(session.id.clone());
            }
            !expired
        });
        let shortest = table.values().map(|session| session.timeout).min();
        self.next_check
            .set(shortest.map(|timeout| now + timeout / CHECKS_PER_TIMEOUT));
        gone
    }

    /// Returns the number of Sessions.
    pub(crate) fn len(&self) -> usize {
        self.table().len()
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

/// Returns random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], StatusCode> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| StatusCode::BadInternalError)?;
    Ok(bytes)
}
