//! Certificates, revocation lists and signing requests that are unusual or broken: `recorded.txt` says of each what is read. Real peers
//! have many of them. `docs/decisions.md` says what is accepted and refused. `openssl.pem` has some that openssl has made.

mod certificates;
mod encoding;
mod lists_and_requests;

use std::fmt::Write;

use takt_crypto::{
    Certificate, EllipticCurve, Expectations, KeyKind, PolicyProfile, RevocationList, TrustList,
};

use self::encoding::Issuer;

/// 2030-03-17.
const NOW: i64 = 1_900_000_000;

fn expectations(is_server: bool) -> Expectations<'static> {
    let kind = KeyKind::Ec(EllipticCurve::NistP256);
    let mut profiles = PolicyProfile::ALL.iter();
    Expectations {
        profile: profiles.find(|profile| profile.key_kind() == kind).unwrap(),
        now: NOW,
        is_server,
        host: None,
        application_uri: None,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns all that is read of a certificate, and what it is good for.
fn described(certificate: &Certificate, issued: Option<&Certificate>) -> String {
    let trust = TrustList {
        trusted: vec![certificate.clone()],
        ..TrustList::default()
    };
    let mut text = format!(
        "[{}] [{}] serial {} from {} to {} uri {:?} hosts {:?} addresses {:?} key {:?} {}",
        certificate.subject,
        certificate.common_name.escape_debug(),
        hexadecimal(&certificate.serial),
        certificate.not_before,
        certificate.not_after,
        certificate.application_uri,
        certificate.host_names,
        certificate.addresses,
        certificate.key_kind.map(|kind| kind.to_string()),
        certificate.key_bits,
    );
    let chain = std::slice::from_ref(certificate);
    for (role, is_server) in [("server", true), ("client", false)] {
        let checked = trust.check(chain, &expectations(is_server));
        write!(text, " {role} {checked:?}").unwrap();
    }
    if let Some(issued) = issued {
        // Without a revocation list, this is the last check.
        let checked = trust.check(std::slice::from_ref(issued), &expectations(true));
        write!(text, " issuer {checked:?}").unwrap();
    }
    text
}

/// Returns all that is read of a revocation list.
fn described_list(list: &RevocationList) -> String {
    let serials: Vec<_> = list
        .revoked_serials()
        .into_iter()
        .map(hexadecimal)
        .collect();
    format!(
        "[{}] from {} to {:?} revokes {serials:?}",
        list.issuer, list.this_update, list.next_update
    )
}

fn made_by_openssl(text: &mut String) {
    for document in pem::parse_many(include_str!("openssl.pem")).unwrap() {
        let der = document.contents();
        let read = match document.tag() {
            "CERTIFICATE" => described(&Certificate::from_der(der).unwrap(), None),
            _ => described_list(&RevocationList::from_der(der).unwrap()),
        };
        writeln!(text, "openssl: {read}").unwrap();
    }
}

#[test]
fn odd_and_broken_encodings_are_read_or_refused_as_recorded() {
    let issuer = Issuer::new();
    let mut text = String::new();
    certificates::certificates(&issuer, &mut text);
    lists_and_requests::lists(&issuer, &mut text);
    lists_and_requests::requests(&issuer, &mut text);
    made_by_openssl(&mut text);
    let recorded = include_str!("recorded.txt");
    assert_eq!(text.lines().count(), recorded.lines().count());
    for (read, recorded) in text.lines().zip(recorded.lines()) {
        assert_eq!(read, recorded);
    }
}
