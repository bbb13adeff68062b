//! The text forms of the built-in types.

use std::hash::{BuildHasher, RandomState};

use equivalent::Equivalent;
use proptest::prelude::*;

use super::*;
use crate::{StatusCode, ids};

#[test]
fn node_ids() {
    let cases = [
        (NodeId::numeric(0, 85), "i=85"),
        (NodeId::numeric(7, 0), "ns=7;i=0"),
        (NodeId::string(2, "Speed"), "ns=2;s=Speed"),
        (NodeId::string(0, "a;b=c"), "s=a;b=c"),
        (NodeId::string(1, ""), "ns=1;s="),
        (
            NodeId::guid(1, Guid::NULL),
            "ns=1;g=00000000-0000-0000-0000-000000000000",
        ),
        (NodeId::opaque(1, b"foobar"), "ns=1;b=Zm9vYmFy"),
    ];
    for (node_id, text) in cases {
        assert_eq!(node_id.to_string(), text);
        assert_eq!(text.parse(), Ok(node_id));
    }
    for text in [
        "",
        "85",
        "i=",
        "i=-1",
        "i=4294967296",
        "ns=2",
        "ns=65536;i=1",
        "x=1",
        "ns=;i=1",
        "g=1",
        "b=!",
    ] {
        let error = text.parse::<NodeId>().unwrap_err().to_string();
        assert!(error.contains("expected for example"), "{error}");
    }
}

#[test]
fn expanded_node_ids() {
    let node_id = ExpandedNodeId {
        node_id: NodeId::string(0, "a;b"),
        namespace_uri: "http://example.org/a;b%3B".into(),
        server_index: 1,
    };
    let text = "svr=1;nsu=http://example.org/a%3Bb%253B;s=a;b";
    assert_eq!(node_id.to_string(), text);
    assert_eq!(text.parse(), Ok(node_id));
    assert_eq!(
        "ns=2;i=3".parse(),
        Ok(ExpandedNodeId::from(NodeId::numeric(2, 3)))
    );
    assert!("nsu=http://example.org/".parse::<ExpandedNodeId>().is_err());
    assert!("svr=x;i=1".parse::<ExpandedNodeId>().is_err());
}

#[test]
fn null_node_ids() {
    for node_id in [
        NodeId::NULL,
        NodeId::string(0, ""),
        NodeId::guid(0, Guid::NULL),
        NodeId::opaque(0, &[]),
    ] {
        assert!(node_id.is_null(), "{node_id}");
    }
    assert!(!NodeId::numeric(1, 0).is_null());
    assert_eq!(NodeId::from(ids::OBJECTS_FOLDER).standard_id(), Some(85));
    assert_eq!(NodeId::numeric(1, 85).standard_id(), None);
}

#[test]
fn borrowed_node_ids_find_owned_keys() {
    let hasher = RandomState::new();
    let node_ids = [
        NodeId::numeric(1, 2),
        NodeId::string(1, "a"),
        NodeId::guid(1, Guid::NULL),
        NodeId::opaque(1, b"a"),
    ];
    for owned in &node_ids {
        assert_eq!(hasher.hash_one(owned), hasher.hash_one(owned.as_ref()));
        for other in &node_ids {
            assert_eq!(owned.as_ref().equivalent(other), owned == other);
            assert_eq!(owned.cmp(other).is_eq(), owned == other);
        }
    }
    assert!(NodeId::numeric(1, 9) < NodeId::string(1, "a"));
    assert!(NodeId::string(1, "z") < NodeId::numeric(2, 0));
}

