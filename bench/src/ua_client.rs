//! Reads and Writes over a Session with a server in another process, either ours or a foreign one.

use std::hint::black_box;
use std::time::Duration;

use takt_app::{Client, ClientError, ClientOptions, CurrentValue, Endpoint, ValueInPlace};
use takt_ua::binary::Encoder;
use takt_ua::{NodeId, Variant};

use super::error::BenchError;
use super::payload::Payload;
use super::round_trip::{Access, Operation, RoundTrip, Service, Wait};
use super::subject;

/// Timeout of a request, longer than any answer takes.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Client of an application.
pub(crate) struct UaClient {
    client: Client,
    /// Subject of the measurement, for errors.
    what: String,
    namespace: u16,
    prepared: Prepared,
    /// Buffer for copies of values.
    value: Vec<u32>,
}

/// A prepared request, and the use of its response.
enum Prepared {
    Nothing,
    /// A message that was encoded beforehand, and the length of its response.
    Message(Vec<u8>, usize),
    /// A Read that is encoded each time, with its own timestamp, in the form of the transport.
    Read(NodeId, Payload, Access),
    Write(NodeId, Variant),
    /// A current value that is read without a request.
    Current(CurrentValue, Payload),
}

impl UaClient {
    /// Connects to the server.
    pub(crate) fn connect(
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
        Ok(Self {
            client: Client::connect(&endpoint, options).map_err(BenchError::round_trip(what))?,
            what: what.to_owned(),
            namespace,
            prepared: Prepared::Nothing,
            value: Vec::new(),
        })
    }

    /// Returns the authentication token of the Session.
    fn token(&mut self) -> Result<NodeId, BenchError> {
        let token = std::cell::RefCell::new(NodeId::NULL);
        let node = subject::node_id(self.namespace, Payload::SCALAR);
        let request = |now: &NodeId, encoder: &mut Encoder<'_>| {
            *token.borrow_mut() = now.clone();
            encoder.bytes(&subject::message(&subject::read_request(now, &node)))
        };
        self.client
            .exchange(request, |_| ())
            .map_err(BenchError::round_trip(&self.what))?;
        Ok(token.into_inner())
    }

    /// Sends a message, checks its response, and returns the length of the response.
    fn send_checked(
        &mut self,
        message: &[u8],
        check: impl FnOnce(&[u8]) -> Result<(), String>,
    ) -> Result<usize, BenchError> {
        self.client
            .exchange(
                |_, encoder| encoder.bytes(message),
                |body| check(body).map(|()| body.len()),
            )
            .map_err(BenchError::round_trip(&self.what))?
            .map_err(BenchError::round_trip(&self.what))
    }

    #[inline]
    fn exchange(&mut self) -> Result<Result<(), &'static str>, ClientError> {
        match &mut self.prepared {
            Prepared::Nothing => Ok(Err("nothing was prepared")),
            Prepared::Message(message, response) => {
                let length = self
                    .client
                    .exchange(|_, encoder| encoder.bytes(message), <[u8]>::len)?;
                // A ServiceFault is shorter, for instance after the end of the Session.
                Ok((length == *response)
                    .then_some(())
                    .ok_or("another response"))
            }
            Prepared::Read(node, payload, access) => {
                let into = &mut self.value;
                self.client.read_in_place(node, |value| match access {
                    Access::InPlace => look_at(value, *payload),
                    _ => take_value(value, *payload, into),
                })
            }
            Prepared::Current(current, payload) => {
                Ok(take_current(current, *payload, &mut self.value))
            }
            Prepared::Write(node, value) => self.client.write_in_place(node, value).map(Ok),
        }
    }
}

impl RoundTrip for UaClient {
    fn prepare(&mut self, operation: &Operation) -> Result<(), BenchError> {
        let token = self.token()?;
        let payload = operation.payload;
        let node = subject::node_id(self.namespace, payload);
        self.prepared = match (operation.service, operation.access) {
            (_, Access::Current) => {
                let current = self.client.current_value(&node);
                let current = current.map_err(BenchError::round_trip(&self.what))?;
                let current = current.ok_or("the value is not published".to_owned());
                let current = current.map_err(BenchError::round_trip(&self.what))?;
                Prepared::Current(current, payload)
            }
            (Service::Read, access) => {
                let request = subject::read_request(&token, &node);
                let message = subject::message(&request);
                let check = |body: &[u8]| subject::check_read(body, payload);
                let length = self.send_checked(&message, check)?;
                match access {
                    Access::Bytes => Prepared::Message(message, length),
                    _ => Prepared::Read(node, payload, access),
                }
            }
            (Service::Write, access) => {
                let request = subject::write_request(&token, &node, payload);
                let message = subject::message(&request);
                let length = self.send_checked(&message, subject::check_write)?;
                match access {
                    Access::Bytes => Prepared::Message(message, length),
                    _ => Prepared::Write(node, subject::value(payload)),
                }
            }
        };
        self.value = vec![0; payload.elements()];
        self.round_trip()
    }

    #[inline]
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.exchange()
            .map_err(BenchError::round_trip(&self.what))?
            .map_err(BenchError::round_trip(&self.what))
    }
}

/// Checks the first and the last element of a value.
#[inline]
fn look_at(value: &ValueInPlace<'_>, payload: Payload) -> Result<(), &'static str> {
    let elements = payload.elements();
    let ends = (value.get::<u32>(0), value.get::<u32>(elements - 1));
    match black_box(ends) {
        (Some(_), Some(_)) if value.count::<u32>() == elements => Ok(()),
        _ => Err("no such value"),
    }
}

/// Copies the current value.
#[inline]
fn take_current(
    current: &CurrentValue,
    payload: Payload,
    into: &mut [u32],
) -> Result<(), &'static str> {
    let read = if payload.is_scalar() {
        current
            .read_scalar::<u32>()
            .map(|(value, _)| value.is_some())
    } else {
        current
            .read_slice(into)
            .map(|(count, _)| count == Some(payload.elements()))
    };
    black_box(into);
    match read {
        Ok(true) => Ok(()),
        _ => Err("no such value"),
    }
}

/// Copies the value out of the response.
#[inline]
fn take_value(
    value: &ValueInPlace<'_>,
    payload: Payload,
    into: &mut [u32],
) -> Result<(), &'static str> {
    let copied = value.copy_to(into);
    black_box(into);
    match copied {
        Some(count) if count == payload.elements() => Ok(()),
        _ => Err("no such value"),
    }
}
