//! Strategies for discovery messages.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use takt_ua::enumerations::PubSubState;
use takt_ua::structures::{
    ActionTargetDataType, ApplicationDescription, DataSetMetaDataType, EndpointDescription,
    FieldMetaData, PubSubConnectionDataType, WriterGroupDataType,
};
use takt_ua::{DateTime, UaString};
use takt_wire::{
    AnnouncementContent, ApplicationInformation, DiscoveryAnnouncement, DiscoveryProbe,
};

use super::publisher_id;
use super::values::{self, date_time, ua_string};

pub(super) fn probe() -> BoxedStrategy<DiscoveryProbe> {
    let ids = || vec(any::<u16>(), 0..4);
    prop_oneof![
        Just(DiscoveryProbe::PublisherEndpoints),
        Just(DiscoveryProbe::FindApplications),
        ids().prop_map(|ids| DiscoveryProbe::DataSetMetaData {
            data_set_writer_ids: ids
        }),
        ids().prop_map(|ids| DiscoveryProbe::DataSetWriterConfiguration {
            data_set_writer_ids: ids
        }),
        any::<(u16, bool)>().prop_map(|(id, writers)| {
            DiscoveryProbe::WriterGroupConfiguration {
                writer_group_id: id,
                include_data_set_writers: writers,
            }
        }),
        (vec(ua_string(), 0..3), any::<(bool, bool)>()).prop_map(|(uris, (groups, writers))| {
            DiscoveryProbe::PubSubConnections {
                transport_profile_uris: uris,
                include_writer_groups: groups,
                include_data_set_writers: writers,
            }
        }),
    ]
    .boxed()
}

fn meta_data() -> BoxedStrategy<Box<DataSetMetaDataType>> {
    let field =
        (ua_string(), any::<u8>(), any::<i32>()).prop_map(|(name, kind, rank)| FieldMetaData {
            name,
            built_in_type: kind,
            value_rank: rank,
            ..FieldMetaData::default()
        });
    (ua_string(), vec(field, 0..3))
        .prop_map(|(name, fields)| {
            Box::new(DataSetMetaDataType {
                name,
                fields,
                ..DataSetMetaDataType::default()
            })
        })
        .boxed()
}

fn connections() -> BoxedStrategy<Vec<PubSubConnectionDataType>> {
    let connection =
        (ua_string(), publisher_id()).prop_map(|(name, id)| PubSubConnectionDataType {
            name,
            publisher_id: id.into(),
            ..PubSubConnectionDataType::default()
        });
    vec(connection, 0..3).boxed()
}

fn application_information() -> BoxedStrategy<ApplicationInformation> {
    let description = (ua_string(), vec(ua_string(), 0..3));
    let status = (any::<i32>(), option::of((date_time(), date_time())));
    prop_oneof![
        description.prop_map(|(uri, capabilities): (UaString, Vec<UaString>)| {
            ApplicationInformation::ApplicationDescription {
                application_description: Box::new(ApplicationDescription {
                    application_uri: uri,
                    ..ApplicationDescription::default()
                }),
                capabilities,
            }
        }),
        status.prop_map(|(status, cyclic): (i32, Option<(DateTime, DateTime)>)| {
            ApplicationInformation::Status {
                status: PubSubState(status),
                cyclic,
            }
        }),
    ]
    .boxed()
}

pub(super) fn announcement() -> BoxedStrategy<DiscoveryAnnouncement> {
    let content = prop_oneof![
        (vec(ua_string(), 0..3), values::status_code()).prop_map(|(urls, status_code)| {
            let endpoint = |url| EndpointDescription {
                endpoint_url: url,
                ..EndpointDescription::default()
            };
            AnnouncementContent::PublisherEndpoints {
                endpoints: urls.into_iter().map(endpoint).collect(),
                status_code,
            }
        }),
        (any::<u16>(), meta_data(), values::status_code()).prop_map(|(id, meta_data, status)| {
            AnnouncementContent::DataSetMetaData {
                data_set_writer_id: id,
                meta_data,
                status_code: status,
            }
        }),
        (
            vec((any::<u16>(), values::status_code()), 0..4),
            ua_string()
        )
            .prop_map(|(writers, name)| {
                let (data_set_writer_ids, status_codes) = writers.into_iter().unzip();
                AnnouncementContent::DataSetWriterConfiguration {
                    data_set_writer_ids,
                    data_set_writer_config: Box::new(WriterGroupDataType {
                        name,
                        ..WriterGroupDataType::default()
                    }),
                    status_codes,
                }
            }),
        connections().prop_map(AnnouncementContent::PubSubConnections),
        connections().prop_map(AnnouncementContent::ActionResponder),
        application_information().prop_map(AnnouncementContent::ApplicationInformation),
        (
            any::<u16>(),
            vec(any::<u16>(), 0..3),
            meta_data(),
            meta_data()
        )
            .prop_map(|(id, targets, request, response)| {
                let target = |action_target_id| ActionTargetDataType {
                    action_target_id,
                    ..ActionTargetDataType::default()
                };
                AnnouncementContent::ActionMetaData {
                    data_set_writer_id: id,
                    action_targets: targets.into_iter().map(target).collect(),
                    request,
                    response,
                    action_methods: Vec::new(),
                }
            }),
    ];
    (any::<u16>(), content)
        .prop_map(|(sequence_number, content)| DiscoveryAnnouncement {
            sequence_number,
            content,
        })
        .boxed()
}
