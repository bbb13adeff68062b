//! `takt watch ENDPOINT NODE…`: Values as they change, or Events.

mod event_condition;
pub(super) mod event_query;
pub(super) mod events;
mod lost;

use std::collections::HashMap;
use std::time::Duration;

use miette::IntoDiagnostic;
use takt_app::{
    Attribute, Client, ClientError, MonitoredItemOptions, Outage, Subscription, SubscriptionOptions,
};
use takt_rt::interrupt::Interrupt;
use takt_rt::time_limit::TimeLimit;
use takt_ua::{DataValue, NodeId, StatusCode};

use self::lost::LostNotifications;
use super::connect::{connect, node};
use super::described::Described;
use crate::arguments::WatchArguments;
use crate::{explain, output};

/// Longest wait for a change before the next check for an interrupt.
const STEP: Duration = Duration::from_millis(50);

pub fn run(arguments: &WatchArguments) -> miette::Result<()> {
    if arguments.events {
        return events::run(arguments);
    }
    let interrupt = Interrupt::install().into_diagnostic()?;
    let mut client = connect(&arguments.connect)?;
    let mut wanted = Vec::new();
    for text in &arguments.nodes {
        wanted.push(node(&mut client, text).map_err(|error| explain::client(&error))?);
    }
    let mut watch = Watch {
        arguments,
        interrupt,
        end: TimeLimit::of(arguments.run_for),
        shown: vec![None; wanted.len()],
        described: Described::default(),
        outage: Outage::default(),
        lost: LostNotifications::default(),
    };
    let options = SubscriptionOptions {
        publishing_interval: arguments.interval,
        ..SubscriptionOptions::default()
    };
    let result = match Subscription::create(client, options) {
        Ok(subscription) => watch.subscribe(subscription, &wanted),
        Err(error) if error.status_code() == StatusCode::BadServiceUnsupported => {
            tracing::warn!(
                "the server has no Subscriptions: its values are read every {:?}",
                arguments.interval
            );
            // The attempt has used up the first client.
            watch.poll(&mut connect(&arguments.connect)?, &wanted)
        }
        Err(error) => Err(error),
    };
    result.map_err(|error| explain::client(&error))
}

/// Watched items and their last values.
struct Watch<'a> {
    arguments: &'a WatchArguments,
    interrupt: Interrupt,
    end: TimeLimit,
    shown: Vec<Option<DataValue>>,
    described: Described,
    outage: Outage,
    lost: LostNotifications,
}

impl Watch<'_> {
    /// Watches with a Subscription.
    fn subscribe(
        &mut self,
        mut subscription: Subscription,
        wanted: &[NodeId],
    ) -> Result<(), ClientError> {
        let item = MonitoredItemOptions {
            sampling_interval: self.arguments.interval,
            ..MonitoredItemOptions::default()
        };
        let items = wanted.iter().map(|node| (node.clone(), item.clone()));
        let mut positions = HashMap::new();
        let results = subscription.monitor_all(items.collect())?;
        let mut refused = None;
        for (position, result) in results.into_iter().enumerate() {
            match result {
                Ok(handle) => {
                    positions.insert(handle, position);
                }
                Err(status) => {
                    self.show(position, wanted, DataValue::status(status));
                    let node = self.arguments.nodes.get(position);
                    let node = node.map(String::as_str).unwrap_or_default();
                    let _ = refused.get_or_insert_with(|| ClientError::operation(node, status));
                }
            }
        }
        match refused {
            // There is nothing to wait for.
            Some(error) if positions.is_empty() => return Err(error),
            Some(error) => output::warning(&error),
            None => {}
        }
        while let Some(left) = self.left() {
            match subscription.next(left.min(STEP)) {
                // Values may stay the same for long, so a connection alone ends an outage.
                Ok(None) if subscription.client().is_connected() => {
                    self.outage.ended();
                }
                Ok(None) => {}
                Ok(Some(change)) => {
                    self.outage.ended();
                    if let Some(position) = positions.get(&change.client_handle) {
                        if change.is_overflow() {
                            let node = self.arguments.nodes.get(*position);
                            self.lost.note_overflow(node.map_or("", String::as_str));
                        }
                        if let Some(node) = wanted.get(*position) {
                            let client = subscription.client();
                            self.described.learn(client, &[(node, &change.value)]);
                        }
                        self.show(*position, wanted, change.value);
                    }
                }
                Err(error) => self.outlive(error, wanted)?,
            }
            self.lost.note_messages(subscription.lost_messages());
        }
        self.lost.finish(self.arguments.connect.json);
        Ok(())
    }

    /// Watches by repeated Reads.
    fn poll(&mut self, client: &mut Client, wanted: &[NodeId]) -> Result<(), ClientError> {
        let attributes: Vec<_> = wanted
            .iter()
            .map(|node| (node.clone(), Attribute::Value))
            .collect();
        while self.left().is_some() {
            match client.read_attributes(&attributes) {
                Ok(values) => {
                    self.outage.ended();
                    let learned: Vec<_> = wanted.iter().zip(&values).collect();
                    self.described.learn(client, &learned);
                    for (position, value) in values.into_iter().enumerate() {
                        self.show(position, wanted, value);
                    }
                    self.pause(self.arguments.interval);
                }
                Err(error) => self.outlive(error, wanted)?,
            }
        }
        Ok(())
    }

    /// Returns the time until the end; `None` after the end.
    fn left(&self) -> Option<Duration> {
        if self.interrupt.is_set() {
            return None;
        }
        let left = self.end.left();
        (!left.is_zero()).then_some(left)
    }

    fn pause(&self, time: Duration) {
        if let Some(left) = self.left() {
            self.interrupt.wait(Some(time.min(left)));
        }
    }

    /// Continues after a loss of the connection, and while the server lacks memory: both may end. Until then no item has a value.
    fn outlive(&mut self, error: ClientError, wanted: &[NodeId]) -> Result<(), ClientError> {
        if !error.is_temporary() {
            return Err(error);
        }
        let pause = self.outage.failed(&error);
        for position in 0..self.shown.len() {
            let lost = DataValue::status(StatusCode::BadNoCommunication);
            self.show(position, wanted, lost);
        }
        self.pause(pause);
        Ok(())
    }

    /// Shows a value that differs from the previous one.
    fn show(&mut self, position: usize, wanted: &[NodeId], value: DataValue) {
        let (Some(text), Some(last)) = (
            self.arguments.nodes.get(position),
            self.shown.get_mut(position),
        ) else {
            return;
        };
        if !changed(last.as_ref(), &value) {
            return;
        }
        let node = wanted.get(position);
        let data_type = node.and_then(|node| self.described.data_type(node));
        if self.arguments.connect.json {
            output::line(self.described.data_value_json(text, &value, data_type));
        } else {
            let value = self.described.data_value(&value, data_type);
            output::line(format_args!("{text} = {value}"));
        }
        *last = Some(value);
    }
}

fn changed(last: Option<&DataValue>, value: &DataValue) -> bool {
    // Timestamps are left out: a value that is read again has new ones.
    last.is_none_or(|last| last.value != value.value || last.status_code() != value.status_code())
}
