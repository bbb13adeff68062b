//! All fuzz targets in one executable. The environment variable `TAKT_FUZZ_TARGET` names the one that runs.

#![no_main]

mod app_client;
mod capture;
mod cell_location;
mod certificate;
mod control_trace;
mod database_record;
mod durable_subscriptions;
mod encrypted_secret;
mod event_filter;
mod event_record;
mod forwarded_header;
mod history_block;
mod json_message;
mod jwt;
mod layout;
mod link_frame;
mod nodeset;
mod nodeset_import;
mod pubsub_action;
mod pubsub_configuration;
mod pubsub_security;
mod scenario;
mod services;
mod shm_message;
mod shm_peer;
mod stored_keys;
mod subscriber;
mod tcp_client;
mod tcp_reverse_hello;
mod tcp_secured;
mod tcp_server;
mod tcp_socket_user;
mod trust_list;
mod tsn_read_back;
mod ua_built_in;
mod ua_described;
mod ua_json;
mod ua_structure;
mod ua_text;
mod ua_variant;
mod ua_view;
mod wakeup_trace;
mod wire_chunks;
mod wire_discovery;
mod wire_raw_data;
mod wire_uadp;

use std::sync::OnceLock;

use libfuzzer_sys::{Corpus, fuzz_target};

/// Function of a target, which panics if its input has found a mistake.
type Run = fn(&[u8]) -> Corpus;

/// Table of the targets: each is the function `run` of a module.
macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        &[$((stringify!($name), |input| $name::run(input).into())),*]
    };
}

const TARGETS: &[(&str, Run)] = targets![
    app_client,
    capture,
    cell_location,
    certificate,
    control_trace,
    database_record,
    durable_subscriptions,
    encrypted_secret,
    event_filter,
    event_record,
    forwarded_header,
    history_block,
    json_message,
    jwt,
    layout,
    link_frame,
    nodeset,
    nodeset_import,
    pubsub_action,
    pubsub_configuration,
    pubsub_security,
    scenario,
    services,
    shm_message,
    shm_peer,
    stored_keys,
    subscriber,
    tcp_client,
    tcp_reverse_hello,
    tcp_secured,
    tcp_server,
    tcp_socket_user,
    trust_list,
    tsn_read_back,
    ua_built_in,
    ua_described,
    ua_json,
    ua_structure,
    ua_text,
    ua_variant,
    ua_view,
    wakeup_trace,
    wire_chunks,
    wire_discovery,
    wire_raw_data,
    wire_uadp,
];

/// Target of this process.
static TARGET: OnceLock<Run> = OnceLock::new();

/// Returns the target that the environment names.
fn named_target() -> Run {
    let wanted = std::env::var("TAKT_FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|(name, _)| *name == wanted);
    let Some((_, run)) = found else {
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "TAKT_FUZZ_TARGET names no fuzz target; these are there: {}",
            names.join(" ")
        );
        std::process::exit(2);
    };
    *run
}

fuzz_target!(
    init: {
        let _ = TARGET.set(named_target());
    },
    |input: &[u8]| -> Corpus { TARGET.get_or_init(named_target)(input) }
);
