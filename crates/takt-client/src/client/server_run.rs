//! Runs of a server, from one start to the next.
//!
//! A server may count its Sessions and Subscriptions from the same numbers in each run. After a restart the AuthenticationToken of one
//! client is then that of another client, whose Subscription has the same id and the same ClientHandles, and other nodes.

use std::time::{Duration, Instant};

use takt_ua::structures::{ReadRequest, ReadResponse, ReadValueId};
use takt_ua::{DateTime, NodeId, Variant, ids};

use super::connection::Connection;
use super::message::request_header;
use crate::error::ClientError;

/// AttributeId of the Value (OPC 10000-6, A.1).
const VALUE: u32 = 13;

/// CurrentTime of a server may be this old.
const MARGIN: Duration = Duration::from_secs(2);

/// The run of a server in which a Session was created.
#[derive(Debug)]
pub(super) struct ServerRun {
    /// StartTime of the server, if it has one.
    start: Option<DateTime>,
    /// Creation of the Session.
    since: Instant,
}

/// Times of the ServerStatus (OPC 10000-5, 12.10).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ServerTimes {
    start: Option<DateTime>,
    now: Option<DateTime>,
}

impl ServerTimes {
    /// Reads the times in an activated Session. Times that cannot be read are missing.
    ///
    /// # Errors
    /// Those of the connection.
    pub(super) async fn read<T: Connection>(
        transport: &mut T,
        token: &NodeId,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let nodes = [
            ids::SERVER_SERVER_STATUS_START_TIME,
            ids::SERVER_SERVER_STATUS_CURRENT_TIME,
        ];
        let nodes_to_read = nodes.map(|node| ReadValueId {
            node_id: node.into(),
            attribute_id: VALUE,
            ..ReadValueId::default()
        });
        let request = ReadRequest {
            request_header: request_header(token, 4, timeout),
            nodes_to_read: nodes_to_read.into(),
            ..ReadRequest::default()
        };
        let response: ReadResponse = match transport.exchange_one(&request, timeout).await {
            Err(error) if error.is_connection() => return Err(error),
            Err(_) => return Ok(Self::default()),
            Ok(response) => response,
        };
        let time = |at: usize| match response.results.get(at)?.value {
            Some(Variant::DateTime(time)) if time != DateTime::MIN => Some(time),
            _ => None,
        };
        Ok(Self {
            start: time(0),
            now: time(1),
        })
    }
}

impl ServerRun {
    /// Returns the run of a Session that is created now. Its StartTime is not known.
    pub(super) fn begun() -> Self {
        Self {
            start: None,
            since: Instant::now(),
        }
    }

    pub(super) fn know(&mut self, times: ServerTimes) {
        self.start = times.start;
    }

    /// Returns true if the server with these times has certainly not started since the creation of the Session.
    pub(super) fn goes_on(&self, times: ServerTimes) -> bool {
        self.goes_on_after(self.since.elapsed(), times)
    }

    fn goes_on_after(&self, age: Duration, times: ServerTimes) -> bool {
        match (self.start, times.start, times.now) {
            (Some(before), Some(start), _) => before == start,
            (None, Some(start), Some(now)) => {
                let ticks = u64::try_from(now.0.saturating_sub(start.0)).unwrap_or(0);
                // A tick is 100 ns (OPC 10000-6, 5.2.2.5).
                let uptime = Duration::from_micros(ticks / 10);
                uptime.saturating_add(MARGIN) >= age
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_known_begin_is_judged_by_its_length() {
        let run = ServerRun::begun();
        let times = |start: i64, now: i64| ServerTimes {
            start: Some(DateTime(start * 10_000_000)),
            now: Some(DateTime(now * 10_000_000)),
        };
        let age = Duration::from_secs(60);
        assert!(run.goes_on_after(age, times(100, 160)));
        assert!(!run.goes_on_after(age, times(130, 160)));
        assert!(!run.goes_on_after(age, times(160, 100)));
        assert!(!run.goes_on_after(age, ServerTimes::default()));
    }
}
