//! Push of keys: the registry sets the keys of SecurityGroups at configured applications (OPC 10000-14, 8.6).
//!
//! Each target has a thread, so that one that does not answer delays no other. A push carries the current key and all future ones.
//! The next one follows after half a KeyLifetime, but after 10 s at most, because a target that was started again has no keys; and
//! at once when keys are invalidated or rotated.

mod nodes;
mod options;
mod schedule;
mod signal;
mod target;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_app::{ClientOptions, Endpoint};
use takt_space::AddressSpace;

use crate::registry::RegistryError;
use crate::security_groups::SecurityGroups;
use schedule::PushSchedule;
use target::Target;

pub use options::{PushTargetError, PushTargetOptions};
pub(crate) use signal::PushSignal;

/// Time for the threads to end before they are left alone: one may wait for a target.
const GRACE: Duration = Duration::from_millis(300);

/// The threads of the push targets. They end when this is dropped.
#[derive(Default)]
pub(crate) struct KeyPush {
    threads: Vec<(Arc<PushSignal>, JoinHandle<()>)>,
}

impl KeyPush {
    /// Shows the targets in the address space, and starts to push. `client` are the options of encrypted connections.
    pub(crate) fn start(
        targets: &[PushTargetOptions],
        groups: &Arc<SecurityGroups>,
        space: &AddressSpace,
        client: &ClientOptions,
    ) -> Result<Self, RegistryError> {
        let mut merged: BTreeMap<&str, (&Endpoint, Vec<PushSchedule>)> = BTreeMap::new();
        let now = Instant::now();
        for target in targets {
            let uri = target.application_uri.as_str();
            let (endpoint, schedules) = merged
                .entry(uri)
                .or_insert_with(|| (&target.endpoint, Vec::new()));
            if **endpoint != target.endpoint {
                return Err(RegistryError::PushTarget(uri.to_owned()));
            }
            let group = &target.security_group;
            if schedules.iter().all(|it| it.security_group != *group) {
                schedules.push(PushSchedule::new(group.clone(), now));
            }
        }
        let mut started = Self::default();
        for (uri, (endpoint, schedules)) in merged {
            let (status, signal) = (Arc::default(), Arc::default());
            let names = schedules.iter().map(|it| it.security_group.clone());
            let names: Vec<String> = names.collect();
            nodes::show(space, uri, &endpoint.to_string(), &names, &signal, &status)?;
            for name in &names {
                groups.tell_changes(name, &signal);
            }
            let target = Target {
                endpoint: endpoint.clone(),
                options: ClientOptions {
                    server_uri: Some(uri.to_owned()),
                    ..client.clone()
                },
                groups: Arc::clone(groups),
                schedules,
                signal: Arc::clone(&signal),
                status,
            };
            let thread = std::thread::Builder::new().name("push keys".to_owned());
            let thread = thread
                .spawn(move || target.run())
                .map_err(RegistryError::Thread)?;
            started.threads.push((signal, thread));
        }
        Ok(started)
    }
}

impl Drop for KeyPush {
    fn drop(&mut self) {
        for (signal, _) in &self.threads {
            signal.end();
        }
        let end = Instant::now() + GRACE;
        for (_, thread) in self.threads.drain(..) {
            while !thread.is_finished() && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}
