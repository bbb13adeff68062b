//! Gateways, which forward Reads, Writes and Calls to Providers for clients that do not support `InteractionVia`.
//!
//! Each Provider has one [`Gateway`] with its own thread and connection, which exist only while they are used. A
//! Provider that hangs delays only its own clients, up to their timeouts.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use takt_app::client::{Client, ClientOptions};
use takt_app::{ClientError, Endpoint};
use takt_space::{RemoteCall, RemoteRead, RemoteSource, RemoteWrite};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::*;
use takt_ua::{DataValue, NodeId, StatusCode, UaString};

/// Time without use after which the connection to a Provider is closed.
const IDLE: Duration = Duration::from_secs(30);

/// Largest number of values that are kept for the time when the Provider is gone.
const REMEMBERED: usize = 10_000;

/// Gateway from the registry to one Provider.
pub(crate) struct Gateway {
    key: u64,
    namespace_uri: String,
    options: ClientOptions,
    state: Mutex<State>,
}

struct State {
    endpoint: Option<Endpoint>,
    available: bool,
    worker: Option<SyncSender<Job>>,
    last_values: HashMap<NodeId, DataValue>,
}

/// Work for the thread that holds the connection.
struct Job {
    run: Box<dyn FnOnce(&mut Client) + Send>,
    /// Time at which the caller stops waiting.
    deadline: Instant,
}

impl Gateway {
    /// Creates the gateway of the Provider with this name, whose NodeIds have this namespace URI; it connects with
    /// these options.
    pub(crate) fn new(name: &str, namespace_uri: String, options: ClientOptions) -> Self {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Self {
            key: hasher.finish(),
            namespace_uri,
            options,
            state: Mutex::new(State {
                endpoint: None,
                available: false,
                worker: None,
                last_values: HashMap::new(),
            }),
        }
    }

    /// Sets the endpoint of the Provider; a connection to another endpoint is closed.
    pub(crate) fn set_endpoint(&self, endpoint: Endpoint) {
        let mut state = self.state();
        if state.endpoint.as_ref() != Some(&endpoint) {
            state.endpoint = Some(endpoint);
            state.worker = None;
        }
    }

    /// Returns whether the Provider is reached over shared memory.
    pub(crate) fn has_shared_memory(&self) -> bool {
        self.state()
            .endpoint
            .as_ref()
            .is_some_and(Endpoint::is_shared_memory)
    }

