//! Sessions (OPC 10000-4, 5.7): created and activated by services, and named by a token in every request.

pub(crate) mod continuation;
mod counters;
mod expendable;
pub(crate) mod history_points;
mod sessions;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use takt_crypto::EphemeralKey;
use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_space::Caller;
use takt_ua::{Guid, IdentifierRef, NodeId, NodeIdRef, StatusCode, UaString};

use crate::responses::pending::Pending;
use crate::session::continuation::ContinuationPoints;
use crate::session::history_points::HistoryPoints;

use self::counters::Counters;
pub(crate) use self::sessions::{NewSession, Sessions};

/// Length of server nonces in bytes; some clients refuse shorter ones even without security.
pub(crate) const NONCE_LENGTH: usize = 32;

/// Size of an EphemeralKey in bytes: an estimate of what the library allocates for it.
const EPHEMERAL_KEY: usize = 1024;

/// Number of LocaleIds of a client that are kept, and bytes of each; a LocaleId is an RFC 5646 language tag.
const MAX_LOCALES: usize = 16;
const MAX_LOCALE: usize = 64;

/// Channel number of a Session that is not activated.
const NO_CHANNEL: u64 = 0;

/// Channel number of a Session that is closed: for good, also if a request activates it at the same moment. No channel has it.
const CLOSED: u64 = u64::MAX;

/// Value of `channel_lost` while the Session has a channel; no loss has this number.
const HAS_CHANNEL: u64 = 0;

