//! Followers of two Variables, as applications use them: an error of the connection means that all values are bad.

use std::collections::HashMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use takt_app::{
    Client, ClientOptions, DataValue, DateTime, Mirror, MonitoredItemOptions, NodeId, Subscription,
    SubscriptionOptions, Variant,
};
use takt_tests::process::Process;

use super::case::Disturbance;
use super::good::Good;
use super::receiver::Receiver;

/// NodeIds of the Variables at a server.
pub(super) struct Nodes {
    pub(super) constant: NodeId,
    pub(super) changing: NodeId,
}

impl Nodes {
    pub(super) fn items(&self) -> Vec<(NodeId, MonitoredItemOptions)> {
        let nodes = [&self.constant, &self.changing];
        let item = |node: &&NodeId| (NodeId::clone(node), MonitoredItemOptions::default());
        nodes.iter().map(item).collect()
    }
}

/// Good values by the handles of their items; the others are bad.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<HashMap<u32, Good>>>);

impl Shown {
    fn set(&self, handle: u32, value: &DataValue) {
        let mut shown = self.0.lock().unwrap();
        match Good::of(value) {
            Some(good) => shown.insert(handle, good),
            None => shown.remove(&handle),
        };
    }

    fn clear(&self) {
        self.0.lock().unwrap().clear();
    }

    fn get(&self, handle: u32) -> Option<Good> {
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
    /// A process that prints rows as `takt watch … --json` does.
    Rows {
        process: Box<Process>,
        command: Command,
        nodes: [String; 2],
        shown: HashMap<String, Option<Good>>,
    },
    /// `takt publish --from`, and a receiver of its messages.
    Published {
        process: Box<Process>,
        command: Command,
        receiver: Receiver,
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

    /// Starts a process that prints the rows of these nodes, in this order.
    pub(super) fn rows(name: &str, mut command: Command, nodes: [String; 2]) -> Self {
        Self {
            name: name.to_owned(),
            kind: Kind::Rows {
                process: Box::new(Process::spawn(name, &mut command)),
                command,
                nodes,
                shown: HashMap::new(),
            },
        }
    }

    /// Starts a Publisher.
    pub(super) fn publisher(name: &str, mut command: Command, receiver: Receiver) -> Self {
        Self {
            name: name.to_owned(),
            kind: Kind::Published {
                process: Box::new(Process::spawn(name, &mut command)),
                command,
                receiver,
            },
        }
    }

    /// Returns the constant value; `None` if it is bad.
    pub(super) fn constant(&mut self) -> Option<Variant> {
        self.value(0).map(|good| good.value)
    }

    /// Returns the value that changes; `None` if it is bad.
    pub(super) fn changing(&mut self) -> Option<Good> {
        self.value(1)
    }

    fn value(&mut self, at: usize) -> Option<Good> {
        match &mut self.kind {
            Kind::Mirror(mirror, nodes) => {
                let cell = &mirror.cells()[[&nodes.constant, &nodes.changing][at]];
                Good::of(&cell.get().ok()?)
            }
            Kind::Thread { shown, handles, .. } => shown.get(handles[at]),
            Kind::Rows {
                process,
                nodes,
                shown,
                ..
            } => {
                while let Some(line) = process.try_line() {
                    // A helper process is a test, whose harness says more.
                    if let Some((node, good)) = row(&line) {
                        shown.insert(node, good);
                    }
                }
                shown.get(&nodes[at]).cloned().flatten()
            }
            Kind::Published { receiver, .. } => receiver.value(at),
        }
    }

    /// Returns the process of the follower, if it has its own, and its command.
    fn process(&mut self) -> Option<(&mut Process, &mut Command)> {
        match &mut self.kind {
            Kind::Rows {
                process, command, ..
            }
            | Kind::Published {
                process, command, ..
            } => Some((process, command)),
            _ => None,
        }
    }

    /// Sends a signal to the process of the follower, if it has its own.
    pub(super) fn signal(&mut self, signal: Signal) {
        if let Some((process, _)) = self.process() {
            process.signal(signal);
        }
    }

    /// Starts the process of the follower again, if it has its own.
    pub(super) fn restart(&mut self) {
        let name = self.name.clone();
        if let Some((process, command)) = self.process() {
            process.kill();
            *process = Process::spawn(&name, command);
        }
        if let Kind::Rows { shown, .. } = &mut self.kind {
            shown.clear();
        }
    }

    /// Checks that the log says at most once that the server is away, and that it is back.
    pub(super) fn check_log(&mut self, disturbance: Disturbance, length: Duration, case: &str) {
        let Some((process, _)) = self.process() else {
            return;
        };
        let report = process.report();
        let again = report.matches("connected again").count();
        assert!(again <= 1, "{case}: {}: {report}", self.name);
        assert!(report.matches("WARN").count() <= 6, "{case}: {report}");
        let is_long = disturbance == Disturbance::Restart || length > Duration::from_secs(10);
        // A server that waited for a stopped client may end the Subscription alone, so that the connection was never lost.
        let mut warnings = report.lines().filter(|line| line.contains("WARN"));
        if is_long && warnings.any(|line| !line.contains("has ended the Subscription")) {
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

/// Returns the node of a row, and its value.
fn row(line: &str) -> Option<(String, Option<Good>)> {
    let row: Value = serde_json::from_str(line).ok()?;
    let status = row["status"].as_str().unwrap_or("Good");
    let time = row["sourceTimestamp"].as_str().unwrap_or_default();
    let good = row["value"].as_f64().filter(|_| status.starts_with("Good"));
    let good = good.map(|value| Good {
        value: Variant::Double(value),
        since: time.parse().unwrap_or(DateTime::MIN),
    });
    Some((row["node"].as_str()?.to_owned(), good))
}

fn connect(endpoint: &str, options: &ClientOptions) -> Client {
    Client::connect(&endpoint.parse().unwrap(), options.clone()).unwrap()
}
