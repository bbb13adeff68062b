//! RawData: metadata of any kind, and fields that match it or not.

use takt_fuzz::LIMITS;
use takt_ua::binary::Decoder;
use takt_ua::structures::{DataSetMetaDataType, FieldMetaData};
use takt_wire::RawDataLayout;

fn check(layout: &RawDataLayout, bytes: &[u8]) {
    let Ok(values) = layout.decode(bytes) else {
        return;
    };
    let encoded = layout
        .encode_to_vec(&values)
        .expect("decoded and not encodable");
    if let Some(size) = layout.fixed_size() {
        assert_eq!(encoded.len(), size);
    }
    let again = layout.decode(&encoded).expect("encoded and not decodable");
    assert_eq!(layout.encode_to_vec(&again).as_ref(), Ok(&encoded));
}

pub(crate) fn run(data: &[u8]) {
    // In the form of an announcement.
    let mut decoder = Decoder::with_limits(data, LIMITS);
    if let Ok(meta_data) = decoder.value::<DataSetMetaDataType>()
        && let Ok(layout) = RawDataLayout::new(&meta_data)
        && layout.fixed_size().is_none_or(|size| size < 1 << 16)
    {
        check(&layout, decoder.rest());
    }
    // A few fields, each of three bytes.
    let Some((fields, bytes)) = data.split_at_checked(12) else {
        return;
    };
    let field = |bytes: &[u8; 3]| FieldMetaData {
        built_in_type: bytes[0] % 26,
        value_rank: [-1, 1, 2][usize::from(bytes[1]) % 3],
        array_dimensions: vec![u32::from(bytes[1] / 64); usize::from(bytes[1]) % 3],
        max_string_length: u32::from(bytes[2]),
        ..FieldMetaData::default()
    };
    let meta_data = DataSetMetaDataType {
        fields: fields.as_chunks().0.iter().map(field).collect(),
        ..DataSetMetaDataType::default()
    };
    if let Ok(layout) = RawDataLayout::new(&meta_data) {
        check(&layout, bytes);
    }
}
