//! Contents of DataSetMessages.

use takt_ua::Variant;
use takt_ua::enumerations::ActionState;

use super::{DeltaFields, Fields};

/// The kinds of DataSetMessages. Forbidden combinations, such as RawData fields in a delta frame, cannot be
/// represented.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum DataSetContent {
    /// A placeholder: nothing in the message is valid, not even its header (OPC 10000-14, 7.2.4.5.4, bit 0 of
    /// DataSetFlags1).
    #[default]
    Invalid,
    /// All fields of the DataSet (OPC 10000-14, 7.2.4.5.5). Without fields, a heartbeat.
    KeyFrame(Fields),
    /// The changed fields (OPC 10000-14, 7.2.4.5.6).
    DeltaFrame(DeltaFields),
    /// The fields of an event (OPC 10000-14, 7.2.4.5.7).
    Event(Vec<Variant>),
    /// Keep-alive: no values have changed (OPC 10000-14, 7.2.4.5.8).
    KeepAlive,
    /// A request of a Requestor for an Action (OPC 10000-14, 7.2.4.5.9).
    ActionRequest(Action),
    /// The response of a Responder to such a request (OPC 10000-14, 7.2.4.5.10).
    ActionResponse(Action),
}

/// A request for an Action, or the response to one.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// The target of the Action, unique within its ActionMetaData.
    pub action_target_id: u16,
    /// Id chosen by the Requestor and returned by the Responder.
    pub request_id: u16,
    /// State that a request asks for or a response reports; 0 to 255 can be encoded.
    pub action_state: ActionState,
    /// Arguments or results.
    pub fields: ActionFields,
}

/// Arguments or results of an Action.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionFields {
    /// Values encoded with their types.
    Variant(Vec<Variant>),
    /// Values whose types and sizes only the metadata has; see [`RawDataLayout`](crate::RawDataLayout).
    RawData {
        /// Number of fields.
        field_count: u16,
        /// All fields, encoded.
        bytes: Vec<u8>,
    },
}
