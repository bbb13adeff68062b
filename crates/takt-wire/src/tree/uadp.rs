//! The fields of UADP NetworkMessages, in their order (OPC 10000-14, 7.2.4).

use takt_ua::BuiltInType::*;

use super::discovery::{DISCOVERY_ANNOUNCEMENT, DISCOVERY_PROBE};
use super::grammar::{Field, Kind, NOTHING, Names, b, bit, bits, field, flags, group, switch};

/// Name of the value that tells whether the payload has been decrypted; the reader of the message sets it.
pub(super) const DECRYPTED: &str = "Decrypted";
/// Name of the value with the length of the signature in bytes; the reader of the message sets it.
pub(super) const SIGNATURE_LENGTH: &str = "SignatureLength";

/// A NetworkMessage (OPC 10000-14, 7.2.4.4.2).
pub(super) static NETWORK_MESSAGE: Field = group(
    "",
    &[
        flags(
            "UADPFlags",
            &[
                bits("UADPVersion", 0x0F, &[]),
                bit("PublisherIdEnabled", 0x10),
                bit("GroupHeaderEnabled", 0x20),
                bit("PayloadHeaderEnabled", 0x40),
                bit("ExtendedFlags1Enabled", 0x80),
            ],
        ),
        switch("UADPFlags", 0x0F, &[(1, group("", VERSION_1))]),
    ],
);

const VERSION_1: &[Field] = &[
    flags(
        "ExtendedFlags1",
        &[
            bits("PublisherIdType", 0x07, PUBLISHER_ID_TYPES),
            bit("DataSetClassIdEnabled", 0x08),
            bit("SecurityEnabled", 0x10),
            bit("TimestampEnabled", 0x20),
            bit("PicoSecondsEnabled", 0x40),
            bit("ExtendedFlags2Enabled", 0x80),
        ],
    )
    .when("UADPFlags", 0x80),
    flags(
        "ExtendedFlags2",
        &[
            bit("ChunkMessage", 0x01),
            bit("PromotedFieldsEnabled", 0x02),
            bits(
                "NetworkMessageType",
                0x1C,
                &[
                    (0, "DataSetMessage"),
                    (1, "DiscoveryProbe"),
                    (2, "DiscoveryAnnouncement"),
                ],
            ),
            bit("ActionHeaderEnabled", 0x20),
        ],
    )
    .when("ExtendedFlags1", 0x80),
    switch(
        "ExtendedFlags1",
        0x07,
        &[
            (0, b("PublisherId", Byte)),
            (1, b("PublisherId", UInt16)),
            (2, b("PublisherId", UInt32)),
            (3, b("PublisherId", UInt64)),
            (4, b("PublisherId", String)),
        ],
    )
    .when("UADPFlags", 0x10),
    b("DataSetClassId", Guid).when("ExtendedFlags1", 0x08),
    group("GroupHeader", GROUP_HEADER).when("UADPFlags", 0x20),
    switch(
        "ExtendedFlags2",
        0x01,
        &[
            (0, group("PayloadHeader", DATA_SET_PAYLOAD_HEADER)),
            (1, group("PayloadHeader", &[b("DataSetWriterId", UInt16)])),
        ],
    )
    .when("UADPFlags", 0x40),
    b("Timestamp", DateTime).when("ExtendedFlags1", 0x20),
    b("PicoSeconds", UInt16).when("ExtendedFlags1", 0x40),
    group(
        "PromotedFields",
        &[
            b("Size", UInt16),
            field("Fields", Kind::Fill("Size", &b("Field", Variant))),
        ],
    )
    .when("ExtendedFlags2", 0x02),
    group("SecurityHeader", SECURITY_HEADER).when("ExtendedFlags1", 0x10),
    group("ActionHeader", ACTION_HEADER).when("ExtendedFlags2", 0x20),
    // An encrypted payload is a row of bytes, unless it was decrypted.
    switch(
        "SecurityFlags",
        0x02,
        &[
            (0, PLAIN_PAYLOAD),
            (
                2,
                switch(
                    DECRYPTED,
                    1,
                    &[
                        (
                            0,
                            field("", Kind::Payload(&field("EncryptedPayload", Kind::Rest))),
                        ),
                        (1, PLAIN_PAYLOAD),
                    ],
                ),
            ),
        ],
    ),
    field("SecurityFooter", Kind::Bytes("SecurityFooterSize")),
    field("Signature", Kind::Bytes(SIGNATURE_LENGTH)).when("SecurityFlags", 0x01),
];

