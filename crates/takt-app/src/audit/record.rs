//! JSON form of audit records: one object in one line.

use serde_json::{Map, Value, json};
use takt_crypto::{Certificate, Thumbprint};
use takt_services::{AuditRecord, AuditedAction};
use takt_ua::DateTime;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::X509IdentityToken;

/// Largest number of characters of a text that a client has chosen.
const LONGEST: usize = 256;

/// Returns the line of a record.
pub(super) fn line(record: &AuditRecord<'_>) -> String {
    let caller = record.caller;
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    add("Time", json!(DateTime::now().to_string()));
    add("EventType", json!(record.action.event_type()));
    add("SourceName", json!(record.action.source_name()));
    add("ActionTimeStamp", json!(record.time.to_string()));
    add("Status", json!(!record.status.is_bad()));
    add("StatusCodeId", json!(record.status.to_string()));
    add("ServerId", json!(record.server_id));
    let entry = record.client_audit_entry_id.unwrap_or_default();
    add("ClientAuditEntryId", text(entry));
    add("ClientUserId", text(&record.client_user_id()));
    add(
        "ClientApplicationUri",
        text(caller.application_uri.as_str()),
    );
    add("ClientAddress", json!(caller.peer().to_string()));
    add("SecureChannelId", json!(caller.channel.id.to_string()));
    if !caller.session_id.is_null() {
        add("SessionId", json!(caller.session_id.to_string()));
    }
    details(record, &mut add);
    // JSON escapes line breaks: a client cannot forge a record with a text that it has chosen.
    Value::Object(fields).to_string()
}

/// Returns the line that tells the number of lost records.
pub(super) fn lost(count: u64, now: DateTime) -> String {
    json!({"Time": now.to_string(), "EventType": "LostAuditRecords", "LostRecords": count})
        .to_string()
}

/// Adds the fields of the subtype.
fn details(record: &AuditRecord<'_>, add: &mut impl FnMut(&str, Value)) {
    let caller = record.caller;
    match record.action {
        AuditedAction::OpenSecureChannel => {
            let security = &caller.channel.security;
            add("SecurityPolicyUri", json!(security.policy_uri));
            add("SecurityMode", json!(mode(security.mode)));
            if let Some(client) = security.client_certificate.leaf() {
                let thumbprint = client.thumbprint.to_string();
                add("ClientCertificateThumbprint", json!(thumbprint));
            }
        }
        AuditedAction::Certificate { .. } => {
            let client = &caller.channel.security.client_certificate;
            // Bytes that are no certificate have a thumbprint, too.
            if let Some(leaf) = client.leaf_der() {
                let thumbprint = Thumbprint::of(leaf).to_string();
                add("ClientCertificateThumbprint", json!(thumbprint));
            }
            if let Some(client) = client.leaf() {
                add("ClientCertificateSubject", text(&client.subject));
            }
        }
        AuditedAction::CreateSession => {
            add("SessionName", text(caller.session_name.as_str()));
        }
        AuditedAction::ActivateSession { token } => {
            let certificate = token.decode_as::<X509IdentityToken>().ok();
            let certificate = certificate
                .as_ref()
                .map(|one| one.certificate_data.as_bytes());
            if let Some(leaf) = certificate.and_then(Certificate::leaf_of) {
                let thumbprint = Thumbprint::of(leaf).to_string();
                add("UserCertificateThumbprint", json!(thumbprint));
            }
            // A user who is refused has no roles.
            if !record.status.is_bad() {
                add("Roles", json!(caller.roles.to_string()));
            }
        }
        AuditedAction::Write {
            node_id,
            attribute_id,
            index_range,
        } => {
            add("SourceNode", text(&node_id.to_string()));
            add("AttributeId", json!(attribute_id));
            add("IndexRange", text(index_range));
        }
        AuditedAction::Call {
            object_id,
            method_id,
            method,
        } => {
            add("SourceNode", text(&object_id.to_string()));
            add("MethodId", text(&method_id.to_string()));
            add("Method", text(method.unwrap_or_default()));
        }
        AuditedAction::CertificateUpdated {
            object_id,
            method_id,
            group,
            certificate_type,
        } => {
            add("SourceNode", text(&object_id.to_string()));
            add("MethodId", text(&method_id.to_string()));
            add("CertificateGroup", text(&group.to_string()));
            add("CertificateType", text(&certificate_type.to_string()));
        }
        AuditedAction::TrustListUpdated {
            object_id,
            method_id,
            trust_list,
        } => {
            add("SourceNode", text(&object_id.to_string()));
            add("MethodId", text(&method_id.to_string()));
            add("TrustListId", text(&trust_list.to_string()));
        }
        AuditedAction::NodeManagement { node_id, .. } => {
            add("Node", text(&node_id.to_string()));
        }
        AuditedAction::CloseSecureChannel | AuditedAction::CloseSession => {}
    }
}

