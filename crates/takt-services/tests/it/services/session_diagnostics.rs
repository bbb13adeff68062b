//! SessionDiagnosticsDataType: what a client has said of itself (OPC 10000-5, 12.11).

use takt_ua::structures::*;
use takt_ua::{Elements, UaString, Variant, ids};

use crate::common::{Client, server};

/// Returns the diagnostics of the last Session.
fn last(client: &mut Client) -> SessionDiagnosticsDataType {
    let id = ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_DIAGNOSTICS_ARRAY;
    let Some(Variant::Array(all)) = client.read_value(id).value else {
        panic!("an array");
    };
    let Elements::ExtensionObject(all) = all.elements else {
        panic!("structures");
    };
    all.last().unwrap().decode_as().unwrap()
}

fn activate(client: &mut Client, locale_ids: &[&str]) {
    let request_header = client.header();
    let activated = client.call::<_, ActivateSessionResponse>(ActivateSessionRequest {
        request_header,
        locale_ids: locale_ids.iter().map(|one| UaString::from(*one)).collect(),
        ..ActivateSessionRequest::default()
    });
    activated.unwrap();
}

#[test]
fn url_locales_and_message_size_are_those_of_the_client() {
    let mut client = Client::connect(&server());
    let request_header = client.header();
    let created = client.call::<_, CreateSessionResponse>(CreateSessionRequest {
        request_header,
        endpoint_url: "opc.tcp://plc7:4840".into(),
        requested_session_timeout: 60_000.0,
        max_response_message_size: 123_456,
        ..CreateSessionRequest::default()
    });
    client.token = created.unwrap().authentication_token;
    let too_long = "x".repeat(65);
    activate(&mut client, &["de", too_long.as_str(), "en"]);
    let first = last(&mut client);
    assert_eq!(first.endpoint_url.as_str(), "opc.tcp://plc7:4840");
    assert_eq!(first.max_response_message_size, 123_456);
    assert_eq!(first.locale_ids, ["de", "en"].map(UaString::from));
    // Without LocaleIds, those from before stay.
    activate(&mut client, &[]);
    assert_eq!(last(&mut client).locale_ids, first.locale_ids);
    activate(&mut client, &["fr"]);
    assert_eq!(last(&mut client).locale_ids, ["fr"].map(UaString::from));
    activate(&mut client, &["en"; 100]);
    assert_eq!(last(&mut client).locale_ids.len(), 16);
}
