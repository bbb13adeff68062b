//! OpenSecureChannel messages: the asymmetric security header (OPC 10000-6, 6.7.2.3) and the OpenSecureChannel
//! service (OPC 10000-6, 6.7.4).

use takt_ua::binary::{
    Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, Limits,
};
use takt_ua::{NodeIdRef, SECURITY_POLICY_NONE, Structure};

use crate::chunk::{
    self, CHANNEL_HEADER_SIZE, ChunkHeader, ChunkType, MessageType, SEQUENCE_HEADER_SIZE,
    SequenceHeader,
};
use crate::error::TransportError;
use crate::hello::decoding;
use crate::security::{ChunkSecurity, MAX_SECURITY_POLICY_URI_LENGTH};

const OPEN: &str = "OpenSecureChannel";

/// Space in bytes that is sufficient for the service, nonces included.
const MAX_BODY: usize = 4096;

/// The asymmetric security header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AsymmetricHeader {
    pub(crate) policy_uri: String,
    pub(crate) sender_certificate: Vec<u8>,
    pub(crate) receiver_thumbprint: Vec<u8>,
}

/// Returns true if an `OPN` chunk names SecurityPolicy None, so that handling it takes no time.
pub(crate) fn is_without_security(chunk: &[u8]) -> bool {
    let uri = SECURITY_POLICY_NONE.as_bytes();
    let header = chunk.get(CHANNEL_HEADER_SIZE..);
    let header = header.and_then(<[u8]>::split_first_chunk::<4>);
    // An empty URI stands for None as well; it may wait for a turn.
    header.is_some_and(|(length, rest)| {
        usize::try_from(u32::from_le_bytes(*length)) == Ok(uri.len()) && rest.starts_with(uri)
    })
}

impl AsymmetricHeader {
    /// Reads the header of an `OPN` chunk; also returns its end.
    pub(crate) fn parse(chunk: &[u8]) -> Result<(Self, usize), TransportError> {
        let limits = Limits {
            max_string_length: chunk.len(),
            ..Limits::DEFAULT
        };
        let mut d = Decoder::with_limits(chunk, limits);
        decoding(OPEN, d.bytes(CHANNEL_HEADER_SIZE))?;
        let uri = decoding(OPEN, d.byte_string())?.unwrap_or_default();
        if uri.len() > MAX_SECURITY_POLICY_URI_LENGTH {
            return Err(TransportError::SecurityPolicy("(too long)".into()));
        }
        let policy_uri = match String::from_utf8_lossy(uri) {
            // Table 58: an empty URI stands for None.
            uri if uri.is_empty() => SECURITY_POLICY_NONE.into(),
            uri => uri.into_owned(),
        };
        let sender_certificate = decoding(OPEN, d.byte_string())?.unwrap_or_default().into();
        let receiver_thumbprint = decoding(OPEN, d.byte_string())?.unwrap_or_default().into();
        let header = Self {
            policy_uri,
            sender_certificate,
            receiver_thumbprint,
        };
        Ok((header, d.position()))
    }

    /// Appends an `OPN` chunk with `body` to `out`.
    pub(crate) fn emit(
        &self,
        out: &mut Vec<u8>,
        channel_id: u32,
        sequence: SequenceHeader,
        security: &dyn ChunkSecurity,
        body: &impl Message,
    ) -> Result<(), TransportError> {
        let start = out.len();
        out.extend_from_slice(&[0; CHANNEL_HEADER_SIZE]);
        let most = MAX_BODY
            + MAX_SECURITY_POLICY_URI_LENGTH
            + self.sender_certificate.len()
            + self.receiver_thumbprint.len();
        let mut e = Encoder::growing(out, most);
        let mut header = 0;
        let written = e
            .string(Some(&self.policy_uri))
            .and_then(|()| e.byte_string(non_empty(&self.sender_certificate)))
            .and_then(|()| e.byte_string(non_empty(&self.receiver_thumbprint)))
            .and_then(|()| {
                header = CHANNEL_HEADER_SIZE + e.position();
                e.bytes(&[0; SEQUENCE_HEADER_SIZE])
            })
            .and_then(|()| body.encode_message(&mut e));
        debug_assert!(written.is_ok(), "all fields have bounded lengths");
        let body = out.len() - start - header - SEQUENCE_HEADER_SIZE;
        let size = security.sealed_size(header, body);
        out.resize(start + size, 0);
        let chunk = &mut out[start..];
        ChunkHeader {
            message_type: MessageType::OpenSecureChannel,
            chunk_type: ChunkType::Final,
            size,
        }
        .emit(chunk);
        chunk::emit_secure_channel_id(chunk, channel_id);
        sequence.emit(chunk, header);
        let sealed = security.seal(chunk, header, body);
        // Nothing of a chunk that is not secured may be sent.
        if sealed.is_err() {
            out.truncate(start);
        }
        Ok(sealed?)
    }
}

/// Empty certificates and thumbprints are written as null.
fn non_empty(bytes: &[u8]) -> Option<&[u8]> {
    (!bytes.is_empty()).then_some(bytes)
}

/// A structure behind its TypeId: the body of a message (OPC 10000-6, 6.7.2.1, 5.2.9).
pub(crate) trait Message {
    fn encode_message(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError>;
}

impl<T: Structure> Message for T {
    fn encode_message(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        NodeIdRef::numeric(0, T::BINARY_ENCODING_ID).encode(encoder)?;
        self.encode(encoder)
    }
}

/// Reads a message body that must be a `T`.
pub(crate) fn decode_message<T: Structure>(body: &[u8]) -> Result<T, TransportError> {
    let mut d = Decoder::new(body);
    let type_id = decoding(T::NAME, NodeIdRef::decode(&mut d))?;
    if type_id != NodeIdRef::numeric(0, T::BINARY_ENCODING_ID) {
        let kind = DecodeErrorKind::InvalidValue("another type was expected");
        return decoding(T::NAME, Err(DecodeError::new(0, kind)));
    }
    decoding(T::NAME, T::decode(&mut d))
}