/// Returns a text that a client has chosen, cut if it is long.
fn text(text: &str) -> Value {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => json!(format!("{}…", text.get(..at).unwrap_or_default())),
        None => json!(text),
    }
}

fn mode(mode: MessageSecurityMode) -> &'static str {
    match mode {
        MessageSecurityMode::Sign => "Sign",
        MessageSecurityMode::SignAndEncrypt => "SignAndEncrypt",
        _ => "None",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use takt_crypto::{EllipticCurve, KeyKind, NewCertificate, PeerCertificate};
    use takt_space::{Caller, Channel, ChannelSecurity};
    use takt_ua::{ExtensionObject, NodeIdRef, StatusCode};

    use super::*;

    fn fields(action: AuditedAction<'_>, caller: &Caller, claimed: Option<&str>) -> Value {
        let record = AuditRecord {
            action,
            time: "2026-01-02T03:04:05Z".parse().unwrap(),
            status: StatusCode::BadUserAccessDenied,
            caller,
            claimed_user: claimed,
            client_audit_entry_id: Some("desk 7"),
            server_id: "urn:test",
        };
        let line = line(&record);
        assert!(!line.contains('\n') && line.len() < 4096, "{line}");
        serde_json::from_str(&line).unwrap()
    }

    #[test]
    fn records_have_the_fields_of_the_standard() {
        let mut caller = Caller::local();
        caller.application_uri = "urn:plant:desk".into();
        let write = AuditedAction::Write {
            node_id: NodeIdRef::from(2258),
            attribute_id: 13,
            index_range: "1:2",
        };
        let fields = fields(write, &caller, None);
        for (name, expected) in [
            ("EventType", json!("AuditWriteUpdateEventType")),
            ("SourceName", json!("Attribute/Write")),
            ("SourceNode", json!("i=2258")),
            ("AttributeId", json!(13)),
            ("IndexRange", json!("1:2")),
            ("ActionTimeStamp", json!("2026-01-02T03:04:05Z")),
            ("Status", json!(false)),
            ("ServerId", json!("urn:test")),
            ("ClientAuditEntryId", json!("desk 7")),
            ("ClientUserId", json!("")),
            ("ClientApplicationUri", json!("urn:plant:desk")),
        ] {
            assert_eq!(fields[name], expected, "{name} in {fields}");
        }
        let code = fields["StatusCodeId"].as_str().unwrap();
        assert!(code.starts_with("BadUserAccessDenied"), "{code}");
    }

    #[test]
    fn refused_certificates_are_named() {
        let created = NewCertificate {
            application_name: "Desk".to_owned(),
            application_uri: "urn:plant:desk".to_owned(),
            host_names: vec!["desk".to_owned()],
            addresses: Vec::new(),
            validity: Duration::from_secs(3600),
            key_bits: 2048,
        };
        let created = created
            .create(KeyKind::Ec(EllipticCurve::NistP256))
            .unwrap();
        let certificate = created.certificate();
        let thumbprint = certificate.thumbprint.to_string();
        let channel = Channel {
            id: 0,
            peer: Caller::local().peer().clone(),
            security: ChannelSecurity {
                client_certificate: Arc::new(PeerCertificate::parse(certificate.der().to_vec())),
                ..ChannelSecurity::none()
            },
        };
        let caller = Caller::of_channel(Arc::new(channel));
        let event_type = "AuditCertificateUntrustedEventType";
        let refused = fields(AuditedAction::Certificate { event_type }, &caller, None);
        assert_eq!(refused["ClientCertificateThumbprint"], json!(thumbprint));
        assert_eq!(
            refused["ClientCertificateSubject"],
            json!(certificate.subject)
        );
        let token = ExtensionObject::from_structure(&X509IdentityToken {
            certificate_data: certificate.der().into(),
            ..X509IdentityToken::default()
        });
        let activate = AuditedAction::ActivateSession { token: &token };
        let refused = fields(activate, &Caller::local(), Some(&certificate.subject));
        assert_eq!(refused["UserCertificateThumbprint"], json!(thumbprint));
        assert_eq!(refused["ClientUserId"], json!(certificate.subject));
    }

    #[test]
    fn texts_of_clients_are_cut_and_escaped() {
        let mut caller = Caller::local();
        caller.session_name = "ä".repeat(100_000).as_str().into();
        let created = fields(AuditedAction::CreateSession, &caller, Some("a\"\n\u{1b}b"));
        assert_eq!(created["ClientUserId"], json!("a\"\n\u{1b}b"));
        let name = created["SessionName"].as_str().unwrap();
        assert_eq!(name.chars().count(), LONGEST + 1);
    }
}
