//! Odd and broken revocation lists and signing requests.

use std::fmt::Write;
use std::time::Duration;

use takt_crypto::{Certificate, OwnCertificate, PrivateKey, RevocationList, TrustList, issue};

use super::encoding::{
    Issuer, Parts, TRUE, element, extension, integer, name, oid, sequence, standard, uri_extension,
};
use super::{described, described_list, expectations};

pub(super) fn lists(issuer: &Issuer, text: &mut String) {
    let parts = issuer.parts();
    let time = |text: &[u8]| element(23, &[text]);
    let entry =
        |serial: &[u8], rest: &[u8]| sequence(&[&integer(serial), &time(b"250101000000Z"), rest]);
    let reason = sequence(&[&extension(&[2, 5, 29, 21], &[], &[10, 1, 1])]);
    let (next, number) = (time(b"300401000000Z"), standard(20, &integer(&[1])));
    let extensions = |all: &[u8]| element(0xA0, &[&sequence(&[all])]);
    let critical = extension(&[2, 5, 29, 28], TRUE, &sequence(&[]));
    let version = integer(&[1]);
    let cases: [(&str, [&[u8]; 4]); 13] = [
        (
            "list",
            [
                &version,
                &next,
                &sequence(&[&entry(&[9], &reason)]),
                &extensions(&number),
            ],
        ),
        (
            "list with the certificate",
            [
                &version,
                &next,
                &sequence(&[&entry(&[7], &[]), &entry(&[0x80], &[])]),
                &[],
            ],
        ),
        (
            "list of version 1",
            [&[], &next, &sequence(&[&entry(&[0, 0x80], &[])]), &[]],
        ),
        (
            "list without next",
            [&version, &[], &sequence(&[&entry(&[9], &[])]), &[]],
        ),
        ("list of nothing", [&version, &next, &[], &[]]),
        (
            "list with an empty list",
            [&version, &next, &sequence(&[]), &[]],
        ),
        (
            "list with a critical extension",
            [&version, &next, &[], &extensions(&critical)],
        ),
        (
            "list with an extension twice",
            [
                &version,
                &next,
                &[],
                &extensions(&[number.clone(), number.clone()].concat()),
            ],
        ),
        (
            "list with a serial number that is a string",
            [
                &version,
                &next,
                &sequence(&[&sequence(&[&element(4, &[&[9]]), &time(b"250101000000Z")])]),
                &[],
            ],
        ),
        (
            "list with an entry without time",
            [
                &version,
                &next,
                &sequence(&[&sequence(&[&integer(&[9])])]),
                &[],
            ],
        ),
        (
            "list with a broken extension",
            [&version, &next, &[], &extensions(&[0x30, 0])],
        ),
        (
            "list with a field behind",
            [
                &version,
                &next,
                &[],
                &[&extensions(&number)[..], &[5, 0]].concat(),
            ],
        ),
        (
            "list with a negative version",
            [&integer(&[0xFF]), &next, &[], &[]],
        ),
    ];
    let root = Parts {
        extensions: vec![standard(19, &sequence(&[TRUE]))],
        ..issuer.parts()
    };
    let root = Certificate::from_der(&issuer.certificate(&root, &parts.name)).unwrap();
    let leaf = issuer.certificate(&parts, &name(&[(3, 12, b"Leaf")]));
    let leaf = Certificate::from_der(&leaf).unwrap();
    for (case, [version, next, revoked, extensions]) in &cases {
        let this = time(b"300101000000Z");
        let content = sequence(&[
            version,
            &parts.algorithm,
            &parts.name,
            &this,
            next,
            revoked,
            extensions,
        ]);
        let der = issuer.sign(&content, &parts.algorithm, 0, &[]);
        let read = match RevocationList::from_der(&der) {
            Ok(list) => {
                let text = described_list(&list);
                let trust = TrustList {
                    trusted: vec![root.clone()],
                    issuers: Vec::new(),
                    revocation_lists: vec![list],
                };
                let checked = trust.check(std::slice::from_ref(&leaf), &expectations(true));
                format!("{text} certificate {checked:?}")
            }
            Err(error) => format!("refused: {error}"),
        };
        writeln!(text, "{case}: {read}").unwrap();
    }
}

