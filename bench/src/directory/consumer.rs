//! A Consumer that discovers all Providers and reads one Variable of each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use takt_app::client::Follow;
use takt_app::{Client, ClientOptions, Consumer, Endpoint, Item};
use takt_ua::enumerations::NodeClass;
use takt_ua::{NodeId, ids};

use super::census;
use super::providers::{NAME, VARIABLES};
use super::reading::{self, Speed};
use crate::error::BenchError;

const WHAT: &str = "a Consumer";

/// Result of a Consumer. Times count from its first connection.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Discovery {
    pub(super) discover_ms: f64,
    pub(super) read_ms: f64,
    /// Number of connections of this Consumer at the end of its discovery.
    pub(super) connections_discovered: usize,
}

/// Owner of the connections of a Consumer, with the first Variable that it has read.
pub(super) enum Connected {
    Registry {
        consumer: Box<Consumer>,
        first: Option<Box<Item>>,
        forwarded: bool,
    },
    Servers {
        clients: Vec<Client>,
        first: Option<NodeId>,
    },
}

impl Connected {
    /// Measures the speed of Reads of the first Variable.
    pub(super) fn measure(&mut self) -> Result<Speed, BenchError> {
        match self {
            Self::Registry {
                consumer,
                first: Some(item),
                forwarded: true,
            } => reading::measure(consumer.registry(), &item.node_id),
            Self::Registry {
                consumer,
                first: Some(item),
                forwarded: false,
            } => {
                let provider = consumer.provider(item);
                let (client, node) = provider.map_err(BenchError::round_trip(WHAT))?;
                reading::measure(client, &node)
            }
            Self::Servers {
                clients,
                first: Some(node),
            } => match clients.first_mut() {
                Some(client) => reading::measure(client, node),
                None => Ok(Speed::default()),
            },
            _ => Ok(Speed::default()),
        }
    }
}

fn options() -> ClientOptions {
    ClientOptions {
        timeout: Duration::from_secs(30),
        ..ClientOptions::named("TaktBenchConsumer")
    }
}

/// Fails if the number `found` is not that of `providers`, or after a stop.
fn check(found: usize, providers: usize, stop: &AtomicBool) -> Result<(), BenchError> {
    if stop.load(Ordering::Acquire) {
        return Err(BenchError::Interrupted);
    }
    let expected = providers * VARIABLES;
    if found == expected {
        return Ok(());
    }
    Err(BenchError::RoundTrip {
        what: WHAT.to_owned(),
        reason: format!("{found} Variables were found, not {expected}"),
    })
}

fn connections() -> Result<usize, BenchError> {
    Ok(census::ends(&[std::process::id()])?.all())
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// Finds the Variables in the registry, then reads at the Providers, or also at the registry if it is `forwarded`.
pub(super) fn by_registry(
    registry: &str,
    providers: usize,
    forwarded: bool,
    stop: &AtomicBool,
) -> Result<(Discovery, Connected), BenchError> {
    let started = Instant::now();
    let mut consumer =
        Consumer::connect(registry, options()).map_err(BenchError::round_trip(WHAT))?;
    let mut wanted: Vec<Item> = Vec::new();
    let mut found = 0;
    for provider in consumer.providers().map_err(BenchError::round_trip(WHAT))? {
        if stop.load(Ordering::Acquire) {
            return Err(BenchError::Interrupted);
        }
        if !provider.available || !provider.name.starts_with(NAME) {
            continue;
        }
        let items = consumer
            .items(&provider)
            .map_err(BenchError::round_trip(WHAT))?;
        found += items.len();
        wanted.extend(items.into_iter().next());
    }
    check(found, providers, stop)?;
    let discover_ms = millis(started);
    let connections_discovered = connections()?;
    let counted = Instant::now();
    for item in &wanted {
        let value = match forwarded {
            true => consumer.registry().read(&item.node_id),
            false => consumer.read(item),
        };
        let value = value.map_err(BenchError::round_trip(WHAT))?;
        is_good(&item.path, value.status_code())?;
        if stop.load(Ordering::Acquire) {
            return Err(BenchError::Interrupted);
        }
    }
    let discovery = Discovery {
        discover_ms,
        read_ms: discover_ms + millis(counted),
        connections_discovered,
    };
    let connected = Connected::Registry {
        consumer: Box::new(consumer),
        first: wanted.into_iter().next().map(Box::new),
        forwarded,
    };
    Ok((discovery, connected))
}

/// Connects to each server, browses it, then reads there.
pub(super) fn by_endpoints(
    endpoints: &[String],
    stop: &AtomicBool,
) -> Result<(Discovery, Connected), BenchError> {
    let started = Instant::now();
    let mut clients = Vec::with_capacity(endpoints.len());
    let mut wanted: Vec<NodeId> = Vec::new();
    let mut found = 0;
    for endpoint in endpoints {
        if stop.load(Ordering::Acquire) {
            return Err(BenchError::Interrupted);
        }
        let endpoint: Endpoint = endpoint.parse().map_err(BenchError::round_trip(WHAT))?;
        let mut client =
            Client::connect(&endpoint, options()).map_err(BenchError::round_trip(WHAT))?;
        let variables = browse(&mut client).map_err(BenchError::round_trip(WHAT))?;
        found += variables.len();
        wanted.extend(variables.into_iter().next());
        clients.push(client);
    }
    check(found, endpoints.len(), stop)?;
    let discover_ms = millis(started);
    let connections_discovered = connections()?;
    let counted = Instant::now();
    for (client, node) in clients.iter_mut().zip(&wanted) {
        let value = client.read(node).map_err(BenchError::round_trip(WHAT))?;
        is_good(&node.to_string(), value.status_code())?;
    }
    let discovery = Discovery {
        discover_ms,
        read_ms: discover_ms + millis(counted),
        connections_discovered,
    };
    let first = wanted.into_iter().next();
    Ok((discovery, Connected::Servers { clients, first }))
}

/// Returns the Variables of the Provider at this server, below its Object in the Objects folder.
fn browse(client: &mut Client) -> Result<Vec<NodeId>, takt_app::ClientError> {
    let objects = NodeId::numeric(0, ids::OBJECTS_FOLDER);
    let mut variables = Vec::new();
    for object in client.browse(&objects, &Follow::children())? {
        if !object.browse_name.name.as_str().starts_with(NAME) {
            continue;
        }
        let children = client.browse(&object.node_id.node_id, &Follow::children())?;
        let is_variable = |child: &takt_ua::structures::ReferenceDescription| {
            child.node_class == NodeClass::Variable
        };
        let found = children.into_iter().filter(is_variable);
        variables.extend(found.map(|child| child.node_id.node_id));
    }
    Ok(variables)
}

fn is_good(what: &str, status: takt_ua::StatusCode) -> Result<(), BenchError> {
    if status.is_good() {
        return Ok(());
    }
    Err(BenchError::RoundTrip {
        what: what.to_owned(),
        reason: status.to_string(),
    })
}
