//! The fields of discovery messages, in their order (OPC 10000-14, 7.2.4.6).

use takt_ua::BuiltInType::*;
use takt_ua::Structure;
use takt_ua::structures::{
    ActionMethodDataType, ActionTargetDataType, ApplicationDescription, DataSetMetaDataType,
    EndpointDescription, PubSubConnectionDataType, WriterGroupDataType,
};

use super::grammar::{Field, Kind, NOTHING, b, field, group, switch};

/// A probe (OPC 10000-14, 7.2.4.6.12).
pub(super) const DISCOVERY_PROBE: &[Field] = &[
    field(
        "ProbeType",
        Kind::Named(1, &[(1, "PublisherInformation"), (2, "FindApplications")]),
    ),
    switch(
        "ProbeType",
        0xFF,
        &[(1, group("", PUBLISHER_INFORMATION)), (2, NOTHING)],
    ),
];

const PUBLISHER_INFORMATION: &[Field] = &[
    field(
        "InformationType",
        Kind::Named(
            1,
            &[
                (1, "PublisherEndpoints"),
                (2, "DataSetMetaData"),
                (3, "DataSetWriterConfiguration"),
                (4, "WriterGroupConfiguration"),
                (5, "PubSubConnections"),
            ],
        ),
    ),
    switch(
        "InformationType",
        0xFF,
        &[
            // Version 1.04 has a null array of DataSetWriterIds here.
            (1, field("DataSetWriterIds", Kind::Rest)),
            (2, DATA_SET_WRITER_IDS),
            (3, DATA_SET_WRITER_IDS),
            (
                4,
                group(
                    "",
                    &[
                        b("WriterGroupId", UInt16),
                        b("IncludeDataSetWriters", Boolean),
                    ],
                ),
            ),
            (
                5,
                group(
                    "",
                    &[
                        field(
                            "TransportProfileUris",
                            Kind::Array(&b("TransportProfileUri", String)),
                        ),
                        b("IncludeWriterGroups", Boolean),
                        b("IncludeDataSetWriters", Boolean),
                    ],
                ),
            ),
        ],
    ),
];

const DATA_SET_WRITER_IDS: Field = field(
    "DataSetWriterIds",
    Kind::Array(&b("DataSetWriterId", UInt16)),
);

/// An announcement (OPC 10000-14, 7.2.4.6.3 to 7.2.4.6.11).
pub(super) const DISCOVERY_ANNOUNCEMENT: &[Field] = &[
    field(
        "AnnouncementType",
        Kind::Named(
            1,
            &[
                (1, "PublisherEndpoints"),
                (2, "DataSetMetaData"),
                (3, "DataSetWriterConfiguration"),
                (4, "PubSubConnections"),
                (5, "ApplicationInformation"),
                (6, "ActionResponder"),
                (7, "ActionMetaData"),
            ],
        ),
    ),
    b("SequenceNumber", UInt16),
    switch(
        "AnnouncementType",
        0xFF,
        &[
            (
                1,
                group(
                    "",
                    &[
                        field(
                            "Endpoints",
                            Kind::Array(&structure::<EndpointDescription>("Endpoint")),
                        ),
                        b("StatusCode", StatusCode),
                    ],
                ),
            ),
            (
                2,
                group(
                    "",
                    &[
                        b("DataSetWriterId", UInt16),
                        structure::<DataSetMetaDataType>("MetaData"),
                        b("StatusCode", StatusCode),
                    ],
                ),
            ),
            (
                3,
                group(
                    "",
                    &[
                        DATA_SET_WRITER_IDS,
                        structure::<WriterGroupDataType>("DataSetWriterConfig"),
                        field("StatusCodes", Kind::Array(&b("StatusCode", StatusCode))),
                    ],
                ),
            ),
            (4, CONNECTIONS),
            (5, group("", APPLICATION_INFORMATION)),
            (6, CONNECTIONS),
            (
                7,
                group(
                    "",
                    &[
                        b("DataSetWriterId", UInt16),
                        field(
                            "ActionTargets",
                            Kind::Array(&structure::<ActionTargetDataType>("ActionTarget")),
                        ),
                        structure::<DataSetMetaDataType>("Request"),
                        structure::<DataSetMetaDataType>("Response"),
                        field(
                            "ActionMethods",
                            Kind::Array(&structure::<ActionMethodDataType>("ActionMethod")),
                        ),
                    ],
                ),
            ),
        ],
    ),
];

const CONNECTIONS: Field = field(
    "PubSubConnections",
    Kind::Array(&structure::<PubSubConnectionDataType>("PubSubConnection")),
);

const APPLICATION_INFORMATION: &[Field] = &[
    field(
        "ApplicationInformationType",
        Kind::Named(2, &[(1, "ApplicationDescription"), (2, "Status")]),
    ),
    switch(
        "ApplicationInformationType",
        0xFFFF,
        &[
            (
                1,
                group(
                    "",
                    &[
                        structure::<ApplicationDescription>("ApplicationDescription"),
                        field("Capabilities", Kind::Array(&b("Capability", String))),
                    ],
                ),
            ),
            (
                2,
                group(
                    "",
                    &[
                        b("IsCyclic", Boolean),
                        field("Status", Kind::Enumeration(PUB_SUB_STATE)),
                        b("NextReportTime", DateTime).when("IsCyclic", 1),
                        b("Timestamp", DateTime).when("IsCyclic", 1),
                    ],
                ),
            ),
        ],
    ),
];

/// NodeId of the DataType PubSubState.
const PUB_SUB_STATE: u32 = 14647;

/// Returns a field that is a structure of namespace 0.
const fn structure<T: Structure>(name: &'static str) -> Field {
    field(name, Kind::DataType(T::TYPE_ID))
}
