//! Reading a value where the server wrote it.

use takt_cell::Element;
use takt_rt::shared_bytes::SharedBytes;
use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::{ReadRequest, ReadResponse, ResponseHeader};
use takt_ua::{BuiltInType, DateTime, NodeId, NodeIdRef, StatusCode, Structure};

use super::{Attribute, Client, decode_message};
use crate::error::ClientError;

/// What comes before the value: TypeId, ResponseHeader, and the beginning of the result.
const HEAD: usize = 512;

// Encoding masks of a DataValue and a Variant (OPC 10000-6, 5.2.2.17 and 5.2.2.16).
const VALUE: u8 = 0x01;
const STATUS: u8 = 0x02;
const SOURCE_TIMESTAMP: u8 = 0x04;
const SERVER_TIMESTAMP: u8 = 0x08;
const SOURCE_PICOSECONDS: u8 = 0x10;
const SERVER_PICOSECONDS: u8 = 0x20;
const ARRAY: u8 = 0x80;
const DIMENSIONS: u8 = 0x40;

/// A value that is still where the server wrote it: over shared memory, in memory that the server could still change.
///
/// So there are no slices of it. What is asked for is copied: one element, or all of them. All lengths were checked before.
#[derive(Debug, Clone, Copy)]
pub struct ValueInPlace<'a> {
    data_type: Option<BuiltInType>,
    elements: SharedBytes<'a>,
    /// How good the value is.
    pub status: StatusCode,
    /// When the source had it.
    pub source_timestamp: Option<DateTime>,
    /// When the server had it.
    pub server_timestamp: Option<DateTime>,
}

impl<'a> ValueInPlace<'a> {
    /// The type of the value or of its elements; `None` if there is no value.
    #[must_use]
    pub fn data_type(&self) -> Option<BuiltInType> {
        self.data_type
    }

    /// The value as it is encoded: the elements one after the other, or the bytes of a String or ByteString.
    #[must_use]
    pub fn bytes(&self) -> SharedBytes<'a> {
        self.elements
    }

    /// How many elements of type `T` there are: one, if it is no array; none, if they are of another type.
    #[must_use]
    #[inline]
    pub fn count<T: Element>(&self) -> usize {
        if self.data_type == Some(T::TYPE) {
            self.elements.len() / T::SIZE
        } else {
            0
        }
    }

    /// One element, or the value itself at index 0; `None` if there is none of that type.
    #[must_use]
    #[inline]
    pub fn get<T: Element>(&self, index: usize) -> Option<T> {
        if index >= self.count::<T>() {
            return None;
        }
        let mut bytes = [0; 8];
        let target = bytes.get_mut(..T::SIZE)?;
        self.elements
            .copy_to(index * T::SIZE, target)
            .then(|| T::from_word(u64::from_le_bytes(bytes)))
    }

    /// Copies all elements to the start of `target` and says how many; `None`, and nothing copied, if they are of
    /// another type or do not fit.
    #[inline]
    pub fn copy_to<T: Element>(&self, target: &mut [T]) -> Option<usize> {
        if self.data_type != Some(T::TYPE) {
            return None;
        }
        let count = self.count::<T>();
        let target = target.get_mut(..count)?;
        match T::as_bytes_mut(target) {
            Some(bytes) => {
                let copied = self.elements.copy_to(0, bytes);
                copied.then_some(count)
            }
            None => {
                for (index, element) in target.iter_mut().enumerate() {
                    *element = self.get(index)?;
                }
                Some(count)
            }
        }
    }

    /// The only result of a ReadResponse, behind the count of results.
    fn parse(body: SharedBytes<'a>, at: usize) -> Result<Self, Unfit> {
        let [mask] = body.array(at).ok_or(Unfit::Broken)?;
        let mut reader = Reader { body, at: at + 1 };
        let mut value = Self {
            data_type: None,
            elements: SharedBytes::EMPTY,
            status: StatusCode::Good,
            source_timestamp: None,
            server_timestamp: None,
        };
        if mask & VALUE != 0 {
            (value.data_type, value.elements) = reader.value()?;
        }
        if mask & STATUS != 0 {
            value.status = StatusCode(u32::from_le_bytes(reader.array()?));
        }
        if mask & SOURCE_TIMESTAMP != 0 {
            value.source_timestamp = Some(DateTime(i64::from_le_bytes(reader.array()?)));
        }
        if mask & SOURCE_PICOSECONDS != 0 {
            reader.array::<2>()?;
        }
        if mask & SERVER_TIMESTAMP != 0 {
            value.server_timestamp = Some(DateTime(i64::from_le_bytes(reader.array()?)));
        }
        if mask & SERVER_PICOSECONDS != 0 {
            reader.array::<2>()?;
        }
        Ok(value)
    }
}

/// Why a response is not read in place.
enum Unfit {
    /// Its beginning cannot be decoded.
    Head(DecodeError),
    /// The value does not end within it.
    Broken,
    /// The value is of a type that has no simple form.
    Type(BuiltInType),
    /// It is a ServiceFault, or has not one result: here it is.
    Other(Vec<u8>),
}

