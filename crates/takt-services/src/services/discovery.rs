//! Discovery (OPC 10000-4, 5.5). These services need no Session.

use takt_ua::binary::{Decoder, Encoder};
use takt_ua::endpoint_url::has_scheme;
use takt_ua::structures::{
    FindServersOnNetworkRequest, FindServersOnNetworkResponse, FindServersRequest,
    FindServersResponse, GetEndpointsRequest, GetEndpointsResponse, RegisterServer2Request,
    RegisterServer2Response, RegisterServerRequest, RegisterServerResponse, ServerOnNetwork,
};
use takt_ua::{ExtensionObject, StatusCode};

use super::request::{Handled, Request, decode, encode};
use crate::server::connection::Connection;
use crate::server::requested_url::requested_url;

/// Number of elements that a filter may have. Each is compared with each known server, for clients without a Session.
const MAX_FILTER: usize = 1_000;

/// Refuses a filter with too many elements.
fn check_filter<T>(filter: &[T]) -> Result<(), StatusCode> {
    match filter.len() <= MAX_FILTER {
        true => Ok(()),
        false => Err(StatusCode::BadTooManyOperations),
    }
}

/// Returns the URL that the client used: that of its request, or else that of its connection.
fn url_of<'u>(requested: &'u str, connection: &'u Connection) -> &'u str {
    match requested {
        "" => connection.endpoint_url(),
        requested => requested,
    }
}

/// Handles a FindServers request: the response lists this server first.
pub(crate) fn find_servers(
    request: &Request<'_>,
    connection: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let find: FindServersRequest = decode(structure)?;
    check_filter(&find.server_uris)?;
    let url = url_of(find.endpoint_url.as_str(), connection);
    let mut own = request.server.application(url);
    let peer = connection.caller.peer();
    if !peer.is_local() && !peer.is_on_loopback() {
        // Shared memory cannot be reached from another host.
        let is_of_this_host = |url: &str| has_scheme(url, "opc.iox2");
        own.discovery_urls
            .retain(|url| !is_of_this_host(url.as_str()));
    }
    let mut servers = vec![own];
    if let Some(discovery) = request.server.discovery() {
        let host = requested_url(url).map(|url| url.host());
        servers.extend(discovery.servers(&connection.caller, host));
    }
    if !find.server_uris.is_empty() {
        servers.retain(|server| find.server_uris.contains(&server.application_uri));
    }
    let found = FindServersResponse {
        response_header: request.response_header(),
        servers,
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
    check_filter(&get.profile_uris)?;
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

/// Handles a RegisterServer request.
pub(crate) fn register_server(
    request: &Request<'_>,
    connection: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let discovery = request.server.discovery();
    let discovery = discovery.ok_or(StatusCode::BadServiceUnsupported)?;
    let register: RegisterServerRequest = decode(structure)?;
    discovery.register(&connection.caller, &register.server, &[])?;
    let registered = RegisterServerResponse {
        response_header: request.response_header(),
    };
    encode(&registered, response)
}

/// Handles a RegisterServer2 request.
pub(crate) fn register_server2(
    request: &Request<'_>,
    connection: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    /// Number of elements that a request may have; the standard defines one.
    const MAX_CONFIGURATIONS: usize = 10;
    let discovery = request.server.discovery();
    let discovery = discovery.ok_or(StatusCode::BadServiceUnsupported)?;
    let register: RegisterServer2Request = decode(structure)?;
    let configuration: &[ExtensionObject] = &register.discovery_configuration;
    if configuration.len() > MAX_CONFIGURATIONS {
        return Err(StatusCode::BadTooManyOperations.into());
    }
    let results = discovery.register(&connection.caller, &register.server, configuration)?;
    let registered = RegisterServer2Response {
        response_header: request.response_header(),
        configuration_results: results,
        ..RegisterServer2Response::default()
    };
    encode(&registered, response)
}

/// Handles a FindServersOnNetwork request.
pub(crate) fn find_servers_on_network(
    request: &Request<'_>,
    _: &mut Connection,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let discovery = request.server.discovery();
    let discovery = discovery.ok_or(StatusCode::BadServiceUnsupported)?;
    let find: FindServersOnNetworkRequest = decode(structure)?;
    check_filter(&find.server_capability_filter)?;
    let (last_counter_reset_time, mut servers) = discovery.on_network()?;
    let has_all = |server: &ServerOnNetwork| {
        let mut wanted = find.server_capability_filter.iter();
        wanted.all(|wanted| {
            let mut has = server.server_capabilities.iter();
            has.any(|one| one.as_str().eq_ignore_ascii_case(wanted.as_str()))
        })
    };
    servers.retain(|server| server.record_id >= find.starting_record_id && has_all(server));
    if find.max_records_to_return > 0 {
        servers.truncate(usize::try_from(find.max_records_to_return).unwrap_or(usize::MAX));
    }
    let found = FindServersOnNetworkResponse {
        response_header: request.response_header(),
        last_counter_reset_time,
        servers,
    };
    encode(&found, response)
}
