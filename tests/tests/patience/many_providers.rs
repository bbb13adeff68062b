//! 64 Providers with 1 000 Variables each on one host, all started at once: one process each, registered at one
//! registry, found and read by a Consumer.

use std::process::Command;
use std::time::{Duration, Instant};

use takt_app::{ClientOptions, Consumer};
use takt_tests::{Process, Registry, Sandbox};
use takt_ua::{StatusCode, Variant};

const PROVIDERS: u32 = 64;
const VARIABLES: u32 = 1000;

/// Time limit of the whole test on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(300);

fn start(sandbox: &Sandbox, registry: &Registry, number: u32) -> Process {
    let name = provider(sandbox, number);
    let mut command = Command::new(env!("CARGO_BIN_EXE_takt-large-provider"));
    let [number, variables] = [number, VARIABLES].map(|number| number.to_string());
    let arguments = [&registry.shared_memory(), &name, &number, &variables];
    sandbox.confine(&mut command).args(arguments);
    Process::spawn(&name, &mut command)
}

fn provider(sandbox: &Sandbox, number: u32) -> String {
    sandbox.application(&format!("Large{number}n"))
}

#[test]
fn sixty_four_providers_with_a_thousand_variables_are_found_and_read() {
    let sandbox = Sandbox::new();
    let before = sandbox.left_behind();
    let begun = Instant::now();
    let told = |what: &str| println!("{what} after {:.1?}", begun.elapsed());
    let most = PROVIDERS.to_string();
    let registry = Registry::start(&sandbox, &["--max-providers", &most]);
    let mut providers: Vec<Process> = (0..PROVIDERS)
        .map(|number| start(&sandbox, &registry, number))
        .collect();
    for provider in &mut providers {
        let left = PATIENCE.saturating_sub(begun.elapsed());
        provider.wait_for("its registration", left, |line| line == "registered");
    }
    told("registered");

    let options = ClientOptions {
        timeout: PATIENCE,
        runtime_directory: Some(sandbox.runtime_directory()),
        ..ClientOptions::named("Consumer")
    };
    let mut consumer = Consumer::connect(&registry.shared_memory(), options).unwrap();
    let there = consumer.providers().unwrap();
    assert_eq!(there.len(), PROVIDERS as usize);
    assert!(there.iter().all(|provider| provider.available));
    told("listed");
    for number in 0..PROVIDERS {
        // Another Variable of each Provider, so that all parts of the address space are used.
        let variable = (number * 997) % VARIABLES;
        let name = provider(&sandbox, number);
        let path = format!("{name}/Group{}/Value{variable}", variable / 100);
        let item = consumer.find(&path).unwrap();
        assert!(item.endpoint().unwrap().is_shared_memory(), "{path}");
        let value = consumer.read(&item).unwrap();
        assert_eq!(value.status_code(), StatusCode::Good, "{path}");
        let expected = Variant::UInt32(number * VARIABLES + variable);
        assert_eq!(value.value, Some(expected), "{path}");
    }
    told("found and read");
    let entry = there.last().unwrap();
    assert_eq!(consumer.items(entry).unwrap().len(), VARIABLES as usize);
    told("all Variables of one listed");

    drop(consumer);
    for process in &mut providers {
        process.close_input();
    }
    for process in providers {
        let _ = process.finish(PATIENCE).expect_success();
    }
    drop(registry);
    assert_eq!(sandbox.left_behind(), before);
    told("ended");
    assert!(begun.elapsed() < PATIENCE);
}
