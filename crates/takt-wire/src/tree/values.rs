//! Built-in types that have parts (OPC 10000-6, 5.2.2). The others are read as a whole.

use takt_ua::BuiltInType::{self, *};

use super::grammar::{Field, Kind, Names, b, bit, bits, field, flags, group, switch};

/// Returns the parts of a built-in type, if it has any.
pub(super) fn built_in(built_in_type: BuiltInType) -> Option<&'static [Field]> {
    COMPOSED
        .iter()
        .find(|(known, _)| *known == built_in_type)
        .map(|(_, fields)| *fields)
}

/// All built-in types that have parts.
pub(super) static COMPOSED: &[(BuiltInType, &[Field])] = &[
    (Variant, VARIANT),
    (DataValue, DATA_VALUE),
    (ExtensionObject, EXTENSION_OBJECT),
    (QualifiedName, QUALIFIED_NAME),
    (LocalizedText, LOCALIZED_TEXT),
    (DiagnosticInfo, DIAGNOSTIC_INFO),
];

/// Names of the built-in types by their number.
const TYPES: Names = &[
    (0, "Null"),
    (1, "Boolean"),
    (2, "SByte"),
    (3, "Byte"),
    (4, "Int16"),
    (5, "UInt16"),
    (6, "Int32"),
    (7, "UInt32"),
    (8, "Int64"),
    (9, "UInt64"),
    (10, "Float"),
    (11, "Double"),
    (12, "String"),
    (13, "DateTime"),
    (14, "Guid"),
    (15, "ByteString"),
    (16, "XmlElement"),
    (17, "NodeId"),
    (18, "ExpandedNodeId"),
    (19, "StatusCode"),
    (20, "QualifiedName"),
    (21, "LocalizedText"),
    (22, "ExtensionObject"),
    (23, "DataValue"),
    (24, "Variant"),
    (25, "DiagnosticInfo"),
];

const VARIANT: &[Field] = &[
    flags(
        "EncodingMask",
        &[
            bits("BuiltInType", 0x3F, TYPES),
            bit("HasArrayDimensions", 0x40),
            bit("IsArray", 0x80),
        ],
    ),
    switch(
        "EncodingMask",
        0x80,
        &[
            (
                0x00,
                group(
                    "",
                    // 0 is the null Variant, which has no value.
                    &[field("Value", Kind::TypedBy("EncodingMask", 0x3F)).from("EncodingMask", 1)],
                ),
            ),
            (
                0x80,
                group(
                    "",
                    &[
                        field(
                            "Values",
                            Kind::Array(&field("Value", Kind::TypedBy("EncodingMask", 0x3F))),
                        ),
                        field("ArrayDimensions", Kind::Array(&b("Dimension", Int32)))
                            .when("EncodingMask", 0x40),
                    ],
                ),
            ),
        ],
    ),
];

const DATA_VALUE: &[Field] = &[
    flags(
        "EncodingMask",
        &[
            bit("HasValue", 0x01),
            bit("HasStatusCode", 0x02),
            bit("HasSourceTimestamp", 0x04),
            bit("HasServerTimestamp", 0x08),
            bit("HasSourcePicoseconds", 0x10),
            bit("HasServerPicoseconds", 0x20),
        ],
    ),
    // In the order of the encoding, which is not that of the bits.
    b("Value", Variant).when("EncodingMask", 0x01),
    b("StatusCode", StatusCode).when("EncodingMask", 0x02),
    b("SourceTimestamp", DateTime).when("EncodingMask", 0x04),
    b("SourcePicoseconds", UInt16).when("EncodingMask", 0x10),
    b("ServerTimestamp", DateTime).when("EncodingMask", 0x08),
    b("ServerPicoseconds", UInt16).when("EncodingMask", 0x20),
];

const EXTENSION_OBJECT: &[Field] = &[
    b("TypeId", NodeId),
    field(
        "Encoding",
        Kind::Named(1, &[(0, "no body"), (1, "ByteString"), (2, "XmlElement")]),
    ),
    switch(
        "Encoding",
        0xFF,
        &[
            (0, group("", &[])),
            (1, EXTENSION_OBJECT_BODY),
            (2, EXTENSION_OBJECT_BODY),
        ],
    ),
];

const EXTENSION_OBJECT_BODY: Field = group("", &[b("Length", Int32), field("Body", Kind::Body)]);

const QUALIFIED_NAME: &[Field] = &[b("NamespaceIndex", UInt16), b("Name", String)];

const LOCALIZED_TEXT: &[Field] = &[
    flags(
        "EncodingMask",
        &[bit("HasLocale", 0x01), bit("HasText", 0x02)],
    ),
    b("Locale", String).when("EncodingMask", 0x01),
    b("Text", String).when("EncodingMask", 0x02),
];

const DIAGNOSTIC_INFO: &[Field] = &[
    flags(
        "EncodingMask",
        &[
            bit("HasSymbolicId", 0x01),
            bit("HasNamespace", 0x02),
            bit("HasLocalizedText", 0x04),
            bit("HasLocale", 0x08),
            bit("HasAdditionalInfo", 0x10),
            bit("HasInnerStatusCode", 0x20),
            bit("HasInnerDiagnosticInfo", 0x40),
        ],
    ),
    b("SymbolicId", Int32).when("EncodingMask", 0x01),
    b("NamespaceUri", Int32).when("EncodingMask", 0x02),
    // Locale comes before LocalizedText, although its bit comes after.
    b("Locale", Int32).when("EncodingMask", 0x08),
    b("LocalizedText", Int32).when("EncodingMask", 0x04),
    b("AdditionalInfo", String).when("EncodingMask", 0x10),
    b("InnerStatusCode", StatusCode).when("EncodingMask", 0x20),
    b("InnerDiagnosticInfo", DiagnosticInfo).when("EncodingMask", 0x40),
];