const PUBLISHER_ID_TYPES: Names = &[
    (0, "Byte"),
    (1, "UInt16"),
    (2, "UInt32"),
    (3, "UInt64"),
    (4, "String"),
];

const GROUP_HEADER: &[Field] = &[
    flags(
        "GroupFlags",
        &[
            bit("WriterGroupIdEnabled", 0x01),
            bit("GroupVersionEnabled", 0x02),
            bit("NetworkMessageNumberEnabled", 0x04),
            bit("SequenceNumberEnabled", 0x08),
        ],
    ),
    b("WriterGroupId", UInt16).when("GroupFlags", 0x01),
    b("GroupVersion", UInt32).when("GroupFlags", 0x02),
    b("NetworkMessageNumber", UInt16).when("GroupFlags", 0x04),
    b("SequenceNumber", UInt16).when("GroupFlags", 0x08),
];

const DATA_SET_PAYLOAD_HEADER: &[Field] = &[
    b("Count", Byte),
    field(
        "DataSetWriterIds",
        Kind::List("Count", &b("DataSetWriterId", UInt16)),
    ),
];

const SECURITY_HEADER: &[Field] = &[
    flags(
        "SecurityFlags",
        &[
            bit("NetworkMessageSigned", 0x01),
            bit("NetworkMessageEncrypted", 0x02),
            bit("SecurityFooterEnabled", 0x04),
            bit("ForceKeyReset", 0x08),
        ],
    ),
    b("SecurityTokenId", UInt32),
    b("NonceLength", Byte),
    field("MessageNonce", Kind::Bytes("NonceLength")),
    b("SecurityFooterSize", UInt16).when("SecurityFlags", 0x04),
];

const ACTION_HEADER: &[Field] = &[
    flags(
        "ActionFlags",
        &[
            bit("ActionRequest", 0x01),
            bit("ResponseAddressEnabled", 0x02),
            bit("CorrelationDataEnabled", 0x04),
            bit("RequestorIdEnabled", 0x08),
            bit("TimeoutHintEnabled", 0x10),
        ],
    ),
    b("ResponseAddress", String).when("ActionFlags", 0x02),
    b("CorrelationData", ByteString).when("ActionFlags", 0x04),
    b("RequestorId", Variant).when("ActionFlags", 0x08),
    b("TimeoutHint", Double).when("ActionFlags", 0x10),
];

const PLAIN_PAYLOAD: Field = field("", Kind::Payload(&WHOLE_OR_CHUNK));

const WHOLE_OR_CHUNK: Field = switch(
    "ExtendedFlags2",
    0x01,
    &[
        (0, PAYLOAD),
        (
            1,
            group(
                "Chunk",
                &[
                    b("MessageSequenceNumber", UInt16),
                    b("ChunkOffset", UInt32),
                    b("TotalSize", UInt32),
                    b("ChunkData", ByteString),
                ],
            ),
        ),
    ],
);

/// A payload that is not divided into chunks, or was reassembled.
pub(super) const PAYLOAD: Field = switch(
    "ExtendedFlags2",
    0x1C,
    &[
        (0x00, group("", DATA_SET_MESSAGES)),
        (0x04, group("DiscoveryProbe", DISCOVERY_PROBE)),
        (0x08, group("DiscoveryAnnouncement", DISCOVERY_ANNOUNCEMENT)),
    ],
);

/// Sizes and DataSetMessages: several messages with a PayloadHeader have sizes (OPC 10000-14, 7.2.4.5.3).
const DATA_SET_MESSAGES: &[Field] = &[
    field("Sizes", Kind::List("Count", &b("Size", UInt16))).from("Count", 2),
    field("DataSetMessages", Kind::DataSetMessages(DATA_SET_MESSAGE)),
];

