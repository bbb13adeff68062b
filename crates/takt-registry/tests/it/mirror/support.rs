//! A registry with mirrors, and waits.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use takt_app::serve::ServeOptions;
use takt_app::{Client, ClientOptions, Endpoint, Provider};
use takt_registry::{MirrorOptions, Registry, RegistryOptions};
use takt_ua::{NodeId, Variant};

/// Time limit of required events, long enough for a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn serve(directory: &Path) -> ServeOptions {
    ServeOptions {
        runtime_directory: Some(directory.join("runtime")),
        ..ServeOptions::default()
    }
}

pub(crate) fn tcp(provider: &Provider) -> Endpoint {
    let endpoints = provider.endpoints().iter();
    let mut tcp = endpoints.filter(|endpoint| !endpoint.is_shared_memory());
    tcp.next_back().unwrap().clone()
}

/// Returns the file of the users of the registry, which may be missing.
pub(crate) fn users(directory: &Path) -> PathBuf {
    directory.join("users")
}

pub(crate) fn registry(directory: &Path, mirrors: Vec<MirrorOptions>) -> (Registry, Client) {
    let mut serve = serve(directory);
    serve.security.users = Some(users(directory));
    let registry = Registry::start(RegistryOptions {
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        database: directory.join("registry.redb"),
        mirrors,
        serve,
        ..RegistryOptions::default()
    })
    .unwrap();
    let options = ClientOptions {
        timeout: PATIENCE,
        runtime_directory: Some(directory.join("runtime")),
        ..ClientOptions::named("Test")
    };
    let client = Client::connect(&registry.endpoints()[0], options).unwrap();
    (registry, client)
}

pub(crate) fn eventually<T>(
    what: &str,
    within: Duration,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < within, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn find(client: &mut Client, path: &str) -> Option<NodeId> {
    Some(client.find(path).ok()?.node_id.node_id)
}

pub(crate) fn value(client: &mut Client, path: &str) -> Option<Variant> {
    let node = find(client, path)?;
    client.read_good(&node).ok()
}

pub(crate) fn wait_for(client: &mut Client, path: &str, expected: &Variant) {
    eventually(path, PATIENCE, || {
        (value(client, path).as_ref() == Some(expected)).then_some(())
    });
}

pub(crate) fn mirror(name: &str, endpoint: &Endpoint) -> MirrorOptions {
    MirrorOptions {
        interval: Duration::from_millis(50),
        ..MirrorOptions::new(name, endpoint.clone()).unwrap()
    }
}

/// Returns the port of an endpoint over TCP.
pub(crate) fn port(endpoint: &Endpoint) -> u16 {
    let text = endpoint.to_string();
    text.rsplit(':').next().unwrap().parse().unwrap()
}
