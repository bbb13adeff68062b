//! JSON messages and the fields in them, with and without metadata; and values of the JSON DataEncoding.

use std::sync::OnceLock;

use takt_fuzz::choice;
use takt_ua::json_encoding::{JsonContext, JsonDecoder, JsonEncoder, JsonEncoding, parse};
use takt_ua::structures::DataSetMetaDataType;
use takt_wire::json::{
    JsonDiscoveryContent, JsonFieldContent, JsonFieldEncoding, JsonLayout, JsonMessage, JsonPayload,
};

/// Largest length of an input: sufficient for all messages, and short enough for many runs.
const MAX_LENGTH: usize = 1 << 16;

/// Metadata of a structure, a union and an enumeration of a namespace of their own, and fields of some types.
const META_DATA: &str = r#"{"MessageId":"1","MessageType":"ua-metadata","MetaData":{"Namespaces":["http://a.org/"],
    "StructureDataTypes":[
        {"DataTypeId":"ns=1;i=1","StructureDefinition":{"DefaultEncodingId":"ns=1;i=2","StructureType":1,"Fields":[
            {"Name":"X","DataType":"i=6","ValueRank":-1},{"Name":"O","DataType":"ns=1;i=3","ValueRank":-1,"IsOptional":true},
            {"Name":"Inner","DataType":"ns=1;i=5","ValueRank":1}]}},
        {"DataTypeId":"ns=1;i=5","StructureDefinition":{"DefaultEncodingId":"ns=1;i=6","StructureType":2,"Fields":[
            {"Name":"Text","DataType":"i=12","ValueRank":-1},{"Name":"Self","DataType":"ns=1;i=1","ValueRank":-1}]}}],
    "EnumDataTypes":[{"DataTypeId":"ns=1;i=3","EnumDefinition":{"Fields":[{"Value":"4","Name":"Red"}]},"BuiltInType":6}],
    "Fields":[
        {"Name":"A","BuiltInType":11,"DataType":"i=11","ValueRank":-1},{"Name":"B","BuiltInType":22,"DataType":"ns=1;i=1","ValueRank":-1},
        {"Name":"C","BuiltInType":6,"DataType":"ns=1;i=3","ValueRank":1},{"Name":"D","BuiltInType":24,"DataType":"i=24","ValueRank":-2},
        {"Name":"E","BuiltInType":21,"DataType":"i=21","ValueRank":-1},{"Name":"F","BuiltInType":17,"DataType":"i=17","ValueRank":2}]}}"#;

fn meta_data() -> &'static DataSetMetaDataType {
    static META_DATA_TYPE: OnceLock<DataSetMetaDataType> = OnceLock::new();
    META_DATA_TYPE.get_or_init(|| match JsonMessage::decode(META_DATA.as_bytes()) {
        Ok(JsonMessage::Discovery(message)) => match message.content {
            JsonDiscoveryContent::DataSetMetaData { meta_data, .. } => meta_data,
            _ => DataSetMetaDataType::default(),
        },
        other => panic!("{other:?}"),
    })
}

/// Checks that a decoded message, once written, is read and written again to the same text.
fn check_value(text: &[u8], context: JsonContext<'_>) {
    let Ok(value) = parse(text, MAX_LENGTH) else {
        return;
    };
    let decoder = JsonDecoder::new(context);
    let _ = decoder.data_value(&value);
    let Ok(variant) = decoder.variant(&value) else {
        return;
    };
    for encoding in [JsonEncoding::Compact, JsonEncoding::Verbose] {
        let encoder = JsonEncoder::new(encoding, context);
        let written = encoder.variant(&variant);
        // Values nested almost too deeply exceed the limit once they are written with types.
        if let Ok(again) = decoder.variant(&written) {
            let again = encoder.variant(&again);
            assert_eq!(
                again,
                encoder.variant(&decoder.variant(&again).expect("written and not readable"))
            );
        }
    }
}

fn check_payload(payload: &JsonPayload) {
    for meta_data in [None, Some(meta_data())] {
        let Ok(fields) = payload.fields(meta_data) else {
            continue;
        };
        for encoding in [
            JsonEncoding::Compact,
            JsonEncoding::Verbose,
            JsonEncoding::RawData,
        ] {
            for content in [JsonFieldContent::Variant, JsonFieldContent::DataValue] {
                let written =
                    JsonPayload::new(&fields, JsonFieldEncoding { encoding, content }, meta_data);
                let _ = written.fields(meta_data);
            }
        }
    }
}

pub(crate) fn run(data: &[u8]) {
    let Some((kind, text)) = choice(data) else {
        return;
    };
    if kind & 0x80 != 0 {
        check_value(text, JsonContext::default());
        check_value(text, JsonContext::from(meta_data()));
        return;
    }
    let layout = (kind & 8 != 0).then(|| JsonLayout::from_mask(u32::from(kind)));
    let Ok(message) = JsonMessage::decode_with(text, layout, MAX_LENGTH) else {
        return;
    };
    if let JsonMessage::Data(message) = &message {
        message
            .messages
            .iter()
            .flat_map(|message| &message.payload)
            .for_each(check_payload);
    }
    // Fields without a place in the layout cannot be written.
    let Ok(text) = message.encode() else {
        return;
    };
    let layout = match &message {
        JsonMessage::Data(message) => Some(message.layout),
        _ => None,
    };
    let again = JsonMessage::decode_with(text.as_bytes(), layout, usize::MAX)
        .expect("written and not readable");
    assert_eq!(again.encode().as_ref(), Ok(&text));
}
