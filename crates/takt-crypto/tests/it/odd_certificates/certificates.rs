//! Odd and broken certificates.

use std::fmt::Write;

use takt_crypto::Certificate;

use super::described;
use super::encoding::{
    Issuer, Parts, TRUE, element, extension, integer, name, oid, sequence, standard, uri_extension,
    validity,
};

type Change = fn(&mut Parts);

const CERTIFICATES: &[(&str, Change)] = &[
    ("as usual", |_| {}),
    ("version 1", |parts| {
        parts.version.clear();
        parts.extensions.clear();
    }),
    ("explicit version 1", |parts| {
        parts.version = element(0xA0, &[&integer(&[0])])
    }),
    ("version 300", |parts| {
        parts.version = element(0xA0, &[&integer(&[1, 44])])
    }),
    ("negative version", |parts| {
        parts.version = element(0xA0, &[&integer(&[0xFF])])
    }),
    ("negative serial number", |parts| {
        parts.serial = integer(&[0x80, 1])
    }),
    ("serial number 0", |parts| parts.serial = integer(&[0])),
    ("empty serial number", |parts| parts.serial = integer(&[])),
    ("serial number of 30 bytes", |parts| {
        parts.serial = integer(&[0x7F; 30])
    }),
    ("serial number with needless zeros", |parts| {
        parts.serial = integer(&[0, 0, 5])
    }),
    ("serial number in long form", |parts| {
        parts.serial = vec![2, 0x81, 1, 5]
    }),
    ("serial number is a string", |parts| {
        parts.serial = element(4, &[&[5]])
    }),
    ("empty name", |parts| parts.name = sequence(&[])),
    ("name with an empty set", |parts| {
        parts.name = sequence(&[&[0x31, 0]])
    }),
    ("name is a set", |parts| parts.name[0] = 0x31),
    ("T61String in Latin 1", |parts| {
        parts.name = name(&[(3, 20, b"Pr\xE4sse")])
    }),
    ("T61String in UTF-8", |parts| {
        parts.name = name(&[(3, 20, "Prässe".as_bytes())])
    }),
    ("BMPString", |parts| {
        parts.name = name(&[(3, 30, &[0, b'P', 0x65, 0xE5])])
    }),
    ("BMPString of odd length", |parts| {
        parts.name = name(&[(3, 30, &[0, b'P', 0])])
    }),
    ("BMPString with half a character", |parts| {
        parts.name = name(&[(3, 30, &[0xD8, 0])])
    }),
    ("UniversalString", |parts| {
        parts.name = name(&[(3, 28, &[0, 0, 0, b'P'])])
    }),
    ("IA5String", |parts| {
        parts.name = name(&[(3, 22, b"press@plant")])
    }),
    ("PrintableString with *", |parts| {
        parts.name = name(&[(3, 19, b"*.plant")])
    }),
    ("PrintableString in Latin 1", |parts| {
        parts.name = name(&[(3, 19, b"Pr\xE4sse")])
    }),
    ("NumericString", |parts| {
        parts.name = name(&[(3, 18, b"12 34")])
    }),
    ("VisibleString", |parts| {
        parts.name = name(&[(3, 26, b"Press")])
    }),
    ("UTF8String that is none", |parts| {
        parts.name = name(&[(3, 12, b"a\xFF"), (10, 12, b"Plant")])
    }),
    ("control characters", |parts| {
        parts.name = name(&[(3, 12, b"a\x1B[2J\nb\0")])
    }),
    ("number as a value", |parts| {
        parts.name = name(&[(3, 2, &[5])])
    }),
    ("long value", |parts| {
        parts.name = name(&[(3, 12, &[b'a'; 300])])
    }),
    ("types of attributes", |parts| {
        let attributes = [5, 4, 42, 12, 9, 15, 17, 46, 97].map(|kind| (kind, 12, &b"x"[..]));
        parts.name = name(&attributes);
    }),
    ("two attributes in a set, not in order", |parts| {
        let one = sequence(&[&oid(&[2, 5, 4, 10]), &element(12, &[b"Plant"])]);
        let other = sequence(&[&oid(&[2, 5, 4, 3]), &element(12, &[b"Press"])]);
        let mail = sequence(&[
            &oid(&[1, 2, 840, 113_549, 1, 9, 1]),
            &element(22, &[b"a@b"]),
        ]);
        let domain = sequence(&[
            &oid(&[0, 9, 2342, 19_200_300, 100, 1, 25]),
            &element(22, &[b"plant"]),
        ]);
        let sets = [
            element(0x31, &[&one, &other]),
            element(0x31, &[&mail, &domain]),
        ];
        parts.name = sequence(&[&sets.concat()]);
    }),
    ("type of attribute without content", |parts| {
        let attribute = sequence(&[&[6, 0], &element(12, &[b"x"])]);
        parts.name = sequence(&[&element(0x31, &[&attribute])]);
    }),
    ("type of attribute with 60 bytes", |parts| {
        let attribute = sequence(&[&element(6, &[&[0x2A; 60]]), &element(12, &[b"x"])]);
        parts.name = sequence(&[&element(0x31, &[&attribute])]);
    }),
    ("GeneralizedTime", |parts| {
        parts.validity = validity(24, b"20200101000000Z", 24, b"99991231235959Z");
    }),
    ("times before 1970", |parts| {
        parts.validity = validity(24, b"00010101000000Z", 23, b"500101000000Z");
    }),
    ("times without seconds", |parts| {
        parts.validity = validity(23, b"2001010000Z", 24, b"204001010000Z");
    }),
    ("UTCTime with an offset", |parts| {
        parts.validity = validity(23, b"200101000000+0100", 23, b"400101000000-0530");
    }),
    ("UTCTime with an offset, without seconds", |parts| {
        parts.validity = validity(23, b"2001010000+0100", 23, b"400101000000Z");
    }),
    ("GeneralizedTime with an offset", |parts| {
        parts.validity = validity(24, b"20200101000000+0100", 23, b"400101000000Z");
    }),
    ("GeneralizedTime without zone", |parts| {
        parts.validity = validity(24, b"20200101000000", 23, b"400101000000Z");
    }),
    ("fraction of a second", |parts| {
        parts.validity = validity(24, b"20200101000000.5Z", 24, b"20400101000000.125Z");
    }),
    ("fraction of a second with four digits", |parts| {
        parts.validity = validity(24, b"20200101000000.1255Z", 23, b"400101000000Z");
    }),
    ("leap day", |parts| {
        parts.validity = validity(23, b"200229000000Z", 23, b"400229000000Z")
    }),
    ("no leap day", |parts| {
        parts.validity = validity(23, b"210229000000Z", 23, b"400101000000Z")
    }),
    ("month 13", |parts| {
        parts.validity = validity(23, b"201301000000Z", 23, b"400101000000Z")
    }),
    ("hour 24", |parts| {
        parts.validity = validity(23, b"200101240000Z", 23, b"400101000000Z")
    }),
    ("second 60", |parts| {
        parts.validity = validity(23, b"200101235960Z", 23, b"400101000000Z")
    }),
    ("UTCTime without zone", |parts| {
        parts.validity = validity(23, b"200101000000", 23, b"400101000000Z")
    }),
    ("time is text", |parts| {
        parts.validity = validity(12, b"200101000000Z", 23, b"400101000000Z")
    }),
    ("expired", |parts| {
        parts.validity = validity(23, b"200101000000Z", 23, b"200102000000Z")
    }),
    ("unique identifiers", |parts| {
        parts.unique_identifiers = [element(0x81, &[&[0, 1]]), element(0x82, &[&[0, 2]])].concat()
    }),
    ("broken unique identifier", |parts| {
        parts.unique_identifiers = element(0x81, &[])
    }),
    ("other algorithm outside", |parts| {
        parts.outer_algorithm = sequence(&[&oid(&[1, 2, 840, 10045, 4, 3, 3])])
    }),
    ("NULL parameters outside only", |parts| {
        parts.outer_algorithm = sequence(&[&oid(&[1, 2, 840, 10045, 4, 3, 2]), &[5, 0]]);
    }),
    ("NULL parameters", |parts| {
        parts.algorithm = sequence(&[&oid(&[1, 2, 840, 10045, 4, 3, 2]), &[5, 0]]);
        parts.outer_algorithm.clone_from(&parts.algorithm);
    }),
    ("unknown signature algorithm", |parts| {
        parts.algorithm = sequence(&[&oid(&[1, 2, 3])]);
        parts.outer_algorithm.clone_from(&parts.algorithm);
    }),
    ("unused bits in the signature", |parts| {
        parts.unused_bits = 1
    }),
    ("field behind the signature", |parts| {
        parts.behind_signature = vec![5, 0]
    }),
    ("bytes behind the certificate", |parts| {
        parts.behind = vec![0]
    }),
    ("field behind the extensions", |parts| {
        parts.behind_extensions = vec![5, 0]
    }),
    ("unknown curve", |parts| {
        let algorithm = sequence(&[&oid(&[1, 2, 840, 10045, 2, 1]), &oid(&[1, 3, 132, 0, 35])]);
        parts.key = sequence(&[&algorithm, &element(3, &[&[0, 4, 1]])]);
    }),
    ("curve without name", |parts| {
        parts.key = sequence(&[
            &sequence(&[&oid(&[1, 2, 840, 10045, 2, 1])]),
            &element(3, &[&[0, 4, 1]]),
        ]);
    }),
    ("RSA key that is none", |parts| {
        let algorithm = sequence(&[&oid(&[1, 2, 840, 113_549, 1, 1, 1]), &[5, 0]]);
        parts.key = sequence(&[&algorithm, &element(3, &[&[0, 4, 1]])]);
    }),
    ("RSA key of 1024 bits", |parts| {
        let algorithm = sequence(&[&oid(&[1, 2, 840, 113_549, 1, 1, 1]), &[5, 0]]);
        let modulus = [&[0][..], &[0xC5; 128]].concat();
        let key = sequence(&[&integer(&modulus), &integer(&[1, 0, 1])]);
        parts.key = sequence(&[&algorithm, &element(3, &[&[0], &key])]);
    }),
    ("no extensions", |parts| parts.extensions.clear()),
    ("extension twice", |parts| {
        parts.extensions.push(uri_extension())
    }),
    ("unknown extension twice", |parts| {
        parts.extensions.extend([
            extension(&[1, 2, 3], &[], b"x"),
            extension(&[1, 2, 3], &[], b"y"),
        ]);
    }),
    ("unknown extension", |parts| {
        parts
            .extensions
            .push(extension(&[1, 2, 3], &[], b"no element"))
    }),
    ("unknown extension, explicitly not critical", |parts| {
        parts
            .extensions
            .push(extension(&[1, 2, 3], &[1, 1, 0], b"x"));
    }),
    ("unknown critical extension", |parts| {
        parts.extensions.push(extension(&[1, 2, 3], TRUE, b"x"))
    }),
    ("critical extension with a true of 1", |parts| {
        parts
            .extensions
            .push(extension(&[1, 2, 3], &[1, 1, 1], b"x"))
    }),
    ("critical policies", |parts| {
        let policies = sequence(&[&sequence(&[&oid(&[1, 2, 3])])]);
        parts
            .extensions
            .push(extension(&[2, 5, 29, 32], TRUE, &policies));
    }),
    ("extension without value", |parts| {
        parts.extensions.push(sequence(&[&oid(&[1, 2, 3])]))
    }),
    ("extension is a set", |parts| parts.extensions[0][0] = 0x31),
    ("extension with a number for critical", |parts| {
        parts
            .extensions
            .push(extension(&[1, 2, 3], &[2, 1, 1], b"x"));
    }),
    ("policies that are no element", |parts| {
        parts.extensions.push(standard(32, &[0x30, 5, 6]))
    }),
    ("policies that are a string", |parts| {
        parts.extensions.push(standard(32, &[4, 0]))
    }),
    ("policies with half an element", |parts| {
        parts.extensions.push(standard(32, &[0x30, 3, 0x30, 5, 6]))
    }),
    ("distribution points nested 1000 times", |parts| {
        let nested = (0..1000).fold(vec![5, 0], |inner, _| sequence(&[&inner]));
        parts.extensions.push(standard(31, &nested));
    }),
    ("SubjectKeyIdentifier is a number", |parts| {
        parts.extensions.push(standard(14, &[2, 1, 1]))
    }),
    ("two URIs, hosts, addresses", |parts| {
        parts.extensions[0] = standard(
            17,
            &sequence(&[
                &element(0x81, &[b"a@plant"]),
                &element(0x86, &[b"urn:first"]),
                &element(0x86, &[b"urn:second"]),
                &element(0x82, &[b"press"]),
                &element(0x87, &[&[192, 0, 2, 7]]),
                &element(0x87, &[&[1, 2, 3, 4, 5]]),
                &element(0x82, &["prässe".as_bytes()]),
                &element(0xA4, &[&name(&[(3, 12, b"Directory")])]),
                &element(0x88, &[&[0x2A, 3]]),
                &element(
                    0xA0,
                    &[
                        &oid(&[1, 2, 3]),
                        &element(0xA0, &[&element(12, &[b"user"])]),
                    ],
                ),
                &element(0x89, &[b"unknown"]),
            ]),
        );
    }),
    ("URI in UTF-8", |parts| {
        parts.extensions[0] = standard(17, &sequence(&[&element(0x86, &["urn:prässe".as_bytes()])]))
    }),
    ("URI in Latin 1", |parts| {
        parts.extensions[0] = standard(17, &sequence(&[&element(0x86, &[b"urn:pr\xE4sse"])]))
    }),
    ("no names", |parts| {
        parts.extensions[0] = standard(17, &sequence(&[]))
    }),
    ("name without context-specific tag", |parts| {
        parts.extensions[0] = standard(17, &sequence(&[&element(22, &[b"urn:x"])]))
    }),
    ("bytes behind the names", |parts| {
        let names = [sequence(&[&element(0x86, &[b"urn:x"])]), vec![0]].concat();
        parts.extensions[0] = standard(17, &names);
    }),
    ("KeyUsage to sign and encrypt", |parts| {
        parts
            .extensions
            .push(standard(15, &element(3, &[&[4, 0xF0]])))
    }),
    ("KeyUsage with a needless zero byte", |parts| {
        parts
            .extensions
            .push(standard(15, &element(3, &[&[0, 0xF0, 0]])))
    }),
    ("KeyUsage of 9 bits", |parts| {
        parts
            .extensions
            .push(standard(15, &element(3, &[&[7, 8, 0x80]])))
    }),
    ("KeyUsage to sign certificates", |parts| {
        parts.extensions.push(standard(15, &element(3, &[&[2, 4]])))
    }),
    ("KeyUsage with unused bits set", |parts| {
        parts
            .extensions
            .push(standard(15, &element(3, &[&[4, 0xFF]])))
    }),
    ("KeyUsage without bits", |parts| {
        parts.extensions.push(standard(15, &element(3, &[&[0]])))
    }),
    ("KeyUsage is a string", |parts| {
        parts.extensions.push(standard(15, &element(4, &[&[0xF0]])))
    }),
    ("KeyUsage is empty", |parts| {
        parts.extensions.push(standard(15, &[]))
    }),
    ("ExtendedKeyUsage for servers", |parts| {
        parts.extensions.push(standard(
            37,
            &sequence(&[&oid(&[1, 3, 6, 1, 5, 5, 7, 3, 1])]),
        ))
    }),
    ("ExtendedKeyUsage for clients", |parts| {
        parts.extensions.push(standard(
            37,
            &sequence(&[&oid(&[1, 3, 6, 1, 5, 5, 7, 3, 2]), &oid(&[1, 2, 3])]),
        ))
    }),
    ("ExtendedKeyUsage for all", |parts| {
        parts
            .extensions
            .push(standard(37, &sequence(&[&oid(&[2, 5, 29, 37, 0])])))
    }),
    ("ExtendedKeyUsage of a template of Windows", |parts| {
        let template = oid(&[
            1,
            3,
            6,
            1,
            4,
            1,
            311,
            21,
            8,
            15_138_236,
            9_999_532,
            5_130_905,
            16_022_480,
            14_543_236,
            152,
            1,
            400,
            4_000_000_000,
            4_000_000_000,
        ]);
        parts.extensions.push(standard(37, &sequence(&[&template])));
    }),
    ("ExtendedKeyUsage is a number", |parts| {
        parts.extensions.push(standard(37, &[2, 1, 1]))
    }),
    ("BasicConstraints of an issuer", |parts| {
        parts.extensions = vec![standard(19, &sequence(&[TRUE]))]
    }),
    ("BasicConstraints with a true of 1", |parts| {
        parts.extensions = vec![standard(19, &sequence(&[&[1, 1, 1]]))]
    }),
    ("BasicConstraints, explicitly no issuer", |parts| {
        parts
            .extensions
            .push(standard(19, &sequence(&[&[1, 1, 0]])))
    }),
    ("BasicConstraints of length 0", |parts| {
        parts.extensions = vec![standard(19, &sequence(&[TRUE, &integer(&[0])]))]
    }),
    ("BasicConstraints of length 300", |parts| {
        parts.extensions = vec![standard(19, &sequence(&[TRUE, &integer(&[1, 44])]))]
    }),
    ("BasicConstraints of length -1", |parts| {
        parts.extensions = vec![standard(19, &sequence(&[TRUE, &integer(&[0xFF])]))]
    }),
    ("BasicConstraints of length 2³²", |parts| {
        parts.extensions = vec![standard(19, &sequence(&[TRUE, &integer(&[1, 0, 0, 0, 0])]))]
    }),
    ("BasicConstraints with a length only", |parts| {
        parts
            .extensions
            .push(standard(19, &sequence(&[&integer(&[3])])))
    }),
    ("BasicConstraints in wrong order", |parts| {
        parts
            .extensions
            .push(standard(19, &sequence(&[&integer(&[3]), TRUE])))
    }),
    ("BasicConstraints with a third field", |parts| {
        parts
            .extensions
            .push(standard(19, &sequence(&[TRUE, &integer(&[3]), &[5, 0]])))
    }),
    ("bytes behind BasicConstraints", |parts| {
        parts.extensions.push(standard(19, &[0x30, 0, 5, 0]))
    }),
];

pub(super) fn certificates(issuer: &Issuer, text: &mut String) {
    for (case, change) in CERTIFICATES {
        let mut parts = issuer.parts();
        change(&mut parts);
        let der = issuer.certificate(&parts, &parts.name);
        let read = match Certificate::from_der(&der) {
            Ok(certificate) => {
                let mut leaf = issuer.parts();
                leaf.name = parts.name;
                let leaf = issuer.certificate(&leaf, &name(&[(3, 12, b"Leaf")]));
                let leaf = Certificate::from_der(&leaf).unwrap();
                described(&certificate, Some(&leaf))
            }
            Err(error) => format!("refused: {error}"),
        };
        writeln!(text, "{case}: {read}").unwrap();
    }
}
