//! Methods of Conditions, on behalf of clients (OPC 10000-9, 5.5, 5.7 and 5.8.17).

use std::sync::{Arc, Mutex};
use std::time::Instant;

use takt_services::acting_user_id;
use takt_space::{AddressSpace, AddressSpaceError, CallError, Caller, MethodHandler, Value};
use takt_ua::enumerations::PermissionType;
use takt_ua::{
    ByteString, DataValue, DateTime, LocalizedText, NodeId, QualifiedName, StatusCode, Variant, ids,
};

use super::condition::Condition;
use super::provider_alarms::{Alarms, lock};

/// Maximum number of bytes of a comment.
const LONGEST_COMMENT: usize = 4096;

impl Alarms {
    /// Carries out a Method of a Condition on behalf of a client.
    fn call(
        &self,
        method: Call,
        caller: &Caller,
        condition: &NodeId,
        inputs: &[Variant],
    ) -> Result<Vec<Variant>, CallError> {
        if caller.roles.permissions() & PermissionType::Call == 0 {
            return Err(StatusCode::BadUserAccessDenied.into());
        }
        // Shelving is called at the Condition or at its ShelvingState (OPC 10000-9, 5.8.17.3).
        let condition = self.shelving_states.get(condition).unwrap_or(condition);
        let alarm = self.alarms.get(condition);
        let alarm = alarm.ok_or(StatusCode::BadNodeIdUnknown)?;
        let mut condition = lock(&alarm.condition);
        match (method, inputs) {
            (Call::Enable, []) => {
                condition.set_enabled(true)?;
                condition.say("Enabled");
            }
            (Call::Disable, []) => {
                condition.set_enabled(false)?;
                condition.say("Disabled");
            }
            (Call::TimedShelve, [Variant::Double(time)]) => {
                condition.shelving()?.shelve_for(*time, Instant::now())?;
                condition.say("Shelved for a time");
            }
            (Call::OneShotShelve, []) => {
                condition.shelving()?.shelve_once(Instant::now())?;
                condition.say("Shelved until it is inactive");
            }
            (Call::Unshelve, []) => {
                condition.shelving()?.unshelve()?;
                condition.say("Unshelved");
            }
            (
                method @ (Call::Acknowledge | Call::Confirm | Call::AddComment),
                [Variant::ByteString(event), Variant::LocalizedText(comment)],
            ) => {
                self.comment(method, caller, &mut condition, (event, comment))?;
            }
            _ => return Err(StatusCode::BadInvalidArgument.into()),
        }
        // Still under the lock, so that clients get the Events in the order of the changes.
        self.report(alarm, &mut condition);
        Ok(Vec::new())
    }

    fn comment(
        &self,
        method: Call,
        caller: &Caller,
        condition: &mut Condition,
        (event, comment): (&ByteString, &LocalizedText),
    ) -> Result<(), StatusCode> {
        if comment.text.as_str().len() > LONGEST_COMMENT {
            return Err(StatusCode::BadEncodingLimitsExceeded);
        }
        condition.check(event)?;
        match method {
            Call::Acknowledge => {
                condition.acknowledge(event)?;
                condition.say("Acknowledged");
            }
            Call::Confirm => {
                condition.confirm(event)?;
                condition.say("Confirmed");
            }
            _ => condition.say("Commented"),
        }
        condition.set_comment(comment, &acting_user_id(caller), DateTime::now());
        Ok(())
    }
}

/// A Method of a Condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Acknowledge,
    Confirm,
    AddComment,
    Enable,
    Disable,
    TimedShelve,
    OneShotShelve,
    Unshelve,
}

/// NodeIds of the Methods of Conditions. Those of shelving exist in the ShelvedStateMachineType, and in the ShelvingState of the
/// AlarmConditionType.
const METHODS: [(u32, Call); 11] = [
    (
        ids::ACKNOWLEDGEABLE_CONDITION_TYPE_ACKNOWLEDGE,
        Call::Acknowledge,
    ),
    (ids::ACKNOWLEDGEABLE_CONDITION_TYPE_CONFIRM, Call::Confirm),
    (ids::CONDITION_TYPE_ADD_COMMENT, Call::AddComment),
    (ids::CONDITION_TYPE_ENABLE, Call::Enable),
    (ids::CONDITION_TYPE_DISABLE, Call::Disable),
    (
        ids::SHELVED_STATE_MACHINE_TYPE_TIMED_SHELVE,
        Call::TimedShelve,
    ),
    (
        ids::SHELVED_STATE_MACHINE_TYPE_ONE_SHOT_SHELVE,
        Call::OneShotShelve,
    ),
    (ids::SHELVED_STATE_MACHINE_TYPE_UNSHELVE, Call::Unshelve),
    (SHELVING_STATE_TIMED_SHELVE, Call::TimedShelve),
    (SHELVING_STATE_ONE_SHOT_SHELVE, Call::OneShotShelve),
    (SHELVING_STATE_UNSHELVE, Call::Unshelve),
];

/// Methods of the InstanceDeclaration ShelvingState of AlarmConditionType.
const SHELVING_STATE_UNSHELVE: u32 = 9211;
const SHELVING_STATE_ONE_SHOT_SHELVE: u32 = 9212;
const SHELVING_STATE_TIMED_SHELVE: u32 = 9213;

/// NodeIds in namespace 0 of the Methods of Conditions that a Provider carries out (OPC 10000-9, 5.5, 5.7 and 5.8.17). A server that
/// shows Conditions of Providers forwards them.
pub const CONDITION_METHODS: [u32; METHODS.len()] = {
    let mut ids = [0; METHODS.len()];
    let mut index = 0;
    while index < ids.len() {
        ids[index] = METHODS[index].0;
        index += 1;
    }
    ids
};

/// Binds the Methods of the types.
pub(super) fn bind(space: &AddressSpace, alarms: &Arc<Alarms>) -> Result<(), AddressSpaceError> {
    for (id, method) in METHODS {
        let alarms = Arc::clone(alarms);
        let handler = move |caller: &Caller, object: &NodeId, inputs: &[Variant]| {
            alarms.call(method, caller, object, inputs)
        };
        space.set_method(&NodeId::from(id), MethodHandler::local(handler))?;
    }
    Ok(())
}

/// Returns the ShelvingState of a Condition that has one. Its UnshelveTime shows the time that is left.
pub(super) fn shelving_state(
    space: &AddressSpace,
    condition: &NodeId,
    state: &Arc<Mutex<Condition>>,
) -> Result<Option<NodeId>, AddressSpaceError> {
    let child = |node: &NodeId, name: &str| {
        let name = QualifiedName::new(0, name);
        let view = space.view();
        view.child(node, ids::HIERARCHICAL_REFERENCES, name.as_ref())
    };
    let Some(node) = child(condition, "ShelvingState") else {
        return Ok(None);
    };
    if let Some(time) = child(&node, "UnshelveTime") {
        let state = Arc::clone(state);
        let read = move || DataValue::good(lock(&state).unshelve_time(Instant::now()));
        space.set_value(&time, Value::callback(read))?;
    }
    Ok(Some(node))
}
