//! Subscribers without metadata, and Publishers that announce it.

use std::time::{Duration, Instant};

use takt_pubsub::discovery::{AnnouncedApplication, Announcer, probe_message};
use takt_pubsub::subscriber::Subscriber;
use takt_pubsub::{PublishError, ReceiveError};
use takt_ua::enumerations::{
    DataSetFieldContentMask, JsonDataSetMessageContentMask as DataSetMask,
    JsonNetworkMessageContentMask as Mask, MessageSecurityMode, PubSubState,
};
use takt_ua::structures::{
    ApplicationDescription, ConfigurationVersionDataType, DatagramConnectionTransport2DataType,
    DatagramWriterGroupTransport2DataType, PubSubConfiguration2DataType, PubSubConnectionDataType,
};
use takt_ua::{ExtensionObject, StatusCode, Variant};
use takt_wire::{
    AnnouncementContent, ApplicationInformation, DiscoveryAnnouncement, DiscoveryProbe, PublisherId,
};

use crate::pubsub::json::{DATA_SET_HEADER, HEADERS, Log, names_and_values, receive, setup, texts};
use crate::support::{Setup, keys, now};

const UP: PubSubState = PubSubState::Operational;

#[test]
fn readers_are_discovered_and_take_the_metadata_that_is_published() {
    let values = [Variant::UInt32(1), Variant::Byte(2)];
    let compact = HEADERS | Mask::WriterGroupName;
    let raw = DATA_SET_HEADER & !DataSetMask::FieldEncoding1;
    let mut setup = setup(&values, compact, raw);
    setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
    let version = ConfigurationVersionDataType {
        major_version: 5,
        minor_version: 6,
    };
    setup.data_set.data_set_meta_data.configuration_version = version.clone();
    let mut group = setup.build();
    let mut subscriber = Subscriber::discovering(1);
    let mut log = Log::default();
    let data = texts(&mut group, now());
    receive(&mut subscriber, &data[0], &mut log).unwrap();
    assert_eq!(subscriber.readers()[0].name(), "4/Group/7");
    // Names are in the message, types are not.
    let guessed = names_and_values(&[("A", Variant::Int64(1)), ("B", Variant::Int64(2))]);
    assert_eq!(log.data_sets[0].2, guessed);
    let mut told = Vec::new();
    assert_eq!(group.publish_meta_data(now(), &mut told).unwrap(), 1);
    subscriber
        .receive(now(), UP, &mut told[0], &mut log)
        .unwrap();
    let (publisher, announcement) = &log.announced[0];
    assert_eq!(publisher, "4");
    let AnnouncementContent::DataSetMetaData { meta_data, .. } = &announcement.content else {
        panic!("{announcement:?}");
    };
    assert_eq!(meta_data.configuration_version, version);
    let data = texts(&mut group, now());
    receive(&mut subscriber, &data[0], &mut log).unwrap();
    let typed = names_and_values(&[("A", values[0].clone()), ("B", values[1].clone())]);
    assert_eq!(log.data_sets[1].2, typed);
    assert_eq!(subscriber.readers().len(), 1);
    // There is no metadata of a writer that does not exist.
    assert!(group.meta_data_message(9, now()).unwrap().is_none());
}

#[test]
fn metadata_of_uadp_writers_is_an_announcement() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
    let mut group = setup.build();
    let mut subscriber = Subscriber::discovering(5);
    let mut log = Log::default();
    let mut pass = |messages: Vec<Vec<u8>>| -> Result<_, ReceiveError> {
        for mut message in messages {
            subscriber.receive(now(), UP, &mut message, &mut log)?;
        }
        Ok(log.data_sets.pop().unwrap().2)
    };
    let mut output = Vec::new();
    group.publish(now(), UP, &mut output).unwrap();
    // RawData cannot be read without metadata.
    let reader = "4/3/7".to_owned();
    let refused = pass(std::mem::take(&mut output));
    assert_eq!(refused, Err(ReceiveError::MetaDataMissing { reader }));
    assert_eq!(group.publish_meta_data(now(), &mut output).unwrap(), 1);
    group.publish(now(), UP, &mut output).unwrap();
    let fields = names_and_values(&[("Field", Variant::UInt32(1))]);
    assert_eq!(pass(output), Ok(fields));
}