/// A Session of a client.
pub(crate) struct Session {
    pub(crate) id: NodeId,
    /// Number in the SessionId.
    pub(crate) number: u32,
    /// Identifier of the authentication token, which is a secret between client and server.
    pub(crate) token: Guid,
    pub(crate) timeout: Duration,
    /// The channel that the Session is activated for, [`NO_CHANNEL`] or [`CLOSED`].
    bound: AtomicU64,
    /// Number of the loss of the channel that the Session was activated for, or [`HAS_CHANNEL`] if that channel is open.
    channel_lost: AtomicU64,
    /// Set by each request, and cleared by the search for inactive Sessions.
    touched: AtomicBool,
    last_activity: Mutex<Instant>,
    pub(crate) created: Instant,
    /// EndpointUrl of CreateSession, as the client sent it.
    pub(crate) endpoint_url: UaString,
    /// MaxResponseMessageSize of CreateSession, in bytes; 0: no limit.
    pub(crate) max_response_message_size: u32,
    /// LocaleIds of ActivateSession.
    locale_ids: Mutex<Vec<UaString>>,
    pub(crate) counters: Counters,
    /// Time at which the Session ends although it is used: the token of its user is not valid any more.
    ends: Mutex<Option<Instant>>,
    /// Nonce of the last response to CreateSession or ActivateSession, which the next ActivateSession has to sign.
    pub(crate) server_nonce: Mutex<[u8; NONCE_LENGTH]>,
    /// EphemeralKey that the client has got with the nonce, for a secret in the next ActivateSession. It is used once.
    pub(crate) ephemeral_key: Mutex<Option<EphemeralKey>>,
    /// The caller that the Session acts for; replaced when the Session is activated.
    pub(crate) caller: ArcSwap<Caller>,
    continuation_points: Mutex<ContinuationPoints>,
    history_points: Mutex<HistoryPoints>,
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
        // Relaxed suffices: only the number counts, and `caller` has its own ordering.
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
        match self.bound.load(Ordering::Relaxed) {
            CLOSED => StatusCode::BadSessionClosed,
            NO_CHANNEL => StatusCode::BadSessionNotActivated,
            _ => StatusCode::BadSecureChannelIdInvalid,
        }
    }

    /// Records a request, which keeps the Session active.
    #[inline]
    pub(crate) fn touch(&self) {
        self.touched.store(true, Ordering::Relaxed);
    }

    /// Returns true if the Session was activated before, and is not closed.
    pub(crate) fn is_activated(&self) -> bool {
        !matches!(self.bound.load(Ordering::Relaxed), NO_CHANNEL | CLOSED)
    }

    /// Returns true if CreateSession of a Session that is not activated yet was received through this channel: only this
    /// channel may activate it.
    pub(crate) fn is_created_on(&self, channel: u64) -> bool {
        self.caller.load().channel.id == channel
    }

    /// Activates the Session for a caller and its channel, and for no other.
    ///
    /// # Errors
    /// BadSessionClosed if the Session was closed meanwhile.
    pub(crate) fn activate(&self, caller: Arc<Caller>) -> Result<(), StatusCode> {
        let channel = caller.channel.id;
        // The caller comes before the channel: a request that finds the channel bound must not act as the caller
        // before.
        self.caller.store(caller);
        // Before the channel is bound: from then on it may be lost.
        self.channel_lost.store(HAS_CHANNEL, Ordering::Relaxed);
        let bind = |before: u64| (before != CLOSED).then_some(channel);
        let bound = self
            .bound
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, bind);
        bound.map_err(|_| StatusCode::BadSessionClosed)?;
        self.touch();
        Ok(())
    }

    /// Moves the charge of the Session to its own memory budget. Called before [`activate`](Self::activate).
    pub(crate) fn take_memory(&self) -> Result<(), StatusCode> {
        let mut charge = self.charge.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = charge.move_to(&self.memory);
        moved.map_err(|_| StatusCode::BadOutOfMemory)
    }

    /// Returns the LocaleIds of the client.
    pub(crate) fn locale_ids(&self) -> Vec<UaString> {
        let kept = self.locale_ids.lock();
        kept.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the LocaleIds of ActivateSession, as far as they are not too many and too long. Without any, those from before stay
    /// (OPC 10000-4, 5.7.3.2).
    pub(crate) fn keep_locale_ids(&self, locale_ids: &[UaString]) -> Result<(), StatusCode> {
        let fitting = locale_ids
            .iter()
            .filter(|one| one.as_str().len() <= MAX_LOCALE);
        let new: Vec<UaString> = fitting.take(MAX_LOCALES).cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        let memory = |all: &[UaString]| -> usize {
            let sizes = all
                .iter()
                .map(|one| size_of::<UaString>() + one.as_str().len());
            sizes.sum()
        };
        let kept = self.locale_ids.lock();
        let mut kept = kept.unwrap_or_else(PoisonError::into_inner);
        let mut charge = self.charge.lock().unwrap_or_else(PoisonError::into_inner);
        let others = charge.bytes().saturating_sub(memory(&kept));
        let charged = charge.resize(others + memory(&new));
        charged.map_err(|_| StatusCode::BadOutOfMemory)?;
        *kept = new;
        Ok(())
    }

    /// Takes the EphemeralKey for a secret of the client.
    pub(crate) fn take_ephemeral_key(&self) -> Option<EphemeralKey> {
        let mut key = self
            .ephemeral_key
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        key.take()
    }

    /// Sets the EphemeralKey for the next secret.
    pub(crate) fn set_ephemeral_key(&self, key: Option<EphemeralKey>) {
        *self
            .ephemeral_key
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = key;
    }

    /// Returns the continuation points of Browse.
    pub(crate) fn continuation_points(&self) -> MutexGuard<'_, ContinuationPoints> {
        self.continuation_points
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the continuation points of HistoryRead.
    pub(crate) fn history_points(&self) -> MutexGuard<'_, HistoryPoints> {
        self.history_points
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a request that is answered later, so that Cancel can find it.
    pub(crate) fn keep_pending(&self, pending: Pending) -> Arc<Pending> {
        let pending = Arc::new(pending);
        let mut all = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        // This bounds the list by the requests that wait.
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
        self.bound.load(Ordering::Relaxed) == CLOSED
    }

    fn close(&self) {
        self.bound.store(CLOSED, Ordering::Relaxed);
    }

    fn is_expired(&self, now: Instant) -> bool {
        let mut last = self
            .last_activity
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Requests only set a flag; reading the clock for each would cost more than it is worth.
        if self.touched.swap(false, Ordering::Relaxed) {
            *last = now;
        }
        now.saturating_duration_since(*last) >= self.timeout
            || self.ends().is_some_and(|ends| ends <= now)
    }

    /// Returns the time at which the Session ends although it is used, if there is one.
    fn ends(&self) -> Option<Instant> {
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time of the last request, with the error of the search for inactive Sessions.
    pub(crate) fn last_contact(&self, now: Instant) -> Instant {
        match self.touched.load(Ordering::Relaxed) {
            true => now,
            false => self.last_activity(),
        }
    }

    fn last_activity(&self) -> Instant {
        *self
            .last_activity
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
