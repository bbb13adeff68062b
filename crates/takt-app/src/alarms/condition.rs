//! State of an acknowledgeable Condition with a limit alarm (OPC 10000-9, 5.5 to 5.8), and its Events.

use std::collections::VecDeque;
use std::time::Instant;

use takt_space::Event;
use takt_ua::{ByteString, DateTime, LocalizedText, NodeId, StatusCode, UaString, ids};

use super::fields::{exclusive_state, non_exclusive_states, two_state};
use super::kept::KeptState;
use super::limits::{Kind, LimitState, Limits};
use super::shelving::Shelving;

/// Number of EventIds that are remembered for Acknowledge, Confirm and AddComment.
const REMEMBERED: usize = 64;

/// Parts of a Condition that do not change.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    /// ConditionId.
    pub(super) id: NodeId,
    pub(super) name: String,
    /// The Variable.
    pub(super) source: NodeId,
    pub(super) source_name: String,
    pub(super) needs_confirmation: bool,
    pub(super) kind: Kind,
}

/// A Condition.
#[derive(Debug)]
pub(super) struct Condition {
    identity: Identity,
    limits: Limits,
    /// None if it cannot be shelved.
    shelving: Option<Shelving>,
    is_enabled: bool,
    active: Option<LimitState>,
    is_acked: bool,
    is_confirmed: bool,
    quality: StatusCode,
    severity: u16,
    last_severity: u16,
    comment: LocalizedText,
    comment_time: DateTime,
    user: UaString,
    message: String,
    /// EventIds of the last Events, the newest one last.
    event_ids: VecDeque<ByteString>,
    /// Number of the last ids that belong to the current activation: only they may be acknowledged.
    current_ids: usize,
}

/// Severity of a Condition that is not active.
const NORMAL: u16 = 1;

impl Condition {
    pub(super) fn new(identity: Identity, limits: Limits, shelving: Option<Shelving>) -> Self {
        Self {
            identity,
            limits,
            shelving,
            is_enabled: true,
            active: None,
            is_acked: true,
            is_confirmed: true,
            quality: StatusCode::Good,
            severity: NORMAL,
            last_severity: NORMAL,
            comment: LocalizedText::NULL,
            comment_time: DateTime::MIN,
            user: UaString::null(),
            message: "Normal".to_owned(),
            event_ids: VecDeque::new(),
            current_ids: 0,
        }
    }

    /// Goes on with the state of the last run.
    pub(super) fn restore(&mut self, kept: KeptState) {
        self.is_enabled = kept.is_enabled;
        self.active = LimitState::of_code(kept.active);
        self.is_acked = kept.is_acked;
        // Confirm is refused without `needs_confirmation`: such a Condition would be retained for ever.
        self.is_confirmed = kept.is_confirmed || !self.identity.needs_confirmation;
        self.severity = kept.severity;
        self.last_severity = kept.last_severity;
        self.comment = kept.comment;
        self.comment_time = kept.comment_time;
        self.user = kept.user;
        self.message = kept.message.into_string();
        self.event_ids = kept.event_ids.into_iter().take(REMEMBERED).collect();
        // Only the ids of the current activation were kept.
        self.current_ids = self.event_ids.len();
    }

    /// Returns the state for the next run, if it is not that of a new Condition.
    pub(super) fn kept(&self) -> Option<KeptState> {
        let is_kept = self.is_retained() || !self.is_enabled;
        is_kept.then(|| KeptState {
            is_enabled: self.is_enabled,
            active: self.active.map_or(0, LimitState::code),
            is_acked: self.is_acked,
            is_confirmed: self.is_confirmed,
            severity: self.severity,
            last_severity: self.last_severity,
            comment: self.comment.clone(),
            comment_time: self.comment_time,
            user: self.user.clone(),
            message: self.message.as_str().into(),
            event_ids: {
                let ids = self.event_ids.iter();
                let first = self.event_ids.len() - self.current_ids;
                ids.skip(first).cloned().collect()
            },
        })
    }

