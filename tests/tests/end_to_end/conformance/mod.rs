//! The conformance suite: the same service tests over `opc.tcp` and over `opc.iox2`, which do not depend on the
//! transport.
//!
//! Each case gets its own server and a session with it, and checks the requirements of OPC 10000-4 with valid and
//! invalid requests.

mod attributes;
mod discovery;
mod large;
mod messages;
mod methods;
mod node_management;
mod plant;
mod subscriptions;
mod view;
mod writing;

use std::time::Duration;

use takt_app::serve::{EndpointSecurity, ServeOptions, Serving};
use takt_app::{Client, ClientOptions, Endpoint};
use takt_tests::Sandbox;

/// Runs a case with its own server, over the transport with this scheme.
fn run(scheme: &str, case: fn(&mut Client)) {
    let sandbox = Sandbox::new();
    let server = plant::server();
    let serve = ServeOptions {
        runtime_directory: Some(sandbox.runtime_directory()),
        // Not the files of the user who runs the test.
        security: EndpointSecurity {
            certificates: Some(sandbox.data_directory().join("pki")),
            users: Some(sandbox.data_directory().join("users")),
            ..EndpointSecurity::default()
        },
        ..ServeOptions::default()
    };
    let endpoints: [Endpoint; 2] = [
        format!("opc.iox2://{}", sandbox.application("Plant"))
            .parse()
            .unwrap(),
        "opc.tcp://127.0.0.1:0".parse().unwrap(),
    ];
    let serving = Serving::start(&server, &endpoints, serve).unwrap();
    let endpoint = serving
        .endpoints()
        .iter()
        .find(|endpoint| endpoint.scheme() == scheme)
        .unwrap();
    let options = ClientOptions {
        timeout: Duration::from_secs(60),
        runtime_directory: Some(sandbox.runtime_directory()),
        ..ClientOptions::named("Conformance")
    };
    let mut client = Client::connect(endpoint, options).unwrap();
    case(&mut client);
    let session = client.epoch();
    assert!(
        client.read(&plant::node("UInt32")).is_ok(),
        "no Read after the case"
    );
    assert_eq!(
        client.epoch(),
        session,
        "the connection did not survive the case"
    );
}

macro_rules! cases {
    ($($module:ident: $($case:ident),+;)+) => {
        mod tcp {
            $($(#[test] fn $case() { crate::conformance::run("opc.tcp://", crate::conformance::$module::$case); })+)+
        }
        mod shared_memory {
            $($(#[test] fn $case() { crate::conformance::run("opc.iox2://", crate::conformance::$module::$case); })+)+
        }
    };
}

cases! {
    discovery:
        endpoints_name_both_transports,
        servers_are_found_by_their_uri,
        a_session_has_its_life_cycle,
        sessions_of_others_cannot_be_used;
    view:
        browse_filters_and_describes,
        browse_continues_where_it_stopped,
        invalid_browse_requests_are_refused,
        paths_are_translated,
        nodes_are_registered;
    attributes:
        every_attribute_of_a_variable_is_read,
        an_index_range_is_read,
        timestamps_are_those_requested,
        a_bad_operation_leaves_the_others_alone,
        too_little_and_too_much_is_a_fault,
        server_status_is_live,
        operation_limits_are_shown;
    writing:
        a_value_is_written,
        values_of_another_type_are_refused,
        writes_to_read_only_nodes_are_refused,
        an_index_range_is_written;
    methods:
        a_method_is_called,
        arguments_are_checked,
        the_method_must_belong_to_the_object;
    node_management:
        nodes_come_and_go,
        references_come_and_go,
        bad_nodes_are_refused;
    messages:
        an_unknown_service_is_a_fault,
        a_malformed_body_is_a_fault,
        an_oversized_string_is_a_fault,
        an_oversized_array_is_a_fault,
        deep_nesting_is_a_fault,
        a_response_that_is_too_large_is_a_fault;
    subscriptions:
        every_value_that_is_written_is_pushed,
        many_variables_are_watched_at_once,
        a_queue_overflow_is_reported,
        an_idle_subscription_stays_alive,
        a_lost_session_is_made_again,
        messages_are_sent_again,
        invalid_monitored_items_are_refused,
        publishing_needs_a_subscription;
    large:
        a_mebibyte_goes_both_ways,
        a_large_byte_string_goes_both_ways,
        many_operations_in_one_request;
}
