//! The processes of the test.

use std::process::Command;
use std::time::{Duration, Instant};

use takt_tests::{Process, Registry, Sandbox};

pub(crate) const PROVIDERS: usize = 3;
pub(crate) const CONSUMERS: usize = 16;

const START: Duration = Duration::from_secs(60);

/// Reports of the Consumers so far. Unreported work of a killed Consumer does not count.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counted {
    /// Number of values that were read and consistent.
    pub read: u64,
    /// Number of requests that failed because the Provider was gone.
    pub failed: u64,
}

/// Resources of a process.
#[derive(Debug)]
pub(crate) struct Usage {
    pub name: &'static str,
    /// Memory in bytes, with each process's share of common memory.
    pub memory: u64,
}

struct Consumer {
    process: Process,
    heard: Instant,
}

pub(crate) struct Plant<'a> {
    sandbox: &'a Sandbox,
    registry: Registry,
    names: Vec<String>,
    providers: Vec<Process>,
    consumers: Vec<Consumer>,
    counted: Counted,
    seed: u64,
}

impl<'a> Plant<'a> {
    /// Starts the registry and all Providers, and waits for their registration.
    pub(crate) fn start(sandbox: &'a Sandbox, seed: u64) -> Self {
        let name = |number| sandbox.application(&format!("Soak{number}"));
        let mut plant = Self {
            sandbox,
            registry: Registry::start(sandbox, &[]),
            names: (0..PROVIDERS).map(name).collect(),
            providers: Vec::new(),
            consumers: Vec::new(),
            counted: Counted::default(),
            seed,
        };
        for number in 0..PROVIDERS {
            let provider = plant.provider(number);
            plant.providers.push(provider);
        }
        let started = Instant::now();
        for name in &plant.names {
            let path = format!("{name}/Available");
            let registry = plant.registry.shared_memory();
            while !sandbox
                .run(&["read", &registry, &path])
                .stdout
                .starts_with("true")
            {
                assert!(started.elapsed() < START, "{name} is not available");
            }
        }
        plant
    }

    pub(crate) fn start_consumers(&mut self) {
        for number in 0..CONSUMERS {
            let consumer = self.consumer(number);
            self.consumers.push(consumer);
        }
    }

    /// Shuts the processes down.
    pub(crate) fn stop_consumers(&mut self) {
        for consumer in self.consumers.drain(..) {
            let _ = consumer.process.finish(START).expect_success();
        }
    }

    fn peer(&self, arguments: &[&str]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_takt-killed-peer"));
        self.sandbox.confine(&mut command).args(arguments);
        Process::spawn(&arguments.join(" "), &mut command)
    }

    fn provider(&self, number: usize) -> Process {
        let registry = self.registry.shared_memory();
        let text = number.to_string();
        let mut process = self.peer(&["provider", &registry, &text, &self.names[number]]);
        process.wait_for("ready", START, |line| line == "ready");
        process
    }

    fn consumer(&mut self, number: usize) -> Consumer {
        self.seed += 1;
        // The number selects its way of waiting.
        let seed = (self.seed * CONSUMERS as u64 + number as u64).to_string();
        let registry = self.registry.shared_memory();
        let mut arguments = vec!["consumer", &registry, &seed];
        arguments.extend(self.names.iter().map(String::as_str));
        Consumer {
            process: self.peer(&arguments),
            heard: Instant::now(),
        }
    }

    pub(crate) fn replace_provider(&mut self, number: usize) {
        self.providers[number].kill();
        self.providers[number] = self.provider(number);
    }

    pub(crate) fn replace_consumer(&mut self, number: usize) {
        self.consumers[number].process.kill();
        self.consumers[number] = self.consumer(number);
    }

    /// Reads the reports of the Consumers; each must have reported within the last `silence`.
    pub(crate) fn count(&mut self, silence: Duration) -> Counted {
        for consumer in &mut self.consumers {
            while let Some(line) = consumer.process.try_line() {
                let (read, failed) = line.split_once(' ').expect("two numbers");
                self.counted.read += read.parse::<u64>().unwrap();
                self.counted.failed += failed.parse::<u64>().unwrap();
                consumer.heard = Instant::now();
            }
            assert!(
                !consumer.process.has_ended(),
                "a Consumer has ended by itself{}",
                consumer.process.report()
            );
            assert!(
                consumer.heard.elapsed() < silence,
                "a Consumer hangs{}",
                consumer.process.report()
            );
        }
        self.counted
    }

    /// Returns the surviving processes with their names.
    fn steady(&self) -> Vec<(&'static str, u32)> {
        let mut steady = vec![
            ("registry", self.registry.process.id()),
            ("Provider", self.providers[0].id()),
        ];
        steady.extend(
            self.consumers
                .first()
                .map(|it| ("Consumer", it.process.id())),
        );
        steady
    }

    pub(crate) fn usage(&self) -> Vec<Usage> {
        let usage = |(name, process)| Usage {
            name,
            memory: takt_rt::process::memory(process).expect("it runs").bytes(),
        };
        self.steady().into_iter().map(usage).collect()
    }

    /// Returns the numbers of open descriptors of the registry, the Provider and the Consumer that survive.
    pub(crate) fn all_descriptors(&self) -> Vec<usize> {
        let steady = self.steady().into_iter();
        steady.map(|(_, process)| descriptors(process)).collect()
    }

    /// Returns the numbers of open descriptors of registry and Provider.
    pub(crate) fn descriptors(&self) -> Vec<usize> {
        self.all_descriptors().into_iter().take(2).collect()
    }
}

fn descriptors(process: u32) -> usize {
    let directory = std::fs::read_dir(format!("/proc/{process}/fd"));
    directory.expect("it runs").count()
}
