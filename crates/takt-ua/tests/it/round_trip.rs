//! decode(encode(x)) == x for every built-in type, owned and borrowed; truncated and random input never
//! panics.

use std::fmt::Debug;
use std::mem::MaybeUninit;

use crate::common::*;
use proptest::prelude::*;
use takt_ua::binary::{
    Decode, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, Limits, ListRef,
};
use takt_ua::{
    DataValue, DataValueRef, DiagnosticInfo, ExpandedNodeIdRef, ExtensionObjectRef,
    LocalizedTextRef, NodeIdRef, QualifiedNameRef, UaString, Variant, VariantRef, XmlElement,
};

fn owned<T: Encode + for<'a> Decode<'a> + PartialEq + Debug>(
    value: &T,
) -> Result<(), TestCaseError> {
    let bytes = value.encode_to_vec();
    let mut decoder = Decoder::new(&bytes);
    prop_assert_eq!(&T::decode(&mut decoder).unwrap(), value);
    prop_assert_eq!(decoder.remaining(), 0);
    let mut skipper = Decoder::new(&bytes);
    T::skip(&mut skipper).unwrap();
    prop_assert_eq!(skipper.remaining(), 0);
    prop_assert!(bytes.len() >= T::MIN_SIZE);

    let mut fixed = vec![MaybeUninit::uninit(); bytes.len()];
    let mut encoder = Encoder::fixed_uninit(&mut fixed);
    value.encode(&mut encoder).unwrap();
    prop_assert_eq!(encoder.written(), bytes.as_slice());
    for length in 0..bytes.len() {
        let mut short = vec![0; length];
        let result = value.encode(&mut Encoder::fixed(&mut short));
        let full = matches!(result, Err(EncodeError::BufferFull { .. }));
        prop_assert!(full, "{} of {} bytes", length, bytes.len());

        let mut decoder = Decoder::new(&bytes[..length]);
        let error = T::decode(&mut decoder).expect_err("truncated");
        prop_assert_eq!(error.kind, DecodeErrorKind::UnexpectedEnd);
        prop_assert!(error.offset <= length);
        prop_assert!(T::skip(&mut Decoder::new(&bytes[..length])).is_err());
    }
    Ok(())
}

/// The borrowed form decodes what the owned one encodes, and encodes it to the same bytes.
macro_rules! borrowed {
    ($value:expr, $type:ty) => {{
        let bytes = $value.encode_to_vec();
        let mut decoder = Decoder::new(&bytes);
        let borrowed = <$type>::decode(&mut decoder).unwrap();
        prop_assert_eq!(decoder.remaining(), 0);
        prop_assert_eq!(&borrowed.to_owned(), &$value);
        prop_assert_eq!(&borrowed.encode_to_vec(), &bytes);
        for length in 0..bytes.len() {
            prop_assert!(<$type>::decode(&mut Decoder::new(&bytes[..length])).is_err());
        }
    }};
}