    pub(super) fn active(&self) -> Option<LimitState> {
        self.active
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// Returns the ShelvedStateMachine.
    pub(super) fn shelving(&mut self) -> Result<&mut Shelving, StatusCode> {
        if !self.is_enabled {
            return Err(StatusCode::BadConditionDisabled);
        }
        self.shelving.as_mut().ok_or(StatusCode::BadMethodInvalid)
    }

    /// Returns the UnshelveTime, in milliseconds.
    pub(super) fn unshelve_time(&self, now: Instant) -> f64 {
        let shelving = self.shelving.as_ref();
        shelving.map_or(0.0, |shelving| shelving.unshelve_time(now))
    }

    /// Ends shelving whose time has passed. Returns true if it has.
    pub(super) fn expire(&mut self, now: Instant) -> bool {
        let is_over = self
            .shelving
            .as_mut()
            .is_some_and(|shelving| shelving.expire(now));
        if is_over {
            self.say("Unshelved");
        }
        is_over
    }

    /// Sets the state that follows from the value. Each new limit has to be acknowledged: in an exclusive alarm each new state, in
    /// another one each limit that becomes active.
    pub(super) fn set_active(&mut self, active: Option<LimitState>, value: f64) {
        let before = std::mem::replace(&mut self.active, active);
        // One-shot shelving ends with the alarm: the next alarm is shown again.
        if let (None, Some(shelving)) = (active, &mut self.shelving) {
            shelving.alarm_is_over();
        }
        let is_new = match (self.identity.kind, before, active) {
            (Kind::NonExclusive, Some(before), Some(active)) => !before.includes(active),
            _ => true,
        };
        self.last_severity = self.severity;
        let limit = active.and_then(|state| self.limits.limit(state));
        let source = &self.identity.source_name;
        match (active, limit) {
            (Some(state), Some(limit)) => {
                if is_new {
                    self.is_acked = false;
                    self.is_confirmed = !self.identity.needs_confirmation;
                    // Earlier Events are of another activation, and do not stand for this one.
                    self.current_ids = 0;
                }
                self.severity = limit.severity;
                let (relation, limit) = (relation(state), limit.value);
                self.message = format!("{source} {value:.1} {relation} limit {limit}");
            }
            _ => {
                self.severity = NORMAL;
                self.message = format!("{source} {value:.1} normal");
            }
        }
    }

    /// Notes that an alarm of the last run is still active: somebody has to acknowledge it again. EventIds that nobody has
    /// acknowledged remain valid.
    pub(super) fn begin_again(&mut self, value: f64) {
        let pending = (!self.is_acked).then_some(self.current_ids);
        // As if it had just become active: then `set_active` demands an acknowledgement.
        let active = self.active.take();
        self.set_active(active, value);
        self.current_ids = pending.unwrap_or(self.current_ids);
    }

    /// Sets the quality of the value. Returns true if it is another one.
    pub(super) fn set_quality(&mut self, quality: StatusCode) -> bool {
        std::mem::replace(&mut self.quality, quality) != quality
    }

    /// Acknowledges an Event (OPC 10000-9, 5.7.3).
    pub(super) fn acknowledge(&mut self, event: &ByteString) -> Result<(), StatusCode> {
        self.check(event)?;
        if self.is_acked {
            return Err(StatusCode::BadConditionBranchAlreadyAcked);
        }
        self.is_acked = true;
        Ok(())
    }

    /// Confirms an Event (OPC 10000-9, 5.7.4).
    pub(super) fn confirm(&mut self, event: &ByteString) -> Result<(), StatusCode> {
        if !self.identity.needs_confirmation {
            return Err(StatusCode::BadMethodInvalid);
        }
        self.check(event)?;
        if self.is_confirmed {
            return Err(StatusCode::BadConditionBranchAlreadyConfirmed);
        }
        if !self.is_acked {
            return Err(StatusCode::BadInvalidState);
        }
        self.is_confirmed = true;
        Ok(())
    }

    /// Checks that a client may name an Event.
    pub(super) fn check(&self, event: &ByteString) -> Result<(), StatusCode> {
        if !self.is_enabled {
            return Err(StatusCode::BadConditionDisabled);
        }
        let mut current = self.event_ids.iter().rev().take(self.current_ids);
        match current.any(|known| known == event) {
            true => Ok(()),
            false => Err(StatusCode::BadEventIdUnknown),
        }
    }

    /// Sets the comment of a user (OPC 10000-9, 5.5.6). A null comment leaves the last one. `user` is the ClientUserId, empty for
    /// an anonymous client.
    pub(super) fn set_comment(&mut self, comment: &LocalizedText, user: &str, now: DateTime) {
        if !comment.text.is_null() {
            self.comment = comment.clone();
            self.comment_time = now;
        }
        self.user = match user {
            "" => UaString::null(),
            user => user.into(),
        };
    }

    /// Enables or disables it (OPC 10000-9, 5.5.4 and 5.5.5).
    pub(super) fn set_enabled(&mut self, is_enabled: bool) -> Result<(), StatusCode> {
        if self.is_enabled == is_enabled {
            return Err(match is_enabled {
                true => StatusCode::BadConditionAlreadyEnabled,
                false => StatusCode::BadConditionAlreadyDisabled,
            });
        }
        self.is_enabled = is_enabled;
        Ok(())
    }

    /// Returns true if clients still have to see it.
    pub(super) fn is_retained(&self) -> bool {
        self.is_enabled && (self.active.is_some() || !self.is_acked || !self.is_confirmed)
    }

    /// Sets the Message of the next Event.
    pub(super) fn say(&mut self, message: &str) {
        self.message = message.to_owned();
    }

    /// Returns an Event of the current state.
    pub(super) fn event(&mut self, event_id: ByteString, now: DateTime) -> Event {
        if self.event_ids.len() >= REMEMBERED {
            self.event_ids.pop_front();
        }
        self.event_ids.push_back(event_id.clone());
        // An id that was dropped does not count any more.
        self.current_ids = (self.current_ids + 1).min(self.event_ids.len());
        let is_shelved = self.shelving.as_ref().is_some_and(Shelving::is_shelved);
        let identity = &self.identity;
        let event = Event::new(identity.kind.event_type(), identity.source.clone())
            .of_condition(identity.id.clone())
            .event_id(event_id)
            .time(now)
            .field("ReceiveTime", now)
            .source_name(identity.source_name.as_str())
            .message(self.message.as_str())
            .severity(self.severity)
            .field(
                "ConditionClassId",
                NodeId::from(ids::PROCESS_CONDITION_CLASS_TYPE),
            )
            .field("ConditionClassName", LocalizedText::from("Process"))
            .field("ConditionName", identity.name.as_str())
            // There are no branches: each Event is of the current state.
            .field("BranchId", NodeId::NULL)
            .field("Retain", self.is_retained())
            .field("Quality", self.quality)
            .subfield("Quality", "SourceTimestamp", now)
            .field("LastSeverity", self.last_severity)
            .subfield("LastSeverity", "SourceTimestamp", now)
            .field("Comment", self.comment.clone())
            .subfield("Comment", "SourceTimestamp", self.comment_time)
            .field("ClientUserId", self.user.clone());
        let event = two_state(
            event,
            "EnabledState",
            self.is_enabled,
            ["Enabled", "Disabled"],
        );
        if !self.is_enabled {
            // Other states are not known while it is disabled (OPC 10000-9, 5.5.5).
            return event;
        }
        let mut event = two_state(
            event,
            "AckedState",
            self.is_acked,
            ["Acknowledged", "Unacknowledged"],
        );
        if identity.needs_confirmation {
            event = two_state(
                event,
                "ConfirmedState",
                self.is_confirmed,
                ["Confirmed", "Unconfirmed"],
            );
        }
        event = two_state(
            event,
            "ActiveState",
            self.active.is_some(),
            ["Active", "Inactive"],
        );
        event = event
            .field("InputNode", identity.source.clone())
            .field("SuppressedOrShelved", is_shelved);
        if let Some(shelving) = &self.shelving {
            event = shelving.fields(event, Instant::now());
        }
        for (name, limit) in self.limits.named() {
            event = event.field(name, limit);
        }
        match identity.kind {
            Kind::Exclusive => exclusive_state(event, self.active),
            Kind::NonExclusive => non_exclusive_states(event, &self.limits, self.active),
        }
    }
}

fn relation(state: LimitState) -> &'static str {
    match state {
        LimitState::HighHigh | LimitState::High => "above",
        LimitState::Low | LimitState::LowLow => "below",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use takt_ua::QualifiedName;

    use super::super::limits::Limit;
    use super::*;

    fn condition() -> Condition {
        condition_of(Kind::Exclusive)
    }

    fn condition_of(kind: Kind) -> Condition {
        let identity = Identity {
            id: NodeId::string(1, "Oven/Overtemperature"),
            name: "Overtemperature".to_owned(),
            source: NodeId::string(1, "Oven/Temperature"),
            source_name: "Oven/Temperature".to_owned(),
            needs_confirmation: true,
            kind,
        };
        let high = Some(Limit {
            value: 180.0,
            severity: 700,
        });
        let high_high = Some(Limit {
            value: 200.0,
            severity: 900,
        });
        let limits = Limits {
            high,
            high_high,
            ..Limits::default()
        };
        let shelving = Shelving::new(Duration::from_secs(60));
        Condition::new(identity, limits, Some(shelving))
    }

    fn id(number: u8) -> ByteString {
        ByteString::from(vec![number])
    }

    fn truth(event: &Event, name: &str) -> Option<bool> {
        let path = [name, "Id"].map(|name| QualifiedName::new(0, name));
        event.get(&path)?.as_bool()
    }

    #[test]
    fn the_state_goes_on_in_the_next_run() {
        let mut first = condition();
        assert_eq!(first.kept(), None);
        first.set_active(Some(LimitState::High), 190.0);
        first.event(id(1), DateTime(1));
        let kept = first.kept().unwrap();

        // It is normal now, and nobody has acknowledged it.
        let mut next = condition();
        next.restore(kept.clone());
        assert_eq!(next.active(), Some(LimitState::High));
        next.set_active(None, 20.0);
        let event = next.event(id(2), DateTime(2));
        assert!(event.is_retained());
        assert_eq!(truth(&event, "ActiveState"), Some(false));
        assert_eq!(next.acknowledge(&id(1)), Ok(()));
        assert_eq!(next.confirm(&id(1)), Ok(()));
        assert!(!next.event(id(3), DateTime(3)).is_retained());
        assert_eq!(next.kept(), None);

        // It is still active. The EventId of the last run holds until it is acknowledged.
        let mut next = condition();
        next.restore(kept);
        next.begin_again(195.0);
        next.event(id(4), DateTime(4));
        assert_eq!(next.acknowledge(&id(1)), Ok(()));
        let kept = next.kept().unwrap();
        let mut again = condition();
        again.restore(kept);
        again.begin_again(195.0);
        let event = again.event(id(5), DateTime(5));
        assert_eq!(truth(&event, "AckedState"), Some(false));
        assert_eq!(
            again.acknowledge(&id(1)),
            Err(StatusCode::BadEventIdUnknown)
        );
        assert_eq!(again.acknowledge(&id(5)), Ok(()));
    }

    #[test]
    fn an_alarm_is_retained_until_it_is_over_acknowledged_and_confirmed() {
        let mut condition = condition();
        condition.set_active(Some(LimitState::High), 190.0);
        let event = condition.event(id(1), DateTime(1));
        assert!(event.is_retained());
        assert_eq!(event.named("Severity"), Some(&700_u16.into()));
        assert_eq!(event.named("ReceiveTime"), Some(&DateTime(1).into()));
        assert_eq!(truth(&event, "AckedState"), Some(false));
        assert_eq!(truth(&event, "ActiveState"), Some(true));
        assert_eq!(condition.confirm(&id(1)), Err(StatusCode::BadInvalidState));
        assert_eq!(
            condition.acknowledge(&id(9)),
            Err(StatusCode::BadEventIdUnknown)
        );
        condition.set_active(None, 100.0);
        assert!(condition.event(id(2), DateTime(2)).is_retained());
        assert_eq!(condition.acknowledge(&id(1)), Ok(()));
        assert_eq!(
            condition.acknowledge(&id(2)),
            Err(StatusCode::BadConditionBranchAlreadyAcked)
        );
        assert!(condition.event(id(3), DateTime(3)).is_retained());
        assert_eq!(condition.confirm(&id(3)), Ok(()));
        assert!(!condition.event(id(4), DateTime(4)).is_retained());
    }

    #[test]
    fn events_of_an_earlier_alarm_cannot_acknowledge_a_new_one() {
        let mut condition = condition();
        condition.set_active(Some(LimitState::High), 190.0);
        condition.event(id(1), DateTime(1));
        condition.set_active(None, 100.0);
        condition.event(id(2), DateTime(2));
        condition.set_active(Some(LimitState::High), 190.0);
        condition.event(id(3), DateTime(3));
        assert_eq!(
            condition.acknowledge(&id(1)),
            Err(StatusCode::BadEventIdUnknown)
        );
        assert_eq!(condition.acknowledge(&id(3)), Ok(()));
    }

    #[test]
    fn a_disabled_condition_tells_nothing_else() {
        let mut condition = condition();
        condition.set_active(Some(LimitState::High), 190.0);
        condition.event(id(1), DateTime(1));
        condition.set_enabled(false).unwrap();
        let event = condition.event(id(2), DateTime(2));
        assert!(!event.is_retained());
        assert_eq!(truth(&event, "EnabledState"), Some(false));
        assert_eq!(truth(&event, "ActiveState"), None);
        assert_eq!(
            condition.acknowledge(&id(1)),
            Err(StatusCode::BadConditionDisabled)
        );
        assert_eq!(
            condition.set_enabled(false),
            Err(StatusCode::BadConditionAlreadyDisabled)
        );
    }

    #[test]
    fn limits_of_a_non_exclusive_alarm_are_active_together() {
        let mut condition = condition_of(Kind::NonExclusive);
        let states = |event: &Event| {
            let [high_high, high] = ["HighHighState", "HighState"].map(|name| truth(event, name));
            (high_high, high, truth(event, "LowState"))
        };
        let event = condition.event(id(1), DateTime(1));
        assert_eq!(
            event.event_type(),
            &NodeId::from(ids::NON_EXCLUSIVE_LIMIT_ALARM_TYPE)
        );
        assert_eq!(states(&event), (Some(false), Some(false), None));
        condition.set_active(Some(LimitState::HighHigh), 210.0);
        let event = condition.event(id(2), DateTime(2));
        assert_eq!(states(&event), (Some(true), Some(true), None));
        assert_eq!(event.named("Severity"), Some(&900_u16.into()));
        assert_eq!(condition.acknowledge(&id(2)), Ok(()));
        // A limit that ends needs no other acknowledgement; one that begins does.
        condition.set_active(Some(LimitState::High), 190.0);
        let event = condition.event(id(3), DateTime(3));
        assert_eq!(states(&event), (Some(false), Some(true), None));
        assert_eq!(truth(&event, "AckedState"), Some(true));
        condition.set_active(Some(LimitState::HighHigh), 210.0);
        let event = condition.event(id(4), DateTime(4));
        assert_eq!(truth(&event, "AckedState"), Some(false));
    }

    #[test]
    fn a_shelved_alarm_says_so_until_its_time_is_over() {
        let mut condition = condition();
        let now = Instant::now();
        assert_eq!(condition.shelving().unwrap().shelve_for(50.0, now), Ok(()));
        condition.set_active(Some(LimitState::High), 190.0);
        let shelved = condition.event(id(1), DateTime(1));
        assert_eq!(shelved.named("SuppressedOrShelved"), Some(&true.into()));
        assert!(shelved.is_retained());
        assert!(condition.expire(now + Duration::from_millis(50)));
        let event = condition.event(id(2), DateTime(2));
        assert_eq!(event.named("SuppressedOrShelved"), Some(&false.into()));
        let path = ["ShelvingState", "CurrentState"].map(|name| QualifiedName::new(0, name));
        let state = LocalizedText::from("Unshelved");
        assert_eq!(event.get(&path), Some(&state.into()));
        condition.set_enabled(false).unwrap();
        assert_eq!(
            condition.shelving().err(),
            Some(StatusCode::BadConditionDisabled)
        );
    }
}
