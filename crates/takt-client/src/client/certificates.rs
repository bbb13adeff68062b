//! Certificates and trust list of a server (OPC 10000-12, 7.10), for an administrator of security on an encrypted connection.

use takt_crypto::KeyKind;
use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::structures::TrustListDataType;
use takt_ua::{ByteString, Elements, NodeId, UaString, Variant, ids};

use super::Client;
use super::security_keys::named;
use crate::error::ClientError;

/// Bytes of a trust list that one Read or Write carries.
const PART: usize = 64 << 10;

/// Largest trust list that is read, in bytes.
const MAX_TRUST_LIST: usize = 16 << 20;

/// Modes of Open (OPC 10000-20, 4.2.2).
const READ: u8 = 1;
const WRITE_AND_ERASE: u8 = 6;

const TRUST_LIST: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST;
const OPEN: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_OPEN;
const READ_PART: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_READ;
const WRITE_PART: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_WRITE;
const CLOSE: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_CLOSE;
const CLOSE_AND_UPDATE: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_CLOSE_AND_UPDATE;
const REMOVE: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_REMOVE_CERTIFICATE;

/// All Methods fail with `BadSecurityModeInsufficient` on a connection that is not encrypted, with `BadUserAccessDenied` for other
/// users than administrators of security, and with `BadTransactionPending` while another Session changes something.
impl Client {
    /// Returns the trust list of the server.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn read_trust_list(&mut self) -> Result<TrustListDataType, ClientError> {
        let opened = self.trust_list("Open", OPEN, vec![Variant::from(READ)])?;
        let handle = self.handle(opened)?;
        let length = i32::try_from(PART).unwrap_or(i32::MAX);
        let mut bytes = Vec::new();
        loop {
            let inputs = vec![Variant::from(handle), Variant::from(length)];
            let part = self.trust_list("Read", READ_PART, inputs)?;
            let [Variant::ByteString(part)] = part.as_slice() else {
                return Err(self.protocol("the output argument is not that of Read"));
            };
            if part.as_bytes().is_empty() {
                break;
            }
            bytes.extend_from_slice(part.as_bytes());
            if bytes.len() > MAX_TRUST_LIST {
                return Err(self.protocol("the trust list is too long"));
            }
        }
        // The file is closed first: a list that cannot be decoded must not keep it open.
        self.trust_list("Close", CLOSE, vec![Variant::from(handle)])?;
        let list = TrustListDataType::decode(&mut Decoder::new(&bytes));
        list.map_err(|_| self.protocol("the trust list cannot be decoded"))
    }

    /// Replaces the lists that `list` names, and applies the change.
    ///
    /// # Errors
    /// [`ClientError`]; `BadCertificateInvalid` and similar ones for a certificate that does not pass a check.
    pub fn write_trust_list(&mut self, list: &TrustListDataType) -> Result<(), ClientError> {
        let opened = self.trust_list("Open", OPEN, vec![Variant::from(WRITE_AND_ERASE)])?;
        let handle = self.handle(opened)?;
        for part in list.encode_to_vec().chunks(PART) {
            let inputs = vec![Variant::from(handle), ByteString::from(part).into()];
            self.trust_list("Write", WRITE_PART, inputs)?;
        }
        let inputs = vec![Variant::from(handle)];
        let closed = self.trust_list("CloseAndUpdate", CLOSE_AND_UPDATE, inputs)?;
        self.apply_if_required(&closed)
    }

    /// Removes a certificate from the trusted ones, or from the issuers, by its SHA-1 thumbprint as hexadecimal digits.
    ///
    /// # Errors
    /// [`ClientError`]; `BadInvalidArgument` if it is not in the list, `BadCertificateChainIncomplete` if another certificate needs
    /// it.
    pub fn remove_certificate(
        &mut self,
        thumbprint: &str,
        is_trusted: bool,
    ) -> Result<(), ClientError> {
        let inputs = vec![Variant::from(thumbprint), Variant::from(is_trusted)];
        self.trust_list("RemoveCertificate", REMOVE, inputs)?;
        Ok(())
    }

    /// Returns the certificates that the server has rejected.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn rejected_certificates(&mut self) -> Result<Vec<ByteString>, ClientError> {
        let method = ids::SERVER_CONFIGURATION_GET_REJECTED_LIST;
        let outputs = self.configuration("GetRejectedList", method, Vec::new())?;
        self.certificates(outputs.into_iter().next())
    }

    /// Returns the own certificates of the server.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn server_certificates(&mut self) -> Result<Vec<ByteString>, ClientError> {
        let method = ids::SERVER_CONFIGURATION_GET_CERTIFICATES;
        let outputs = self.configuration("GetCertificates", method, vec![group()])?;
        self.certificates(outputs.into_iter().nth(1))
    }

    /// Returns a signing request (PKCS #10, DER) of the server for its certificate of this kind, with its present key or a new one.
    ///
    /// # Errors
    /// [`ClientError`]; `BadInvalidArgument` if the server has no such certificate.
    pub fn create_signing_request(
        &mut self,
        kind: KeyKind,
        with_new_key: bool,
    ) -> Result<ByteString, ClientError> {
        // OPC 10000-12, 7.10.10: entropy for a new key, at least 32 bytes.
        let mut nonce = [0; 32];
        if getrandom::fill(&mut nonce).is_err() {
            return Err(ClientError::Invalid(
                "the system has no random numbers".to_owned(),
            ));
        }
        let inputs = vec![
            group(),
            kind.certificate_type().into(),
            // The subject stays that of the present certificate.
            Variant::from(UaString::null()),
            Variant::from(with_new_key),
            Variant::from(ByteString::from(&nonce)),
        ];
        let method = ids::SERVER_CONFIGURATION_CREATE_SIGNING_REQUEST;
        let outputs = self.configuration("CreateSigningRequest", method, inputs)?;
        match outputs.into_iter().next() {
            Some(Variant::ByteString(request)) => Ok(request),
            _ => Err(self.protocol("the output argument is not that of CreateSigningRequest")),
        }
    }

    /// Replaces the certificate of this kind of the server, whose key it has, and applies the change. `issuers` complete the chain.
    ///
    /// # Errors
    /// [`ClientError`]; `BadSecurityChecksFailed` if the server does not accept the certificate.
    pub fn update_certificate(
        &mut self,
        kind: KeyKind,
        certificate: &[u8],
        issuers: &[&[u8]],
    ) -> Result<(), ClientError> {
        let issuers = issuers.iter().map(|issuer| ByteString::from(*issuer));
        let inputs = vec![
            group(),
            kind.certificate_type().into(),
            Variant::from(ByteString::from(certificate)),
            Variant::from(issuers.collect::<Vec<_>>()),
            Variant::from(UaString::null()),
            Variant::from(ByteString::null()),
        ];
        let method = ids::SERVER_CONFIGURATION_UPDATE_CERTIFICATE;
        let outputs = self.configuration("UpdateCertificate", method, inputs)?;
        self.apply_if_required(&outputs)
    }

    /// Calls ApplyChanges if a Method said so.
    fn apply_if_required(&mut self, outputs: &[Variant]) -> Result<(), ClientError> {
        if let [Variant::Boolean(true)] = outputs {
            let method = ids::SERVER_CONFIGURATION_APPLY_CHANGES;
            self.configuration("ApplyChanges", method, Vec::new())?;
        }
        Ok(())
    }

    fn configuration(
        &mut self,
        name: &str,
        method: u32,
        inputs: Vec<Variant>,
    ) -> Result<Vec<Variant>, ClientError> {
        self.administer(name, ids::SERVER_CONFIGURATION, method, inputs)
    }

    fn trust_list(
        &mut self,
        name: &str,
        method: u32,
        inputs: Vec<Variant>,
    ) -> Result<Vec<Variant>, ClientError> {
        self.administer(name, TRUST_LIST, method, inputs)
    }

    fn administer(
        &mut self,
        name: &str,
        object: u32,
        method: u32,
        inputs: Vec<Variant>,
    ) -> Result<Vec<Variant>, ClientError> {
        let called = self.call_method(&NodeId::from(object), &NodeId::from(method), inputs);
        called.map_err(|error| named(name, error))
    }

    fn handle(&self, outputs: Vec<Variant>) -> Result<u32, ClientError> {
        match outputs.as_slice() {
            [Variant::UInt32(handle)] => Ok(*handle),
            _ => Err(self.protocol("the output argument is not that of Open")),
        }
    }

    fn certificates(&self, output: Option<Variant>) -> Result<Vec<ByteString>, ClientError> {
        match output {
            Some(Variant::Empty) => Ok(Vec::new()),
            Some(Variant::Array(array)) => match array.elements {
                Elements::ByteString(certificates) => Ok(certificates),
                _ => Err(self.protocol("the certificates are no ByteStrings")),
            },
            _ => Err(self.protocol("the output argument is not a list of certificates")),
        }
    }
}

fn group() -> Variant {
    let group = ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP;
    Variant::from(NodeId::from(group))
}
