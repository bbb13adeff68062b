//! Mirror: cells that follow the Variables of a server.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_cell::Cell;
use takt_rt::clock::after;
use takt_ua::binary::Encode;
use takt_ua::{DataValue, DateTime, NodeId, StatusCode, Variant};

use crate::client::{Attribute, Client};
use crate::outage::Outage;
use crate::subscription::{MonitoredItemOptions, Subscription, SubscriptionOptions};
use crate::{ClientError, DataChange};

/// Time that the thread waits for a change before it checks whether it shall end.
const STEP: Duration = Duration::from_millis(50);

/// Capacity in bytes of cells for texts and arrays, because cells have a fixed size.
const ROOM: usize = 1024;

/// Cells with the values of Variables of a server, kept up to date by a Subscription, until it is dropped.
///
/// With it, PubSub publishes values of another application, and threads that must not wait can read them: the cells
/// are read without a request. While the server is not reachable, their status is BadNoCommunication; the first message after
/// that brings the current values back. A Variable that the server does not monitor has the status with which it refuses.
pub struct Mirror {
    cells: HashMap<NodeId, Arc<Cell>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Mirror {
    /// Starts following these Variables; changes arrive at most once per `interval`.
    ///
    /// # Errors
    /// The server cannot be reached, has no Subscriptions, or does not know one of the Variables.
    pub fn start(
        mut client: Client,
        variables: &[NodeId],
        interval: Duration,
    ) -> Result<Self, ClientError> {
        let wanted: Vec<_> = variables
            .iter()
            .map(|node| (node.clone(), Attribute::Value))
            .collect();
        let values = client.read_attributes(&wanted)?;
        let mut cells = HashMap::new();
        for (node, value) in variables.iter().zip(&values) {
            let status = value.status_code();
            // A node that does not exist is a mistake of the caller. Any other status may change.
            if value.value.is_none()
                && matches!(
                    status,
                    StatusCode::BadNodeIdUnknown | StatusCode::BadNodeIdInvalid
                )
            {
                return Err(ClientError::Operation {
                    subject: node.to_string(),
                    status,
                });
            }
            let cell = cell_for(value);
            store(&cell, value.clone());
            cells.insert(node.clone(), Arc::new(cell));
        }
        let options = SubscriptionOptions {
            publishing_interval: interval,
            ..SubscriptionOptions::default()
        };
        let mut subscription = Subscription::create(client, options)?;
        let item = MonitoredItemOptions {
            sampling_interval: interval,
            ..MonitoredItemOptions::default()
        };
        let items = variables.iter().map(|node| (node.clone(), item.clone()));
        let results = subscription.monitor_all(items.collect())?;
        let mut targets = HashMap::new();
        for (node, result) in variables.iter().zip(results) {
            let Some(cell) = cells.get(node) else {
                continue;
            };
            match result {
                Ok(handle) => {
                    targets.insert(handle, Arc::clone(cell));
                }
                // A value that does not follow would look current.
                Err(status) => store(cell, DataValue::status(status)),
            }
        }
        let stop = Arc::new(AtomicBool::new(false));
        let follower = Follower {
            subscription,
            targets,
            stop: Arc::clone(&stop),
        };
        let thread = std::thread::Builder::new()
            .name("takt-mirror".to_owned())
            .spawn(move || follower.run())
            .map_err(|error| ClientError::Operation {
                subject: format!("the thread of the mirror ({error})"),
                status: StatusCode::BadResourceUnavailable,
            })?;
        Ok(Self {
            cells,
            stop,
            thread: Some(thread),
        })
    }

    /// Returns the cells, by the NodeIds of their Variables.
    pub fn cells(&self) -> &HashMap<NodeId, Arc<Cell>> {
        &self.cells
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The panic of a thread was already reported.
            let _ = thread.join();
        }
    }
}

struct Follower {
    subscription: Subscription,
    targets: HashMap<u32, Arc<Cell>>,
    stop: Arc<AtomicBool>,
}

impl Follower {
    fn run(mut self) {
        let mut outage = Outage::default();
        while !self.is_stopped() {
            match self.subscription.next(STEP) {
                Ok(None) => outage.ended(),
                Ok(Some(DataChange {
                    client_handle,
                    value,
                })) => {
                    outage.ended();
                    if let Some(cell) = self.targets.get(&client_handle) {
                        store(cell, value);
                    }
                }
                Err(error) => {
                    for cell in self.targets.values() {
                        store(cell, DataValue::status(StatusCode::BadNoCommunication));
                    }
                    // The Subscription continues when the server is back, with all values.
                    self.sleep(outage.failed(&error));
                }
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn sleep(&self, time: Duration) {
        let end = after(Instant::now(), time);
        while Instant::now() < end && !self.is_stopped() {
            // In short steps, because `drop` waits for the thread.
            std::thread::sleep(STEP.min(time));
        }
    }
}

/// Creates a cell for values like this one: of any length up to a limit for a text or an array, of any type if there
/// is no value yet.
fn cell_for(value: &DataValue) -> Cell {
    match &value.value {
        None | Some(Variant::Empty) => Cell::new(ROOM),
        Some(value) => Cell::of_with_capacity(value, value.encode_to_vec().len().max(ROOM)),
    }
}

fn store(cell: &Cell, value: DataValue) {
    let status = value.status_code();
    let time = value.source_timestamp.unwrap_or_else(DateTime::now);
    let stored = match value.value {
        Some(inner) if !status.is_bad() => cell.set(&inner, status, time),
        _ => cell.set_status(status, time),
    };
    if let Err(error) = stored {
        tracing::warn!("a value does not fit its cell: {error}");
        // A status always fits; it fails only if three other threads set the cell at this moment.
        let _ = cell.set_status(error.status_code(), time);
    }
}
