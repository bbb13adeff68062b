//! Discovery: FindServers and GetEndpoints (OPC 10000-4, 5.5.2 and 5.5.4). They need no Session.

use takt_ua::binary::{Decoder, Encoder};
use takt_ua::structures::{
    FindServersRequest, FindServersResponse, GetEndpointsRequest, GetEndpointsResponse,
};

use super::request::{Handled, Request, decode, encode};
use crate::connection::Connection;

/// Returns the URL that the client used: that of its request, or else that of its connection.
fn url_of<'u>(requested: &'u str, connection: &'u Connection) -> &'u str {
    match requested {
        "" => connection.endpoint_url(),
        requested => requested,
    }
}

/// Handles a FindServers request: the response lists only this server.
pub(crate) fn find_servers(
    request: &Request<'_>,
    connection: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let find: FindServersRequest = decode(structure)?;
    let url = url_of(find.endpoint_url.as_str(), connection);
    let application = request.server.application(url);
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
    connection: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let get: GetEndpointsRequest = decode(structure)?;
    let url = url_of(get.endpoint_url.as_str(), connection);
    let mut endpoints = request.server.describe_endpoints(url);
    if !get.profile_uris.is_empty() {
        endpoints.retain(|endpoint| get.profile_uris.contains(&endpoint.transport_profile_uri));
    }
    let described = GetEndpointsResponse {
        response_header: request.response_header(),
        endpoints,
    };
    encode(&described, response)
}
