//! Fields of Events of limit alarms: the states that have names and Ids (OPC 10000-9, 5.2 and 5.8.18 to 5.8.20).

use takt_space::Event;
use takt_ua::{LocalizedText, NodeId, QualifiedName, Variant, ids};

use super::limits::{LimitState, Limits};

/// Sets a TwoStateVariable (OPC 10000-9, 5.2).
pub(super) fn two_state(event: Event, name: &str, value: bool, [yes, no]: [&str; 2]) -> Event {
    let text = if value { yes } else { no };
    event
        .field(name, LocalizedText::from(text))
        .subfield(name, "Id", value)
}

/// Sets the current state of the ExclusiveLimitStateMachine (OPC 10000-9, 5.8.18), which is null while no limit is exceeded.
pub(super) fn exclusive_state(event: Event, active: Option<LimitState>) -> Event {
    let state = active.map(|state| match state {
        LimitState::HighHigh => (
            "HighHigh",
            ids::EXCLUSIVE_LIMIT_STATE_MACHINE_TYPE_HIGH_HIGH,
        ),
        LimitState::High => ("High", ids::EXCLUSIVE_LIMIT_STATE_MACHINE_TYPE_HIGH),
        LimitState::Low => ("Low", ids::EXCLUSIVE_LIMIT_STATE_MACHINE_TYPE_LOW),
        LimitState::LowLow => ("LowLow", ids::EXCLUSIVE_LIMIT_STATE_MACHINE_TYPE_LOW_LOW),
    });
    let (text, id) = match state {
        Some((text, id)) => (LocalizedText::from(text).into(), NodeId::from(id).into()),
        None => (Variant::Empty, Variant::Empty),
    };
    let path = ["LimitState", "CurrentState", "Id"].map(|name| QualifiedName::new(0, name));
    event
        .subfield("LimitState", "CurrentState", text)
        .field_at(path.to_vec(), id)
}

/// Names of the states of a NonExclusiveLimitAlarm, and their texts (OPC 10000-9, 5.8.20).
const STATES: [(LimitState, &str, [&str; 2]); 4] = [
    (
        LimitState::HighHigh,
        "HighHighState",
        ["HighHigh active", "HighHigh inactive"],
    ),
    (
        LimitState::High,
        "HighState",
        ["High active", "High inactive"],
    ),
    (LimitState::Low, "LowState", ["Low active", "Low inactive"]),
    (
        LimitState::LowLow,
        "LowLowState",
        ["LowLow active", "LowLow inactive"],
    ),
];

/// Returns the names of the states of a NonExclusiveLimitAlarm with these limits.
pub(crate) fn state_names(limits: &Limits) -> impl Iterator<Item = &'static str> {
    let states = STATES.iter();
    let states = states.filter(|(state, ..)| limits.limit(*state).is_some());
    states.map(|(_, name, _)| *name)
}

/// Sets the states of all limits of a NonExclusiveLimitAlarm: several can be active at once.
pub(super) fn non_exclusive_states(
    mut event: Event,
    limits: &Limits,
    active: Option<LimitState>,
) -> Event {
    for (state, name, texts) in STATES {
        if limits.limit(state).is_some() {
            let is_active = active.is_some_and(|active| active.includes(state));
            event = two_state(event, name, is_active, texts);
        }
    }
    event
}
