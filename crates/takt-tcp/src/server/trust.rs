//! Changes of the trust list while channels are open: a client that is not trusted any more loses its channel, not only its next
//! token (OPC 10000-4, 6.1.3 and 6.1.4).

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::TcpServer;
use crate::handler::TcpChannels;

/// Time between two looks at the trust list while secured channels are open.
const INTERVAL: Duration = Duration::from_secs(2);

/// Largest number of certificates that are checked between two waits; each takes a tenth of a millisecond and more.
const BATCH: usize = 8;

impl<H: TcpChannels> TcpServer<H> {
    /// Begins to watch the trust list: there is a secured channel.
    pub(super) fn watch_trust(&mut self, now: Instant) {
        // A channel that opens later does not postpone the look.
        let next = *self.trust.next.get_or_insert(now + INTERVAL);
        self.alarm.at(next);
    }

    /// Looks at the trust list if it is time. If the list has changed, the certificates of open channels are checked again.
    pub(super) fn look_at_trust(&mut self, now: Instant) {
        match self.trust.next {
            Some(at) if at <= now => {}
            Some(at) => return self.alarm.at(at),
            None => return,
        }
        // Not during the checks: a change meanwhile is noticed after them, and all channels are checked again.
        if self.trust.place.is_none() && self.has_list_changed() {
            self.trust.place = Some(0);
        }
        if let Some(place) = self.trust.place {
            self.trust.place = self.check_from(place, now);
        }
        self.trust.next = match self.trust.place {
            // The alarm is due at once, but ready connections are served in between.
            Some(_) => Some(now),
            None => self.has_secured().then(|| now + INTERVAL),
        };
        if let Some(next) = self.trust.next {
            self.alarm.at(next);
        }
    }

    fn has_list_changed(&mut self) -> bool {
        let policies = &self.connection_config.policies;
        let Some(list) = policies.iter().find_map(|policy| policy.trust_list()) else {
            return false;
        };
        let seen = self.trust.seen.replace(Arc::clone(&list));
        // Without a list seen before, channels may have been opened with an older one.
        seen.is_none_or(|seen| !Arc::ptr_eq(&seen, &list))
    }

    /// Checks a few connections; returns the place of the next one.
    fn check_from(&mut self, place: usize, now: Instant) -> Option<usize> {
        let mut checked = 0;
        for index in place..self.connections.places() {
            if checked == BATCH {
                return Some(index);
            }
            let Some(id) = self.connections.id_at(index) else {
                continue;
            };
            let Some(connection) = self.connections.get_mut(id) else {
                continue;
            };
            if !connection.is_secured() {
                continue;
            }
            checked += 1;
            if let Err(error) = connection.keep_client() {
                let fate = connection.end(&self.handler, &error, now);
                self.settle(id, fate, now);
            }
        }
        None
    }

    fn has_secured(&mut self) -> bool {
        (0..self.connections.places()).any(|index| {
            let id = self.connections.id_at(index);
            let connection = id.and_then(|id| self.connections.get_mut(id));
            connection.is_some_and(|connection| connection.is_secured())
        })
    }
}
