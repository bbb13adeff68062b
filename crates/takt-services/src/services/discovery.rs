//! Discovery: FindServers and GetEndpoints (OPC 10000-4, 5.5.2 and 5.5.4). They need no Session.

use takt_ua::binary::{Decoder, Encoder};
use takt_ua::structures::{
    FindServersRequest, FindServersResponse, GetEndpointsRequest, GetEndpointsResponse,
};

use super::request::{Handled, Request, decode, encode};
use crate::connection::Connection;

/// Handles a FindServers request: the response lists only this server.
pub(crate) fn find_servers(
    request: &Request<'_>,
    _: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let find: FindServersRequest = decode(structure)?;
    let application = request.server.application();
    let wanted =
        find.server_uris.is_empty() || find.server_uris.contains(&application.application_uri);
    let found = FindServersResponse {
        response_header: request.response_header(),
        servers: if wanted {
            vec![application]
        } else {
            Vec::new()
        },
    };
    encode(&found, response)
}

/// Handles a GetEndpoints request.
pub(crate) fn get_endpoints(
    request: &Request<'_>,
    _: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let get: GetEndpointsRequest = decode(structure)?;
    let mut endpoints = request.server.describe_endpoints(get.endpoint_url.as_str());
    if !get.profile_uris.is_empty() {
        endpoints.retain(|endpoint| get.profile_uris.contains(&endpoint.transport_profile_uri));
    }
    let described = GetEndpointsResponse {
        response_header: request.response_header(),
        endpoints,
    };
    encode(&described, response)
}
