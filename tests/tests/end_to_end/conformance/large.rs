//! Large values and many operations: several chunks over TCP, several sizes of loan over shared memory.

use takt_app::{Attribute, Client};
use takt_ua::Variant;

use crate::conformance::plant::{self, MAX_OPERATIONS, node, read, value};

pub(crate) fn a_mebibyte_goes_both_ways(client: &mut Client) {
    for seed in 0..4_u32 {
        let elements: Vec<u32> = (0..(1 << 18) - seed)
            .map(|index| index.wrapping_mul(2_654_435_761).wrapping_add(seed))
            .collect();
        client
            .write(&node("Large"), elements.clone().into())
            .unwrap();
        assert!(value(client, "Large") == Variant::from(elements));
        // A small value between two large ones.
        assert_eq!(value(client, "UInt32"), 42_u32.into());
    }
}

pub(crate) fn a_large_byte_string_goes_both_ways(client: &mut Client) {
    for length in [0, 1, 8_191, 8_192, 65_535, 65_536, 1 << 20] {
        let bytes: Vec<u8> = (0..length).map(|index| (index % 251) as u8).collect();
        let bytes = Variant::ByteString(bytes.into());
        client.write(&node("Bytes"), bytes.clone()).unwrap();
        assert!(value(client, "Bytes") == bytes, "{length} bytes");
    }
}

pub(crate) fn many_operations_in_one_request(client: &mut Client) {
    let wanted = (0..MAX_OPERATIONS)
        .map(|number| {
            let name = ["UInt32", "Double", "String", "Array"][number as usize % 4];
            plant::attribute(node(name), Attribute::Value)
        })
        .collect();
    let results = read(client, wanted);
    for four in results.chunks(4) {
        assert_eq!(four[0].value, Some(42_u32.into()));
        assert_eq!(four[1].value, Some(1.5_f64.into()));
        assert_eq!(four[2].value, Some("Takt".into()));
        assert_eq!(four[3].value, Some(vec![10_u32, 11, 12, 13].into()));
    }
}