/// Goes through bytes that may change.
struct Reader<'a> {
    body: SharedBytes<'a>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Unfit> {
        let bytes = self.body.array(self.at).ok_or(Unfit::Broken)?;
        self.at += N;
        Ok(bytes)
    }

    /// A length; null arrays have none.
    fn length(&mut self) -> Result<usize, Unfit> {
        let length = i32::from_le_bytes(self.array()?);
        Ok(usize::try_from(length).unwrap_or(0))
    }

    fn bytes(&mut self, length: usize) -> Result<SharedBytes<'a>, Unfit> {
        let end = self.at.checked_add(length).ok_or(Unfit::Broken)?;
        let bytes = self.body.get(self.at..end).ok_or(Unfit::Broken)?;
        self.at = end;
        Ok(bytes)
    }

    /// A Variant of numbers, or of one text.
    fn value(&mut self) -> Result<(Option<BuiltInType>, SharedBytes<'a>), Unfit> {
        let [encoding] = self.array()?;
        let number = encoding & !(ARRAY | DIMENSIONS);
        if number == 0 {
            return Ok((None, SharedBytes::EMPTY));
        }
        let data_type = BuiltInType::from_u8(number).ok_or(Unfit::Broken)?;
        let is_array = encoding & ARRAY != 0;
        let length = match (data_type, data_type.encoded_size()) {
            (_, Some(size)) if is_array => self.length()?.checked_mul(size),
            (_, Some(size)) => Some(size),
            (BuiltInType::String | BuiltInType::ByteString, None) if !is_array => {
                Some(self.length()?)
            }
            _ => return Err(Unfit::Type(data_type)),
        };
        let elements = self.bytes(length.ok_or(Unfit::Broken)?)?;
        if encoding & DIMENSIONS != 0 {
            let dimensions = self.length()?.checked_mul(4).ok_or(Unfit::Broken)?;
            self.bytes(dimensions)?;
        }
        Ok((Some(data_type), elements))
    }
}

impl Client {
    /// Reads the Value of a node, and lets `look` see it where it is: what is not looked at is not copied. Allocates nothing.
    ///
    /// For numbers, Booleans, times, Guids and their arrays, Strings and ByteStrings.
    ///
    /// # Errors
    /// As for [`read`](Self::read); [`ClientError::Invalid`] if the value is of another type.
    pub fn read_in_place<R>(
        &mut self,
        node_id: &NodeId,
        look: impl FnOnce(&ValueInPlace<'_>) -> R,
    ) -> Result<R, ClientError> {
        self.request_handle = self.request_handle.wrapping_add(1);
        let handle = self.request_handle;
        let timeout = self.options().timeout;
        let looked = self.exchange_in_place(
            |token, encoder| {
                let timeout_hint = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
                encode(token, handle, timeout_hint, node_id, encoder)
            },
            |body| match head(body).map_err(Unfit::Head)? {
                Some(at) => ValueInPlace::parse(body, at).map(|value| look(&value)),
                None => Err(Unfit::Other(body.to_vec())),
            },
        )?;
        looked.map_err(|unfit| self.unfit(unfit))
    }

    #[cold]
    fn unfit(&self, unfit: Unfit) -> ClientError {
        let endpoint = self.endpoint();
        let protocol = |reason: String| ClientError::Protocol {
            endpoint: endpoint.to_string(),
            reason,
        };
        match unfit {
            Unfit::Head(error) => ClientError::decode(endpoint, &error),
            Unfit::Broken => protocol("the value reaches beyond the response".to_owned()),
            Unfit::Type(data_type) => ClientError::Invalid(format!(
                "a value of type {data_type} cannot be read in place"
            )),
            Unfit::Other(body) => {
                match decode_message::<ReadResponse>(ReadRequest::NAME, endpoint, &body) {
                    Err(error) => error,
                    Ok(response) => {
                        protocol(format!("{} results for one item", response.results.len()))
                    }
                }
            }
        }
    }
}

/// Where the only result of a good ReadResponse begins.
fn head(body: SharedBytes<'_>) -> Result<Option<usize>, DecodeError> {
    let mut head = [0; HEAD];
    let length = body.len().min(HEAD);
    let (head, _) = head.split_at_mut(length);
    let _inside = body.copy_to(0, head);
    let mut decoder = Decoder::new(head);
    if NodeIdRef::decode(&mut decoder)? != NodeIdRef::numeric(0, ReadResponse::BINARY_ENCODING_ID) {
        return Ok(None);
    }
    let header = ResponseHeader::decode(&mut decoder)?;
    if header.service_result.is_bad() || decoder.i32()? != 1 {
        return Ok(None);
    }
    Ok(Some(decoder.position()))
}

/// A ReadRequest for the whole Value of one node.
fn encode(
    token: &NodeId,
    request_handle: u32,
    timeout_hint: u32,
    node_id: &NodeId,
    encoder: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    NodeIdRef::numeric(0, ReadRequest::BINARY_ENCODING_ID).encode(encoder)?;
    // RequestHeader (OPC 10000-4, 7.33): without diagnostics, an audit entry, and an additional header.
    token.encode(encoder)?;
    DateTime::now().encode(encoder)?;
    encoder.u32(request_handle)?;
    encoder.u32(0)?;
    encoder.i32(-1)?;
    encoder.u32(timeout_hint)?;
    encoder.bytes(&[0; 3])?;
    // maxAge 0, both timestamps, one item without index range and data encoding.
    encoder.f64(0.0)?;
    encoder.i32(TimestampsToReturn::Both.0)?;
    encoder.i32(1)?;
    node_id.encode(encoder)?;
    encoder.u32(Attribute::Value as u32)?;
    encoder.i32(-1)?;
    encoder.u16(0)?;
    encoder.i32(-1)
}
