//! Thread of a mirror: keeps the copy and its values up to date while the server is there, and comes back when it does.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use takt_app::client::Client;
use takt_app::{
    Attribute, ClientError, ClientOptions, DataChange, MonitoredItemOptions, Subscription,
    SubscriptionOptions,
};
use takt_rt::pauses::{Pauses, jittered};
use takt_space::StoredValue;
use takt_ua::binary::Encode;
use takt_ua::{DataValue, NodeId, StatusCode};

use super::budget;
use super::copy::Copy;
use super::options::MirrorOptions;
use super::problem;
use super::scan::{Scan, ScanError, scan};
use super::silence::Silence;
use super::unreadable::Unreadable;
use crate::forwarding::{Gateway, Maps, Naming};

/// Pause before the first attempt to come back, and the longest one. A server that is back is found within the latter.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Pause after the first refusal that lasts until somebody acts, and the longest one. Servers lock out users that try more often.
const SHORTEST_REFUSED: Duration = Duration::from_secs(30);
const LONGEST_REFUSED: Duration = Duration::from_secs(300);

/// Pause after the first attempt that a server answers wrongly, or with a refusal, and the longest one. Each attempt takes one of
/// its sessions for a while.
const SHORTEST_FAULTY: Duration = Duration::from_millis(500);
const LONGEST_FAULTY: Duration = Duration::from_secs(20);

/// Pause after a refusal before the login, which counts for no user.
const BEFORE_LOGIN: Duration = Duration::from_secs(4);

/// Longest wait for a change before the thread looks at other things.
const LOOK: Duration = Duration::from_millis(50);

/// Time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Lifetime of the Subscription without a request, in publishing intervals.
const LIFETIME: u32 = 40;

/// Least time between two scans after a reconnection.
const RESCAN: Duration = Duration::from_secs(5);

/// Thread of one mirror.
pub(super) struct Follower {
    pub(super) options: MirrorOptions,
    pub(super) client: ClientOptions,
    pub(super) copy: Copy,
    pub(super) gateway: Arc<Gateway>,
    pub(super) naming: Naming,
    pub(super) stop: Arc<AtomicBool>,
    /// Bytes of the kept values.
    pub(super) kept: usize,
    pub(super) last_scan: Option<Instant>,
    /// Values that cannot be decoded.
    pub(super) unreadable: Unreadable,
}

/// A Subscription for the values of all Variables, in one session.
struct Followed {
    subscription: Subscription,
    /// Values by the handles of the Subscription.
    targets: HashMap<u32, (NodeId, Arc<StoredValue>)>,
    /// NamespaceIndexes of the session.
    maps: Maps,
    silence: Silence,
}

impl Follower {
    /// Runs until the registry ends.
    pub(super) fn run(mut self) {
        let mut pauses = Pauses::new(SHORTEST_PAUSE, LONGEST_PAUSE);
        let mut faulty = Pauses::new(SHORTEST_FAULTY, LONGEST_FAULTY);
        let mut refused = Pauses::new(SHORTEST_REFUSED, LONGEST_REFUSED);
        let mut logged = String::new();
        while !self.is_stopped() {
            let begin = Instant::now();
            let error = match self.follow() {
                Ok(()) | Err(ScanError::Stopped) => return,
                Err(error) => error,
            };
            let is_lasting = problem::is_lasting(&error);
            let is_faulty = problem::is_faulty(&error);
            let is_before_login = problem::is_before_login(&error);
            let error = problem::text(&error, &self.options);
            self.gateway.set_available(false);
            self.mark_away();
            self.copy.show(false, &error);
            if error != logged {
                tracing::warn!(mirror = self.options.name, %error, "the mirrored server is away");
                logged = error;
            }
            let pause = match is_lasting {
                true if is_before_login => BEFORE_LOGIN,
                true => refused.grow(),
                false => {
                    if begin.elapsed() > LONGEST_PAUSE {
                        pauses.reset();
                        refused.reset();
                    }
                    if begin.elapsed() > LONGEST_FAULTY {
                        faulty.reset();
                    }
                    match is_faulty {
                        true => faulty.grow(),
                        false => pauses.grow(),
                    }
                }
            };
            self.sleep(jittered(pause));
        }
    }

