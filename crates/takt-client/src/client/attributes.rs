//! Read and Write (OPC 10000-4, 5.11) in a form that is convenient for programs.

use std::time::Duration;

use takt_cell::Reading;
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::*;
use takt_ua::{DataValue, NodeId, StatusCode, Variant};

use super::Client;
use super::attribute::Attribute;
use super::batches::Batched;
use super::requests::{Requests, ready};
use crate::error::ClientError;

/// Largest number of requests that are repeated for the values after one without an end, in one call.
const MOST_REPETITIONS: usize = 64;

impl Client {
    /// Returns the Value of `node`.
    pub fn read(&mut self, node: &NodeId) -> Result<DataValue, ClientError> {
        ready(AttributeServices::read(self, node))
    }

    /// Reads one attribute of `node`. The StatusCode of the result is not an error.
    pub fn read_attribute(
        &mut self,
        node: &NodeId,
        attribute: Attribute,
    ) -> Result<DataValue, ClientError> {
        ready(AttributeServices::read_attribute(self, node, attribute))
    }

    /// Returns the Value of `node`, at most `max_age` old: a server with a cached value need not ask its source.
    /// `Duration::ZERO` requests a new value, [`Reading::ANY_AGE`](takt_cell::Reading::ANY_AGE) or more accepts any
    /// cached value.
    pub fn read_within(
        &mut self,
        node: &NodeId,
        max_age: Duration,
    ) -> Result<DataValue, ClientError> {
        ready(AttributeServices::read_within(self, node, max_age))
    }

    /// Reads many attributes at once; the results are in the order of the items. A value that cannot be decoded has
    /// `BadDecodingError`.
    pub fn read_attributes(
        &mut self,
        attributes: &[(NodeId, Attribute)],
    ) -> Result<Vec<DataValue>, ClientError> {
        ready(AttributeServices::read_attributes(self, attributes))
    }

    /// Reads many attributes at once, at most `max_age` old: see [`read_within`](Self::read_within).
    pub fn read_attributes_within(
        &mut self,
        attributes: &[(NodeId, Attribute)],
        max_age: Duration,
    ) -> Result<Vec<DataValue>, ClientError> {
        ready(AttributeServices::read_attributes_within(
            self, attributes, max_age,
        ))
    }

    /// Returns the Value of `node`; a bad StatusCode is an error.
    pub fn read_good(&mut self, node: &NodeId) -> Result<Variant, ClientError> {
        ready(AttributeServices::read_good(self, node))
    }

    /// Writes the Value of `node`.
    pub fn write(&mut self, node: &NodeId, value: Variant) -> Result<(), ClientError> {
        ready(AttributeServices::write(self, node, value))
    }

    /// Calls `method` on `object` and returns the output arguments (OPC 10000-4, 5.12).
    pub fn call_method(
        &mut self,
        object: &NodeId,
        method: &NodeId,
        inputs: Vec<Variant>,
    ) -> Result<Vec<Variant>, ClientError> {
        ready(AttributeServices::call_method(self, object, method, inputs))
    }

    /// Returns the error of a response that the standard does not allow, for services that are called with [`call`](Self::call).
    pub fn protocol(&self, reason: impl Into<String>) -> ClientError {
        Requests::protocol(self, reason)
    }

    /// Checks that a response has a result for every operation of its request.
    ///
    /// # Errors
    /// [`ClientError::Protocol`]: the numbers differ.
    pub fn expect_count(
        &self,
        response: &str,
        expected: usize,
        got: usize,
    ) -> Result<(), ClientError> {
        Requests::expect_count(self, response, expected, got)
    }
}

/// Read, Write and Call of any client.
pub(crate) trait AttributeServices: Requests {
    /// Does the work of [`Client::read`].
    async fn read(&mut self, node: &NodeId) -> Result<DataValue, ClientError> {
        self.read_attribute(node, Attribute::Value).await
    }

    /// Does the work of [`Client::read_attribute`].
    async fn read_attribute(
        &mut self,
        node: &NodeId,
        attribute: Attribute,
    ) -> Result<DataValue, ClientError> {
        let mut values = self.read_attributes(&[(node.clone(), attribute)]).await?;
        // There is one value for each attribute.
        Ok(values.swap_remove(0))
    }

    /// Does the work of [`Client::read_within`].
    async fn read_within(
        &mut self,
        node: &NodeId,
        max_age: Duration,
    ) -> Result<DataValue, ClientError> {
        let wanted = [(node.clone(), Attribute::Value)];
        let mut values = self.read_attributes_within(&wanted, max_age).await?;
        Ok(values.swap_remove(0))
    }