pub(super) fn requests(issuer: &Issuer, text: &mut String) {
    let parts = issuer.parts();
    let pem = pem::encode(&pem::Pem::new("PRIVATE KEY", issuer.pkcs8.clone()));
    let ca = Certificate::from_der(&issuer.certificate(&parts, &parts.name)).unwrap();
    let ca = OwnCertificate::new(vec![ca], PrivateKey::from_pem(&pem).unwrap()).unwrap();
    let ask = |extensions: &[Vec<u8>]| {
        let extensions = element(0x31, &[&sequence(&[&extensions.concat()])]);
        let request = oid(&[1, 2, 840, 113_549, 1, 9, 14]);
        element(0xA0, &[&sequence(&[&request, &extensions])])
    };
    let password = sequence(&[
        &oid(&[1, 2, 840, 113_549, 1, 9, 7]),
        &element(0x31, &[&element(12, &[b"secret"])]),
    ]);
    let names = |names: &[u8]| standard(17, &sequence(&[names]));
    let usual = ask(&[
        uri_extension(),
        standard(15, &element(3, &[&[7, 0xFF, 0x80]])),
        standard(37, &sequence(&[&oid(&[1, 3, 6, 1, 5, 5, 7, 3, 2])])),
        standard(19, &sequence(&[TRUE])),
    ]);
    let other = element(
        0xA0,
        &[
            &oid(&[1, 2, 3]),
            &element(0xA0, &[&element(12, &[b"user"])]),
        ],
    );
    let version = integer(&[0]);
    let empty = element(0xA0, &[]);
    let cases: [(&str, [&[u8]; 3]); 15] = [
        ("request", [&version, &usual, &[]]),
        ("request without extensions", [&version, &empty, &[]]),
        (
            "request with a password",
            [&version, &element(0xA0, &[&password]), &[]],
        ),
        ("request without attributes", [&version, &[], &[]]),
        ("request of version 3", [&integer(&[2]), &usual, &[]]),
        (
            "request with a wrong signature",
            [&version, &usual, b"wrong"],
        ),
        (
            "request with an extension twice",
            [&version, &ask(&[uri_extension(), uri_extension()]), &[]],
        ),
        (
            "request for policies",
            [&version, &ask(&[standard(32, &sequence(&[]))]), &[]],
        ),
        (
            "request for an unknown usage",
            [
                &version,
                &ask(&[standard(37, &sequence(&[&oid(&[1, 2, 3])]))]),
                &[],
            ],
        ),
        (
            "request for a mail address and other names",
            [
                &version,
                &ask(&[names(&[&element(0x81, &[b"a@b"])[..], &other].concat())]),
                &[],
            ],
        ),
        (
            "request for a host in UTF-8",
            [
                &version,
                &ask(&[names(&element(0x82, &["prässe".as_bytes()]))]),
                &[],
            ],
        ),
        (
            "request for an address of 5 bytes",
            [&version, &ask(&[names(&element(0x87, &[&[1; 5]]))]), &[]],
        ),
        (
            "request for a directory name",
            [
                &version,
                &ask(&[names(&element(0xA4, &[&parts.name]))]),
                &[],
            ],
        ),
        (
            "request for a broken KeyUsage",
            [&version, &ask(&[standard(15, &[4, 1, 0])]), &[]],
        ),
        (
            "request with a field behind",
            [&version, &[&usual[..], &[5, 0]].concat(), &[]],
        ),
    ];
    for (case, [version, attributes, wrong]) in &cases {
        let content = sequence(&[version, &parts.name, &parts.key, attributes]);
        let mut der = issuer.sign(&content, &parts.algorithm, 0, &[]);
        if !wrong.is_empty() {
            let middle = content.len() / 2;
            der[middle] ^= 1;
        }
        let read = match issue(&der, &ca, Duration::from_secs(20 * 365 * 24 * 3600)) {
            Ok(mut certificate) => {
                assert_eq!(certificate.serial.len(), 16, "{case}");
                assert_eq!(
                    certificate.verify_signed_by(ca.certificate()),
                    Ok(()),
                    "{case}"
                );
                certificate.serial.clear();
                (certificate.not_before, certificate.not_after) = (0, 0);
                described(&certificate, None)
            }
            Err(_) => "refused".to_owned(),
        };
        writeln!(text, "{case}: {read}").unwrap();
    }
}