    /// Connects, and follows the values until the connection ends.
    fn follow(&mut self) -> Result<(), ScanError> {
        let mut client = Client::new(&self.options.endpoint, self.client_options());
        let mut maps = Maps::default();
        // A copy that exists gets its values first: a scan takes longer.
        let mut is_current = self.copy.values().is_empty();
        if is_current {
            let found = scan(&mut client, &self.stop)?;
            self.update(&found)?;
        }
        self.naming.update(&mut client, &mut maps)?;
        self.gateway.set_available(true);
        if !is_current {
            // Many servers take seconds to create MonitoredItems, and much less to read.
            self.read(&mut client, &maps)?;
        }
        let mut followed = self.subscribe(client, maps)?;
        self.show_available();
        tracing::info!(
            mirror = self.options.name,
            variables = followed.targets.len(),
            "mirrored"
        );
        let mut scanning: Option<Receiver<Result<Scan, ScanError>>> = None;
        let mut lacks_connection = false;
        loop {
            if self.is_stopped() {
                return Ok(());
            }
            let change = followed.subscription.next(LOOK)?;
            self.leave_unreadable(&mut followed);
            if change.is_none() || followed.silence.is_silent() {
                self.notice_silence(&mut followed);
            }
            let Followed {
                subscription, maps, ..
            } = &mut followed;
            // In another session, the NodeIds of the items may be those of other nodes.
            is_in_session(subscription.client(), maps)?;
            if let Some(change) = change {
                self.take(&mut followed, change);
            }
            is_current &= !self.copy.has_inherited();
            if self.lacks_connection() != lacks_connection {
                lacks_connection = !lacks_connection;
                self.show_connections(lacks_connection);
            }
            if !is_current && scanning.is_none() && self.may_scan() {
                scanning = Some(self.begin_scan());
            }
            let Some(found) = scanning.as_ref().map(Receiver::try_recv) else {
                continue;
            };
            match found {
                Err(TryRecvError::Empty) => continue,
                Err(TryRecvError::Disconnected) => return Err(ScanError::Stopped),
                // The values flow on without it.
                Ok(Err(_)) if self.lacks_connection() => scanning = None,
                Ok(found) => {
                    let before = self.copy.values().clone();
                    self.update(&found?)?;
                    if self.has_other_values(&before) {
                        let client = Client::new(&self.options.endpoint, self.client_options());
                        followed = self.subscribe(client, Maps::default())?;
                    } else {
                        let client = followed.subscription.client();
                        is_in_session(client, &followed.maps)?;
                        self.naming.update(client, &mut followed.maps)?;
                    }
                    (scanning, is_current) = (None, true);
                }
            }
        }
    }

    /// Marks the values while the server hangs, before its connection counts as lost. The next message brings all of them back.
    fn notice_silence(&self, followed: &mut Followed) {
        let silence = &mut followed.silence;
        if !silence.note(&self.options, &followed.subscription) {
            return;
        }
        if silence.is_silent() {
            self.mark_away();
            self.copy.show(true, problem::SILENT);
            if silence.is_to_be_said() {
                tracing::warn!(mirror = self.options.name, "{}", problem::SILENT);
            }
        } else {
            followed.subscription.request_values();
            self.show_available();
        }
    }

    /// Returns true if the server has not opened a connection that was needed besides this one (reverse connect).
    fn lacks_connection(&self) -> bool {
        self.client.lacks_connection(&self.options.endpoint)
    }

    fn show_connections(&self, lacks_connection: bool) {
        if lacks_connection {
            let text = problem::too_few_connections();
            tracing::warn!(mirror = self.options.name, "{text}");
        }
        self.show_available();
    }

