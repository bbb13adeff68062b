//! All fuzz targets in one program, which compiles faster than a program for each. The environment variable
//! `TAKT_FUZZ_TARGET` names the target.

#![no_main]

use std::sync::OnceLock;

use takt_fuzz::libfuzzer_sys;

/// Function of the chosen target.
static CHOSEN: OnceLock<fn(&[u8])> = OnceLock::new();

/// Declares the modules of the targets and a table of them.
macro_rules! targets {
    ($($name:ident,)*) => {
        $(mod $name;)*
        const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($name), $name::fuzz)),*];
    };
}

targets! {
    app_client,
    capture,
    cell_location,
    certificate,
    control_trace,
    database_record,
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
    trust_list,
    tsn_read_back,
    ua_built_in,
    ua_json,
    ua_structure,
    ua_text,
    ua_variant,
    ua_view,
    wire_chunks,
    wire_discovery,
    wire_raw_data,
    wire_uadp,
}

/// Returns the target that the environment names.
fn chosen() -> fn(&[u8]) {
    let name = std::env::var("TAKT_FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|(target, _)| *target == name);
    let Some((_, run)) = found else {
        panic!("TAKT_FUZZ_TARGET is '{name}', which is no target");
    };
    *run
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    CHOSEN.get_or_init(chosen)(data);
});
