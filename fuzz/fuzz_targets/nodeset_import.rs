//! NodeSet2 documents, imported into an address space: types, instances and references that need not fit together.
#![no_main]

use std::cell::RefCell;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use takt_services::{Server, ServerLimits};

/// A server is made anew after so many inputs: what they added would make it slower and slower.
const INPUTS: u32 = 200;

thread_local! {
    static SERVER: RefCell<(Arc<Server>, u32)> = RefCell::new((server(), 0));
}

fn server() -> Arc<Server> {
    let limits = ServerLimits {
        max_nodes: 20_000,
        ..ServerLimits::default()
    };
    let server = Server::builder("Fuzz", "urn:takt:fuzz").limits(limits);
    server.build().expect("a server can be built")
}

fuzz_target!(|data: &[u8]| {
    let Ok(xml) = std::str::from_utf8(data) else {
        return;
    };
    SERVER.with_borrow_mut(|(server, inputs)| {
        *inputs += 1;
        if *inputs > INPUTS {
            (*server, *inputs) = (self::server(), 0);
        }
        match server.address_space().import_nodeset("fuzz.xml", xml) {
            Ok(imported) => drop(format!("{imported:?}")),
            Err(error) => drop(format!("{error} {error:?}")),
        }
        // The same again, which is there already or refused as before.
        drop(server.address_space().import_nodeset("fuzz.xml", xml));
    });
});