#[test]
fn date_times() {
    let cases = [
        (DateTime::MIN, "0001-01-01T00:00:00Z"),
        (DateTime(1), "1601-01-01T00:00:00.0000001Z"),
        (DateTime::from_unix_nanos(0), "1970-01-01T00:00:00Z"),
        (
            DateTime::from_unix_nanos(951_782_400_000_000_000),
            "2000-02-29T00:00:00Z",
        ),
        (
            DateTime::from_unix_nanos(1_709_251_199_123_456_789),
            "2024-02-29T23:59:59.1234567Z",
        ),
        (
            DateTime::from_unix_nanos(-500_000_000),
            "1969-12-31T23:59:59.5Z",
        ),
        (
            DateTime(2_650_467_743_989_999_999),
            "9999-12-31T23:59:58.9999999Z",
        ),
        (DateTime(2_650_467_743_990_000_000), "9999-12-31T23:59:59Z"),
        (DateTime::MAX, "9999-12-31T23:59:59Z"),
        (DateTime(i64::MAX - 1), "9999-12-31T23:59:59Z"),
        (DateTime(-1), "0001-01-01T00:00:00Z"),
        (DateTime(i64::MIN), "0001-01-01T00:00:00Z"),
    ];
    for (time, text) in cases {
        assert_eq!(time.to_iso8601(), text);
        let plain = match time {
            time if time <= DateTime::MIN => "MinValue",
            time if text == "9999-12-31T23:59:59Z" && time.0 % 10 != 0 => "MaxValue",
            _ => text,
        };
        assert_eq!(time.to_string(), plain);
        assert_eq!(format!("{time:?}"), plain);
    }
    for time in [DateTime::MIN, DateTime::MAX] {
        assert_eq!(time.to_string().parse(), Ok(time));
        assert_eq!(time.to_iso8601().parse(), Ok(time));
    }
    for (text, limit) in [
        ("1600-12-31T23:59:59Z", DateTime::MIN),
        ("1601-01-01T00:00:00Z", DateTime::MIN),
        ("0000-01-01", DateTime::MIN),
        ("9999-12-31T23:59:59.5Z", DateTime::MAX),
        ("10000-01-01T00:00:00Z", DateTime::MAX),
        ("30828-09-14T02:48:05.4775807Z", DateTime::MAX),
    ] {
        assert_eq!(text.parse(), Ok(limit), "{text}");
    }
    let same = "2024-02-29T23:59:59.5Z".parse::<DateTime>().unwrap();
    for text in [
        "2024-02-29 23:59:59.50",
        "2024-03-01T01:59:59.5+02:00",
        "2024-02-29T18:29:59.5-05:30",
    ] {
        assert_eq!(text.parse(), Ok(same), "{text}");
    }
    assert_eq!(
        "2024-02-29".parse::<DateTime>().unwrap().to_string(),
        "2024-02-29T00:00:00Z"
    );
    assert_eq!(
        "2024-02-29T07:08Z".parse::<DateTime>().unwrap().to_string(),
        "2024-02-29T07:08:00Z"
    );
    for text in [
        "2024-05-06T07:08Z02:00",
        "2024-05-06T07:08:09ZZ",
        "",
        "now",
        "2024",
        "2023-02-29",
        "2024-13-01",
        "2024-00-01",
        "2024-01-32",
        "2024-01-01T24:00",
        "2024-01-01T00:60",
        "2024-01-01T00:00:60",
        "2024-01-01T00:00:00.",
        "2024-01-01T00:00:00.x",
        "2024-1-1Tx",
        "2024-01-01T00:00+2",
        "2024-01-01T00:00:00.é",
    ] {
        assert!(text.parse::<DateTime>().is_err(), "{text}");
    }
}

#[test]
fn system_times() {
    let nanos = 1_700_000_000_123_456_700;
    let time = DateTime::from_unix_nanos(nanos);
    assert_eq!(time.to_unix_nanos(), nanos);
    let system = std::time::SystemTime::from(time);
    assert_eq!(DateTime::from(system), time);
    let before = DateTime::from_unix_nanos(-nanos);
    assert_eq!(DateTime::from(std::time::SystemTime::from(before)), before);
    assert_eq!(DateTime::MAX.to_unix_nanos(), i64::MAX);
    assert_eq!(DateTime(i64::MIN).to_unix_nanos(), i64::MIN);
    assert!(DateTime::now() > time);
}

#[test]
fn guids() {
    let text = "72962b91-fa75-4ae6-8d28-b404dc7daf63";
    let guid: Guid = text.parse().unwrap();
    assert_eq!(guid.to_string(), text);
    assert_eq!(format!("{{{}}}", text.to_uppercase()).parse(), Ok(guid));
    for text in [
        "",
        "72962b91",
        "72962b91-fa75-4ae6-8d28-b404dc7daf6",
        "72962b91-fa75-4ae6-8d28-b404dc7dafxx",
        "+2962b91-fa75-4ae6-8d28-b404dc7daf63",
    ] {
        assert!(text.parse::<Guid>().is_err(), "{text}");
    }
}