fn configuration(setup: &Setup) -> PubSubConfiguration2DataType {
    PubSubConfiguration2DataType {
        enabled: true,
        published_data_sets: vec![setup.data_set.clone()],
        connections: vec![PubSubConnectionDataType {
            name: "Out".into(),
            writer_groups: vec![setup.group.clone()],
            ..setup.connection.clone()
        }],
        ..PubSubConfiguration2DataType::default()
    }
}

/// Returns an announcer after its first announcements.
fn announcer(configuration: &PubSubConfiguration2DataType, start: Instant) -> Announcer {
    let application = AnnouncedApplication {
        description: Some(ApplicationDescription {
            application_uri: "urn:machine".into(),
            ..ApplicationDescription::default()
        }),
        ..AnnouncedApplication::default()
    };
    let connection = &configuration.connections[0];
    let mut announcer = Announcer::new(configuration, connection, application, 7, start).unwrap();
    announcer.handle_timeout(start);
    announcer
}

fn ask(announcer: &mut Announcer, probe: DiscoveryProbe, at: Instant) {
    let probe = probe_message(PublisherId::UInt16(4), probe).unwrap();
    announcer.receive(at, &probe).unwrap();
}

/// Returns the announcements up to a time, with chunks reassembled.
fn answers(announcer: &mut Announcer, until: Instant) -> Vec<DiscoveryAnnouncement> {
    let mut subscriber = Subscriber::discovering(0);
    let mut log = Log::default();
    while let Some(at) = announcer.next_timeout().filter(|at| *at <= until) {
        let (messages, error) = announcer.handle_timeout(at);
        assert!(error.is_none(), "{error:?}");
        for mut message in messages {
            assert!(message.len() <= 4096);
            subscriber
                .receive(now(), UP, &mut message, &mut log)
                .unwrap();
        }
    }
    log.announced.into_iter().map(|(_, it)| it).collect()
}

#[test]
fn raw_data_has_names_and_types_after_a_probe() {
    let values = [Variant::UInt32(1), Variant::Byte(2)];
    let mut setup = Setup::new(&values);
    setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
    for (field, name) in setup
        .data_set
        .data_set_meta_data
        .fields
        .iter_mut()
        .zip(["Speed", "Mode"])
    {
        field.name = name.into();
    }
    let mut group = setup.build();
    let start = Instant::now();
    let mut announcer = announcer(&configuration(&setup), start);
    let mut subscriber = Subscriber::discovering(10);
    let mut log = Log::default();
    let mut data = |subscriber: &mut Subscriber, log: &mut Log| {
        let mut output = Vec::new();
        group.publish(now(), UP, &mut output).unwrap();
        let received = subscriber.receive(now(), UP, &mut output[0], log);
        received.map(|reception| reception.accepted)
    };
    let reader = "4/3/7".to_owned();
    let refused = data(&mut subscriber, &mut log);
    assert_eq!(refused, Err(ReceiveError::MetaDataMissing { reader }));
    assert!(log.data_sets.is_empty());
    let missing = subscriber.missing_meta_data();
    assert_eq!(missing, [(PublisherId::UInt16(4), vec![7])]);
    for (publisher_id, data_set_writer_ids) in missing {
        let probe = DiscoveryProbe::DataSetMetaData {
            data_set_writer_ids,
        };
        let probe = probe_message(publisher_id, probe).unwrap();
        announcer.receive(start, &probe).unwrap();
    }
    // It was announced at the start, and is not announced again for half a second.
    let due = announcer.next_timeout().unwrap();
    assert!(due - start >= Duration::from_millis(500));
    for mut message in announcer.handle_timeout(due).0 {
        subscriber
            .receive(now(), UP, &mut message, &mut log)
            .unwrap();
    }
    assert_eq!(subscriber.missing_meta_data(), []);
    assert_eq!(data(&mut subscriber, &mut log), Ok(1));
    let expected = [("Speed", values[0].clone()), ("Mode", values[1].clone())];
    assert_eq!(log.data_sets[0].2, names_and_values(&expected));
}

