//! Read, Write and Call without owned messages: over shared memory in its fixed layout, over TCP in the binary
//! DataEncoding. Nothing is allocated.

use takt_layout::{CallResult, RequestHead, RequestWriter, ResponseReader, Service, Times};
use takt_rt::shared_bytes::SharedBytes;
use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::{
    CallRequest, CallResponse, ReadRequest, ReadResponse, ResponseHeader, WriteRequest,
    WriteResponse,
};
use takt_ua::views::ReadValueIdRef;
use takt_ua::{AsVariant, DateTime, NodeId, NodeIdRef, QualifiedNameRef, StatusCode, Structure};

use super::attributes::good;
use super::request::ServiceRequest;
use super::value_in_place::{Unfit, ValueInPlace};
use super::{Attribute, Client, decode_message};
use crate::error::ClientError;

/// Largest size in bytes of TypeId and ResponseHeader, which precede the result.
const HEAD: usize = 512;

/// Output arguments of a Method in the memory where the server wrote them.
#[derive(Debug)]
pub struct OutputsInPlace<'a>(Outputs<'a>);

#[derive(Debug)]
enum Outputs<'a> {
    LaidOut(ResponseReader<'a>, CallResult<'a>),
    /// Encoded one after another, from an offset on.
    Encoded(SharedBytes<'a>, usize, usize),
}

impl<'a> OutputsInPlace<'a> {
    /// Returns the number of arguments.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Outputs::LaidOut(_, result) => result.output_count(),
            Outputs::Encoded(_, _, count) => *count,
        }
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the argument at `index`; `None` if there are fewer, or if it cannot be read in place, as arrays of
    /// texts and structures.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<ValueInPlace<'a>> {
        match &self.0 {
            Outputs::LaidOut(response, result) => {
                let place = result.output(index).ok()?;
                ValueInPlace::variant(response.bytes(place)).ok()
            }
            Outputs::Encoded(body, at, count) if index < *count => {
                ValueInPlace::nth_variant(*body, *at, index).ok()
            }
            Outputs::Encoded(..) => None,
        }
    }
}

/// Reason for a missing result.
enum Failed {
    /// The beginning of the response cannot be decoded.
    Head(DecodeError),
    /// The layout of the response is wrong.
    Layout(takt_layout::LayoutError),
    Value(Unfit),
    /// The number of results for one operation, if it is not 1.
    Count(usize),
    /// The response, which is a ServiceFault or something else.
    Other(Vec<u8>),
}

impl From<Unfit> for Failed {
    fn from(unfit: Unfit) -> Self {
        Self::Value(unfit)
    }
}

impl From<takt_layout::LayoutError> for Failed {
    fn from(error: takt_layout::LayoutError) -> Self {
        Self::Layout(error)
    }
}

impl From<DecodeError> for Failed {
    fn from(error: DecodeError) -> Self {
        Self::Head(error)
    }
}

/// A response with one result.
enum Only<'a> {
    LaidOut(ResponseReader<'a>),
    /// Offset of the result.
    Encoded(usize),
}

impl<'a> Only<'a> {
    #[inline]
    fn of<R: Structure>(body: SharedBytes<'a>, service: Service) -> Result<Self, Failed> {
        if let Some(response) = ResponseReader::parse(body, service)? {
            return match response.count() {
                1 => Ok(Self::LaidOut(response)),
                count => Err(Failed::Count(count)),
            };
        }
        // A copy: the server may change its memory while it is decoded.
        let mut head = [0; HEAD];
        let length = body.len().min(HEAD);
        let (head, _) = head.split_at_mut(length);
        // `head` is not longer than the body.
        let _inside = body.copy_to(0, head);
        let mut decoder = Decoder::new(head);
        let type_id = NodeIdRef::decode(&mut decoder)?;
        if type_id != NodeIdRef::numeric(0, R::BINARY_ENCODING_ID) {
            return Err(Failed::Other(body.to_vec()));
        }
        let header = ResponseHeader::decode(&mut decoder)?;
        if header.service_result.is_bad() {
            return Err(Failed::Other(body.to_vec()));
        }
        match decoder.i32()? {
            1 => Ok(Self::Encoded(decoder.position())),
            count => Err(Failed::Count(usize::try_from(count).unwrap_or(0))),
        }
    }
}

