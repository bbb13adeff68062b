//! The ShelvedStateMachine of an alarm (OPC 10000-9, 5.8.17): an operator takes an alarm out of the list for a time, or until it
//! has become inactive once.
//!
//! The module has no clock: its owner passes the time.

use std::time::{Duration, Instant};

use takt_rt::clock::after;
use takt_space::Event;
use takt_ua::{LocalizedText, NodeId, QualifiedName, StatusCode, Variant, ids};

/// State of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unshelved,
    /// Until the alarm becomes inactive, or until MaxTimeShelved has passed.
    OneShot(Instant),
    Timed(Instant),
}

/// The machine of one alarm.
#[derive(Debug, Clone)]
pub(super) struct Shelving {
    state: State,
    /// MaxTimeShelved.
    longest: Duration,
}

impl Shelving {
    pub(super) fn new(longest: Duration) -> Self {
        Self {
            state: State::Unshelved,
            longest,
        }
    }

    pub(super) fn is_shelved(&self) -> bool {
        self.state != State::Unshelved
    }

    /// Shelves for a time in milliseconds, which must be above zero and at most MaxTimeShelved (OPC 10000-9, 5.8.17.4). A time that
    /// runs already is not started again.
    pub(super) fn shelve_for(&mut self, milliseconds: f64, now: Instant) -> Result<(), StatusCode> {
        if matches!(self.state, State::Timed(_)) {
            return Err(StatusCode::BadConditionAlreadyShelved);
        }
        let time = Duration::try_from_secs_f64(milliseconds / 1000.0);
        let time = time.map_err(|_| StatusCode::BadShelvingTimeOutOfRange)?;
        if time.is_zero() || time > self.longest {
            return Err(StatusCode::BadShelvingTimeOutOfRange);
        }
        self.state = State::Timed(after(now, time));
        Ok(())
    }

    /// Shelves until the alarm becomes inactive (OPC 10000-9, 5.8.17.5).
    pub(super) fn shelve_once(&mut self, now: Instant) -> Result<(), StatusCode> {
        if matches!(self.state, State::OneShot(_)) {
            return Err(StatusCode::BadConditionAlreadyShelved);
        }
        self.state = State::OneShot(after(now, self.longest));
        Ok(())
    }

    /// Ends shelving (OPC 10000-9, 5.8.17.3).
    pub(super) fn unshelve(&mut self) -> Result<(), StatusCode> {
        if !self.is_shelved() {
            return Err(StatusCode::BadConditionNotShelved);
        }
        self.state = State::Unshelved;
        Ok(())
    }

    /// Takes notice that the alarm has become inactive.
    pub(super) fn alarm_is_over(&mut self) {
        if matches!(self.state, State::OneShot(_)) {
            self.state = State::Unshelved;
        }
    }

    /// Ends shelving whose time has passed. Returns true if it has.
    pub(super) fn expire(&mut self, now: Instant) -> bool {
        let is_over = matches!(self.state, State::OneShot(end) | State::Timed(end) if end <= now);
        if is_over {
            self.state = State::Unshelved;
        }
        is_over
    }

    /// Returns the UnshelveTime: the milliseconds until the alarm is unshelved.
    pub(super) fn unshelve_time(&self, now: Instant) -> f64 {
        match self.state {
            State::Unshelved => 0.0,
            State::OneShot(end) | State::Timed(end) => {
                milliseconds(end.saturating_duration_since(now))
            }
        }
    }

    /// Adds the fields of the machine to an Event.
    pub(super) fn fields(&self, event: Event, now: Instant) -> Event {
        let (text, id) = match self.state {
            State::Unshelved => ("Unshelved", ids::SHELVED_STATE_MACHINE_TYPE_UNSHELVED),
            State::OneShot(_) => (
                "One Shot Shelved",
                ids::SHELVED_STATE_MACHINE_TYPE_ONE_SHOT_SHELVED,
            ),
            State::Timed(_) => (
                "Timed Shelved",
                ids::SHELVED_STATE_MACHINE_TYPE_TIMED_SHELVED,
            ),
        };
        let path = ["ShelvingState", "CurrentState", "Id"].map(|name| QualifiedName::new(0, name));
        event
            .subfield("ShelvingState", "CurrentState", LocalizedText::from(text))
            .field_at(path.to_vec(), Variant::from(NodeId::from(id)))
            .subfield("ShelvingState", "UnshelveTime", self.unshelve_time(now))
            .field("MaxTimeShelved", milliseconds(self.longest))
    }
}

/// Returns a Duration as OPC UA has it.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_time_ends_by_itself() {
        let now = Instant::now();
        let mut shelving = Shelving::new(HOUR);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, 3_600_001.0, 1e300] {
            assert_eq!(
                shelving.shelve_for(wrong, now),
                Err(StatusCode::BadShelvingTimeOutOfRange)
            );
        }
        assert_eq!(shelving.unshelve(), Err(StatusCode::BadConditionNotShelved));
        assert_eq!(shelving.shelve_for(2000.0, now), Ok(()));
        assert_eq!(
            shelving.shelve_for(2000.0, now),
            Err(StatusCode::BadConditionAlreadyShelved)
        );
        let later = now + Duration::from_millis(1500);
        assert_eq!(shelving.unshelve_time(later), 500.0);
        // The end of the alarm does not end a time.
        shelving.alarm_is_over();
        assert!(!shelving.expire(later) && shelving.is_shelved());
        assert!(shelving.expire(now + Duration::from_secs(2)));
        assert!(!shelving.is_shelved());
        assert_eq!(shelving.unshelve_time(later), 0.0);
    }

    #[test]
    fn one_shot_ends_with_the_alarm() {
        let now = Instant::now();
        let mut shelving = Shelving::new(HOUR);
        assert_eq!(shelving.shelve_once(now), Ok(()));
        assert_eq!(
            shelving.shelve_once(now),
            Err(StatusCode::BadConditionAlreadyShelved)
        );
        shelving.alarm_is_over();
        assert!(!shelving.is_shelved());
        // From one kind to the other one, and back by the operator.
        assert_eq!(shelving.shelve_once(now), Ok(()));
        assert_eq!(shelving.shelve_for(1000.0, now), Ok(()));
        assert_eq!(shelving.shelve_once(now), Ok(()));
        assert_eq!(shelving.unshelve(), Ok(()));
        // MaxTimeShelved ends it if the alarm does not.
        assert_eq!(shelving.shelve_once(now), Ok(()));
        assert!(shelving.expire(now + HOUR));
    }
}
