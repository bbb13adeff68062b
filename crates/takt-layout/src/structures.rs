//! The standard's structures in this layout, for programs that use these structures.

use takt_rt::shared_bytes::SharedBytes;
use takt_ua::binary::{Decode, Encode, EncodeError, Encoder};
use takt_ua::structures::{
    CallMethodResult, CallRequest, CallResponse, ReadRequest, ReadResponse, RequestHeader,
    ResponseHeader, WriteRequest, WriteResponse,
};
use takt_ua::views::ReadValueIdRef;
use takt_ua::{DataValue, ExtensionObject, StatusCode, Variant, foreign};

use crate::error::LayoutError;
use crate::head::{RequestHead, Service};
use crate::response::ResponseReader;
use crate::writer::{RequestWriter, Times};

/// A request that has a fixed layout, unless it contains fields for which the layout has no place.
pub trait LaidOut {
    /// The response to it.
    type Response;

    /// Returns whether the layout has a place for all fields: it has none for diagnostics, an audit entry, and an
    /// additional header.
    fn fits(&self) -> bool;

    /// Writes the request in the layout.
    ///
    /// # Errors
    /// An error if there is not enough space.
    fn lay_out(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Reads a response to the request; `None` if it does not have this layout, and so is a ServiceFault in the
    /// binary DataEncoding.
    ///
    /// # Errors
    /// An error if it is not such a response.
    fn parse_response(message: &[u8]) -> Result<Option<Self::Response>, LayoutError>;
}

impl LaidOut for ReadRequest {
    type Response = ReadResponse;

    fn fits(&self) -> bool {
        fits(&self.request_header)
    }

    fn lay_out(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let head = RequestHead {
            max_age: self.max_age,
            timestamps_to_return: self.timestamps_to_return,
            ..head(&self.request_header)
        };
        let count = count(&self.nodes_to_read)?;
        let mut writer = RequestWriter::begin(encoder, Service::Read, count, &head)?;
        for item in &self.nodes_to_read {
            writer.read(&ReadValueIdRef {
                node_id: item.node_id.as_ref(),
                attribute_id: item.attribute_id,
                index_range: item.index_range.as_option(),
                data_encoding: item.data_encoding.as_ref(),
            })?;
        }
        Ok(())
    }

    fn parse_response(message: &[u8]) -> Result<Option<ReadResponse>, LayoutError> {
        let Some(response) = parse(message, Service::Read)? else {
            return Ok(None);
        };
        let result = |index| {
            let record = response.data_value(index)?;
            let value = match record.value.is_empty() {
                true => Ok(None),
                false => variant(message, record.value).map(Some),
            };
            let status = match &value {
                Ok(_) => record.status,
                Err(error) => error.status_code(),
            };
            Ok(DataValue {
                value: value.unwrap_or_default(),
                // A DataValue without a StatusCode is Good.
                status: (status != StatusCode::Good).then_some(status),
                source_timestamp: record.times.source_timestamp,
                source_picoseconds: record.times.source_picoseconds,
                server_timestamp: record.times.server_timestamp,
                server_picoseconds: record.times.server_picoseconds,
            })
        };
        Ok(Some(ReadResponse {
            response_header: response_header(&response),
            results: (0..response.count())
                .map(result)
                .collect::<Result<_, LayoutError>>()?,
            ..ReadResponse::default()
        }))
    }
}

impl LaidOut for WriteRequest {
    type Response = WriteResponse;

    fn fits(&self) -> bool {
        fits(&self.request_header)
    }

    fn lay_out(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let count = count(&self.nodes_to_write)?;
        let head = head(&self.request_header);
        let mut writer = RequestWriter::begin(encoder, Service::Write, count, &head)?;
        for item in &self.nodes_to_write {
            let value = &item.value;
            let times = Times {
                source_timestamp: value.source_timestamp,
                source_picoseconds: value.source_picoseconds,
                server_timestamp: value.server_timestamp,
                server_picoseconds: value.server_picoseconds,
            };
            writer.write(
                item.node_id.as_ref(),
                item.attribute_id,
                item.index_range.as_option(),
                |encoder| {
                    value
                        .value
                        .as_ref()
                        .map_or(Ok(()), |value| value.encode(encoder))
                },
                value.status_code(),
                &times,
            )?;
        }
        Ok(())
    }

