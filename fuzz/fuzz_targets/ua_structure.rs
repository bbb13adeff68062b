//! Generated structures: the messages of every service, and ExtensionObjects of any kind by their descriptions.

use takt_fuzz::round_trip;
use takt_ua::structures::{
    ActivateSessionRequest, ActivateSessionResponse, AddNodesRequest, AddNodesResponse,
    AddReferencesRequest, Argument, BrowseNextRequest, BrowseRequest, BrowseResponse, CallRequest,
    CallResponse, CancelRequest, CloseSessionRequest, CreateSessionRequest, CreateSessionResponse,
    DataTypeDescription, DeleteNodesRequest, DeleteReferencesRequest, EUInformation,
    EnumDefinition, FindServersRequest, FindServersResponse, GetEndpointsRequest,
    GetEndpointsResponse, ObjectAttributes, OpenSecureChannelRequest, OpenSecureChannelResponse,
    Range, ReadRequest, ReadResponse, RegisterNodesRequest, ServerStatusDataType, ServiceFault,
    StructureDefinition, TranslateBrowsePathsToNodeIdsRequest,
    TranslateBrowsePathsToNodeIdsResponse, UnregisterNodesRequest, VariableAttributes,
    WriteRequest, WriteResponse,
};
use takt_ua::{ExtensionObject, ExtensionObjectBody, NodeId, Variant, json};

/// The first two bytes choose: a structure by its encoding's NodeId, the rest is its body.
macro_rules! known {
    ($id:expr, $body:expr, $($name:ident),* $(,)?) => {
        match $id {
            $(<$name as takt_ua::Structure>::BINARY_ENCODING_ID => drop(round_trip::<$name>($body)),)*
            _ => {}
        }
    };
}

pub(crate) fn run(data: &[u8]) {
    let Some((id, body)) = data.split_first_chunk::<2>() else {
        return;
    };
    let id = u32::from(u16::from_le_bytes(*id));
    known!(
        id,
        body,
        ActivateSessionRequest,
        ActivateSessionResponse,
        AddNodesRequest,
        AddNodesResponse,
        AddReferencesRequest,
        Argument,
        BrowseNextRequest,
        BrowseRequest,
        BrowseResponse,
        CallRequest,
        CallResponse,
        CancelRequest,
        CloseSessionRequest,
        CreateSessionRequest,
        CreateSessionResponse,
        DataTypeDescription,
        DeleteNodesRequest,
        DeleteReferencesRequest,
        EUInformation,
        EnumDefinition,
        FindServersRequest,
        FindServersResponse,
        GetEndpointsRequest,
        GetEndpointsResponse,
        ObjectAttributes,
        OpenSecureChannelRequest,
        OpenSecureChannelResponse,
        Range,
        ReadRequest,
        ReadResponse,
        RegisterNodesRequest,
        ServerStatusDataType,
        ServiceFault,
        StructureDefinition,
        TranslateBrowsePathsToNodeIdsRequest,
        TranslateBrowsePathsToNodeIdsResponse,
        UnregisterNodesRequest,
        VariableAttributes,
        WriteRequest,
        WriteResponse,
    );
    let object = ExtensionObject {
        type_id: NodeId::numeric(0, id),
        body: ExtensionObjectBody::Binary(body.to_vec()),
    };
    // Its JSON is created from the table of descriptions for every body, and can be read again.
    let text = json::to_value(&Variant::from(object));
    let _ = json::variant_from_value(&text);
}
