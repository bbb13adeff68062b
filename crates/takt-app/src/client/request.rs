//! Which response belongs to which request (OPC 10000-4 section 5), and whether it may be sent twice.

use takt_ua::Structure;
use takt_ua::binary::{Decode, Encode};
use takt_ua::structures::*;

/// A service request.
pub trait Request: Structure + Encode {
    /// The response that the service gives.
    type Response: Response;
    /// Whether sending the request again after a lost connection changes nothing but the answer.
    const IDEMPOTENT: bool;
    /// The request's header.
    fn header_mut(&mut self) -> &mut RequestHeader;
}

/// A service response.
pub trait Response: Structure + for<'a> Decode<'a> {
    /// The response's header.
    fn header(&self) -> &ResponseHeader;
}

macro_rules! services {
    ($($request:ident => $response:ident, $idempotent:literal;)*) => {$(
        impl Request for $request {
            type Response = $response;
            const IDEMPOTENT: bool = $idempotent;
            fn header_mut(&mut self) -> &mut RequestHeader {
                &mut self.request_header
            }
        }

        impl Response for $response {
            fn header(&self) -> &ResponseHeader {
                &self.response_header
            }
        }
    )*};
}

services! {
    FindServersRequest => FindServersResponse, true;
    GetEndpointsRequest => GetEndpointsResponse, true;
    CreateSessionRequest => CreateSessionResponse, false;
    ActivateSessionRequest => ActivateSessionResponse, false;
    CloseSessionRequest => CloseSessionResponse, false;
    BrowseRequest => BrowseResponse, true;
    BrowseNextRequest => BrowseNextResponse, false;
    TranslateBrowsePathsToNodeIdsRequest => TranslateBrowsePathsToNodeIdsResponse, true;
    RegisterNodesRequest => RegisterNodesResponse, true;
    UnregisterNodesRequest => UnregisterNodesResponse, true;
    ReadRequest => ReadResponse, true;
    WriteRequest => WriteResponse, false;
    CallRequest => CallResponse, false;
    CreateSubscriptionRequest => CreateSubscriptionResponse, false;
    ModifySubscriptionRequest => ModifySubscriptionResponse, false;
    SetPublishingModeRequest => SetPublishingModeResponse, false;
    PublishRequest => PublishResponse, false;
    RepublishRequest => RepublishResponse, false;
    TransferSubscriptionsRequest => TransferSubscriptionsResponse, false;
    DeleteSubscriptionsRequest => DeleteSubscriptionsResponse, false;
    CreateMonitoredItemsRequest => CreateMonitoredItemsResponse, false;
    ModifyMonitoredItemsRequest => ModifyMonitoredItemsResponse, false;
    SetMonitoringModeRequest => SetMonitoringModeResponse, false;
    SetTriggeringRequest => SetTriggeringResponse, false;
    DeleteMonitoredItemsRequest => DeleteMonitoredItemsResponse, false;
    AddNodesRequest => AddNodesResponse, false;
    AddReferencesRequest => AddReferencesResponse, false;
    DeleteNodesRequest => DeleteNodesResponse, false;
    DeleteReferencesRequest => DeleteReferencesResponse, false;
}
