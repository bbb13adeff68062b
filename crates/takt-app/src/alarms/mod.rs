//! Alarms of a Provider (OPC 10000-9): Conditions that follow from the values of Variables.
//!
//! A thread looks at the values of all Variables with an alarm, compares them with their [`limits`], and reports an Event of each
//! [`condition`] that changes. The Methods of the Conditions are those of their types.

mod condition;
pub(crate) mod fields;
mod kept;
pub(crate) mod limits;
mod methods;
mod provider_alarms;
pub(crate) mod shelving;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_services::EventSink;
use takt_space::{AddressSpace, Value};
use takt_ua::{DateTime, NodeId};

use condition::{Condition, Identity};
use kept::KeptFile;
use limits::{LimitMonitor, Limits};
use provider_alarms::{Alarm, Alarms, show};
use shelving::Shelving;

pub(crate) use limits::Kind;
pub use methods::CONDITION_METHODS;

/// Interval at which values are compared with their limits.
const INTERVAL: Duration = Duration::from_millis(50);

/// An alarm that is to be watched.
pub(crate) struct Watched {
    /// ConditionId.
    pub(crate) id: NodeId,
    pub(crate) name: String,
    /// NodeId, path and value of the Variable.
    pub(crate) source: (NodeId, String, Value),
    pub(crate) needs_confirmation: bool,
    pub(crate) limits: Limits,
    pub(crate) kind: Kind,
    /// MaxTimeShelved, if it can be shelved.
    pub(crate) max_time_shelved: Option<Duration>,
}

/// The thread that watches the alarms of a Provider. Dropping it stops it.
pub(crate) struct AlarmWatch {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl AlarmWatch {
    /// Binds the Methods of Conditions, and starts the thread. The states of the last run are those of `file`, which keeps them for
    /// the next one; without it, they end with the Provider.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(
        space: &AddressSpace,
        sink: EventSink,
        watched: Vec<Watched>,
        file: Option<PathBuf>,
    ) -> std::io::Result<Self> {
        let (mut file, mut kept) = KeptFile::open(file);
        let (mut alarms, mut shelving_states) = (HashMap::new(), HashMap::new());
        for one in watched {
            let (source, source_name, value) = one.source;
            let identity = Identity {
                id: one.id.clone(),
                name: one.name,
                source,
                source_name,
                needs_confirmation: one.needs_confirmation,
                kind: one.kind,
            };
            let shelving = one.max_time_shelved.map(Shelving::new);
            let mut condition = Condition::new(identity, one.limits, shelving);
            if let Some(kept) = kept.remove(&one.id) {
                condition.restore(kept);
            }
            let active = condition.active();
            let first = condition.event(sink.new_event_id(), DateTime::now());
            let alarm = Alarm {
                value,
                monitor: Mutex::new(LimitMonitor::new(one.limits, active)),
                shown: show(space, &first).map_err(std::io::Error::other)?,
                condition: Arc::new(Mutex::new(condition)),
            };
            let shelving_state = methods::shelving_state(space, &one.id, &alarm.condition);
            if let Some(node) = shelving_state.map_err(std::io::Error::other)? {
                shelving_states.insert(node, one.id.clone());
            }
            alarms.insert(one.id, alarm);
        }
        let alarms = Arc::new(Alarms {
            sink,
            alarms,
            shelving_states,
        });
        methods::bind(space, &alarms).map_err(std::io::Error::other)?;
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::Builder::new().name("alarms".to_owned());
        let thread = thread.spawn({
            let stop = Arc::clone(&stop);
            move || {
                let mut is_first = true;
                while !stop.load(Ordering::Acquire) {
                    alarms.look(Instant::now(), is_first);
                    is_first = false;
                    file.save(&alarms.kept());
                    std::thread::park_timeout(INTERVAL);
                }
                // Methods may have changed states after the last look.
                file.save(&alarms.kept());
            }
        })?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for AlarmWatch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A thread that panicked has nothing left to do.
            let _ = thread.join();
        }
    }
}
