//! Thread of a mirror: keeps the copy and its values up to date while the server is there, and comes back when it does.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use takt_app::ClientError;
use takt_app::client::Client;
use takt_rt::pauses::{Pauses, jittered};

use super::follower::{Follower, LOOK};
use super::problem;
use super::scan::{Scan, ScanError, scan};
use super::values::{Followed, is_in_session};
use crate::forwarding::Maps;

/// Pause before the first attempt to come back, and the longest one. A server that is back is found within the latter.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Pause after the first refusal that lasts until somebody acts, and the longest one. Servers lock out users that try more often.
const SHORTEST_REFUSED: Duration = Duration::from_secs(30);
const LONGEST_REFUSED: Duration = Duration::from_secs(300);

/// Pause after the first attempt that a server answers wrongly, or with a refusal, and the longest one. Each attempt takes one of
/// its sessions for a while.
const SHORTEST_FAULTY: Duration = Duration::from_millis(500);
const LONGEST_FAULTY: Duration = Duration::from_secs(20);

/// Pause after a refusal before the login, which counts for no user.
const BEFORE_LOGIN: Duration = Duration::from_secs(4);

/// Least time between two scans after a reconnection.
const RESCAN: Duration = Duration::from_secs(5);

/// A scan on a thread of its own.
type Scanning = Receiver<Result<Scan, ScanError>>;

impl Follower {
    /// Runs until the registry ends.
    pub(super) fn run(mut self) {
        let mut pauses = Pauses::new(SHORTEST_PAUSE, LONGEST_PAUSE);
        let mut faulty = Pauses::new(SHORTEST_FAULTY, LONGEST_FAULTY);
        let mut refused = Pauses::new(SHORTEST_REFUSED, LONGEST_REFUSED);
        let mut logged = String::new();
        while !self.is_stopped() {
            let begin = Instant::now();
            let error = match self.follow() {
                Ok(()) | Err(ScanError::Stopped) => return,
                Err(error) => error,
            };
            let is_lasting = problem::is_lasting(&error);
            let is_faulty = problem::is_faulty(&error);
            let is_before_login = problem::is_before_login(&error);
            let error = problem::text(&error, &self.options);
            self.gateway.set_available(false);
            self.mark_away();
            self.copy.show(false, &error);
            if error != logged {
                tracing::warn!(mirror = self.options.name, %error, "the mirrored server is away");
                logged = error;
            }
            let pause = match is_lasting {
                true if is_before_login => BEFORE_LOGIN,
                true => refused.grow(),
                false => {
                    // A connection that lasted ends the series of failures.
                    if begin.elapsed() > LONGEST_PAUSE {
                        pauses.reset();
                        refused.reset();
                    }
                    if begin.elapsed() > LONGEST_FAULTY {
                        faulty.reset();
                    }
                    match is_faulty {
                        true => faulty.grow(),
                        false => pauses.grow(),
                    }
                }
            };
            self.sleep(jittered(pause));
        }
    }

    /// Connects, and follows the values until the connection ends.
    fn follow(&mut self) -> Result<(), ScanError> {
        let mut client = Client::new(&self.options.endpoint, self.client_options());
        let mut maps = Maps::default();
        // A copy that exists gets its values first: a scan takes longer.
        let mut is_current = self.copy.values().is_empty();
        if is_current {
            let found = scan(&mut client, self.memory, &self.stop)?;
            self.update(&found)?;
        }
        self.naming.update(&mut client, &mut maps)?;
        self.gateway.set_available(true);
        if !is_current {
            // Many servers take seconds to create MonitoredItems, and much less to read.
            self.read(&mut client, &maps)?;
        }
        let mut followed = self.subscribe(client, maps)?;
        self.show_available();
        tracing::info!(
            mirror = self.options.name,
            variables = followed.targets.len(),
            "mirrored"
        );
        let mut scanning = None;
        let mut lacks_connection = false;
        loop {
            if self.is_stopped() {
                return Ok(());
            }
            let change = followed.subscription.next(LOOK)?;
            self.leave_unreadable(&mut followed);
            self.note_live(&followed.maps);
            if change.is_none() || followed.silence.is_silent() {
                self.notice_silence(&mut followed);
            }
            let Followed {
                subscription, maps, ..
            } = &mut followed;
            // In another session, the NodeIds of the items may be those of other nodes.
            is_in_session(subscription.client(), maps)?;
            if let Some(change) = change {
                self.take(&mut followed, change);
            }
            is_current &= !self.copy.has_inherited();
            if self.lacks_connection() != lacks_connection {
                lacks_connection = !lacks_connection;
                self.show_connections(lacks_connection);
            }
            if !is_current && scanning.is_none() && self.may_scan() {
                scanning = Some(self.begin_scan());
            }
            match result(&mut scanning, &self.options.name) {
                None => {}
                // The values flow on without it.
                Some(Err(_)) if self.lacks_connection() => {}
                Some(found) => {
                    let before = self.copy.values().clone();
                    self.update(&found?)?;
                    if self.has_other_values(&before) {
                        let client = Client::new(&self.options.endpoint, self.client_options());
                        followed = self.subscribe(client, Maps::default())?;
                    } else {
                        let client = followed.subscription.client();
                        is_in_session(client, &followed.maps)?;
                        self.naming.update(client, &mut followed.maps)?;
                    }
                    is_current = true;
                }
            }
        }
    }

