//! ActionHeader (OPC 10000-14, 7.2.4.4.2; the use of its values: OPC 10000-14, 6.2.11.2).

use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder};
use takt_ua::{ByteString, UaString, Variant, VariantRef};

use crate::error::{WireError, WireErrorKind};

const REQUEST: u8 = 0x01;
const RESPONSE_ADDRESS: u8 = 0x02;
const CORRELATION_DATA: u8 = 0x04;
const REQUESTOR_ID: u8 = 0x08;
const TIMEOUT_HINT: u8 = 0x10;
const RESERVED: u8 = 0xE0;

/// Fields that all Action requests or responses of a NetworkMessage share.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ActionHeader {
    /// True if the DataSetMessages are requests, false if they are responses.
    pub request: bool,
    /// Address to which the Responder shall send the responses.
    pub response_address: Option<UaString>,
    /// Data that a request contains and its response returns.
    pub correlation_data: Option<ByteString>,
    /// PublisherId of the Requestor, of one of the types of a PublisherId.
    pub requestor_id: Option<Variant>,
    /// Time that the Requestor waits for the response, in milliseconds.
    pub timeout_hint: Option<f64>,
}

/// A borrowed [`ActionHeader`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ActionHeaderRef<'a> {
    /// True if the DataSetMessages are requests, false if they are responses.
    pub request: bool,
    /// Address to which the Responder shall send the responses; the inner `None` is the null String.
    pub response_address: Option<Option<&'a str>>,
    /// Data that a request contains and its response returns; the inner `None` is the null ByteString.
    pub correlation_data: Option<Option<&'a [u8]>>,
    /// PublisherId of the Requestor.
    pub requestor_id: Option<VariantRef<'a>>,
    /// Time that the Requestor waits for the response, in milliseconds.
    pub timeout_hint: Option<f64>,
}

impl<'a> ActionHeaderRef<'a> {
    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> ActionHeader {
        ActionHeader {
            request: self.request,
            response_address: self.response_address.map(Into::into),
            correlation_data: self.correlation_data.map(Into::into),
            requestor_id: self.requestor_id.map(|id| id.to_owned()),
            timeout_hint: self.timeout_hint,
        }
    }

    pub(crate) fn decode(decoder: &mut Decoder<'a>) -> Result<Self, WireError> {
        let offset = decoder.position();
        let flags = decoder.u8()?;
        if flags & RESERVED != 0 {
            return Err(WireError::new(
                offset,
                WireErrorKind::Reserved {
                    field: "ActionFlags",
                    value: flags.into(),
                },
            ));
        }
        let set = |bit: u8| flags & bit != 0;
        Ok(Self {
            request: set(REQUEST),
            response_address: set(RESPONSE_ADDRESS)
                .then(|| decoder.string())
                .transpose()?,
            correlation_data: set(CORRELATION_DATA)
                .then(|| decoder.byte_string())
                .transpose()?,
            requestor_id: set(REQUESTOR_ID)
                .then(|| VariantRef::decode(decoder))
                .transpose()?,
            timeout_hint: set(TIMEOUT_HINT).then(|| decoder.f64()).transpose()?,
        })
    }
}

impl Encode for ActionHeader {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let bit = |present: bool, bit: u8| if present { bit } else { 0 };
        encoder.u8(bit(self.request, REQUEST)
            | bit(self.response_address.is_some(), RESPONSE_ADDRESS)
            | bit(self.correlation_data.is_some(), CORRELATION_DATA)
            | bit(self.requestor_id.is_some(), REQUESTOR_ID)
            | bit(self.timeout_hint.is_some(), TIMEOUT_HINT))?;
        if let Some(address) = &self.response_address {
            address.encode(encoder)?;
        }
        if let Some(data) = &self.correlation_data {
            data.encode(encoder)?;
        }
        if let Some(id) = &self.requestor_id {
            id.encode(encoder)?;
        }
        if let Some(hint) = self.timeout_hint {
            encoder.f64(hint)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_flag() {
        let header = ActionHeader {
            request: true,
            response_address: Some("x".into()),
            correlation_data: Some(ByteString::from(&[7_u8][..])),
            requestor_id: Some(Variant::UInt16(5)),
            timeout_hint: Some(2.0),
        };
        let bytes = header.encode_to_vec();
        assert_eq!(
            bytes,
            [
                0x1F, 1, 0, 0, 0, b'x', 1, 0, 0, 0, 7, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0x40
            ]
        );
        let decoded = ActionHeaderRef::decode(&mut Decoder::new(&bytes)).unwrap();
        assert_eq!(decoded.to_owned(), header);
        assert!(ActionHeaderRef::decode(&mut Decoder::new(&[0x20])).is_err());
    }
}
