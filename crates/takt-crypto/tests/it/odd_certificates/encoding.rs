//! Encodings of the cases, written by hand: libraries refuse most of them.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

/// Returns an element.
pub(super) fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let length = match content.len() {
        length @ 0..0x80 => vec![length as u8],
        length @ 0..0x100 => vec![0x81, length as u8],
        length => vec![0x82, (length >> 8) as u8, length as u8],
    };
    [&[tag][..], &length, &content].concat()
}

pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    element(0x30, parts)
}

pub(super) fn integer(bytes: &[u8]) -> Vec<u8> {
    element(2, &[bytes])
}

pub(super) fn oid(arcs: &[u32]) -> Vec<u8> {
    let mut content = vec![(arcs[0] * 40 + arcs[1]) as u8];
    for arc in &arcs[2..] {
        let groups = (0..5).rev().map(|group| (arc >> (7 * group)) as u8 & 0x7F);
        let groups: Vec<u8> = groups.skip_while(|group| *group == 0).collect();
        let (last, first) = groups.split_last().unwrap_or((&0, &[]));
        content.extend(first.iter().map(|group| 0x80 | group));
        content.push(*last);
    }
    element(6, &[&content])
}

/// Returns a name of relative names with one attribute each: type (X.520), tag and value.
pub(super) fn name(attributes: &[(u32, u8, &[u8])]) -> Vec<u8> {
    let attributes = attributes.iter().map(|(kind, tag, value)| {
        let attribute = sequence(&[&oid(&[2, 5, 4, *kind]), &element(*tag, &[value])]);
        element(0x31, &[&attribute])
    });
    sequence(&[&attributes.collect::<Vec<_>>().concat()])
}

pub(super) fn extension(arcs: &[u32], critical: &[u8], value: &[u8]) -> Vec<u8> {
    sequence(&[&oid(arcs), critical, &element(4, &[value])])
}

/// An extension of RFC 5280.
pub(super) fn standard(number: u32, value: &[u8]) -> Vec<u8> {
    extension(&[2, 5, 29, number], &[], value)
}

pub(super) fn uri_extension() -> Vec<u8> {
    standard(17, &sequence(&[&element(0x86, &[b"urn:plant:press"])]))
}

pub(super) const TRUE: &[u8] = &[1, 1, 0xFF];

/// The parts of a certificate; each case changes some of them.
pub(super) struct Parts {
    pub(super) version: Vec<u8>,
    pub(super) serial: Vec<u8>,
    pub(super) algorithm: Vec<u8>,
    pub(super) name: Vec<u8>,
    pub(super) validity: Vec<u8>,
    pub(super) key: Vec<u8>,
    pub(super) unique_identifiers: Vec<u8>,
    pub(super) extensions: Vec<Vec<u8>>,
    pub(super) behind_extensions: Vec<u8>,
    pub(super) outer_algorithm: Vec<u8>,
    pub(super) unused_bits: u8,
    pub(super) behind_signature: Vec<u8>,
    pub(super) behind: Vec<u8>,
}

pub(super) struct Issuer {
    key: EcdsaKeyPair,
    pub(super) pkcs8: Vec<u8>,
}

impl Issuer {
    pub(super) fn new() -> Self {
        let document =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new());
        let pkcs8 = document.unwrap().as_ref().to_vec();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &pkcs8).unwrap();
        Self { key, pkcs8 }
    }

    pub(super) fn public_key(&self) -> Vec<u8> {
        let algorithm = sequence(&[
            &oid(&[1, 2, 840, 10045, 2, 1]),
            &oid(&[1, 2, 840, 10045, 3, 1, 7]),
        ]);
        sequence(&[
            &algorithm,
            &element(3, &[&[0], self.key.public_key().as_ref()]),
        ])
    }

    pub(super) fn parts(&self) -> Parts {
        let algorithm = sequence(&[&oid(&[1, 2, 840, 10045, 4, 3, 2])]);
        Parts {
            version: element(0xA0, &[&integer(&[2])]),
            serial: integer(&[7]),
            algorithm: algorithm.clone(),
            name: name(&[(10, 12, b"Plant"), (3, 12, b"Press")]),
            validity: validity(23, b"200101000000Z", 23, b"400101000000Z"),
            key: self.public_key(),
            unique_identifiers: Vec::new(),
            extensions: vec![uri_extension()],
            behind_extensions: Vec::new(),
            outer_algorithm: algorithm,
            unused_bits: 0,
            behind_signature: Vec::new(),
            behind: Vec::new(),
        }
    }

    pub(super) fn sign(
        &self,
        content: &[u8],
        algorithm: &[u8],
        unused_bits: u8,
        behind: &[u8],
    ) -> Vec<u8> {
        let signature = self.key.sign(&SystemRandom::new(), content).unwrap();
        let signature = element(3, &[&[unused_bits], signature.as_ref()]);
        sequence(&[content, algorithm, &signature, behind])
    }

    pub(super) fn certificate(&self, parts: &Parts, subject: &[u8]) -> Vec<u8> {
        let extensions = match &parts.extensions[..] {
            [] => Vec::new(),
            extensions => element(0xA3, &[&sequence(&[&extensions.concat()])]),
        };
        let content = sequence(&[
            &parts.version,
            &parts.serial,
            &parts.algorithm,
            &parts.name,
            &parts.validity,
            subject,
            &parts.key,
            &parts.unique_identifiers,
            &extensions,
            &parts.behind_extensions,
        ]);
        let signed = self.sign(
            &content,
            &parts.outer_algorithm,
            parts.unused_bits,
            &parts.behind_signature,
        );
        [signed, parts.behind.clone()].concat()
    }
}

pub(super) fn validity(first: u8, not_before: &[u8], last: u8, not_after: &[u8]) -> Vec<u8> {
    sequence(&[&element(first, &[not_before]), &element(last, &[not_after])])
}
