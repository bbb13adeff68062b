//! Silence of a mirrored server whose connection is open: a server that hangs.

use std::time::Duration;

use takt_app::Subscription;

use super::options::MirrorOptions;

/// State of one connection.
#[derive(Debug, Default)]
pub(super) struct Silence {
    is_silent: bool,
    was_said: bool,
}

impl Silence {
    /// Returns whether the server has been silent for too long. No value is Good then.
    pub(super) fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// Notes the time since the last message. Returns true if the state has changed.
    pub(super) fn note(&mut self, options: &MirrorOptions, subscription: &Subscription) -> bool {
        let allowed = allowed(
            options.silence,
            subscription.publishing_interval(),
            subscription.keep_alive(),
        );
        self.note_time(subscription.silence(), allowed)
    }

    fn note_time(&mut self, silence: Duration, allowed: Duration) -> bool {
        let is_silent = silence > allowed;
        std::mem::replace(&mut self.is_silent, is_silent) != is_silent
    }

    /// Returns true the first time: a server at the limit does not fill the log.
    pub(super) fn is_to_be_said(&mut self) -> bool {
        !std::mem::replace(&mut self.was_said, true)
    }
}

/// Returns the time without a message after which no value is Good.
fn allowed(wanted: Option<Duration>, interval: Duration, keep_alive: Duration) -> Duration {
    let wanted = wanted.unwrap_or_else(|| MirrorOptions::default_silence(interval));
    // A server may send messages less often than it was asked to.
    let promised = keep_alive.saturating_add(interval.saturating_mul(2));
    wanted.max(promised)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn the_time_is_three_intervals_unless_the_server_promises_less() {
        for (wanted, interval, keep_alive, expected) in [
            (None, 250, 250, 750),
            (None, 1000, 1000, 3000),
            (None, 10, 10, 500),
            (None, 250, 2500, 3000),
            (Some(ms(2000)), 250, 250, 2000),
            (Some(ms(100)), 250, 250, 750),
        ] {
            let allowed = allowed(wanted, ms(interval), ms(keep_alive));
            assert_eq!(allowed, ms(expected), "{wanted:?} {interval} {keep_alive}");
        }
    }

    #[test]
    fn each_change_is_noted_once() {
        let mut silence = Silence::default();
        let noted = [100, 800, 900, 10, 20].map(|time| silence.note_time(ms(time), ms(750)));
        assert_eq!(noted, [false, true, false, true, false]);
        assert!(silence.is_to_be_said() && !silence.is_to_be_said());
    }
}
