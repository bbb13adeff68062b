//! Requests of the demonstration's Consumer, and their outcomes.

use serde_json::{Value, json};
use takt_app::{ClientError, Consumer};
use takt_terminal::{Style, StyledLine};
use takt_ua::{StatusCode, Variant};

use crate::gauge::Gauge;

/// Outcome of a request.
pub(crate) struct Request {
    /// `write` or `call`.
    service: &'static str,
    /// Path of the node.
    node: &'static str,
    /// Written value, or input argument.
    argument: Option<Value>,
    status: StatusCode,
    /// Value that was read back, or output argument, for people and for programs.
    result: Option<(String, Value)>,
}

impl Request {
    fn new<T>(
        service: &'static str,
        node: &'static str,
        argument: Option<Value>,
        outcome: &Result<T, ClientError>,
    ) -> Self {
        let status = outcome.as_ref().err().map(ClientError::status_code);
        Self {
            service,
            node,
            argument,
            status: status.unwrap_or(StatusCode::Good),
            result: None,
        }
    }

    fn with_result(self, text: String, value: Value) -> Self {
        Self {
            result: Some((text, value)),
            ..self
        }
    }

    /// Returns the outcome for people.
    pub(crate) fn line(&self) -> StyledLine {
        let Self { service, node, .. } = self;
        let argument = self.argument.as_ref().map(ToString::to_string);
        let argument = argument.unwrap_or_default();
        let request = match *service {
            "write" => format!("{node} = {argument}"),
            _ => format!("{node}({argument})"),
        };
        let line =
            StyledLine::new().with(Style::Plain, format!("{service:<5}  {request}  \u{2192}  "));
        match &self.result {
            Some((text, _)) => line.with(Style::Plain, text),
            None if self.status.is_good() => line.with(Style::Good, self.status.to_string()),
            None => line.with(Style::Bad, self.status.to_string()),
        }
    }

    /// Returns the outcome for programs.
    pub(crate) fn event(&self) -> Value {
        json!({
            "event": "request",
            "service": self.service,
            "node": self.node,
            "argument": self.argument,
            "status": self.status.to_string(),
            "result": self.result.as_ref().map(|(_, value)| value),
        })
    }
}

/// Reads, writes and calls like any Consumer, and returns the outcomes, with refusals by the machine.
pub(crate) fn use_the_machine(consumer: &mut Consumer) -> Result<Vec<Request>, ClientError> {
    const OVERRIDE: &str = "Machine/Spindle/Override";
    const START: &str = "Machine/Start";
    const INTERVAL: &str = "HostTelemetry/SetSamplingInterval";

    let override_percent = consumer.find(OVERRIDE)?;
    let gauge = Gauge::of(consumer, &override_percent);
    consumer.write(&override_percent, 80.0)?;
    let value = consumer.read(&override_percent)?.value.unwrap_or_default();
    let written = Request::new::<()>("write", OVERRIDE, Some(80.into()), &Ok(()))
        .with_result(gauge.text(&value), takt_ua::json::to_value(&value));

    let too_much = consumer.write(&override_percent, 500.0);
    let start = consumer.find(START)?;
    // The machine may still be turning from an earlier run of this Consumer. Then it refuses the call, and the demonstration
    // continues.
    let started = consumer.call(&start, Vec::new());
    let again = consumer.call(&start, Vec::new());

    let set_interval = consumer.find(INTERVAL)?;
    let revised = consumer.call(&set_interval, vec![Variant::Double(100.0)])?;
    let revised = revised
        .first()
        .map(takt_ua::json::to_value)
        .unwrap_or_default();
    Ok(vec![
        written,
        Request::new("write", OVERRIDE, Some(500.into()), &too_much),
        Request::new("call", START, None, &started),
        Request::new("call", START, None, &again),
        Request::new::<()>("call", INTERVAL, Some(100.into()), &Ok(()))
            .with_result(revised.to_string(), revised),
    ])
}