    /// Shows that the server is there, and what is wrong all the same.
    fn show_available(&self) {
        let mut problems = Vec::new();
        if self.lacks_connection() {
            problems.push(problem::too_few_connections());
        }
        problems.push(self.unreadable.text());
        problems.retain(|text| !text.is_empty());
        self.copy.show(true, &problems.join("; "));
    }

    /// Notes whether a value can be decoded.
    fn note(&mut self, node: &NodeId, value: &DataValue, maps: &Maps) {
        let copy = &self.copy;
        let name = || copy.name_of(node, &maps.to_server.node_id(node));
        if self.unreadable.note(node, value, name) {
            self.show_available();
        }
    }

    /// Lets Variables be read at the server for each Read, after whose values nothing else of a message can be decoded.
    fn leave_unreadable(&mut self, followed: &mut Followed) {
        for handle in followed.subscription.take_unreadable() {
            if let Some((node, _)) = followed.targets.remove(&handle) {
                let bad = DataValue::status(StatusCode::BadDecodingError);
                self.note(&node, &bad, &followed.maps);
                self.copy.read_live(&node);
            }
        }
    }

    /// Returns true if the copy has other values than before: they must be subscribed anew.
    fn has_other_values(&self, before: &HashMap<NodeId, Arc<StoredValue>>) -> bool {
        let values = self.copy.values();
        let is_same = |(node, value): (&NodeId, &Arc<StoredValue>)| {
            before
                .get(node)
                .is_some_and(|before| Arc::ptr_eq(before, value))
        };
        values.len() != before.len() || !values.iter().all(is_same)
    }

    fn may_scan(&self) -> bool {
        self.last_scan.is_none_or(|last| last.elapsed() >= RESCAN)
    }

    /// Scans the server on a thread and a connection of its own, so that values flow meanwhile.
    fn begin_scan(&mut self) -> Receiver<Result<Scan, ScanError>> {
        self.last_scan = Some(Instant::now());
        let (sender, receiver) = channel();
        let (endpoint, options) = (self.options.endpoint.clone(), self.client_options());
        let stop = Arc::clone(&self.stop);
        let thread = std::thread::Builder::new().name("mirror-scan".to_owned());
        let started = thread.spawn(move || {
            let mut client = Client::new(&endpoint, options);
            // Nobody waits for it if the registry ends, or the connection did.
            let _ = sender.send(scan(&mut client, &stop));
        });
        if let Err(error) = started {
            tracing::warn!(mirror = self.options.name, %error, "the server is not scanned again");
        }
        receiver
    }

    fn update(&mut self, found: &Scan) -> Result<(), ScanError> {
        let begin = Instant::now();
        let updated = self.copy.update(found);
        updated.map_err(|error| {
            ScanError::Client(ClientError::Invalid(format!(
                "its nodes cannot be copied: {error}"
            )))
        })?;
        self.last_scan = Some(Instant::now());
        tracing::info!(
            mirror = self.options.name,
            nodes = found.nodes.len(),
            milliseconds = begin.elapsed().as_millis(),
            "copied"
        );
        Ok(())
    }

    /// Monitors all Variables, each with one item.
    fn subscribe(&mut self, mut client: Client, mut maps: Maps) -> Result<Followed, ScanError> {
        self.naming.update(&mut client, &mut maps)?;
        let options = SubscriptionOptions {
            publishing_interval: self.options.interval,
            // A server that hangs is noticed soon.
            max_keep_alive_count: 1,
            lifetime_count: LIFETIME,
            ..SubscriptionOptions::default()
        };
        let mut subscription = Subscription::create(client, options)?;
        let item = MonitoredItemOptions {
            sampling_interval: self.options.interval,
            ..MonitoredItemOptions::default()
        };
        let values: Vec<(NodeId, Arc<StoredValue>)> = self
            .copy
            .values()
            .iter()
            .map(|(node, value)| (node.clone(), Arc::clone(value)))
            .collect();
        let items = values
            .iter()
            .map(|(node, _)| (maps.to_server.node_id(node), item.clone()));
        let results = subscription.monitor_all(items.collect())?;
        is_in_session(subscription.client(), &maps)?;
        let mut targets = HashMap::new();
        for ((node, value), result) in values.into_iter().zip(results) {
            match result {
                Ok(handle) => {
                    targets.insert(handle, (node, value));
                }
                Err(status) => value.set_data_value(&DataValue::status(status)),
            }
        }
        Ok(Followed {
            subscription,
            targets,
            maps,
            silence: Silence::default(),
        })
    }