    /// Does the work of [`Client::read_attributes`].
    async fn read_attributes(
        &mut self,
        attributes: &[(NodeId, Attribute)],
    ) -> Result<Vec<DataValue>, ClientError> {
        self.read_attributes_within(attributes, Duration::ZERO)
            .await
    }

    /// Does the work of [`Client::read_attributes_within`].
    async fn read_attributes_within(
        &mut self,
        attributes: &[(NodeId, Attribute)],
        max_age: Duration,
    ) -> Result<Vec<DataValue>, ClientError> {
        // OPC 10000-4, 5.11.2.2: maxAge is in milliseconds, and values above the largest Int32 are equivalent to it.
        let max_age = max_age.min(Reading::ANY_AGE).as_secs_f64() * 1000.0;
        let mut values = Vec::with_capacity(attributes.len());
        let mut repetitions = 0;
        let mut budget = self.answer_budget();
        while let Some(left) = attributes.get(values.len()..)
            && !left.is_empty()
        {
            let batch = self.batches().next(Batched::Read, left);
            let nodes_to_read = batch.iter().map(|(node, attribute)| ReadValueId {
                node_id: node.clone(),
                attribute_id: *attribute as u32,
                ..ReadValueId::default()
            });
            let request = ReadRequest {
                max_age,
                timestamps_to_return: TimestampsToReturn::Both,
                nodes_to_read: nodes_to_read.collect(),
                ..ReadRequest::default()
            };
            match self.call(request).await {
                Ok(mut response) => {
                    self.expect_count("ReadResponse", batch.len(), response.results.len())?;
                    let decoded = decoded(&response.results);
                    if decoded < batch.len() && repetitions < MOST_REPETITIONS {
                        repetitions += 1;
                        // The next request begins behind the value without an end, so the others are not lost.
                        response.results.truncate(decoded);
                    }
                    // One answer was counted when it was decoded.
                    if response.results.len() < attributes.len() {
                        budget.take(self.endpoint(), "values", &response.results)?;
                    }
                    values.extend(response.results);
                }
                Err(error) if self.batches().shrink(Batched::Read, batch.len(), &error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(values)
    }

    /// Does the work of [`Client::read_good`].
    async fn read_good(&mut self, node: &NodeId) -> Result<Variant, ClientError> {
        let data_value = self.read(node).await?;
        match data_value.status {
            Some(status) if status.is_bad() => Err(ClientError::operation(node, status)),
            _ => Ok(data_value.value.unwrap_or_default()),
        }
    }

    /// Does the work of [`Client::write`].
    async fn write(&mut self, node: &NodeId, value: Variant) -> Result<(), ClientError> {
        let response = self
            .call(WriteRequest {
                nodes_to_write: vec![WriteValue {
                    node_id: node.clone(),
                    attribute_id: Attribute::Value as u32,
                    value: DataValue {
                        value: Some(value),
                        ..DataValue::default()
                    },
                    ..WriteValue::default()
                }],
                ..WriteRequest::default()
            })
            .await?;
        self.expect_count("WriteResponse", 1, response.results.len())?;
        good(node, response.results[0])
    }

    /// Does the work of [`Client::call_method`].
    async fn call_method(
        &mut self,
        object: &NodeId,
        method: &NodeId,
        inputs: Vec<Variant>,
    ) -> Result<Vec<Variant>, ClientError> {
        let mut response = self
            .call(CallRequest {
                methods_to_call: vec![CallMethodRequest {
                    object_id: object.clone(),
                    method_id: method.clone(),
                    input_arguments: inputs,
                }],
                ..CallRequest::default()
            })
            .await?;
        self.expect_count("CallResponse", 1, response.results.len())?;
        let result = response.results.swap_remove(0);
        if result.status_code.is_bad() {
            let argument = result
                .input_argument_results
                .iter()
                .enumerate()
                .find(|(_, status)| status.is_bad());
            return Err(match argument {
                Some((index, status)) => ClientError::operation(
                    format!("input argument {} of {method}", index + 1),
                    *status,
                ),
                None => ClientError::operation(method, result.status_code),
            });
        }
        Ok(result.output_arguments)
    }
}

impl<C: Requests> AttributeServices for C {}

/// Returns the number of values before those that were not decoded, because the end of the last one before them is not known
/// (`takt_ua::foreign`); never 0.
fn decoded(results: &[DataValue]) -> usize {
    let not_decoded = |value: &&DataValue| value.status == Some(StatusCode::BadUnknownResponse);
    let missing = results.iter().rev().take_while(not_decoded).count();
    (results.len() - missing).max(1)
}

/// Returns an error if `status` is bad.
pub(crate) fn good(subject: impl ToString, status: StatusCode) -> Result<(), ClientError> {
    if status.is_bad() {
        Err(ClientError::operation(subject, status))
    } else {
        Ok(())
    }
}