    fn parse_response(message: &[u8]) -> Result<Option<WriteResponse>, LayoutError> {
        let Some(response) = parse(message, Service::Write)? else {
            return Ok(None);
        };
        Ok(Some(WriteResponse {
            response_header: response_header(&response),
            results: (0..response.count())
                .map(|index| response.status(index))
                .collect::<Result<_, LayoutError>>()?,
            ..WriteResponse::default()
        }))
    }
}

impl LaidOut for CallRequest {
    type Response = CallResponse;

    fn fits(&self) -> bool {
        fits(&self.request_header)
    }

    fn lay_out(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let count = count(&self.methods_to_call)?;
        let head = head(&self.request_header);
        let mut writer = RequestWriter::begin(encoder, Service::Call, count, &head)?;
        for call in &self.methods_to_call {
            writer.call(
                call.object_id.as_ref(),
                call.method_id.as_ref(),
                &call.input_arguments,
            )?;
        }
        Ok(())
    }

    fn parse_response(message: &[u8]) -> Result<Option<CallResponse>, LayoutError> {
        let Some(response) = parse(message, Service::Call)? else {
            return Ok(None);
        };
        let result = |index| {
            let result = response.call_result(index)?;
            Ok(CallMethodResult {
                status_code: result.status,
                input_argument_results: result.input_argument_results().collect(),
                output_arguments: (0..result.output_count())
                    .map(|index| {
                        let value = variant(message, result.output(index)?);
                        Ok(value.unwrap_or_else(|error| error.status_code().into()))
                    })
                    .collect::<Result<_, LayoutError>>()?,
                ..CallMethodResult::default()
            })
        };
        Ok(Some(CallResponse {
            response_header: response_header(&response),
            results: (0..response.count())
                .map(result)
                .collect::<Result<_, LayoutError>>()?,
            ..CallResponse::default()
        }))
    }
}

fn fits(header: &RequestHeader) -> bool {
    header.return_diagnostics == 0
        && header.audit_entry_id.as_option().is_none()
        && header.additional_header == ExtensionObject::NULL
}

fn head(header: &RequestHeader) -> RequestHead<'_> {
    RequestHead {
        authentication_token: header.authentication_token.as_ref(),
        timestamp: header.timestamp,
        request_handle: header.request_handle,
        timeout_hint: header.timeout_hint,
        max_age: 0.0,
        timestamps_to_return: Default::default(),
    }
}

fn count<T>(items: &[T]) -> Result<u32, EncodeError> {
    u32::try_from(items.len()).map_err(|_| EncodeError::LengthOverflow)
}

fn parse(message: &[u8], service: Service) -> Result<Option<ResponseReader<'_>>, LayoutError> {
    ResponseReader::parse(SharedBytes::of_slice(message), service)
}

fn response_header(response: &ResponseReader<'_>) -> ResponseHeader {
    ResponseHeader {
        timestamp: response.timestamp,
        request_handle: response.request_handle,
        ..ResponseHeader::default()
    }
}

/// Returns a Variant that fills a range of the message. Its end is known, so an error concerns this value only.
fn variant(message: &[u8], range: std::ops::Range<usize>) -> Result<Variant, LayoutError> {
    let offset = u32::try_from(range.start).unwrap_or(u32::MAX);
    let bytes = message.get(range).unwrap_or_default();
    let decoded = foreign::decode(bytes, |decoder| {
        Ok((Variant::decode(decoder)?, decoder.remaining()))
    });
    match decoded {
        Err(error) => Err(LayoutError::Decode { offset, error }),
        Ok((value, 0)) => Ok(value),
        Ok(_) => Err(LayoutError::Trailing {
            offset,
            length: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        }),
    }
}
