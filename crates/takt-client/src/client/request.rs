//! Requests with their responses (OPC 10000-4, 5), and whether they may be sent twice.

use takt_layout::LayoutError;
use takt_ua::Structure;
use takt_ua::binary::{Decode, Encode, EncodeError, Encoder};
use takt_ua::structures::*;

/// A service request.
pub trait ServiceRequest: Structure + Encode + Send + Sync + 'static {
    /// Response of the service.
    type Response: ServiceResponse;
    /// True if sending the request again after a lost connection changes at most the response.
    const IDEMPOTENT: bool;
    /// Returns the request's header.
    fn header_mut(&mut self) -> &mut RequestHeader;
    /// Returns the fixed layout of the request in shared memory, if there is one.
    fn laid_out(&self) -> Option<&dyn LaidOutRequest<Self::Response>> {
        None
    }
}

/// The functions of [`takt_layout::LaidOut`] for any request with that response.
pub trait LaidOutRequest<R> {
    /// Calls [`takt_layout::LaidOut::lay_out`].
    fn lay_out(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError>;
    /// Calls [`takt_layout::LaidOut::parse_response`].
    fn parse_response(&self, message: &[u8]) -> Result<Option<R>, LayoutError>;
}

impl<Q: takt_layout::LaidOut> LaidOutRequest<Q::Response> for Q {
    fn lay_out(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        takt_layout::LaidOut::lay_out(self, encoder)
    }

    fn parse_response(&self, message: &[u8]) -> Result<Option<Q::Response>, LayoutError> {
        Q::parse_response(message)
    }
}

/// A service response.
pub trait ServiceResponse: Structure + for<'a> Decode<'a> + Send + 'static {
    /// Returns the response's header.
    fn header(&self) -> &ResponseHeader;
}

macro_rules! services {
    ($($request:ident => $response:ident, $idempotent:literal $(, $laid_out:ident)?;)*) => {$(
        impl ServiceRequest for $request {
            type Response = $response;
            const IDEMPOTENT: bool = $idempotent;
            fn header_mut(&mut self) -> &mut RequestHeader {
                &mut self.request_header
            }
            $(
                fn $laid_out(&self) -> Option<&dyn LaidOutRequest<$response>> {
                    takt_layout::LaidOut::fits(self).then_some(self)
                }
            )?
        }

        impl ServiceResponse for $response {
            fn header(&self) -> &ResponseHeader {
                &self.response_header
            }
        }
    )*};
}

services! {
    FindServersRequest => FindServersResponse, true;
    FindServersOnNetworkRequest => FindServersOnNetworkResponse, true;
    RegisterServerRequest => RegisterServerResponse, true;
    RegisterServer2Request => RegisterServer2Response, true;
    GetEndpointsRequest => GetEndpointsResponse, true;
    CreateSessionRequest => CreateSessionResponse, false;
    ActivateSessionRequest => ActivateSessionResponse, false;
    CloseSessionRequest => CloseSessionResponse, false;
    BrowseRequest => BrowseResponse, true;
    // A continuation point is used up.
    BrowseNextRequest => BrowseNextResponse, false;
    TranslateBrowsePathsToNodeIdsRequest => TranslateBrowsePathsToNodeIdsResponse, true;
    RegisterNodesRequest => RegisterNodesResponse, true;
    UnregisterNodesRequest => UnregisterNodesResponse, true;
    ReadRequest => ReadResponse, true, laid_out;
    WriteRequest => WriteResponse, false, laid_out;
    // It may use up a continuation point, too.
    HistoryReadRequest => HistoryReadResponse, false;
    HistoryUpdateRequest => HistoryUpdateResponse, false;
    CallRequest => CallResponse, false, laid_out;
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
