//! Followers of two Variables, as applications use them: an error of the connection means that all values are bad.

use std::collections::HashMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use takt_app::asynchronous::AsyncClient;
use takt_app::{
    Client, ClientOptions, DataValue, Endpoint, Mirror, MonitoredItemOptions, NodeId, Subscription,
    SubscriptionOptions, Variant,
};
use takt_tests::process::Process;

use super::case::Disturbance;

/// NodeIds of the Variables at a server.
pub(super) struct Nodes {
    pub(super) constant: NodeId,
    pub(super) changing: NodeId,
}

impl Nodes {
    fn items(&self) -> Vec<(NodeId, MonitoredItemOptions)> {
        let nodes = [&self.constant, &self.changing];
        let item = |node: &&NodeId| (NodeId::clone(node), MonitoredItemOptions::default());
        nodes.iter().map(item).collect()
    }
}

/// Good values by the handles of their items; the others are bad.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<HashMap<u32, Variant>>>);

impl Shown {
    fn set(&self, handle: u32, value: &DataValue) {
        let mut shown = self.0.lock().unwrap();
        match &value.value {
            Some(good) if value.status_code().is_good() => shown.insert(handle, good.clone()),
            _ => shown.remove(&handle),
        };
    }

    fn clear(&self) {
        self.0.lock().unwrap().clear();
    }

    fn get(&self, handle: u32) -> Option<Variant> {
        self.0.lock().unwrap().get(&handle).cloned()
    }
}

/// A follower; dropping it ends it.
pub(super) struct Follower {
    pub(super) name: String,
    kind: Kind,
}

enum Kind {
    Mirror(Mirror, Nodes),
    Thread {
        shown: Shown,
        handles: [u32; 2],
        stop: Arc<AtomicBool>,
        thread: Option<JoinHandle<()>>,
    },
    Watch {
        process: Process,
        nodes: [String; 2],
        shown: HashMap<String, Option<Variant>>,
    },
}

impl Follower {
    pub(super) fn mirror(
        name: &str,
        endpoint: &str,
        nodes: &Nodes,
        options: &ClientOptions,
    ) -> Self {
        let variables = [nodes.constant.clone(), nodes.changing.clone()];
        let interval = Duration::from_millis(10);
        let mirror = Mirror::start(connect(endpoint, options), &variables, interval).unwrap();
        let [constant, changing] = variables;
        Self {
            name: name.to_owned(),
            kind: Kind::Mirror(mirror, Nodes { constant, changing }),
        }
    }

    pub(super) fn client(
        name: &str,
        endpoint: &str,
        nodes: &Nodes,
        options: &ClientOptions,
    ) -> Self {
        let client = connect(endpoint, options);
        let mut subscription =
            Subscription::create(client, SubscriptionOptions::default()).unwrap();
        let handles = subscription.monitor_all(nodes.items()).unwrap();
        let handles = [handles[0].unwrap(), handles[1].unwrap()];
        Self::subscription(name, subscription, handles)
    }

    pub(super) fn subscription(
        name: &str,
        mut subscription: Subscription,
        handles: [u32; 2],
    ) -> Self {
        Self::thread(name, handles, move |shown, stop| {
            while !stop.load(Ordering::Relaxed) {
                match subscription.next(Duration::from_millis(50)) {
                    Ok(Some(change)) => shown.set(change.client_handle, &change.value),
                    Ok(None) => {}
                    Err(_) => {
                        shown.clear();
                        thread::sleep(Duration::from_millis(50));
                    }
                }
            }
        })
    }

    pub(super) fn asynchronous(
        name: &str,
        endpoint: &str,
        nodes: &Nodes,
        options: &ClientOptions,
    ) -> Self {
        let (endpoint, options): (Endpoint, _) = (endpoint.parse().unwrap(), options.clone());
        let items = nodes.items();
        Self::thread(name, [1, 2], move |shown, stop| {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(async {
                let client = AsyncClient::connect(&endpoint, options).await.unwrap();
                let subscribed = client.subscribe(SubscriptionOptions::default()).await;
                let mut subscription = subscribed.unwrap();
                subscription.monitor_all(items).await.unwrap();
                while !stop.load(Ordering::Relaxed) {
                    let change = subscription.next_change();
                    let step = Duration::from_millis(50);
                    match tokio::time::timeout(step, change).await {
                        Ok(Ok(change)) => shown.set(change.client_handle, &change.value),
                        Ok(Err(_)) => shown.clear(),
                        Err(_) => {}
                    }
                }
            });
        })
    }