impl Client {
    /// Reads the Value of a node and passes it to `look` in place: parts that `look` does not read are not copied.
    /// Allocates nothing.
    ///
    /// It supports numbers, Booleans, times, Guids and their arrays, Strings and ByteStrings.
    ///
    /// # Errors
    /// As for [`read`](Self::read); [`ClientError::Invalid`] if the value is of another type.
    pub fn read_in_place<R>(
        &mut self,
        node_id: &NodeId,
        look: impl FnOnce(&ValueInPlace<'_>) -> R,
    ) -> Result<R, ClientError> {
        let header = self.next_header();
        self.exchange_in_place(
            |token, laid_out, encoder| {
                if laid_out {
                    let head = header.laid_out(token, TimestampsToReturn::Both);
                    let mut writer = RequestWriter::begin(encoder, Service::Read, 1, &head)?;
                    return writer.read(&ReadValueIdRef {
                        node_id: node_id.as_ref(),
                        attribute_id: Attribute::Value as u32,
                        index_range: None,
                        data_encoding: QualifiedNameRef::default(),
                    });
                }
                header.encode::<ReadRequest>(token, encoder)?;
                // maxAge 0, both timestamps, one item without index range and data encoding.
                encoder.f64(0.0)?;
                encoder.i32(TimestampsToReturn::Both.0)?;
                encoder.i32(1)?;
                node_id.encode(encoder)?;
                encoder.u32(Attribute::Value as u32)?;
                encoder.i32(-1)?;
                encoder.u16(0)?;
                encoder.i32(-1)
            },
            |body| {
                let value = match Only::of::<ReadResponse>(body, Service::Read)? {
                    Only::LaidOut(response) => ValueInPlace::laid_out(&response, 0)?,
                    Only::Encoded(at) => ValueInPlace::encoded(body, at)?,
                };
                Ok(look(&value))
            },
        )?
        .map_err(|failed| self.failed::<ReadRequest>(failed))
    }

    /// Writes the Value of a node: a [`Variant`](takt_ua::Variant) or a [`VariantRef`](takt_ua::VariantRef), which is
    /// encoded where the server reads it. Allocates nothing.
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn write_in_place(
        &mut self,
        node_id: &NodeId,
        value: &impl AsVariant,
    ) -> Result<(), ClientError> {
        let header = self.next_header();
        let status = self
            .exchange_in_place(
                |token, laid_out, encoder| {
                    if laid_out {
                        let head = header.laid_out(token, TimestampsToReturn::default());
                        let mut writer = RequestWriter::begin(encoder, Service::Write, 1, &head)?;
                        return writer.write(
                            node_id.as_ref(),
                            Attribute::Value as u32,
                            None,
                            |encoder| value.encode(encoder),
                            StatusCode::Good,
                            &Times::default(),
                        );
                    }
                    header.encode::<WriteRequest>(token, encoder)?;
                    encoder.i32(1)?;
                    node_id.encode(encoder)?;
                    encoder.u32(Attribute::Value as u32)?;
                    encoder.i32(-1)?;
                    // A DataValue that consists of its value (OPC 10000-6, 5.2.2.17).
                    encoder.u8(1)?;
                    value.encode(encoder)
                },
                |body| match Only::of::<WriteResponse>(body, Service::Write)? {
                    Only::LaidOut(response) => Ok(response.status(0)?),
                    Only::Encoded(at) => status_at(body, at),
                },
            )?
            .map_err(|failed| self.failed::<WriteRequest>(failed))?;
        good(node_id, status)
    }

    /// Calls `method` on `object` and passes the output arguments to `look` in place. The input arguments, each a
    /// [`Variant`](takt_ua::Variant) or a [`VariantRef`](takt_ua::VariantRef), are encoded where the server reads
    /// them. Allocates nothing.
    ///
    /// # Errors
    /// As for [`call_method`](Self::call_method).
    pub fn call_in_place<R>(
        &mut self,
        object: &NodeId,
        method: &NodeId,
        inputs: &[impl AsVariant],
        look: impl FnOnce(&OutputsInPlace<'_>) -> R,
    ) -> Result<R, ClientError> {
        let header = self.next_header();
        self.exchange_in_place(
            |token, laid_out, encoder| {
                if laid_out {
                    let head = header.laid_out(token, TimestampsToReturn::default());
                    let mut writer = RequestWriter::begin(encoder, Service::Call, 1, &head)?;
                    return writer.call(object.as_ref(), method.as_ref(), inputs);
                }
                header.encode::<CallRequest>(token, encoder)?;
                encoder.i32(1)?;
                object.encode(encoder)?;
                method.encode(encoder)?;
                encoder.array_length(Some(inputs.len()))?;
                inputs.iter().try_for_each(|input| input.encode(encoder))
            },
            |body| match Only::of::<CallResponse>(body, Service::Call)? {
                Only::LaidOut(response) => {
                    let result = response.call_result(0)?;
                    if result.status.is_bad() {
                        let blame = result.input_argument_results();
                        return Ok(Err(Refused::of(result.status, blame)));
                    }
                    let outputs = OutputsInPlace(Outputs::LaidOut(response, result));
                    Ok(Ok(look(&outputs)))
                }
                Only::Encoded(at) => {
                    let result = encoded_result(body, at)?;
                    Ok(result.map(|outputs| look(&OutputsInPlace(outputs))))
                }
            },
        )?
        .map_err(|failed| self.failed::<CallRequest>(failed))?
        .map_err(|refused| match refused.blame {
            Some((index, status)) => {
                ClientError::operation(format!("input argument {} of {method}", index + 1), status)
            }
            None => ClientError::operation(method, refused.status),
        })
    }

    fn next_header(&mut self) -> Header {
        self.request_handle = self.request_handle.wrapping_add(1);
        let timeout = self.options().timeout;
        Header {
            request_handle: self.request_handle,
            timeout_hint: u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX),
        }
    }

    #[cold]
    fn failed<Q: ServiceRequest>(&self, failed: Failed) -> ClientError {
        let endpoint = self.endpoint();
        match failed {
            Failed::Head(error) => ClientError::protocol(endpoint, error),
            Failed::Layout(error) => ClientError::protocol(endpoint, error),
            Failed::Value(Unfit::Broken) => self.protocol("the value exceeds the response"),
            Failed::Value(Unfit::Type(data_type)) => ClientError::Invalid(format!(
                "a value of type {data_type} cannot be read in place"
            )),
            Failed::Count(count) => self.protocol(format!("{count} results for one operation")),
            Failed::Other(body) => {
                let limits = self.options().limits();
                match decode_message::<Q::Response>(Q::NAME, endpoint, limits, &body) {
                    Err(error) => error,
                    Ok(_) => self.protocol("the response changed while it was read"),
                }
            }
        }
    }
}

/// Error of a Method that did not run, or failed.
struct Refused {
    status: StatusCode,
    /// Index and StatusCode of the first bad input argument.
    blame: Option<(usize, StatusCode)>,
}

impl Refused {
    fn of(status: StatusCode, inputs: impl Iterator<Item = StatusCode>) -> Self {
        let blame = inputs.enumerate().find(|(_, status)| status.is_bad());
        Self { status, blame }
    }
}

fn status_at(body: SharedBytes<'_>, at: usize) -> Result<StatusCode, Failed> {
    let status = body.array(at).ok_or(Unfit::Broken)?;
    Ok(StatusCode(u32::from_le_bytes(status)))
}

/// Returns a CallMethodResult in the binary DataEncoding.
fn encoded_result(
    body: SharedBytes<'_>,
    at: usize,
) -> Result<Result<Outputs<'_>, Refused>, Failed> {
    let count_at = |at: usize| -> Result<usize, Failed> {
        let count = i32::from_le_bytes(body.array(at).ok_or(Unfit::Broken)?);
        Ok(usize::try_from(count).unwrap_or(0))
    };
    let status = status_at(body, at)?;
    let blame = count_at(at + 4)?;
    let diagnostics = at + 8 + 4 * blame;
    if status.is_bad() {
        let inputs = (0..blame).map_while(|index| status_at(body, at + 8 + 4 * index).ok());
        return Ok(Err(Refused::of(status, inputs)));
    }
    // No diagnostics were requested.
    if count_at(diagnostics)? > 0 {
        return Err(Unfit::Broken.into());
    }
    let count = count_at(diagnostics + 4)?;
    Ok(Ok(Outputs::Encoded(body, diagnostics + 8, count)))
}

