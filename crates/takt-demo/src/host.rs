//! The Provider `HostTelemetry`: live data of this machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use sysinfo::{Components, Networks, System};
use takt_app::{Method, Provider, ProviderBuilder, ProviderError, Unit, Variable};
use takt_cell::Cell;
use takt_ua::{BuiltInType, DateTime, NodeId, StatusCode, Variant, ids};

/// ApplicationName of the Provider.
pub const NAME: &str = "HostTelemetry";

/// Number of samples in `ContextSwitches/Samples`.
pub const SAMPLES: usize = 1024;

/// Shortest sampling interval that a client may request.
const FASTEST: Duration = Duration::from_millis(10);
const SLOWEST: Duration = Duration::from_secs(60);
const DEFAULT_INTERVAL: Duration = Duration::from_millis(200);

/// Starts the Provider `HostTelemetry` with the options of `builder`, and its sampling thread.
pub fn start(builder: ProviderBuilder) -> Result<Provider, ProviderError> {
    let mut telemetry = Telemetry::new();
    let interval = Arc::new(Interval::new(DEFAULT_INTERVAL));
    let (wake, woken) = mpsc::channel();

    let mut builder = builder;
    for variable in telemetry.variables() {
        builder = builder.variable(variable);
    }
    let shown = Arc::clone(&interval);
    let provider = builder
        .variable(
            Variable::callback("SamplingInterval", BuiltInType::Double, move || {
                shown.millis()
            })
            .data_type(NodeId::numeric(0, ids::DURATION))
            .inline(),
        )
        .method(set_sampling_interval(&interval, wake))
        .start()?;

    std::thread::Builder::new()
        .name("telemetry".to_owned())
        .spawn(move || {
            loop {
                telemetry.sample();
                if let Err(RecvTimeoutError::Disconnected) = woken.recv_timeout(interval.get()) {
                    return;
                }
            }
        })
        .map_err(ProviderError::Thread)?;
    Ok(provider)
}

/// Creates `SetSamplingInterval(Duration) -> Duration`: sets the nearest possible interval, and returns it.
fn set_sampling_interval(interval: &Arc<Interval>, wake: Sender<()>) -> Method {
    let interval = Arc::clone(interval);
    let duration = NodeId::numeric(0, ids::DURATION);
    Method::new("SetSamplingInterval", move |inputs| {
        let Some(&Variant::Double(wanted)) = inputs.first() else {
            return Err(StatusCode::BadInvalidArgument);
        };
        if !wanted.is_finite() || wanted < 0.0 {
            return Err(StatusCode::BadOutOfRange);
        }
        let wanted = Duration::try_from_secs_f64(wanted / 1000.0).unwrap_or(SLOWEST);
        interval.set(wanted.clamp(FASTEST, SLOWEST));
        // The thread ends with the process, so a failure is ignored.
        let _ = wake.send(());
        Ok(vec![interval.millis().into()])
    })
    .inline()
    .input("SamplingInterval", duration.clone())
    .output("RevisedSamplingInterval", duration)
}

/// Sampling interval, set by clients and read by the sampling thread.
struct Interval(AtomicU64);

impl Interval {
    fn new(interval: Duration) -> Self {
        let new = Self(AtomicU64::new(0));
        new.set(interval);
        new
    }

    fn set(&self, interval: Duration) {
        let micros = u64::try_from(interval.as_micros()).unwrap_or(u64::MAX);
        self.0.store(micros, Ordering::Relaxed);
    }

    fn get(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }

    fn millis(&self) -> f64 {
        self.get().as_secs_f64() * 1000.0
    }
}

/// Sources of the samples, and the cells for them.
struct Telemetry {
    system: System,
    networks: Networks,
    components: Components,
    cores: Vec<Arc<Cell>>,
    memory_used: Arc<Cell>,
    memory_available: Arc<Cell>,
    uptime: Arc<Cell>,
    temperatures: Vec<(String, Arc<Cell>)>,
    counters: Vec<(String, InterfaceCells)>,
    switches: Arc<Cell>,
    samples: Arc<Cell>,
    history: Vec<u32>,
}

struct InterfaceCells {
    bytes_received: Arc<Cell>,
    bytes_sent: Arc<Cell>,
    packets_received: Arc<Cell>,
    packets_sent: Arc<Cell>,
}

/// Creates a cell in memory that Consumers can read without a request, if there is any left.
fn cell(initial: impl Into<Variant>) -> Arc<Cell> {
    let initial = initial.into();
    let cell = Cell::of(&initial);
    Arc::new(cell.share().unwrap_or_else(|_| Cell::of(&initial)))
}

impl InterfaceCells {
    fn new() -> Self {
        Self {
            bytes_received: cell(0_u64),
            bytes_sent: cell(0_u64),
            packets_received: cell(0_u64),
            packets_sent: cell(0_u64),
        }
    }
}

impl Telemetry {
    fn new() -> Self {
        let mut system = System::new();
        // A usage is the difference of two refreshes: the first sample has one then.
        system.refresh_cpu_usage();
        system.refresh_memory();
        let networks = Networks::new_with_refreshed_list();
        let components = Components::new_with_refreshed_list();
        let mut interfaces: Vec<String> = networks.keys().cloned().collect();
        interfaces.sort();
        Self {
            cores: system.cpus().iter().map(|_| cell(0.0_f64)).collect(),
            memory_used: cell(0_u64),
            memory_available: cell(0_u64),
            uptime: cell(0_u64),
            temperatures: components
                .iter()
                .filter(|component| component.temperature().is_some())
                .map(|component| (component.label().to_owned(), cell(0.0_f64)))
                .collect(),
            counters: interfaces
                .into_iter()
                .map(|interface| (interface, InterfaceCells::new()))
                .collect(),
            switches: cell(0_u64),
            samples: Arc::new(Cell::for_type(BuiltInType::UInt32, Some(SAMPLES), 0)),
            history: vec![0; SAMPLES],
            system,
            networks,
            components,
        }
    }