    /// Reads all values once.
    fn read(&mut self, client: &mut Client, maps: &Maps) -> Result<(), ScanError> {
        let nodes: Vec<NodeId> = self.copy.values().keys().cloned().collect();
        for batch in nodes.chunks(budget::READ) {
            if self.is_stopped() {
                return Err(ScanError::Stopped);
            }
            let wanted: Vec<(NodeId, Attribute)> = batch
                .iter()
                .map(|node| (maps.to_server.node_id(node), Attribute::Value))
                .collect();
            let values = client.read_attributes(&wanted)?;
            is_in_session(client, maps)?;
            for (node, value) in batch.iter().zip(values) {
                self.note(node, &value, maps);
                let target = self.copy.values().get(node).map(Arc::clone);
                if let Some(target) = target {
                    // A value that is too large comes again with the Subscription.
                    let _ = self.keep(&target, value, maps);
                }
            }
        }
        Ok(())
    }

    /// Keeps a value; returns false if it is too large.
    fn keep(&mut self, target: &StoredValue, mut value: DataValue, maps: &Maps) -> bool {
        if let Some(value) = &mut value.value {
            maps.to_registry.replace(value);
        }
        let size = value
            .value
            .as_ref()
            .map_or(0, |value| value.encode_to_vec().len());
        let kept = (self.kept + size).saturating_sub(target.size_of_value());
        let fits = size <= budget::MAX_VALUE && kept <= budget::MAX_VALUES;
        if fits {
            self.kept = kept;
            target.set_data_value(&value);
        }
        fits
    }

    /// Keeps a changed value. Values that are too large are read at the server from now on.
    fn take(&mut self, followed: &mut Followed, change: DataChange) {
        let DataChange {
            client_handle,
            value,
        } = change;
        let Some((node, target)) = followed.targets.get(&client_handle) else {
            return;
        };
        let (node, target) = (node.clone(), Arc::clone(target));
        self.note(&node, &value, &followed.maps);
        if self.keep(&target, value, &followed.maps) {
            return;
        }
        self.kept = self.kept.saturating_sub(target.size_of_value());
        followed.targets.remove(&client_handle);
        self.copy.read_live(&node);
        // The server may refuse; its further changes find no target.
        let _ = followed.subscription.forget(client_handle);
    }

    /// Marks all values: they are the last ones.
    fn mark_away(&self) {
        for value in self.copy.values().values() {
            let current = value.get();
            let has_value = current.value.is_some_and(|value| !value.is_empty());
            value.set_status(match has_value {
                true => StatusCode::UncertainLastUsableValue,
                false => StatusCode::BadNoCommunication,
            });
        }
    }

    fn client_options(&self) -> ClientOptions {
        ClientOptions {
            timeout: TIMEOUT,
            max_memory: budget::MAX_ANSWERS,
            ..self.client.clone()
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn sleep(&self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end && !self.is_stopped() {
            std::thread::sleep(LOOK.min(time));
        }
    }
}

/// Checks that the maps are those of the session of `client`: another session may have other NamespaceIndexes.
fn is_in_session(client: &Client, maps: &Maps) -> Result<(), ScanError> {
    match maps.are_of(client) {
        true => Ok(()),
        false => Err(ScanError::OtherSession),
    }
}
