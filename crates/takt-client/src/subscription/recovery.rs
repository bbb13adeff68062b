//! Recovery of values: after an interruption the receiver gets the current value of each item, also of those that stayed the same.
//!
//! A Subscription reports changes. A receiver that takes an error for the end of all values, or that has missed messages, would
//! wait for the next change of each item. So the server is asked to send all values again (ResendData, OPC 10000-5, 9.2), in the
//! order of its queues. Items without a notification soon after that are read: a server may lack the Method. Events are not sent
//! again.
//!
//! A value that was read is never older than the last notification that the receiver has, and every later notification follows it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use takt_ua::{NodeId, StatusCode, Variant, ids};

use super::change::DataChange;
use super::core::{Core, Publishing};
use super::options::Monitored;
use crate::client::{Attribute, AttributeServices};
use crate::error::ClientError;

/// Time beyond two publishing intervals after which values that the server was to send again are read.
const MARGIN: Duration = Duration::from_millis(500);

impl<C: Publishing> Core<C> {
    /// Requests all values again with the next call.
    pub(crate) fn request_values(&mut self) {
        if let Some(created) = &mut self.created {
            created.recovery.request();
        }
    }

    /// Does the due part of the recovery. Returns false if the Subscription has to be created anew. What fails with the connection is
    /// repeated.
    pub(super) async fn recover(&mut self) -> Result<bool, ClientError> {
        self.resend().await?;
        self.read_awaited().await?;
        let epoch = self.client.epoch();
        let Some(created) = self.created.as_mut().filter(|it| it.epoch == epoch) else {
            return Ok(false);
        };
        let refused = created.recovery.take_refused(Instant::now());
        created.to_restore.extend(refused);
        // The loop of the caller monitors them.
        Ok(created.to_restore.is_empty())
    }

    /// Lets the server send the values again, if they are due.
    async fn resend(&mut self) -> Result<(), ClientError> {
        let Some(created) = self.created.as_mut().filter(|it| it.recovery.is_due) else {
            return Ok(());
        };
        let monitored = self.items.iter().filter(|(_, item)| {
            matches!(item.monitored, Monitored::Values(_)) && item.refused.is_none()
        });
        let awaited: BTreeSet<u32> = monitored.map(|(handle, _)| *handle).collect();
        if !awaited.is_empty() && !created.recovery.lacks_method {
            let (object, method) = (ids::SERVER.into(), ids::SERVER_RESEND_DATA.into());
            let inputs = vec![Variant::from(created.id)];
            let called = self.client.call_method(&object, &method, inputs).await;
            let Some(created) = &mut self.created else {
                return Ok(());
            };
            match called {
                Ok(_) => {}
                // A server that leaves the call unanswered may do so each time.
                Err(error @ ClientError::Timeout { .. }) => {
                    created.recovery.lacks_method = true;
                    return Err(error);
                }
                Err(error) if error.is_connection() => return Err(error),
                Err(error) if error.status_code() == StatusCode::BadSubscriptionIdInvalid => {
                    self.created = None;
                    return Ok(());
                }
                Err(error) => {
                    tracing::debug!(%error, "the server does not send values again: they are read");
                    created.recovery.lacks_method = true;
                }
            }
        }
        if let Some(created) = &mut self.created {
            let interval = created.publishing_interval;
            // What is queued at the server already arrives within one interval, and is older than a value that is read.
            let wait = match created.recovery.lacks_method {
                true => interval,
                false => interval.saturating_mul(2).saturating_add(MARGIN),
            };
            created.recovery.is_due = false;
            created.recovery.awaited = awaited;
            created.recovery.read_at = Instant::now().checked_add(wait);
        }
        Ok(())
    }

    /// Reads the values that the server has not sent again.
    async fn read_awaited(&mut self) -> Result<(), ClientError> {
        let now = Instant::now();
        let Some(created) = &mut self.created else {
            return Ok(());
        };
        let recovery = &mut created.recovery;
        if recovery.awaited.is_empty() {
            recovery.read_at = None;
        }
        if recovery.read_at.is_none_or(|at| now < at) {
            return Ok(());
        }
        let epoch = created.epoch;
        let items = recovery.awaited.iter().filter_map(|handle| {
            let item = self.items.get(handle)?;
            Some((
                *handle,
                (self.namespaces.node(item), item.monitored.attribute()),
            ))
        });
        let (handles, wanted): (Vec<u32>, Vec<(NodeId, Attribute)>) = items.unzip();
        let values = match self.client.read_attributes(&wanted).await {
            Err(error) if error.is_connection() => return Err(error),
            // A new Subscription begins with all values.
            values => values.inspect_err(|_| self.abandon())?,
        };
        if let Some(created) = self.created.as_mut().filter(|it| it.epoch == epoch) {
            created.recovery.awaited.clear();
            created.recovery.read_at = None;
            // In another session, the NodeIds may be those of other nodes.
            if self.client.epoch() == epoch {
                let changes = handles.into_iter().zip(values);
                self.changes
                    .extend(changes.map(|(client_handle, value)| DataChange {
                        client_handle,
                        value,
                    }));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