#[test]
fn qualified_names() {
    for (name, text) in [
        (QualifiedName::new(2, "Speed"), "2:Speed"),
        (QualifiedName::new(0, "Speed"), "Speed"),
        (QualifiedName::new(0, "a:b"), "a:b"),
        (QualifiedName::new(0, "1:b"), "0:1:b"),
        (QualifiedName::new(3, "1:b"), "3:1:b"),
    ] {
        assert_eq!(name.to_string(), text);
        assert_eq!(text.parse(), Ok(name));
    }
    assert!("65536:a".parse::<QualifiedName>().is_err());
}

#[test]
fn status_codes() {
    assert_eq!(
        StatusCode::BadTimeout.to_string(),
        "BadTimeout (0x800A0000)"
    );
    assert_eq!(StatusCode(0x8765_4321).to_string(), "0x87654321");
    for code in [
        StatusCode::Good,
        StatusCode::BadTimeout,
        StatusCode(1 << 31 | 7),
    ] {
        assert_eq!(format!("{code:?}"), code.to_string());
    }
    // Flag bits do not change the name.
    assert_eq!(StatusCode(0x800A_0480).name(), Some("BadTimeout"));
    assert_eq!(
        StatusCode::from_name("BadTimeout"),
        Some(StatusCode::BadTimeout)
    );
    assert_eq!(StatusCode::from_name("BadCoffee"), None);
    assert!(StatusCode::Good.is_good() && !StatusCode::Good.is_bad());
    assert!(StatusCode::UncertainLastUsableValue.is_uncertain());
    assert!(StatusCode::BadTimeout.is_bad() && !StatusCode::BadTimeout.is_uncertain());
}

#[test]
fn conversions() {
    assert_eq!(Variant::from(7_u8).as_f64(), Some(7.0));
    assert_eq!(Variant::from(7.0).as_i64(), Some(7));
    assert_eq!(Variant::from(7.5).as_i64(), None);
    assert_eq!(Variant::from(9.3e18).as_i64(), None);
    assert_eq!(Variant::from(u64::MAX).as_i64(), None);
    assert_eq!(Variant::from(f64::NAN).as_i64(), None);
    assert_eq!(Variant::from("7").as_f64(), None);
    assert_eq!(u32::try_from(Variant::from(7_u32)), Ok(7));
    let error = u32::try_from(&Variant::from(vec![7_u32])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected UInt32, found an array of UInt32"
    );
    assert_eq!(error.status_code(), StatusCode::BadTypeMismatch);
    let error = Vec::<u32>::try_from(Variant::Empty).unwrap_err();
    assert_eq!(error.to_string(), "expected an array of UInt32, found null");
    assert_eq!(
        Vec::<u32>::try_from(Variant::from(vec![7_u32])),
        Ok(vec![7])
    );
    assert_eq!(Variant::from("a").as_str(), Some("a"));
}

#[test]
fn built_in_types() {
    for built_in_type in BuiltInType::all() {
        assert_eq!(
            BuiltInType::from_u8(built_in_type as u8),
            Some(built_in_type)
        );
        assert_eq!(
            BuiltInType::from_name(built_in_type.name()),
            Some(built_in_type)
        );
        assert_eq!(Elements::empty(built_in_type).element_type(), built_in_type);
    }
    assert_eq!(BuiltInType::from_u8(0), None);
    assert_eq!(BuiltInType::from_u8(26), None);
}

proptest! {
    #[test]
    fn date_times_round_trip(ticks in 0..2_650_467_743_990_000_000_i64) {
        let time = DateTime(ticks);
        prop_assert_eq!(time.to_string().parse(), Ok(time));
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in "\\PC{0,40}", id in "(svr=[0-9]{0,3};)?(nsu?=.{0,8};)?[isgb]=.{0,40}") {
        for text in [&text, &id] {
            let _ = text.parse::<NodeId>();
            let _ = text.parse::<ExpandedNodeId>();
            let _ = text.parse::<Guid>();
            let _ = text.parse::<DateTime>();
            let _ = text.parse::<QualifiedName>();
            let _ = text.parse::<NumericRange>();
        }
        if let Ok(node_id) = id.parse::<ExpandedNodeId>() {
            prop_assert_eq!(node_id.to_string().parse(), Ok(node_id));
        }
    }
}
