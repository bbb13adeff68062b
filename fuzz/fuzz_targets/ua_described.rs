//! Structures by descriptions: any metadata, and any body for each of its structures.

use takt_ua::binary::{Decode, Decoder};
use takt_ua::json::{DescribedValues, EnumerationForm, described_from_value};
use takt_ua::structures::DataSetMetaDataType;
use takt_ua::{DescribedTypes, ExtensionObject, ExtensionObjectBody, Variant};

pub(crate) fn run(data: &[u8]) {
    let mut decoder = Decoder::new(data);
    let Ok(meta_data) = DataSetMetaDataType::decode(&mut decoder) else {
        return;
    };
    let types = DescribedTypes::from(&meta_data);
    let body = decoder.rest();
    for structure in meta_data.structure_data_types.iter().take(4) {
        let object = ExtensionObject {
            type_id: structure.structure_definition.default_encoding_id.clone(),
            body: ExtensionObjectBody::Binary(body.to_vec()),
        };
        let value = Variant::from(object);
        let written = DescribedValues::new(&types, EnumerationForm::NameAndNumber);
        let data_type = &structure.data_type_id;
        let json = written.value(&value, Some(data_type));
        let is_decoded = written.take_undecoded().is_empty();
        // What was decoded is read again without a panic, and written as it was unless names occur twice.
        let again = described_from_value(&json, &types, data_type, -1);
        if let (true, Ok(again)) = (is_decoded, again) {
            let _ = written.value(&again, Some(data_type));
        }
    }
    for number in [0, 1, i32::MIN] {
        for known in &meta_data.enum_data_types {
            let written = DescribedValues::new(&types, EnumerationForm::Text);
            let text = written.text(&Variant::Int32(number), Some(&known.data_type_id));
            let _ = takt_ua::json::parse_described(&text, &types, &known.data_type_id, -1);
        }
    }
}
