//! States of PubSub components (OPC 10000-14, 6.2.1).

use takt_ua::enumerations::PubSubState;

/// Condition of a component, apart from the state of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Condition {
    /// The component waits: for keys, or for the first message.
    #[default]
    Preparing,
    /// The component works.
    Ready,
    /// The component has an error, until it works again.
    Failed,
}

/// Returns the state that follows from the state of the parent and the component's own condition (OPC 10000-14, Table 2). The
/// parent of the root is Operational.
///
/// Below a parent in Error or PreOperational, where the standard's table is open, a component is at most PreOperational: it sends
/// and receives no messages.
pub(crate) fn state(enabled: bool, parent: PubSubState, condition: Condition) -> PubSubState {
    if !enabled {
        return PubSubState::Disabled;
    }
    match (parent, condition) {
        (PubSubState::Disabled | PubSubState::Paused, _) => PubSubState::Paused,
        (_, Condition::Failed) => PubSubState::Error,
        (PubSubState::Operational, Condition::Ready) => PubSubState::Operational,
        _ => PubSubState::PreOperational,
    }
}

/// Returns the state of a connection whose link is in this state; its parent, the PublishSubscribe object, is Operational.
#[cfg(feature = "runtime")]
pub(crate) fn of_connection(enabled: bool, link: PubSubState) -> PubSubState {
    let condition = match link {
        PubSubState::Operational => Condition::Ready,
        _ => Condition::Failed,
    };
    state(enabled, PubSubState::Operational, condition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Condition::{Failed, Preparing, Ready};
    use PubSubState as State;

    #[test]
    fn a_component_is_at_most_what_its_parent_is() {
        for condition in [Preparing, Ready, Failed] {
            assert_eq!(state(false, State::Operational, condition), State::Disabled);
            assert_eq!(state(true, State::Disabled, condition), State::Paused);
            assert_eq!(state(true, State::Paused, condition), State::Paused);
        }
        assert_eq!(state(true, State::Operational, Ready), State::Operational);
        assert_eq!(
            state(true, State::Operational, Preparing),
            State::PreOperational
        );
        assert_eq!(state(true, State::Operational, Failed), State::Error);
        assert_eq!(state(true, State::Error, Ready), State::PreOperational);
        assert_eq!(
            state(true, State::PreOperational, Ready),
            State::PreOperational
        );
    }
}
