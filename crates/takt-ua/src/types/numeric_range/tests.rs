use super::*;

fn range(text: &str) -> NumericRange {
    text.parse().unwrap()
}

fn matrix() -> Variant {
    Array::matrix((0..12).collect::<Vec<i32>>(), &[3, 4])
        .unwrap()
        .into()
}

#[test]
fn syntax() {
    for text in ["6", "0", "1:3", "1:2,0:1", "1,1", "0:4294967295"] {
        assert_eq!(range(text).to_string(), text);
    }
    for text in [
        "",
        "a",
        "-1",
        "+1",
        "3:1",
        "5:5",
        "1:",
        ":1",
        "1,",
        "1 :2",
        "1:2:3",
        "4294967296",
        "1.0",
    ] {
        assert!(text.parse::<NumericRange>().is_err(), "{text}");
    }
    assert_eq!(NumericRange::of_request(Some("")), Ok(None));
    assert_eq!(
        NumericRange::of_request(Some("5:5")),
        Err(StatusCode::BadIndexRangeInvalid)
    );
}

#[test]
fn reads_arrays() {
    let value = Variant::from(vec![10_u32, 11, 12, 13]);
    assert_eq!(range("1:2").read(&value), Ok(vec![11_u32, 12].into()));
    assert_eq!(range("3").read(&value), Ok(vec![13_u32].into()));
    assert_eq!(
        range("2:9").read(&value),
        Ok(vec![12_u32, 13].into()),
        "partial"
    );
    assert_eq!(
        range("4").read(&value),
        Err(StatusCode::BadIndexRangeNoData)
    );
    assert_eq!(
        range("0,0").read(&value),
        Err(StatusCode::BadIndexRangeNoData)
    );
    assert_eq!(
        range("0").read(&Variant::from(1_u32)),
        Err(StatusCode::BadIndexRangeNoData)
    );
    assert_eq!(
        range("0").read(&Variant::Empty),
        Err(StatusCode::BadIndexRangeNoData)
    );
    assert_eq!(
        range("0").read(&Vec::<u8>::new().into()),
        Err(StatusCode::BadIndexRangeNoData)
    );
}

#[test]
fn reads_matrices() {
    let expected = Array::matrix(vec![5, 6, 9, 10], &[2, 2]).unwrap();
    assert_eq!(range("1:2,1:2").read(&matrix()), Ok(expected.into()));
    let element = Array::matrix(vec![7], &[1, 1]).unwrap();
    assert_eq!(range("1,3").read(&matrix()), Ok(element.into()));
    let cut = Array::matrix(vec![11], &[1, 1]).unwrap();
    assert_eq!(range("2:3,3:9").read(&matrix()), Ok(cut.into()));
    assert_eq!(
        range("3,0").read(&matrix()),
        Err(StatusCode::BadIndexRangeNoData)
    );
    assert_eq!(
        range("1").read(&matrix()),
        Err(StatusCode::BadIndexRangeNoData)
    );
}

#[test]
fn reads_text() {
    let text = Variant::from("aäb€c");
    assert_eq!(range("1:3").read(&text), Ok("äb€".into()));
    assert_eq!(range("3:9").read(&text), Ok("€c".into()));
    assert_eq!(range("5").read(&text), Err(StatusCode::BadIndexRangeNoData));
    let bytes = Variant::ByteString(vec![1, 2, 3].into());
    assert_eq!(
        range("1:9").read(&bytes),
        Ok(Variant::ByteString(vec![2, 3].into()))
    );
    let texts = Variant::from(vec!["abc", "d", "efg"]);
    let parts = vec![UaString::from("bc"), UaString::null(), UaString::from("fg")];
    assert_eq!(range("0:2,1:2").read(&texts), Ok(parts.into()));
    assert_eq!(
        range("1,1:2").read(&texts),
        Err(StatusCode::BadIndexRangeNoData)
    );
}

#[test]
fn writes() {
    let mut value = Variant::from(vec![1_u8, 2, 3, 4]);
    assert_eq!(
        range("1:2").write(&mut value, &vec![7_u8, 8].into()),
        Ok(())
    );
    assert_eq!(value, vec![1_u8, 7, 8, 4].into());
    let before = value.clone();
    let cases: [(&str, Variant, StatusCode); 5] = [
        (
            "1:2",
            vec![7_u8].into(),
            StatusCode::BadIndexRangeDataMismatch,
        ),
        ("1:2", vec![7_u16, 8].into(), StatusCode::BadTypeMismatch),
        ("3:4", vec![7_u8, 8].into(), StatusCode::BadIndexRangeNoData),
        ("9", vec![7_u8].into(), StatusCode::BadIndexRangeNoData),
        ("0", 7_u8.into(), StatusCode::BadIndexRangeDataMismatch),
    ];
    for (text, part, expected) in cases {
        assert_eq!(
            range(text).write(&mut value, &part),
            Err(expected),
            "{text}"
        );
        assert_eq!(value, before);
    }
}

#[test]
fn writes_matrices_and_text() {
    let mut value = matrix();
    let part = Array::matrix(vec![50, 60, 90, 100], &[2, 2])
        .unwrap()
        .into();
    assert_eq!(range("1:2,1:2").write(&mut value, &part), Ok(()));
    let expected = Array::matrix(vec![0, 1, 2, 3, 4, 50, 60, 7, 8, 90, 100, 11], &[3, 4]).unwrap();
    assert_eq!(value, expected.into());

    let mut text = Variant::from("aäb€c");
    assert_eq!(range("1:2").write(&mut text, &"xü".into()), Ok(()));
    assert_eq!(text, "axü€c".into());
    assert_eq!(
        range("1:2").write(&mut text, &"x".into()),
        Err(StatusCode::BadIndexRangeDataMismatch)
    );
    assert_eq!(
        range("4:5").write(&mut text, &"xy".into()),
        Err(StatusCode::BadIndexRangeNoData)
    );

    let mut texts = Variant::from(vec!["abc", "d"]);
    assert_eq!(
        range("0:1,1").write(&mut texts, &vec!["x", "y"].into()),
        Err(StatusCode::BadIndexRangeNoData)
    );
    assert_eq!(texts, vec!["abc", "d"].into());
    assert_eq!(
        range("0:1,0").write(&mut texts, &vec!["x", "y"].into()),
        Ok(())
    );
    assert_eq!(texts, vec!["xbc", "y"].into());
}