#[test]
fn probes_are_answered_once_and_later() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    let mut second = setup.writer().clone();
    second.data_set_writer_id = 8;
    setup.group.data_set_writers.push(second);
    let configuration = configuration(&setup);
    let start = Instant::now();
    let at = |milliseconds| start + Duration::from_millis(milliseconds);
    let mut announcer = announcer(&configuration, start);
    let writers = |ids: &[u16]| DiscoveryProbe::DataSetWriterConfiguration {
        data_set_writer_ids: ids.to_vec(),
    };
    // Two Subscribers ask at the same time, one of them for more: all DataSetWriters of one WriterGroup are answered at once.
    ask(&mut announcer, writers(&[7]), at(600));
    ask(&mut announcer, writers(&[7, 8, 99]), at(600));
    assert!(announcer.next_timeout().unwrap() >= at(700));
    let found = answers(&mut announcer, at(1100));
    let denied = StatusCode::BadNotFound;
    let summary: Vec<_> = found
        .iter()
        .map(|announcement| match &announcement.content {
            AnnouncementContent::DataSetWriterConfiguration {
                data_set_writer_ids,
                data_set_writer_config,
                status_codes,
            } => {
                let count = data_set_writer_config.data_set_writers.len();
                (data_set_writer_ids.clone(), status_codes.clone(), count)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(summary.len(), 2);
    assert!(summary.contains(&(vec![7, 8], vec![StatusCode::Good; 2], 2)));
    assert!(summary.contains(&(vec![99], vec![denied], 0)));
    // Numbers continue from the metadata at the start.
    let numbers: Vec<u16> = found.iter().map(|it| it.sequence_number).collect();
    assert_eq!(numbers, [2, 3]);
    assert_eq!(announcer.next_timeout(), None);
    // A probe for another Publisher, and a message that is not a probe.
    let other = DiscoveryProbe::PublisherEndpoints;
    let probe = probe_message(PublisherId::UInt16(5), other.clone()).unwrap();
    announcer.receive(at(2000), &probe).unwrap();
    let mut output = Vec::new();
    setup.build().publish_meta_data(now(), &mut output).unwrap();
    announcer.receive(at(2000), &output[0]).unwrap();
    assert!(announcer.receive(at(2000), b"noise").is_err());
    assert_eq!(announcer.next_timeout(), None);
    // Another connection has the same PublisherId: one of them speaks for both.
    let mut quiet = self::announcer(&configuration, start).for_connection_only();
    ask(&mut quiet, other, start);
    ask(&mut quiet, writers(&[99]), start);
    assert_eq!(quiet.next_timeout(), None);
}

#[test]
fn an_announcement_that_cannot_be_made_does_not_hold_back_the_others() {
    let setup = Setup::new(&[Variant::UInt32(1)]);
    let mut configuration = configuration(&setup);
    // No chunk fits this size, but an answer without content does.
    configuration.connections[0].transport_settings =
        ExtensionObject::from_structure(&DatagramConnectionTransport2DataType {
            discovery_max_message_size: 24,
            ..DatagramConnectionTransport2DataType::default()
        });
    let start = Instant::now();
    let mut announcer = announcer(&configuration, start);
    let probes = [
        DiscoveryProbe::DataSetMetaData {
            data_set_writer_ids: vec![7],
        },
        DiscoveryProbe::PublisherEndpoints,
        DiscoveryProbe::FindApplications,
    ];
    for probe in probes {
        ask(&mut announcer, probe, start);
    }
    let (messages, error) = announcer.handle_timeout(start + Duration::from_secs(1));
    assert_eq!(messages.len(), 1);
    assert!(matches!(error, Some(PublishError::Encode(_))), "{error:?}");
}

#[test]
fn one_probe_costs_a_bounded_number_of_denials() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.writer().data_set_writer_id = 60_000;
    let start = Instant::now();
    let mut announcer = announcer(&configuration(&setup), start);
    let probe = DiscoveryProbe::DataSetMetaData {
        data_set_writer_ids: (1..=32_000).chain([60_000]).collect(),
    };
    ask(&mut announcer, probe, start);
    let found = answers(&mut announcer, start + Duration::from_secs(2));
    let is_denied = |it: &&DiscoveryAnnouncement| {
        let denied = StatusCode::BadNotFound;
        matches!(&it.content, AnnouncementContent::DataSetMetaData { status_code, .. } if *status_code == denied)
    };
    // The known one is announced nevertheless.
    assert_eq!(found.len() - found.iter().filter(is_denied).count(), 1);
    assert!(found.len() <= 100, "{}", found.len());
}

#[test]
fn publishers_announce_their_capabilities() {
    let setup = Setup::new(&[Variant::UInt32(1)]);
    let configuration = configuration(&setup);
    let start = Instant::now();
    let mut announcer = announcer(&configuration, start);
    let mut answer = |probe: DiscoveryProbe| {
        ask(&mut announcer, probe, start);
        let mut found = answers(&mut announcer, start + Duration::from_secs(2));
        assert_eq!(found.len(), 1);
        found.remove(0).content
    };
    let endpoints = AnnouncementContent::PublisherEndpoints {
        endpoints: Vec::new(),
        status_code: StatusCode::BadNotSupported,
    };
    assert_eq!(answer(DiscoveryProbe::PublisherEndpoints), endpoints);
    match answer(DiscoveryProbe::FindApplications) {
        AnnouncementContent::ApplicationInformation(
            ApplicationInformation::ApplicationDescription {
                application_description,
                ..
            },
        ) => assert_eq!(application_description.application_uri, "urn:machine"),
        other => panic!("{other:?}"),
    }
    let connections = |profiles: &[&str], groups, writers| DiscoveryProbe::PubSubConnections {
        transport_profile_uris: profiles.iter().map(|uri| (*uri).into()).collect(),
        include_writer_groups: groups,
        include_data_set_writers: writers,
    };
    let mut expected = configuration.connections.clone();
    let all = answer(connections(&[], true, true));
    assert_eq!(
        all,
        AnnouncementContent::PubSubConnections(expected.clone())
    );
    expected[0].writer_groups.clear();
    let some = answer(connections(&[], false, true));
    assert_eq!(some, AnnouncementContent::PubSubConnections(expected));
    let none = answer(connections(&["other"], true, true));
    assert_eq!(none, AnnouncementContent::PubSubConnections(Vec::new()));
    let group = answer(DiscoveryProbe::WriterGroupConfiguration {
        writer_group_id: 3,
        include_data_set_writers: true,
    });
    let AnnouncementContent::DataSetWriterConfiguration {
        data_set_writer_config,
        ..
    } = group
    else {
        panic!("{group:?}");
    };
    assert_eq!(*data_set_writer_config, setup.group);
}

#[test]
fn long_metadata_is_chunked_and_announced_repeatedly() {
    let mut setup = Setup::new(&vec![Variant::UInt32(1); 200]);
    setup.connection.transport_settings =
        ExtensionObject::from_structure(&DatagramConnectionTransport2DataType {
            discovery_announce_rate: 10,
            ..DatagramConnectionTransport2DataType::default()
        });
    let start = Instant::now();
    let mut announcer = announcer(&configuration(&setup), start);
    let found = answers(&mut announcer, start + Duration::from_secs(35));
    assert_eq!(found.len(), 3);
    for announcement in found {
        let AnnouncementContent::DataSetMetaData { meta_data, .. } = announcement.content else {
            panic!("{announcement:?}");
        };
        assert_eq!(*meta_data, setup.data_set.data_set_meta_data);
    }
}

#[test]
fn metadata_of_protected_messages_is_protected_too() {
    // Metadata that does not fit into one message is in protected chunks.
    for name_length in [10, 6000] {
        let mut setup = Setup::new(&[Variant::UInt32(1)]);
        setup.protect(MessageSecurityMode::SignAndEncrypt);
        let name = "F".repeat(name_length);
        setup.data_set.data_set_meta_data.fields[0].name = name.as_str().into();
        let start = Instant::now();
        let mut announcer = announcer(&configuration(&setup), start);
        assert_eq!(announcer.security_group_ids().collect::<Vec<_>>(), ["Keys"]);
        let probe = || DiscoveryProbe::DataSetMetaData {
            data_set_writer_ids: vec![7],
        };
        // Without keys, the metadata is not announced.
        ask(&mut announcer, probe(), start);
        let found = answers(&mut announcer, start + Duration::from_secs(1));
        let refused = AnnouncementContent::DataSetMetaData {
            data_set_writer_id: 7,
            meta_data: Box::default(),
            status_code: StatusCode::BadSecurityModeInsufficient,
        };
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].content, refused);

        // With the first keys, it is announced once.
        let later = start + Duration::from_secs(2);
        announcer.set_keys(later, "Others", &keys(1, later));
        assert_eq!(announcer.next_timeout(), None);
        announcer.set_keys(later, "Keys", &keys(1, later));
        announcer.set_keys(later, "Keys", &keys(1, later));
        let (messages, _) = announcer.handle_timeout(later);
        assert_eq!(messages.len() > 1, name_length > 4096);
        assert!(messages.iter().all(|message| message.len() <= 4096));
        let text = |message: &Vec<u8>| message.windows(5).any(|part| part == b"FFFFF");
        assert!(!messages.iter().any(text), "it is encrypted");

        setup.reader.data_set_meta_data.fields.clear();
        setup.reader.subscribed_data_set = ExtensionObject::NULL;
        let receive = |subscriber: &mut Subscriber, forged: Option<usize>| {
            let at = takt_pubsub::Now {
                instant: later,
                ..now()
            };
            let mut refused = 0;
            for (index, message) in messages.iter().enumerate() {
                let mut message = message.clone();
                if forged == Some(index) {
                    *message.last_mut().unwrap() ^= 1;
                }
                let outcome = subscriber.receive(at, UP, &mut message, &mut ());
                refused += usize::from(outcome.is_err());
            }
            let fields = &subscriber.readers()[0].meta_data().fields;
            (refused, fields.first().map(|field| field.name.clone()))
        };
        // It cannot be read without the keys, or with others; a changed message is not accepted.
        let mut subscriber = setup.build_subscriber();
        assert_eq!(receive(&mut subscriber, None), (messages.len(), None));
        subscriber.set_keys("Keys", &keys(5, later));
        assert_eq!(receive(&mut subscriber, None), (messages.len(), None));
        subscriber.set_keys("Keys", &keys(1, later));
        assert_eq!(receive(&mut subscriber, Some(0)), (1, None));
        let mut subscriber = setup.build_subscriber();
        assert_eq!(subscriber.missing_meta_data().len(), 1);
        subscriber.set_keys("Keys", &keys(1, later));
        let learned = Some(name.as_str().into());
        assert_eq!(receive(&mut subscriber, None), (0, learned));
        assert!(subscriber.missing_meta_data().is_empty());
    }
}