/// Fields of a RequestHeader (OPC 10000-4, 7.33) that differ between requests.
#[derive(Clone, Copy)]
struct Header {
    request_handle: u32,
    timeout_hint: u32,
}

impl Header {
    #[inline]
    fn laid_out<'a>(
        &self,
        token: &'a NodeId,
        timestamps_to_return: TimestampsToReturn,
    ) -> RequestHead<'a> {
        RequestHead {
            authentication_token: token.as_ref(),
            timestamp: DateTime::now(),
            request_handle: self.request_handle,
            timeout_hint: self.timeout_hint,
            max_age: 0.0,
            timestamps_to_return,
        }
    }

    /// Encodes TypeId and header, without diagnostics, an audit entry, and an additional header.
    fn encode<Q: Structure>(
        &self,
        token: &NodeId,
        encoder: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        NodeIdRef::numeric(0, Q::BINARY_ENCODING_ID).encode(encoder)?;
        token.encode(encoder)?;
        DateTime::now().encode(encoder)?;
        encoder.u32(self.request_handle)?;
        // returnDiagnostics, auditEntryId, timeoutHint, then an additionalHeader of a null NodeId without a body.
        encoder.u32(0)?;
        encoder.i32(-1)?;
        encoder.u32(self.timeout_hint)?;
        // A null ExtensionObject.
        encoder.bytes(&[0; 3])
    }
}
