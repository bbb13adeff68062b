//! Object identifiers of algorithms, attributes and extensions.

use der::asn1::ObjectIdentifier;

macro_rules! identifiers {
    ($($name:ident = $text:literal;)*) => {
        $(pub(crate) const $name: ObjectIdentifier = ObjectIdentifier::new_unwrap($text);)*
    };
}

// RFC 3279, RFC 5480, RFC 8410: keys and signatures.
identifiers! {
    RSA_ENCRYPTION = "1.2.840.113549.1.1.1";
    SHA256_WITH_RSA = "1.2.840.113549.1.1.11";
    SHA384_WITH_RSA = "1.2.840.113549.1.1.12";
    SHA512_WITH_RSA = "1.2.840.113549.1.1.13";
    EC_PUBLIC_KEY = "1.2.840.10045.2.1";
    PRIME256V1 = "1.2.840.10045.3.1.7";
    SECP384R1 = "1.3.132.0.34";
    ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";
    ECDSA_WITH_SHA384 = "1.2.840.10045.4.3.3";
    ED25519 = "1.3.101.112";
}

// X.520, RFC 4519: attributes of names.
identifiers! {
    COMMON_NAME = "2.5.4.3";
    COUNTRY_NAME = "2.5.4.6";
    LOCALITY_NAME = "2.5.4.7";
    STATE_OR_PROVINCE_NAME = "2.5.4.8";
    ORGANIZATION_NAME = "2.5.4.10";
    ORGANIZATIONAL_UNIT_NAME = "2.5.4.11";
    DOMAIN_COMPONENT = "0.9.2342.19200300.100.1.25";
}

// RFC 5280, 4.2: extensions.
identifiers! {
    SUBJECT_KEY_IDENTIFIER = "2.5.29.14";
    KEY_USAGE = "2.5.29.15";
    SUBJECT_ALT_NAME = "2.5.29.17";
    ISSUER_ALT_NAME = "2.5.29.18";
    BASIC_CONSTRAINTS = "2.5.29.19";
    NAME_CONSTRAINTS = "2.5.29.30";
    CRL_DISTRIBUTION_POINTS = "2.5.29.31";
    CERTIFICATE_POLICIES = "2.5.29.32";
    POLICY_MAPPINGS = "2.5.29.33";
    AUTHORITY_KEY_IDENTIFIER = "2.5.29.35";
    POLICY_CONSTRAINTS = "2.5.29.36";
    EXTENDED_KEY_USAGE = "2.5.29.37";
    INHIBIT_ANY_POLICY = "2.5.29.54";
    AUTHORITY_INFO_ACCESS = "1.3.6.1.5.5.7.1.1";
    SUBJECT_INFO_ACCESS = "1.3.6.1.5.5.7.1.11";
    SIGNED_CERTIFICATE_TIMESTAMPS = "1.3.6.1.4.1.11129.2.4.2";
    NETSCAPE_CERT_TYPE = "2.16.840.1.113730.1.1";
}

// RFC 5280, 4.2.1.12: extended key usages.
identifiers! {
    ANY_EXTENDED_KEY_USAGE = "2.5.29.37.0";
    SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
    CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
    CODE_SIGNING = "1.3.6.1.5.5.7.3.3";
    EMAIL_PROTECTION = "1.3.6.1.5.5.7.3.4";
    TIME_STAMPING = "1.3.6.1.5.5.7.3.8";
    OCSP_SIGNING = "1.3.6.1.5.5.7.3.9";
}

// RFC 2985, 5.4.2: the attribute of a signing request that holds extensions.
identifiers! {
    EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
}

/// Returns true if `content`, that of an OBJECT IDENTIFIER, is `oid`.
pub(crate) fn is(content: &[u8], oid: &ObjectIdentifier) -> bool {
    content == oid.as_bytes()
}