/// A DataSetMessage (OPC 10000-14, 7.2.4.5.4).
const DATA_SET_MESSAGE: &[Field] = &[
    flags(
        "DataSetFlags1",
        &[
            bit("Valid", 0x01),
            bits(
                "FieldEncoding",
                0x06,
                &[(0, "Variant"), (1, "RawData"), (2, "DataValue")],
            ),
            bit("DataSetMessageSequenceNumberEnabled", 0x08),
            bit("StatusEnabled", 0x10),
            bit("ConfigurationVersionMajorVersionEnabled", 0x20),
            bit("ConfigurationVersionMinorVersionEnabled", 0x40),
            bit("DataSetFlags2Enabled", 0x80),
        ],
    ),
    switch(
        "DataSetFlags1",
        0x01,
        &[
            // Nothing in an invalid message is read.
            (0, field("Unprocessed", Kind::Rest)),
            (1, group("", VALID_DATA_SET_MESSAGE)),
        ],
    ),
];

const VALID_DATA_SET_MESSAGE: &[Field] = &[
    flags(
        "DataSetFlags2",
        &[
            bits(
                "DataSetMessageType",
                0x0F,
                &[
                    (0, "DataKeyFrame"),
                    (1, "DataDeltaFrame"),
                    (2, "Event"),
                    (3, "KeepAlive"),
                    (4, "ActionRequest"),
                    (5, "ActionResponse"),
                ],
            ),
            bit("DataSetMessageTimestampEnabled", 0x10),
            bit("DataSetMessagePicoSecondsEnabled", 0x20),
        ],
    )
    .when("DataSetFlags1", 0x80),
    b("DataSetMessageSequenceNumber", UInt16).when("DataSetFlags1", 0x08),
    b("DataSetMessageTimestamp", DateTime).when("DataSetFlags2", 0x10),
    b("DataSetMessagePicoSeconds", UInt16).when("DataSetFlags2", 0x20),
    field("Status", Kind::Status).when("DataSetFlags1", 0x10),
    b("ConfigurationVersionMajorVersion", UInt32).when("DataSetFlags1", 0x20),
    b("ConfigurationVersionMinorVersion", UInt32).when("DataSetFlags1", 0x40),
    switch(
        "DataSetFlags2",
        0x0F,
        &[
            (0, KEY_FRAME),
            (1, DELTA_FRAME),
            (2, group("", VARIANTS)),
            (3, NOTHING),
            (4, ACTION),
            (5, ACTION),
        ],
    ),
];

const VARIANTS: &[Field] = &[
    b("FieldCount", UInt16),
    field("Fields", Kind::List("FieldCount", &b("Field", Variant))),
];

const KEY_FRAME: Field = switch(
    "DataSetFlags1",
    0x06,
    &[
        (0x00, group("", VARIANTS)),
        (0x02, field("RawData", Kind::RawData)),
        (
            0x04,
            group(
                "",
                &[
                    b("FieldCount", UInt16),
                    field("Fields", Kind::List("FieldCount", &b("Field", DataValue))),
                ],
            ),
        ),
    ],
);

const DELTA_FRAME: Field = group(
    "",
    &[
        b("FieldCount", UInt16),
        field(
            "DeltaFrameFields",
            Kind::List(
                "FieldCount",
                &group(
                    "DeltaFrameField",
                    &[
                        b("FieldIndex", UInt16),
                        switch(
                            "DataSetFlags1",
                            0x06,
                            &[
                                (0x00, b("FieldValue", Variant)),
                                (0x04, b("FieldValue", DataValue)),
                            ],
                        ),
                    ],
                ),
            ),
        ),
    ],
);

const ACTION: Field = group(
    "",
    &[
        b("ActionTargetId", UInt16),
        b("RequestId", UInt16),
        field(
            "ActionState",
            Kind::Named(1, &[(0, "Idle"), (1, "Executing"), (2, "Done")]),
        ),
        switch(
            "DataSetFlags1",
            0x06,
            &[
                (0x00, group("", VARIANTS)),
                (
                    0x02,
                    group(
                        "",
                        &[b("FieldCount", UInt16), field("RawData", Kind::RawData)],
                    ),
                ),
            ],
        ),
    ],
);
