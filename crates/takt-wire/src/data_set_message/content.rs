//! What a DataSetMessage is.

use takt_ua::Variant;
use takt_ua::enumerations::ActionState;

use super::{DeltaFields, Fields};

/// The kinds of DataSetMessages. What the standard forbids, such as RawData fields in a delta frame, cannot be said.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum DataSetContent {
    /// The message holds a place: nothing in it is valid, not even its header (OPC 10000-14, 7.2.4.5.4, bit 0 of
    /// DataSetFlags1).
    #[default]
    Invalid,
    /// All fields of the DataSet (OPC 10000-14, 7.2.4.5.5). Without fields, a heartbeat.
    KeyFrame(Fields),
    /// The fields that changed (OPC 10000-14, 7.2.4.5.6).
    DeltaFrame(DeltaFields),
    /// The fields of an event (OPC 10000-14, 7.2.4.5.7).
    Event(Vec<Variant>),
    /// Nothing happened (OPC 10000-14, 7.2.4.5.8).
    KeepAlive,
    /// A Requestor wants something to be done (OPC 10000-14, 7.2.4.5.9).
    ActionRequest(Action),
    /// What a Responder says to that (OPC 10000-14, 7.2.4.5.10).
    ActionResponse(Action),
}

/// A request for an Action, or the response to one.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// The target of the Action, unique within its ActionMetaData.
    pub action_target_id: u16,
    /// Chosen by the Requestor, returned by the Responder.
    pub request_id: u16,
    /// State that a request wants, or that a response reports; 0 to 255 can be said.
    pub action_state: ActionState,
    /// Arguments or results.
    pub fields: ActionFields,
}

/// Arguments or results of an Action.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionFields {
    /// Values that say their type.
    Variant(Vec<Variant>),
    /// Values that only the metadata can tell apart; see [`RawDataLayout`](crate::RawDataLayout).
    RawData {
        /// Number of fields.
        field_count: u16,
        /// All fields, encoded.
        bytes: Vec<u8>,
    },
}
