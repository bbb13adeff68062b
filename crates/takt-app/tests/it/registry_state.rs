//! A Provider without a registry says so: a state and a line in the log, until the registry is there.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use takt_app::serve::ServeOptions;
use takt_app::{Provider, RegistryState, Variable};
use takt_registry::{Registry, RegistryOptions};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

const PATIENCE: Duration = Duration::from_secs(60);

/// Keeps the messages of warnings about the registration.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("takt_app::provider") && *metadata.level() == Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap().push(message.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

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
        serve: serve(directory),
        ..RegistryOptions::default()
    };
    Registry::start(options).unwrap()
}

fn wait(provider: &Provider, wanted: impl Fn(&RegistryState) -> bool) {
    let begin = Instant::now();
    while !wanted(&provider.registry_state()) {
        let state = provider.registry_state();
        assert!(begin.elapsed() < PATIENCE, "the state is: {state}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn has_failed(state: &RegistryState) -> bool {
    matches!(state, RegistryState::NotRegistered { reason: Some(reason) }
        if reason.contains("opc.iox2://SemanticRegistryServer"))
}

#[test]
fn a_provider_says_that_it_is_not_registered() {
    // A process has one log, and other tests would write to it.
    takt_malloc::alone(|| {
        let log = Log::default();
        tracing::subscriber::set_global_default(log.clone()).unwrap();
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let provider = Provider::builder("Mixer")
            .variable(Variable::stored("Speed", 0.0_f64))
            .serve(serve(directory.path()))
            .start()
            .unwrap();
        // The registry ends twice: each outage and each return is logged once.
        for outage in 1..=2 {
            wait(&provider, has_failed);
            let begin = Instant::now();
            while log.lines().len() < 2 * outage - 1 {
                assert!(begin.elapsed() < PATIENCE, "{:?}", log.lines());
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(!provider.is_registered());
            let registry = registry(directory.path());
            wait(&provider, |state| *state == RegistryState::Registered);
            assert!(provider.is_registered());
            drop(registry);
        }
        let lines = log.lines();
        let mut lines: Vec<&str> = lines
            .iter()
            .map(|line| line.split(':').next().unwrap())
            .collect();
        // Each reason of an outage is logged once.
        lines.dedup();
        let (down, up) = ("not registered", "registered");
        assert!(lines.starts_with(&[down, up, down, up]), "{lines:?}");
    });
}

#[test]
fn a_provider_that_needs_no_registry_says_so() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let provider = Provider::builder("Alone")
        .without_registry()
        .serve(serve(directory.path()))
        .start()
        .unwrap();
    assert_eq!(provider.registry_state(), RegistryState::Disabled);
    assert!(!provider.is_registered());
}
