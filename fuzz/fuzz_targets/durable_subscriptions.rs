//! Files of durable Subscriptions of any content: each is refused or restored, and what is restored can be saved.

use takt_services::{Saving, Server};

pub(crate) fn run(bytes: &[u8]) {
    let server = Server::builder("Fuzz", "urn:fuzz").build();
    let server = server.expect("a server without nodes of its own can be built");
    // The input follows format, version and NamespaceArray.
    let mut file = takt_services::fuzzing::no_subscriptions(&server);
    file.truncate(file.len() - 4);
    file.extend_from_slice(bytes);
    if let Ok(restored) = server.restore_subscriptions(&file) {
        assert_eq!(
            server.saved_subscriptions(Saving::AtEnd).is_some(),
            restored > 0
        );
    }
}