    /// Sets whether the Provider is connected to the registry; requests do not wait for a disconnected one.
    pub(crate) fn set_available(&self, available: bool) {
        let mut state = self.state();
        state.available = available;
        if !available {
            state.worker = None;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave this state incomplete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` with the connection and waits for it, for `timeout` in total.
    fn run<R: Send + 'static>(
        &self,
        timeout: Duration,
        work: impl FnOnce(&mut Client) -> Result<R, ClientError> + Send + 'static,
    ) -> Result<R, StatusCode> {
        let deadline = Instant::now() + timeout;
        let worker = self.worker()?;
        let (reply, result) = mpsc::sync_channel(1);
        let job = Job {
            run: Box::new(move |client| {
                // The caller may have stopped waiting.
                let _ = reply.send(work(client));
            }),
            deadline,
        };
        worker
            .try_send(job)
            .map_err(|_| StatusCode::BadNoCommunication)?;
        match result.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) if error.is_connection() => Err(StatusCode::BadNoCommunication),
            Ok(Err(error)) => Err(error.status_code()),
            Err(_) => Err(StatusCode::BadNoCommunication),
        }
    }

    /// Returns the thread that holds the connection, started when there is none.
    fn worker(&self) -> Result<SyncSender<Job>, StatusCode> {
        let mut state = self.state();
        if !state.available {
            return Err(StatusCode::BadNoCommunication);
        }
        let endpoint = state
            .endpoint
            .clone()
            .ok_or(StatusCode::BadNoCommunication)?;
        if let Some(worker) = &state.worker {
            return Ok(worker.clone());
        }
        // Jobs of one key are sequential: a second one waits only while the first is abandoned.
        let (sender, jobs) = mpsc::sync_channel(2);
        std::thread::Builder::new()
            .name("gateway".to_owned())
            .spawn({
                let options = self.options.clone();
                move || serve(&endpoint, options, &jobs)
            })
            .map_err(|_| StatusCode::BadOutOfMemory)?;
        state.worker = Some(sender.clone());
        Ok(sender)
    }

    /// Returns `read` and remembers it; without it, returns the remembered value, marked as not live.
    fn remembered(
        &self,
        items: &[RemoteRead],
        read: Result<Vec<DataValue>, StatusCode>,
    ) -> Vec<DataValue> {
        let mut state = self.state();
        match read {
            Ok(values) => {
                for (item, value) in items.iter().zip(&values) {
                    let whole = item.index_range.is_empty();
                    let good = value.status.is_none_or(StatusCode::is_good);
                    let room = state.last_values.len() < REMEMBERED
                        || state.last_values.contains_key(&item.node_id);
                    if whole && good && room {
                        state
                            .last_values
                            .insert(item.node_id.clone(), value.clone());
                    }
                }
                values
            }
            Err(status) => items
                .iter()
                .map(|item| match state.last_values.get(&item.node_id) {
                    Some(last) if item.index_range.is_empty() => DataValue {
                        status: Some(StatusCode::UncertainLastUsableValue),
                        ..last.clone()
                    },
                    _ => DataValue::status(status),
                })
                .collect(),
        }
    }
}

/// Holds the connection while there is work, and sleeps otherwise.
fn serve(endpoint: &Endpoint, options: ClientOptions, jobs: &Receiver<Job>) {
    let mut client = Client::new(endpoint, options);
    while let Ok(job) = jobs.recv() {
        let mut next = Some(job);
        while let Some(job) = next {
            // The time in the queue counts. Jobs whose callers stopped waiting are dropped: they may be Writes that
            // were reported as failed.
            let left = job.deadline.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                client.set_timeout(left);
                (job.run)(&mut client);
            }
            next = jobs.recv_timeout(IDLE).ok();
        }
        client.close();
    }
}

impl RemoteSource for Gateway {
    fn key(&self) -> u64 {
        self.key
    }

    fn read(&self, items: &[RemoteRead], timeout: Duration) -> Vec<DataValue> {
        let uri = self.namespace_uri.clone();
        let wanted = items.to_vec();
        // The smallest maxAge applies to all items; values from the largest Int32 on accept any age.
        let ages = items.iter().map(|item| item.max_age);
        let max_age = ages.fold(f64::from(i32::MAX), f64::min);
        let result = self.run(timeout, move |client| {
            let nodes_to_read = wanted
                .into_iter()
                .map(|item| {
                    Ok(ReadValueId {
                        node_id: client.local_node(&uri, &item.node_id)?,
                        attribute_id: 13,
                        index_range: UaString::from(item.index_range.as_str()),
                        ..ReadValueId::default()
                    })
                })
                .collect::<Result<_, ClientError>>()?;
            let response = client.call(ReadRequest {
                max_age,
                timestamps_to_return: TimestampsToReturn::Both,
                nodes_to_read,
                ..ReadRequest::default()
            })?;
            Ok(response.results)
        });
        self.remembered(items, result)
    }

    fn write(&self, items: &[RemoteWrite], timeout: Duration) -> Vec<StatusCode> {
        let uri = self.namespace_uri.clone();
        let wanted = items.to_vec();
        let result = self.run(timeout, move |client| {
            let nodes_to_write = wanted
                .into_iter()
                .map(|item| {
                    Ok(WriteValue {
                        node_id: client.local_node(&uri, &item.node_id)?,
                        attribute_id: 13,
                        index_range: UaString::from(item.index_range.as_str()),
                        value: item.value,
                    })
                })
                .collect::<Result<_, ClientError>>()?;
            let response = client.call(WriteRequest {
                nodes_to_write,
                ..WriteRequest::default()
            })?;
            Ok(response.results)
        });
        result.unwrap_or_else(|status| vec![status; items.len()])
    }

    fn call(&self, calls: &[RemoteCall], timeout: Duration) -> Vec<CallMethodResult> {
        let uri = self.namespace_uri.clone();
        let wanted = calls.to_vec();
        let result = self.run(timeout, move |client| {
            let methods_to_call = wanted
                .into_iter()
                .map(|call| {
                    Ok(CallMethodRequest {
                        object_id: client.local_node(&uri, &call.object_id)?,
                        method_id: client.local_node(&uri, &call.method_id)?,
                        input_arguments: call.input_arguments,
                    })
                })
                .collect::<Result<_, ClientError>>()?;
            let response = client.call(CallRequest {
                methods_to_call,
                ..CallRequest::default()
            })?;
            Ok(response.results)
        });
        result.unwrap_or_else(|status_code| {
            let refused = CallMethodResult {
                status_code,
                ..CallMethodResult::default()
            };
            vec![refused; calls.len()]
        })
    }
}