#[test]
fn announcements_of_a_group_repeat_if_configured() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.group.transport_settings =
        ExtensionObject::from_structure(&DatagramWriterGroupTransport2DataType {
            discovery_announce_rate: 3,
            ..DatagramWriterGroupTransport2DataType::default()
        });
    let start = Instant::now();
    let mut announcer = announcer(&configuration(&setup), start);
    for round in 1..4 {
        let due = start + Duration::from_secs(3 * round);
        assert_eq!(announcer.next_timeout(), Some(due));
        let found = answers(&mut announcer, due);
        let has = |wanted: fn(&AnnouncementContent) -> bool| {
            found.iter().filter(|it| wanted(&it.content)).count()
        };
        assert_eq!(found.len(), 2);
        assert_eq!(
            has(|it| matches!(it, AnnouncementContent::DataSetMetaData { .. })),
            1
        );
        assert_eq!(
            has(|it| matches!(it, AnnouncementContent::DataSetWriterConfiguration { .. })),
            1
        );
    }
}

#[test]
fn readers_of_protected_messages_believe_no_unprotected_metadata() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.reader.data_set_meta_data.fields.clear();
    setup.reader.subscribed_data_set = ExtensionObject::NULL;
    let mut told = Vec::new();
    let mut group = setup.build();
    group.publish_meta_data(now(), &mut told).unwrap();
    for (mode, count) in [
        (MessageSecurityMode::None, 1),
        (MessageSecurityMode::Sign, 0),
    ] {
        setup.protect(mode);
        let mut subscriber = setup.build_subscriber();
        assert_eq!(subscriber.missing_meta_data().len(), 1);
        let mut message = told[0].clone();
        subscriber
            .receive(now(), UP, &mut message, &mut ())
            .unwrap();
        assert_eq!(subscriber.readers()[0].meta_data().fields.len(), count);
    }
}
