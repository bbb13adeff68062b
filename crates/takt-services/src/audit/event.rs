//! Audit records as Events of AuditEventType and its subtypes (OPC 10000-5, 6.4.3 to 6.4.27).

use takt_crypto::{PeerCertificate, Thumbprint};
use takt_space::namespace0::Namespace0;
use takt_space::{Audience, Event};
use takt_ua::{ByteString, NodeId, Variant, ids};

use super::record::{AuditRecord, AuditedAction};

/// Severities of actions that were carried out, and of those that were refused.
const DONE: u16 = 100;
const REFUSED: u16 = 400;

/// Maximum number of characters of a text that a client has chosen.
const LONGEST: usize = 256;

/// Returns the Event of a record.
pub(crate) fn event_of(record: &AuditRecord<'_>) -> Event {
    let caller = record.caller;
    let action = &record.action;
    let source = match action {
        AuditedAction::Write { node_id, .. } => node_id.to_owned(),
        AuditedAction::Call { object_id, .. }
        | AuditedAction::CertificateUpdated { object_id, .. }
        | AuditedAction::TrustListUpdated { object_id, .. } => object_id.to_owned(),
        // Channels and Sessions have no nodes: the Server Object stands for them.
        _ => NodeId::from(ids::SERVER),
    };
    let is_done = !record.status.is_bad();
    let client = &caller.channel.security.client_certificate;
    let name = match (action, client.leaf_der()) {
        // Clients that do not parse certificates see which one it was.
        (AuditedAction::Certificate { .. }, Some(leaf)) => &named(client, leaf),
        _ => action.source_name(),
    };
    let user = record.client_user_id();
    let message = match (is_done, user.is_empty()) {
        (true, true) => name.to_owned(),
        (true, false) => format!("{name} by {}", cut(&user)),
        (false, true) => format!("{name} refused: {}", record.status),
        (false, false) => format!("{name} by {} refused: {}", cut(&user), record.status),
    };
    let event = Event::new(event_type(action.event_type()), source)
        .to(Audience::Auditors)
        .source_name(action.source_name())
        .severity(if is_done { DONE } else { REFUSED })
        .message(message.as_str())
        .field("ActionTimeStamp", record.time)
        .field("Status", is_done)
        .field("StatusCodeId", record.status)
        .field("ServerId", record.server_id)
        .field(
            "ClientAuditEntryId",
            cut(record.client_audit_entry_id.unwrap_or_default()),
        )
        .field("ClientUserId", cut(&user));
    let channel = caller.channel.id.to_string();
    match action {
        AuditedAction::OpenSecureChannel => {
            let security = &caller.channel.security;
            event
                .field("SecureChannelId", channel.as_str())
                .field("SecurityPolicyUri", security.policy_uri.as_str())
                .field("SecurityMode", security.mode.0)
        }
        AuditedAction::CloseSecureChannel => event.field("SecureChannelId", channel.as_str()),
        AuditedAction::CreateSession => event
            .field("SecureChannelId", channel.as_str())
            .field("SessionId", caller.session_id.clone()),
        AuditedAction::ActivateSession { token } => event
            .field("SecureChannelId", channel.as_str())
            .field("SessionId", caller.session_id.clone())
            .field("UserIdentityToken", Variant::from((*token).clone())),
        AuditedAction::CloseSession => event.field("SessionId", caller.session_id.clone()),
        AuditedAction::Write {
            attribute_id,
            index_range,
            ..
        } => event
            .field("AttributeId", *attribute_id)
            .field("IndexRange", cut(index_range)),
        AuditedAction::Call { method_id, .. } => event.field("MethodId", method_id.to_owned()),
        AuditedAction::CertificateUpdated {
            method_id,
            group,
            certificate_type,
            ..
        } => event
            .field("MethodId", method_id.to_owned())
            .field("CertificateGroup", group.to_owned())
            .field("CertificateType", certificate_type.to_owned()),
        AuditedAction::TrustListUpdated {
            method_id,
            trust_list,
            ..
        } => event
            .field("MethodId", method_id.to_owned())
            .field("TrustListId", trust_list.to_owned()),
        AuditedAction::Certificate { .. } => match client.leaf_der() {
            Some(leaf) => event.field("Certificate", ByteString::from(leaf)),
            None => event,
        },
        AuditedAction::NodeManagement { .. } => event,
    }
}

/// Returns the text for a certificate that was refused: its thumbprint, and its subject if it can be read.
fn named(client: &PeerCertificate, leaf: &[u8]) -> String {
    let thumbprint = Thumbprint::of(leaf);
    match client.leaf() {
        Some(certificate) => format!("Certificate {thumbprint} of {}", cut(&certificate.subject)),
        None => format!("Certificate {thumbprint}"),
    }
}

/// Returns the EventType with this name.
fn event_type(name: &str) -> NodeId {
    // The names are those of the standard; records are made for auditors only, so the search is rare.
    let found = Namespace0::nodes().find(|node| {
        node.browse_name() == name && Namespace0::is_subtype_of(node.id(), ids::AUDIT_EVENT_TYPE)
    });
    NodeId::from(found.map_or(ids::AUDIT_EVENT_TYPE, |node| node.id()))
}

fn cut(text: &str) -> &str {
    // The lane of audit Events is bounded by their number, so the size of each Event has to be bounded as well.
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => text.get(..at).unwrap_or_default(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use takt_space::Caller;
    use takt_ua::{DateTime, NodeIdRef, StatusCode};

    use super::*;

    #[test]
    fn a_record_is_an_event_for_auditors() {
        let caller = Caller::local();
        let record = AuditRecord {
            action: AuditedAction::Write {
                node_id: NodeIdRef::from(2258),
                attribute_id: 13,
                index_range: "",
            },
            time: DateTime(7),
            status: StatusCode::BadUserAccessDenied,
            caller: &caller,
            claimed_user: Some("anna"),
            client_audit_entry_id: None,
            server_id: "urn:test",
        };
        let event = event_of(&record);
        assert_eq!(event.audience(), Audience::Auditors);
        let expected = NodeId::from(ids::AUDIT_WRITE_UPDATE_EVENT_TYPE);
        assert_eq!(event.event_type(), &expected);
        assert_eq!(event.named("Status"), Some(&Variant::from(false)));
        assert_eq!(event.named("ClientUserId"), Some(&Variant::from("anna")));
        assert_eq!(event.named("AttributeId"), Some(&Variant::from(13_u32)));
    }
}