    /// Returns the Variables, each with name, type, unit and range.
    fn variables(&self) -> Vec<Variable> {
        let mut variables = Vec::new();
        for (number, core) in self.cores.iter().enumerate() {
            variables.push(
                Variable::cell(format!("Cpu/Core{number}/Load"), core)
                    .unit(Unit::PERCENT)
                    .range(0.0..100.0),
            );
        }
        // The number is exact up to 2^53 bytes, more than any machine has.
        #[allow(clippy::cast_precision_loss)]
        let total = self.system.total_memory() as f64;
        variables
            .push(Variable::stored("Memory/Total", self.system.total_memory()).unit(Unit::BYTE));
        for (name, cell) in [
            ("Used", &self.memory_used),
            ("Available", &self.memory_available),
        ] {
            variables.push(
                Variable::cell(format!("Memory/{name}"), cell)
                    .unit(Unit::BYTE)
                    .range(0.0..total),
            );
        }
        for (label, cell) in &self.temperatures {
            variables.push(
                Variable::cell(format!("Temperature/{}", segment(label)), cell)
                    .unit(Unit::DEGREE_CELSIUS)
                    .range(-40.0..125.0),
            );
        }
        for (interface, cells) in &self.counters {
            let path = |name| format!("Network/{}/{name}", segment(interface));
            variables.extend([
                Variable::cell(path("BytesReceived"), &cells.bytes_received).unit(Unit::BYTE),
                Variable::cell(path("BytesSent"), &cells.bytes_sent).unit(Unit::BYTE),
                Variable::cell(path("PacketsReceived"), &cells.packets_received),
                Variable::cell(path("PacketsSent"), &cells.packets_sent),
            ]);
        }
        variables.push(Variable::cell("Uptime", &self.uptime).unit(Unit::SECOND));
        variables.push(Variable::cell("ContextSwitches/Total", &self.switches));
        variables
            .push(Variable::cell("ContextSwitches/Samples", &self.samples).array(SAMPLES as u32));
        variables
    }

    /// Reads all sources once and sets the cells.
    fn sample(&mut self) {
        self.system.refresh_cpu_usage();
        self.system.refresh_memory();
        // `true` forgets interfaces that were removed: their counts are marked as old below.
        self.networks.refresh(true);
        self.components.refresh(false);
        let time = DateTime::now();
        let good = StatusCode::Good;
        // The cells were made for these types, so that setting them cannot fail.
        for (core, cell) in self.system.cpus().iter().zip(&self.cores) {
            let _ = cell.set_f64(f64::from(core.cpu_usage()), good, time);
        }
        let _ = self
            .memory_used
            .set_u64(self.system.used_memory(), good, time);
        let _ = self
            .memory_available
            .set_u64(self.system.available_memory(), good, time);
        let _ = self.uptime.set_u64(System::uptime(), good, time);
        for (label, cell) in &self.temperatures {
            let temperature = self
                .components
                .iter()
                .find(|component| component.label() == label)
                .and_then(|component| component.temperature());
            let _ = match temperature {
                Some(celsius) => cell.set_f64(f64::from(celsius), good, time),
                None => cell.set_f64(0.0, StatusCode::BadSensorFailure, time),
            };
        }
        for (interface, cells) in &self.counters {
            // An interface that was removed keeps its last counts, with a StatusCode that marks them as old.
            let (status, counts) = match self.networks.get(interface) {
                Some(data) => (
                    good,
                    Some([
                        data.total_received(),
                        data.total_transmitted(),
                        data.total_packets_received(),
                        data.total_packets_transmitted(),
                    ]),
                ),
                None => (StatusCode::UncertainLastUsableValue, None),
            };
            cells.set(counts, status, time);
        }
        self.sample_context_switches(time);
    }

    fn sample_context_switches(&mut self, time: DateTime) {
        let Some(total) = context_switches() else {
            let _ = self.switches.set_u64(0, StatusCode::BadSensorFailure, time);
            return;
        };
        let _ = self.switches.set_u64(total, StatusCode::Good, time);
        self.history.rotate_left(1);
        if let Some(last) = self.history.last_mut() {
            // The lower half of the counter suffices: differences of samples are right even when it wraps.
            #[allow(clippy::cast_possible_truncation)]
            let low = total as u32;
            *last = low;
        }
        let _ = self.samples.set_u32s(&self.history, StatusCode::Good, time);
    }
}

impl InterfaceCells {
    fn set(&self, counts: Option<[u64; 4]>, status: StatusCode, time: DateTime) {
        let cells = [
            &self.bytes_received,
            &self.bytes_sent,
            &self.packets_received,
            &self.packets_sent,
        ];
        for (number, cell) in cells.into_iter().enumerate() {
            let count = match (counts, cell.get().map(|last| last.value)) {
                (Some(counts), _) => counts[number],
                (None, Ok(Some(Variant::UInt64(last)))) => last,
                (None, _) => 0,
            };
            let _ = cell.set_u64(count, status, time);
        }
    }
}

/// Returns the number of context switches since the start of the system: `ctxt` of proc_stat(5).
fn context_switches() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().find_map(|line| line.strip_prefix("ctxt "))?;
    line.trim().parse().ok()
}

/// Returns the name without characters that are special in a path.
fn segment(name: &str) -> String {
    name.replace(['/', '#', ':'], "_")
}
