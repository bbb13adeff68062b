//! Numbers of connections, Sessions and file descriptors of a serving thread are consistent.

use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use takt_app::Endpoint;
use takt_app::serve::{ServeError, ServeOptions, Serving};
use takt_services::Server;

fn start(max_connections: Option<usize>) -> (Arc<Server>, Result<Serving, ServeError>) {
    let server = Server::builder("Capacity", "urn:takt:test:capacity")
        .build()
        .unwrap();
    let endpoint: Endpoint = "opc.tcp://127.0.0.1:0".parse().unwrap();
    let options = ServeOptions {
        max_connections,
        ..ServeOptions::default()
    };
    let serving = Serving::start(&server, &[endpoint], options);
    (server, serving)
}

#[test]
fn one_more_channel_than_sessions_and_the_hard_limit_of_descriptors() {
    // The limit of descriptors is that of the whole process, with all its tests.
    takt_malloc::alone(|| {
        let before = getrlimit(Resource::Nofile);
        let soft = Rlimit {
            current: Some(100),
            ..before
        };
        setrlimit(Resource::Nofile, soft).unwrap();
        let (server, serving) = start(Some(3));
        let _serving = serving.unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current, before.maximum);
        assert_eq!(server.max_sessions(), 2);

        let (server, serving) = start(None);
        let _serving = serving.unwrap();
        let descriptors = before.maximum.unwrap_or(u64::MAX);
        if descriptors >= 2000 {
            assert_eq!(server.max_sessions(), server.budgets().max_sessions);
        }
        if let Ok(too_many) = usize::try_from(descriptors) {
            let (_, refused) = start(Some(too_many));
            assert!(matches!(refused, Err(ServeError::Descriptors { .. })));
        }
    });
}