    fn thread(
        name: &str,
        handles: [u32; 2],
        run: impl FnOnce(Shown, &AtomicBool) + Send + 'static,
    ) -> Self {
        let (shown, stop) = (Shown::default(), Arc::new(AtomicBool::new(false)));
        let thread = thread::spawn({
            let (shown, stop) = (shown.clone(), Arc::clone(&stop));
            move || run(shown, &stop)
        });
        Self {
            name: name.to_owned(),
            kind: Kind::Thread {
                shown,
                handles,
                stop,
                thread: Some(thread),
            },
        }
    }

    /// Starts `takt watch … --json` with the nodes in this order.
    pub(super) fn watch(name: &str, command: &mut Command, nodes: &Nodes) -> Self {
        Self {
            name: name.to_owned(),
            kind: Kind::Watch {
                process: Process::spawn(name, command),
                nodes: [nodes.constant.to_string(), nodes.changing.to_string()],
                shown: HashMap::new(),
            },
        }
    }

    /// Returns the constant value; `None` if it is bad.
    pub(super) fn constant(&mut self) -> Option<Variant> {
        self.value(0)
    }

    /// Returns the value that changes; `None` if it is bad.
    pub(super) fn changing(&mut self) -> Option<Variant> {
        self.value(1)
    }

    fn value(&mut self, at: usize) -> Option<Variant> {
        match &mut self.kind {
            Kind::Mirror(mirror, nodes) => {
                let cell = &mirror.cells()[[&nodes.constant, &nodes.changing][at]];
                let value = cell.get().ok()?;
                value
                    .value
                    .filter(|_| value.status.is_none_or(|status| status.is_good()))
            }
            Kind::Thread { shown, handles, .. } => shown.get(handles[at]),
            Kind::Watch {
                process,
                nodes,
                shown,
            } => {
                while let Some(line) = process.try_line() {
                    let row: Value = serde_json::from_str(&line).unwrap();
                    let status = row["status"].as_str().unwrap_or("Good");
                    let value = row["value"].as_f64().filter(|_| status.starts_with("Good"));
                    let node = row["node"].as_str().unwrap_or_default();
                    shown.insert(node.to_owned(), value.map(Variant::Double));
                }
                shown.get(&nodes[at]).cloned().flatten()
            }
        }
    }

    /// Sends a signal to the process of the follower, if it has its own.
    pub(super) fn signal(&mut self, signal: Signal) {
        if let Kind::Watch { process, .. } = &mut self.kind {
            process.signal(signal);
        }
    }

    /// Checks that the log says at most once that the server is away, and that it is back.
    pub(super) fn check_log(&mut self, disturbance: Disturbance, length: Duration, case: &str) {
        let Kind::Watch { process, .. } = &mut self.kind else {
            return;
        };
        let report = process.report();
        let again = report.matches("connected again").count();
        assert!(again <= 1, "{case}: {}: {report}", self.name);
        assert!(report.matches("WARN").count() <= 6, "{case}: {report}");
        let is_long = disturbance == Disturbance::Restart || length > Duration::from_secs(10);
        if is_long && report.contains("WARN") {
            assert_eq!(again, 1, "{case}: {}: {report}", self.name);
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Kind::Thread { stop, thread, .. } = &mut self.kind {
            stop.store(true, Ordering::Relaxed);
            if let Some(thread) = thread.take() {
                let _ = thread.join();
            }
        }
    }
}

fn connect(endpoint: &str, options: &ClientOptions) -> Client {
    Client::connect(&endpoint.parse().unwrap(), options.clone()).unwrap()
}
