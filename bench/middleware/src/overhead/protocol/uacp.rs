//! UA Connection Protocol and UA Secure Conversation (OPC 10000-6, 6.7.2 and 7.1.2): type, chunk, size.

use super::super::message::{Part, Purpose};

/// SecurityPolicy without security (OPC 10000-7).
const POLICY_NONE: &[u8] = b"http://opcfoundation.org/UA/SecurityPolicy#None";
/// Place of the SecurityPolicyUri in an OpenSecureChannel message: after message header and SecureChannelId, and its length.
const POLICY: usize = 8 + 4 + 4;
/// Place of the body of a MessageChunk without security: after header, SecureChannelId, token, sequence number and request id.
const BODY: usize = 8 + 4 + 4 + 8;

/// Services by the NodeIds of their encodings (OPC 10000-6, A.3, `NodeIds.csv`): of the request; that of the response follows by 3.
const SERVICES: [(u16, &str); 16] = [
    (422, "FindServers"),
    (428, "GetEndpoints"),
    (446, "OpenSecureChannel"),
    (461, "CreateSession"),
    (467, "ActivateSession"),
    (473, "CloseSession"),
    (527, "Browse"),
    (533, "BrowseNext"),
    (554, "TranslateBrowsePathsToNodeIds"),
    (560, "RegisterNodes"),
    (631, "Read"),
    (673, "Write"),
    (712, "Call"),
    (751, "CreateMonitoredItems"),
    (787, "CreateSubscription"),
    (826, "Publish"),
];

/// Services that carry the payload of the application.
const DATA: [&str; 2] = ["Write", "Call"];
/// Services that show that the other side is there.
const SIGNS: [&str; 2] = ["Read", "Publish"];

/// Returns true if a stream begins with a message of UACP.
pub(super) fn begins(bytes: &[u8]) -> bool {
    let kind = bytes.get(..3).unwrap_or_default();
    [b"HEL", b"ACK", b"ERR", b"RHE"]
        .iter()
        .any(|it| *it == kind)
}

pub(super) fn parts(bytes: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    let mut is_plain = true;
    // Name of the message whose chunks are not complete.
    let mut open: Option<(String, Purpose)> = None;
    while !rest.is_empty() {
        let Some((kind, chunk, length)) = header(rest) else {
            parts.push(Part::new("not recognised", Purpose::Unknown, rest.len()));
            break;
        };
        let message = rest.get(..length).unwrap_or_default();
        rest = rest.get(length..).unwrap_or_default();
        if kind == b"OPN" {
            let policy = message.get(POLICY..).unwrap_or_default();
            is_plain = policy.starts_with(POLICY_NONE);
        }
        let (name, purpose) = open.take().unwrap_or_else(|| match kind {
            b"HEL" => ("Hello".to_owned(), Purpose::Control),
            b"ACK" => ("Acknowledge".to_owned(), Purpose::Control),
            b"ERR" => ("Error".to_owned(), Purpose::Control),
            b"OPN" => ("OpenSecureChannel".to_owned(), Purpose::Control),
            b"CLO" => ("CloseSecureChannel".to_owned(), Purpose::Control),
            _ if is_plain => service(message.get(BODY..).unwrap_or_default()),
            _ => ("MSG, encrypted".to_owned(), Purpose::Unknown),
        });
        parts.push(Part::new(name.clone(), purpose, length));
        if chunk == b'C' {
            open = Some((name, purpose));
        }
    }
    parts
}

/// Reads a header; `None` if it is not valid, or the message is not complete.
fn header(rest: &[u8]) -> Option<(&[u8; 3], u8, usize)> {
    let [_, _, _, chunk, length @ ..] = rest else {
        return None;
    };
    let length = usize::try_from(u32::from_le_bytes(*length.first_chunk()?)).ok()?;
    let is_known = matches!(
        rest.get(..3)?,
        b"HEL" | b"ACK" | b"ERR" | b"RHE" | b"OPN" | b"MSG" | b"CLO"
    );
    let fits = is_known && (8..=rest.len()).contains(&length);
    fits.then_some((rest.first_chunk()?, *chunk, length))
}

/// Returns the name of a service by the NodeId at the beginning of a body.
fn service(body: &[u8]) -> (String, Purpose) {
    let id = match *body {
        [1, 0, low, high, ..] => u16::from_le_bytes([low, high]),
        _ => 0,
    };
    if id == 397 {
        return ("ServiceFault".to_owned(), Purpose::Control);
    }
    let found = SERVICES
        .iter()
        .find_map(|(request, name)| match id.checked_sub(*request)? {
            0 => Some((*name, "Request")),
            3 => Some((*name, "Response")),
            _ => None,
        });
    let Some((name, side)) = found else {
        return (format!("service i={id}"), Purpose::Control);
    };
    let purpose = match name {
        name if DATA.contains(&name) => Purpose::Data,
        name if SIGNS.contains(&name) => Purpose::KeepAlive,
        _ => Purpose::Control,
    };
    (format!("{name}{side}"), purpose)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
        let length = (8 + body.len() as u32).to_le_bytes();
        [&kind[..], &length, body].concat()
    }

    #[test]
    fn services_have_names_and_chunks_that_of_the_first_one() {
        let open = |policy: &[u8]| {
            let body = [&[0; 4][..], &(policy.len() as u32).to_le_bytes(), policy].concat();
            message(b"OPNF", &body)
        };
        let call = [&[0; 16][..], &[1, 0, 0xC8, 2], &[0; 40]].concat();
        let answer = [&[0; 16][..], &[1, 0, 0xCB, 2]].concat();
        let plain = [
            message(b"HELF", &[0; 24]),
            open(POLICY_NONE),
            message(b"MSGC", &call),
            message(b"MSGF", &[0; 16]),
            message(b"MSGF", &answer),
        ];
        let found = parts(&plain.concat());
        let names: Vec<&str> = found.iter().map(|part| &part.name[..]).collect();
        assert_eq!(
            names,
            [
                "Hello",
                "OpenSecureChannel",
                "CallRequest",
                "CallRequest",
                "CallResponse"
            ]
        );
        assert_eq!(found[0].bytes, 32);
        assert_eq!(found[3].purpose, Purpose::Data);
        let encrypted = [
            open(b"http://opcfoundation.org/UA/SecurityPolicy#X"),
            message(b"MSGF", &call),
        ];
        assert_eq!(parts(&encrypted.concat())[1].purpose, Purpose::Unknown);
        let strange = parts(b"MSGF\xFF\0\0\0....");
        assert_eq!(
            (strange[0].bytes, strange[0].purpose),
            (12, Purpose::Unknown)
        );
    }
}