    /// Marks the values while the server hangs, before its connection counts as lost. The next message brings all of them back.
    fn notice_silence(&self, followed: &mut Followed) {
        let silence = &mut followed.silence;
        if !silence.note(&self.options, &followed.subscription) {
            return;
        }
        if silence.is_silent() {
            self.mark_away();
            self.copy.show(true, problem::SILENT);
            if silence.is_to_be_said() {
                tracing::warn!(mirror = self.options.name, "{}", problem::SILENT);
            }
        } else {
            followed.subscription.request_values();
            self.show_available();
        }
    }

    fn may_scan(&self) -> bool {
        self.last_scan.is_none_or(|last| last.elapsed() >= RESCAN)
    }

    /// Scans the server on a thread and a connection of its own, so that values flow meanwhile.
    fn begin_scan(&mut self) -> Scanning {
        self.last_scan = Some(Instant::now());
        let (sender, receiver) = channel();
        let (endpoint, options) = (self.options.endpoint.clone(), self.client_options());
        let (memory, stop) = (self.memory, Arc::clone(&self.stop));
        let thread = std::thread::Builder::new().name("mirror-scan".to_owned());
        let started = thread.spawn(move || {
            let mut client = Client::new(&endpoint, options);
            // Nobody waits for it if the registry ends, or the connection did.
            let _ = sender.send(scan(&mut client, memory, &stop));
        });
        if let Err(error) = started {
            tracing::warn!(mirror = self.options.name, %error, "the server is not scanned again");
        }
        receiver
    }

    fn update(&mut self, found: &Scan) -> Result<(), ScanError> {
        let begin = Instant::now();
        let updated = self.copy.update(found);
        updated.map_err(|error| {
            ScanError::Client(ClientError::Invalid(format!(
                "its nodes cannot be copied: {error}"
            )))
        })?;
        self.last_scan = Some(Instant::now());
        tracing::info!(
            mirror = self.options.name,
            nodes = found.nodes.len(),
            milliseconds = begin.elapsed().as_millis(),
            "copied"
        );
        Ok(())
    }
}

/// Takes the result of a scan that has ended. One without a result, because its thread panicked or did not start, is over as well:
/// another one follows.
fn result(scanning: &mut Option<Scanning>, mirror: &str) -> Option<Result<Scan, ScanError>> {
    let found = match scanning.as_ref()?.try_recv() {
        Err(TryRecvError::Empty) => return None,
        found => found.ok(),
    };
    if found.is_none() {
        tracing::error!(mirror, "a scan of the server ended without a result");
    }
    *scanning = None;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_that_panics_is_followed_by_another() {
        let (sender, receiver) = channel();
        let mut scanning = Some(receiver);
        assert!(result(&mut scanning, "Press").is_none());
        assert!(scanning.is_some(), "it still runs");
        drop(sender);
        assert!(result(&mut scanning, "Press").is_none());
        assert!(scanning.is_none());
        let (sender, receiver) = channel();
        let mut scanning = Some(receiver);
        sender.send(Err(ScanError::OtherSession)).unwrap();
        assert!(result(&mut scanning, "Press").is_some_and(|found| found.is_err()));
        assert!(scanning.is_none());
    }
}
