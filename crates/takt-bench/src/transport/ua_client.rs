//! Reads over a Session with a server in another process, ours or a foreign one.

use std::cell::RefCell;
use std::time::Duration;

use takt_app::{Client, ClientOptions, Endpoint};

use super::error::BenchError;
use super::payload::Payload;
use super::round_trip::{RoundTrip, Wait};
use super::subject;

/// Longer than any answer takes; what takes longer is an error.
const TIMEOUT: Duration = Duration::from_secs(2);

/// An application's client. Requests are encoded beforehand and responses not decoded, so that the server and what is in
/// between are measured.
pub(super) struct UaClient {
    client: Client,
    /// What was measured, for errors.
    what: String,
    reads: [Read; 2],
}

/// The Read of one payload.
#[derive(Debug, Default)]
struct Read {
    request: Vec<u8>,
    /// Bytes of the response.
    response: usize,
}

impl UaClient {
    /// Connects, and sees that the server answers what it should: from then on only the length is looked at.
    pub(super) fn connect(
        what: &str,
        endpoint: &str,
        namespace: u16,
        wait: Wait,
    ) -> Result<Self, BenchError> {
        let endpoint: Endpoint = endpoint.parse().map_err(BenchError::round_trip(what))?;
        let options = ClientOptions {
            timeout: TIMEOUT,
            waiting: wait.policy(),
            ..ClientOptions::named("TaktBenchClient")
        };
        let mut client =
            Client::connect(&endpoint, options).map_err(BenchError::round_trip(what))?;
        let mut reads = [const { None }; 2];
        for (read, payload) in reads.iter_mut().zip(Payload::ALL) {
            let first = first_read(&mut client, namespace, payload);
            *read = Some(first.map_err(BenchError::round_trip(what))?);
        }
        Ok(Self {
            client,
            what: what.to_owned(),
            reads: reads.map(Option::unwrap_or_default),
        })
    }
}

fn first_read(client: &mut Client, namespace: u16, payload: Payload) -> Result<Read, String> {
    let node = subject::node_id(namespace, payload);
    let request = RefCell::new(Vec::new());
    let response = client
        .exchange(
            |token, encoder| {
                let message = subject::read_message(token, &node);
                encoder.bytes(&message)?;
                *request.borrow_mut() = message;
                Ok(())
            },
            |body| subject::check_read(body, payload).map(|()| body.len()),
        )
        .map_err(|error| error.to_string())??;
    Ok(Read {
        request: request.into_inner(),
        response,
    })
}

impl RoundTrip for UaClient {
    #[inline]
    fn round_trip(&mut self, payload: Payload) -> Result<(), BenchError> {
        let [scalar, array] = &self.reads;
        let read = match payload {
            Payload::Scalar => scalar,
            Payload::Array => array,
        };
        let length = self
            .client
            .exchange(|_, encoder| encoder.bytes(&read.request), <[u8]>::len)
            .map_err(BenchError::round_trip(&self.what))?;
        if length == read.response {
            Ok(())
        } else {
            // A ServiceFault, for instance because the Session is gone.
            Err(BenchError::RoundTrip {
                what: self.what.clone(),
                reason: format!("a response of {length} instead of {} bytes", read.response),
            })
        }
    }
}
