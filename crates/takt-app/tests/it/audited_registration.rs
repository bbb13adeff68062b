//! A Provider that registers again sends no requests that fail: an audit log of the registry would show failures.

use std::path::Path;
use std::time::{Duration, Instant};

use takt_app::audit::AuditTarget;
use takt_app::serve::ServeOptions;
use takt_app::{Method, Provider, Variable};
use takt_registry::{Registry, RegistryOptions};

const PATIENCE: Duration = Duration::from_secs(60);

fn serve(directory: &Path) -> ServeOptions {
    ServeOptions {
        runtime_directory: Some(directory.join("runtime")),
        ..ServeOptions::default()
    }
}

fn registry(directory: &Path) -> Registry {
    let options = RegistryOptions {
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        database: directory.join("registry.redb"),
        serve: ServeOptions {
            audit: vec![AuditTarget::File(directory.join("audit"))],
            ..serve(directory)
        },
        ..RegistryOptions::default()
    };
    Registry::start(options).unwrap()
}

/// Starts a Provider with this many Variables, and waits until it is registered.
fn provider(directory: &Path, count: usize) -> Provider {
    let mut builder = Provider::builder("Mixer").serve(serve(directory));
    for number in 0..count {
        builder = builder
            .variable(Variable::stored(format!("Drum{number}/Speed"), 0.0_f64).range(0.0..10.0));
    }
    let method = Method::new("Start", |_: &[takt_ua::Variant]| Ok(Vec::new()));
    let provider = builder.method(method).start().unwrap();
    wait(&provider, true);
    provider
}

fn wait(provider: &Provider, is_registered: bool) {
    let begin = Instant::now();
    while provider.is_registered() != is_registered {
        let state = provider.registry_state();
        assert!(begin.elapsed() < PATIENCE, "the state is: {state}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ends the registry, and returns the records of changes, and those of changes that failed.
fn changes(directory: &Path, registry: Registry) -> (usize, Vec<String>) {
    drop(registry);
    let path = directory.join("audit");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let changes = text.lines().filter(|line| line.contains("Nodes"));
    let failed = changes
        .clone()
        .filter(|line| line.contains(r#""Status":false"#));
    (changes.count(), failed.map(str::to_owned).collect())
}

#[test]
fn a_provider_registers_again_without_failed_requests() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let directory = directory.path();
    let registry_1 = registry(directory);
    let first = provider(directory, 3);
    let (count, failed) = changes(directory, registry_1);
    assert!(count > 10 && failed.is_empty(), "{count}: {failed:#?}");
    wait(&first, false);

    // The registry knows it, and gets to know nothing.
    let registry_2 = registry(directory);
    wait(&first, true);
    // Another version of it.
    drop(first);
    let second = provider(directory, 4);
    let (count, failed) = changes(directory, registry_2);
    assert!(count > 10 && failed.is_empty(), "{count}: {failed:#?}");
    drop(second);
}