proptest! {
    // Each case tries every shorter length as well.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn strings(value in ua_string(), bytes in byte_string()) {
        owned(&value)?;
        owned(&XmlElement(value))?;
        owned(&bytes)?;
    }

    #[test]
    fn fixed_sizes(guid in guid(), ticks: i64, code in status_code()) {
        owned(&guid)?;
        owned(&takt_ua::DateTime(ticks))?;
        owned(&code)?;
    }

    #[test]
    fn node_ids(value in node_id(), expanded in expanded_node_id()) {
        owned(&value)?;
        borrowed!(value, NodeIdRef<'_>);
        owned(&expanded)?;
        borrowed!(expanded, ExpandedNodeIdRef<'_>);
    }

    #[test]
    fn names(name in qualified_name(), text in localized_text()) {
        owned(&name)?;
        borrowed!(name, QualifiedNameRef<'_>);
        owned(&text)?;
        borrowed!(text, LocalizedTextRef<'_>);
    }

    #[test]
    fn extension_objects(value in extension_object()) {
        owned(&value)?;
        borrowed!(value, ExtensionObjectRef<'_>);
    }

    #[test]
    fn diagnostic_infos(value in diagnostic_info()) {
        owned(&value)?;
    }

    #[test]
    fn variants(value in variant()) {
        owned(&value)?;
        borrowed!(value, VariantRef<'_>);
    }

    #[test]
    fn data_values(value in data_value()) {
        owned(&value)?;
        borrowed!(value, DataValueRef<'_>);
    }

    #[test]
    fn vectors(values in proptest::collection::vec(data_value(), 0..4), numbers: Vec<u16>, texts: Vec<String>) {
        owned(&values)?;
        owned(&numbers)?;
        owned(&texts.iter().map(UaString::from).collect::<Vec<_>>())?;
        let bytes = values.encode_to_vec();
        let list = ListRef::<DataValueRef<'_>>::decode(&mut Decoder::new(&bytes)).unwrap();
        prop_assert_eq!(list.len(), values.len());
        prop_assert_eq!(list.iter().map(|value| value.to_owned()).collect::<Vec<_>>(), values);
        prop_assert_eq!(list.encode_to_vec(), bytes);
    }

    #[test]
    fn iterating_an_array_gives_its_elements(value in variant()) {
        let bytes = value.encode_to_vec();
        let borrowed = VariantRef::decode(&mut Decoder::new(&bytes)).unwrap();
        if let (Variant::Array(owned), VariantRef::Array(borrowed)) = (&value, borrowed) {
            let elements: Vec<_> = borrowed.iter().map(|element| element.to_owned()).collect();
            prop_assert_eq!(elements, owned.elements.iter().collect::<Vec<_>>());
        }
    }

}

proptest! {
    /// Owned and borrowed forms accept the same bytes, and give the same value.
    #[test]
    fn random_bytes(bytes: Vec<u8>) {
        agree(&bytes)?;
    }

    #[test]
    fn damaged_bytes(value in data_value(), at: prop::sample::Index, byte: u8) {
        let mut bytes = value.encode_to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        agree(&bytes)?;
    }
}

fn agree(bytes: &[u8]) -> Result<(), TestCaseError> {
    let limits = Limits {
        max_string_length: 64,
        max_array_length: 64,
        max_depth: 8,
        ..Limits::DEFAULT
    };
    let mut owned_decoder = Decoder::with_limits(bytes, limits);
    let mut borrowed_decoder = Decoder::with_limits(bytes, limits);
    let owned = DataValue::decode(&mut owned_decoder);
    let borrowed = DataValueRef::decode(&mut borrowed_decoder);
    // Elements that a list accepts by skipping must decode later, when they are read.
    let mut skipper = Decoder::with_limits(bytes, limits);
    let skipped = DataValueRef::skip(&mut skipper);
    prop_assert_eq!(skipped.is_ok(), borrowed.is_ok());
    match (owned, borrowed) {
        (Ok(owned), Ok(borrowed)) => {
            prop_assert_eq!(skipper.position(), borrowed_decoder.position());
            // Through bytes, because NaN is not equal to itself.
            prop_assert_eq!(owned.encode_to_vec(), borrowed.to_owned().encode_to_vec());
            prop_assert_eq!(owned_decoder.position(), borrowed_decoder.position());
        }
        // Offsets may differ: fields of fixed size are skipped at once.
        (owned, borrowed) => prop_assert_eq!(
            owned.map(|_| ()).map_err(|error| error.kind),
            borrowed.map(|_| ()).map_err(|error| error.kind)
        ),
    }
    skips_as_it_decodes::<DiagnosticInfo>(bytes, limits)?;
    skips_as_it_decodes::<ExtensionObjectRef<'_>>(bytes, limits)?;
    skips_as_it_decodes::<ExpandedNodeIdRef<'_>>(bytes, limits)?;
    skips_as_it_decodes::<NodeIdRef<'_>>(bytes, limits)?;
    skips_as_it_decodes::<Vec<UaString>>(bytes, limits)?;
    skips_as_it_decodes::<Vec<u16>>(bytes, limits)
}

fn skips_as_it_decodes<'a, T: Decode<'a>>(
    bytes: &'a [u8],
    limits: Limits,
) -> Result<(), TestCaseError> {
    let mut decoder = Decoder::with_limits(bytes, limits);
    let mut skipper = decoder.clone();
    let decoded = T::decode(&mut decoder).is_ok();
    prop_assert_eq!(T::skip(&mut skipper).is_ok(), decoded);
    if decoded {
        prop_assert_eq!(skipper.position(), decoder.position());
    }
    Ok(())
}
