//! Audit records: what clients do with a server, and what they are refused (OPC 10000-4, 6.5).
//!
//! A record has the fields of an AuditEventType (OPC 10000-5, 6.4.3) and its subtypes, except for values and arguments, which may be
//! secret. Records go to an [`AuditSink`], and as Events to the clients that may see them. Without both, a request costs two
//! comparisons.

use takt_space::Caller;
use takt_ua::{DateTime, ExtensionObject, NodeIdRef, StatusCode};

use crate::identity::user_id::client_user_id;

/// Receiver of audit records. Called on the transport's thread: it must not block.
pub trait AuditSink: Send + Sync {
    /// Takes a record.
    fn record(&self, record: &AuditRecord<'_>);
}

/// A record of one action of a client.
#[derive(Debug, Clone, Copy)]
pub struct AuditRecord<'a> {
    /// The action.
    pub action: AuditedAction<'a>,
    /// Time of the request.
    pub time: DateTime,
    /// Result: the action was carried out if it is not Bad.
    pub status: StatusCode,
    /// The client.
    pub caller: &'a Caller,
    /// Name of a user that the client has claimed and not proved.
    pub claimed_user: Option<&'a str>,
    /// AuditEntryId from the RequestHeader, chosen by the client (OPC 10000-4, 7.33).
    pub client_audit_entry_id: Option<&'a str>,
    /// ApplicationUri of the server.
    pub server_id: &'a str,
}

impl AuditRecord<'_> {
    /// Returns the ClientUserId: the authenticated user, or the one that the client claims to be, or a Unix user.
    #[must_use]
    pub fn client_user_id(&self) -> String {
        match self.claimed_user {
            Some(claimed) => claimed.to_owned(),
            None => client_user_id(self.caller),
        }
    }
}

/// An action that is audited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AuditedAction<'a> {
    /// A channel was opened.
    OpenSecureChannel,
    /// A channel was closed.
    CloseSecureChannel,
    /// The certificate of a client was refused.
    Certificate {
        /// EventType of the check that failed, a subtype of AuditCertificateEventType.
        event_type: &'static str,
    },
    /// CreateSession.
    CreateSession,
    /// ActivateSession.
    ActivateSession {
        /// The token of the user without its secrets; null if there was none.
        token: &'a ExtensionObject,
    },
    /// CloseSession.
    CloseSession,
    /// One item of a Write.
    Write {
        /// The node.
        node_id: NodeIdRef<'a>,
        /// The attribute.
        attribute_id: u32,
        /// IndexRange (OPC 10000-4, 7.27), empty for the whole value.
        index_range: &'a str,
    },
    /// One Method of a Call.
    Call {
        /// The Object.
        object_id: NodeIdRef<'a>,
        /// The Method.
        method_id: NodeIdRef<'a>,
        /// BrowseName of the Method, if it exists.
        method: Option<&'a str>,
    },
    /// The certificate of the server was replaced by a Method (OPC 10000-12, 7.10.22).
    CertificateUpdated {
        /// The Object.
        object_id: NodeIdRef<'a>,
        /// The Method.
        method_id: NodeIdRef<'a>,
        /// The CertificateGroup.
        group: NodeIdRef<'a>,
        /// The type of the certificate.
        certificate_type: NodeIdRef<'a>,
    },
    /// A trust list was changed by a Method (OPC 10000-12, 7.8.2.13).
    TrustListUpdated {
        /// The Object.
        object_id: NodeIdRef<'a>,
        /// The Method.
        method_id: NodeIdRef<'a>,
        /// The trust list.
        trust_list: NodeIdRef<'a>,
    },
    /// One operation of NodeManagement.
    NodeManagement {
        /// The service.
        service: NodeService,
        /// The node that was added or deleted, or whose reference was.
        node_id: NodeIdRef<'a>,
    },
}

/// A service of NodeManagement (OPC 10000-4, 5.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeService {
    /// AddNodes.
    AddNodes,
    /// AddReferences.
    AddReferences,
    /// DeleteNodes.
    DeleteNodes,
    /// DeleteReferences.
    DeleteReferences,
}

impl AuditedAction<'_> {
    /// Returns the name of the EventType (OPC 10000-5, 6.4).
    #[must_use]
    pub const fn event_type(&self) -> &'static str {
        match self {
            Self::OpenSecureChannel => "AuditOpenSecureChannelEventType",
            Self::CloseSecureChannel => "AuditChannelEventType",
            Self::Certificate { event_type } => event_type,
            Self::CreateSession => "AuditCreateSessionEventType",
            Self::ActivateSession { .. } => "AuditActivateSessionEventType",
            Self::CloseSession => "AuditSessionEventType",
            Self::Write { .. } => "AuditWriteUpdateEventType",
            Self::Call { .. } => "AuditUpdateMethodEventType",
            Self::CertificateUpdated { .. } => "CertificateUpdatedAuditEventType",
            Self::TrustListUpdated { .. } => "TrustListUpdatedAuditEventType",
            Self::NodeManagement { service, .. } => match service {
                NodeService::AddNodes => "AuditAddNodesEventType",
                NodeService::AddReferences => "AuditAddReferencesEventType",
                NodeService::DeleteNodes => "AuditDeleteNodesEventType",
                NodeService::DeleteReferences => "AuditDeleteReferencesEventType",
            },
        }
    }

    /// Returns the SourceName: service set and service.
    #[must_use]
    pub const fn source_name(&self) -> &'static str {
        match self {
            Self::OpenSecureChannel => "SecureChannel/OpenSecureChannel",
            Self::CloseSecureChannel => "SecureChannel/CloseSecureChannel",
            Self::Certificate { .. } => "Security/Certificate",
            Self::CreateSession => "Session/CreateSession",
            Self::ActivateSession { .. } => "Session/ActivateSession",
            Self::CloseSession => "Session/CloseSession",
            Self::Write { .. } => "Attribute/Write",
            Self::Call { .. } | Self::CertificateUpdated { .. } | Self::TrustListUpdated { .. } => {
                "Method/Call"
            }
            Self::NodeManagement { service, .. } => match service {
                NodeService::AddNodes => "NodeManagement/AddNodes",
                NodeService::AddReferences => "NodeManagement/AddReferences",
                NodeService::DeleteNodes => "NodeManagement/DeleteNodes",
                NodeService::DeleteReferences => "NodeManagement/DeleteReferences",
            },
        }
    }
}
