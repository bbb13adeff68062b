//! Parts of the processes in the comparison.

use std::io::BufRead;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use takt_app::serve::{Serving, Traffic};
use takt_app::{Endpoint, Provider, Variable, loopback};
use takt_registry::{NameBudget, Registry, RegistryOptions};

use super::classical;
use super::consumer::{self, Connected, Discovery};
use super::providers::{NAME, VARIABLES};
use super::reading::Speed;
use crate::assignment::Assignment;
use crate::error::BenchError;
use crate::parent::print;

/// Number of Providers that one registry accepts from this user: the limit of `--providers`.
const MOST_PROVIDERS: usize = 500;

/// Part of a process, until the standard input ends. Each line of the input is answered with a [`Report`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    /// The SR-Server; its database is in this directory.
    Registry { directory: PathBuf },
    /// Providers that register, from number `first` on.
    Providers {
        registry: String,
        first: usize,
        count: usize,
    },
    /// Servers that do not register.
    Servers { first: usize, count: usize },
    /// A Consumer that finds Providers in the registry.
    Consumer {
        registry: String,
        providers: usize,
        /// True if it reads there, and not at the Providers.
        forwarded: bool,
    },
    /// A Consumer that is given the endpoints of the servers.
    Client { endpoints: Vec<String> },
}

/// Progress of a process so far.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) requests: u64,
    /// Bytes of message bodies in both directions.
    pub(super) bytes: u64,
    /// Discovery of a Consumer.
    pub(super) discovery: Discovery,
    /// Speed of a Consumer's Reads.
    pub(super) speed: Speed,
}

impl Report {
    fn add(&mut self, traffic: Traffic) {
        self.requests += traffic.requests;
        self.bytes += traffic.received_bytes + traffic.sent_bytes;
    }
}

/// Servers or connections that the process holds.
enum Held {
    Registry(Box<Registry>),
    Providers(Vec<Provider>),
    Servers(Vec<Serving>),
    Consumer(Discovery, Connected),
}

impl Held {
    fn report(&mut self) -> Result<Report, BenchError> {
        let mut report = Report::default();
        match self {
            Self::Registry(registry) => report.add(registry.traffic()),
            Self::Providers(all) => all.iter().for_each(|one| report.add(one.traffic())),
            Self::Servers(all) => all.iter().for_each(|one| report.add(one.traffic())),
            Self::Consumer(discovery, connected) => {
                report.discovery = *discovery;
                report.speed = connected.measure()?;
            }
        }
        Ok(report)
    }

    fn endpoints(&self) -> Vec<String> {
        let endpoints: Vec<&Endpoint> = match self {
            Self::Registry(registry) => registry.endpoints().iter().take(1).collect(),
            Self::Servers(all) => all.iter().flat_map(Serving::endpoints).collect(),
            Self::Providers(_) | Self::Consumer(..) => Vec::new(),
        };
        endpoints.into_iter().map(Endpoint::to_string).collect()
    }
}

impl Assignment for Part {
    const NAME: &'static str = "directory";

    fn carry_out(self) -> Result<(), BenchError> {
        play(&self)
    }
}

/// Runs a part until the standard input ends.
fn play(part: &Part) -> Result<(), BenchError> {
    let stop = Arc::new(AtomicBool::new(false));
    let (asked, questions) = mpsc::channel();
    {
        // This thread waits for the input, independently of the work of the part.
        let stop = Arc::clone(&stop);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                if line.is_err() || asked.send(()).is_err() {
                    break;
                }
            }
            stop.store(true, Ordering::Release);
        });
    }
    match begin(part, &stop) {
        Ok(mut held) => {
            print(&json!({"ready": true, "endpoints": held.endpoints()}));
            for () in questions {
                print(&serde_json::to_value(held.report()?).unwrap_or_default());
            }
            Ok(())
        }
        Err(BenchError::Interrupted) => Ok(()),
        Err(error) => {
            print(&json!({"ready": false, "error": error.to_string()}));
            Err(error)
        }
    }
}

fn begin(part: &Part, stop: &AtomicBool) -> Result<Held, BenchError> {
    let go_on = || {
        if stop.load(Ordering::Acquire) {
            Err(BenchError::Interrupted)
        } else {
            Ok(())
        }
    };
    Ok(match part {
        Part::Registry { directory } => Held::Registry(Box::new(
            Registry::start(RegistryOptions {
                endpoint: Endpoint::Tcp(loopback(0)),
                database: directory.join("registry.redb"),
                // All Providers are processes of this user.
                name_budget: NameBudget::for_providers(MOST_PROVIDERS),
                ..RegistryOptions::default()
            })
            .map_err(BenchError::round_trip("the registry"))?,
        )),
        Part::Providers {
            registry,
            first,
            count,
        } => {
            let mut providers = Vec::with_capacity(*count);
            for number in *first..first + count {
                go_on()?;
                let provider = provider(&format!("{NAME}{number}"), registry)?;
                // Providers register one after the other. All at once would compete for a registry that gives each of them a
                // second.
                while !provider.is_registered() {
                    go_on()?;
                    std::thread::sleep(Duration::from_millis(1));
                }
                providers.push(provider);
            }
            Held::Providers(providers)
        }
        Part::Servers { first, count } => {
            let mut servers = Vec::with_capacity(*count);
            for number in *first..first + count {
                go_on()?;
                servers.push(classical::start(&format!("{NAME}{number}"))?);
            }
            Held::Servers(servers)
        }
        Part::Consumer {
            registry,
            providers,
            forwarded,
        } => {
            let (discovery, connected) =
                consumer::by_registry(registry, *providers, *forwarded, stop)?;
            Held::Consumer(discovery, connected)
        }
        Part::Client { endpoints } => {
            let (discovery, connected) = consumer::by_endpoints(endpoints, stop)?;
            Held::Consumer(discovery, connected)
        }
    })
}

fn provider(name: &str, registry: &str) -> Result<Provider, BenchError> {
    let mut builder = Provider::builder(name).registry(registry).reduced();
    for number in 0..VARIABLES {
        builder = builder.variable(Variable::stored(format!("Value{number}"), 1.5));
    }
    builder.start().map_err(BenchError::round_trip(name))
}
