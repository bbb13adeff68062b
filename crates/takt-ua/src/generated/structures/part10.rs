// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-10.

use crate::generated::structures::Argument;
use crate::generated_support::structure;
use crate::{DateTime, NodeId, StatusCode, UaString, Variant};

structure! {
    /// DataType `ProgramDiagnostic2DataType`, `i=24033`, OPC 10000-10, 5.2.8.
    ProgramDiagnostic2DataType = 24033, 24034 {
        "CreateSessionId" create_session_id: NodeId,
        "CreateClientName" create_client_name: UaString,
        "InvocationCreationTime" invocation_creation_time: DateTime,
        "LastTransitionTime" last_transition_time: DateTime,
        "LastMethodCall" last_method_call: UaString,
        "LastMethodSessionId" last_method_session_id: NodeId,
        "LastMethodInputArguments" last_method_input_arguments: Vec<Argument>,
        "LastMethodOutputArguments" last_method_output_arguments: Vec<Argument>,
        "LastMethodInputValues" last_method_input_values: Vec<Variant>,
        "LastMethodOutputValues" last_method_output_values: Vec<Variant>,
        "LastMethodCallTime" last_method_call_time: DateTime,
        "LastMethodReturnStatus" last_method_return_status: StatusCode,
    }
}
