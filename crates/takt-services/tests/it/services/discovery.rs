//! FindServers and GetEndpoints (OPC 10000-4, 5.5).

use crate::common::{Client, server};
use takt_ua::StatusCode;
use takt_ua::structures::*;

#[test]
fn discovery_needs_no_session() {
    let server = server();
    let endpoint = takt_services::EndpointConfig::without_security;
    server.add_endpoint(endpoint(
        "opc.tcp://127.0.0.1:4840",
        takt_services::TCP_PROFILE,
    ));
    server.add_endpoint(endpoint(
        "opc.iox2://Test",
        takt_services::SHARED_MEMORY_PROFILE,
    ));
    let mut client = Client::connect(&server);
    let mut get = |url: &str, profiles: &[&str]| {
        let get = GetEndpointsRequest {
            endpoint_url: url.into(),
            profile_uris: profiles.iter().map(|profile| (*profile).into()).collect(),
            ..GetEndpointsRequest::default()
        };
        client
            .call::<_, GetEndpointsResponse>(get)
            .unwrap()
            .endpoints
    };
    let all = get("opc.tcp://localhost:4840", &[]);
    assert_eq!(all.len(), 2);
    assert_eq!(
        all[0].endpoint_url, "opc.tcp://localhost:4840",
        "the name that the client came by"
    );
    assert_eq!(all[0].server.application_uri, "urn:test:server");
    assert_eq!(all[0].server.discovery_urls.len(), 2);
    assert_eq!(all[0].security_policy_uri, takt_ua::SECURITY_POLICY_NONE);
    assert_eq!(all[0].user_identity_tokens.len(), 1);
    assert_eq!(all[1].endpoint_url, "opc.iox2://Test");
    let tcp = get("", &[takt_services::TCP_PROFILE]);
    assert_eq!(tcp.len(), 1);
    assert!(get("", &["urn:unknown"]).is_empty());

    let mut find = |uris: &[&str]| {
        let find = FindServersRequest {
            server_uris: uris.iter().map(|uri| (*uri).into()).collect(),
            ..FindServersRequest::default()
        };
        client
            .call::<_, FindServersResponse>(find)
            .unwrap()
            .servers
            .len()
    };
    assert_eq!(
        (find(&[]), find(&["urn:test:server"]), find(&["urn:other"])),
        (1, 1, 0)
    );
    let created = client.create().unwrap();
    assert_eq!(created.server_endpoints.len(), 2);
}

#[test]
fn filters_are_limited() {
    let server = server();
    let mut client = Client::connect(&server);
    for (count, expected) in [
        (1_000, None),
        (1_001, Some(StatusCode::BadTooManyOperations)),
    ] {
        let find = FindServersRequest {
            server_uris: vec!["urn:other".into(); count],
            ..FindServersRequest::default()
        };
        let found = client.call::<_, FindServersResponse>(find);
        assert_eq!(found.err(), expected);
        let get = GetEndpointsRequest {
            profile_uris: vec!["urn:unknown".into(); count],
            ..GetEndpointsRequest::default()
        };
        let got = client.call::<_, GetEndpointsResponse>(get);
        assert_eq!(got.err(), expected);
    }
}

#[test]
fn the_urls_of_the_transport_that_the_client_uses_are_first() {
    let server = server();
    let (tcp, shared_memory) = ("opc.tcp://127.0.0.1:4840", "opc.iox2://Test");
    let endpoint = takt_services::EndpointConfig::without_security;
    server.add_endpoint(endpoint(
        shared_memory,
        takt_services::SHARED_MEMORY_PROFILE,
    ));
    server.add_endpoint(endpoint(tcp, takt_services::TCP_PROFILE));
    // This client is connected over shared memory.
    let mut client = Client::connect(&server);
    for (requested, expected) in [
        (
            "opc.tcp://localhost:4840",
            ["opc.tcp://localhost:4840", shared_memory],
        ),
        ("opc.tcp://plc:4841", [tcp, shared_memory]),
        ("opc.iox2://Test", [shared_memory, tcp]),
        ("", [shared_memory, tcp]),
        ("nonsense", [shared_memory, tcp]),
    ] {
        let find = FindServersRequest {
            endpoint_url: requested.into(),
            ..FindServersRequest::default()
        };
        let found: FindServersResponse = client.call(find).unwrap();
        let urls = &found.servers[0].discovery_urls;
        assert_eq!(urls.as_slice(), expected, "{requested}");
    }
}
