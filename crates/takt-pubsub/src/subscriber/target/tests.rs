//! Tests of targets.

use super::*;
use crate::subscriber::cell_parts::CellParts;

fn target(handling: OverrideValueHandling) -> (ReaderTarget, Arc<Cell>) {
    let cell = Arc::new(Cell::of(&Variant::Int32(1)));
    let configuration = FieldTargetDataType {
        override_value_handling: handling,
        override_value: Variant::Int32(99),
        ..FieldTargetDataType::default()
    };
    let meta_data = FieldMetaData {
        built_in_type: 6,
        value_rank: -1,
        ..FieldMetaData::default()
    };
    let target = FieldTarget::Cell(cell.clone());
    (
        ReaderTarget::new(0, &meta_data, target, Some(&configuration)).unwrap(),
        cell,
    )
}

#[test]
fn bad_values_are_replaced_as_in_table_80() {
    use OverrideValueHandling as Handling;
    let now = DateTime::now();
    let bad = DataValue::status(StatusCode::BadSensorFailure);
    for (handling, value, status) in [
        (Handling::Disabled, None, StatusCode::BadSensorFailure),
        (
            Handling::LastUsableValue,
            Some(5),
            StatusCode::UncertainLastUsableValue,
        ),
        (
            Handling::OverrideValue,
            Some(99),
            StatusCode::GoodLocalOverride,
        ),
    ] {
        let (mut target, cell) = target(handling);
        target.write(DataValue::good(5_i32), now).unwrap();
        assert_eq!(cell.get().unwrap().value, Some(Variant::Int32(5)));
        target.write(bad.clone(), now).unwrap();
        let found = cell.get().unwrap();
        assert_eq!(found.value, value.map(Variant::Int32));
        assert_eq!(found.status_code(), status);
    }
}

#[test]
fn a_reader_that_is_not_operational_sets_a_bad_status() {
    use OverrideValueHandling as Handling;
    let now = DateTime::now();
    for (state, status) in [
        (PubSubState::Error, StatusCode::BadNoCommunication),
        (PubSubState::Paused, StatusCode::BadOutOfService),
        (
            PubSubState::PreOperational,
            StatusCode::BadWaitingForInitialData,
        ),
    ] {
        let (mut target, cell) = target(Handling::Disabled);
        target.write_state(state, now).unwrap();
        assert_eq!(cell.get().unwrap().status_code(), status);
    }
    let (mut target, cell) = target(Handling::LastUsableValue);
    target.write_state(PubSubState::Error, now).unwrap();
    target.write_state(PubSubState::Paused, now).unwrap();
    assert_eq!(cell.get().unwrap().value, Some(Variant::Int32(1)));
    target.write_state(PubSubState::Operational, now).unwrap();
    assert_eq!(
        cell.get().unwrap().status_code(),
        StatusCode::UncertainLastUsableValue
    );
}

#[test]
fn parts_of_arrays_are_taken_and_put() {
    let cell = Arc::new(Cell::of(&Variant::from(vec![0_i32; 4])));
    let configuration = FieldTargetDataType {
        receiver_index_range: "1:2".into(),
        write_index_range: "2:3".into(),
        ..FieldTargetDataType::default()
    };
    let field = FieldTarget::Cell(cell.clone());
    let meta_data = FieldMetaData::default();
    let mut target = ReaderTarget::new(0, &meta_data, field, Some(&configuration)).unwrap();
    target
        .write(DataValue::good(vec![1_i32, 2, 3]), DateTime::now())
        .unwrap();
    assert_eq!(
        cell.get().unwrap().value,
        Some(Variant::from(vec![0_i32, 0, 2, 3]))
    );
    assert!(target.plain_cell().is_none());
}

/// Returns a target that writes a range of a cell.
fn part(
    cell: &Arc<Cell>,
    range: &str,
    handling: OverrideValueHandling,
    override_value: Variant,
) -> ReaderTarget {
    let configuration = FieldTargetDataType {
        write_index_range: range.into(),
        override_value_handling: handling,
        override_value,
        ..FieldTargetDataType::default()
    };
    let meta_data = FieldMetaData::default();
    let field = FieldTarget::Cell(cell.clone());
    ReaderTarget::new(0, &meta_data, field, Some(&configuration)).unwrap()
}

#[track_caller]
fn check(cell: &Cell, status: StatusCode, value: Option<[i32; 4]>) {
    let found = cell.get().unwrap();
    assert_eq!(found.status_code(), status);
    assert_eq!(
        found.value,
        value.map(|value| Variant::from(value.to_vec()))
    );
}

#[test]
fn a_part_of_an_array_is_replaced_as_in_table_80() {
    use OverrideValueHandling as Handling;
    let now = DateTime::now();
    let lost = StatusCode::BadNoCommunication;
    let last = StatusCode::UncertainLastUsableValue;
    let overridden = StatusCode::GoodLocalOverride;
    for (handling, instead, status, value) in [
        (Handling::Disabled, vec![], lost, None),
        (Handling::LastUsableValue, vec![], last, Some([0, 0, 5, 6])),
        (
            Handling::OverrideValue,
            vec![8, 9],
            overridden,
            Some([0, 0, 8, 9]),
        ),
        // It does not fit the range.
        (Handling::OverrideValue, vec![8], lost, None),
    ] {
        let cell = Arc::new(Cell::of(&Variant::from(vec![0_i32; 4])));
        let mut target = part(&cell, "2:3", handling, Variant::from(instead));
        let fits = target.write_state(PubSubState::PreOperational, now);
        for _ in 0..2 {
            target.write(DataValue::good(vec![5_i32, 6]), now).unwrap();
            check(&cell, StatusCode::Good, Some([0, 0, 5, 6]));
            assert_eq!(target.write_state(PubSubState::Error, now), fits);
            check(&cell, status, value);
        }
    }
}

#[test]
fn a_cell_has_the_worst_status_of_its_parts() {
    use OverrideValueHandling as Handling;
    let now = DateTime::now();
    let cell = Arc::new(Cell::of(&Variant::from(vec![0_i32; 4])));
    let last = Handling::LastUsableValue;
    let mut targets = [
        part(&cell, "0:1", Handling::Disabled, Variant::Empty),
        part(&cell, "2:3", last, Variant::Empty),
    ];
    let mut parts = CellParts::default();
    for target in &mut targets {
        let (cell, part) = target.part_mut().unwrap();
        parts.join(cell, part);
    }
    let [first, second] = &mut targets;
    first.write(DataValue::good(vec![1_i32, 2]), now).unwrap();
    check(&cell, StatusCode::BadWaitingForInitialData, None);
    second.write(DataValue::good(vec![3_i32, 4]), now).unwrap();
    check(&cell, StatusCode::Good, Some([1, 2, 3, 4]));
    second.write_state(PubSubState::Error, now).unwrap();
    first.write(DataValue::good(vec![5_i32, 6]), now).unwrap();
    let uncertain = StatusCode::UncertainLastUsableValue;
    check(&cell, uncertain, Some([5, 6, 3, 4]));
    first.write_state(PubSubState::Error, now).unwrap();
    second.write(DataValue::good(vec![7_i32, 8]), now).unwrap();
    check(&cell, StatusCode::BadNoCommunication, None);
    first.write(DataValue::good(vec![1_i32, 2]), now).unwrap();
    check(&cell, StatusCode::Good, Some([1, 2, 7, 8]));
}

#[test]
fn a_value_that_cannot_be_written_leaves_no_older_one() {
    use OverrideValueHandling as Handling;
    let now = DateTime::now();
    let wrong = StatusCode::BadTypeMismatch;
    for (handling, status) in [
        (Handling::Disabled, wrong),
        (
            Handling::LastUsableValue,
            StatusCode::UncertainLastUsableValue,
        ),
        (Handling::OverrideValue, StatusCode::GoodLocalOverride),
    ] {
        let (mut target, cell) = target(handling);
        target.write(DataValue::good(5_i32), now).unwrap();
        let outcome = target.write(DataValue::good("text"), now);
        assert_eq!(outcome, Err(wrong));
        assert_eq!(cell.get().unwrap().status_code(), status);
    }
    // The OverrideValue does not fit either.
    let (mut target, cell) = target(Handling::OverrideValue);
    target.override_value = "text".into();
    assert_eq!(target.write_state(PubSubState::Error, now), Err(wrong));
    let found = cell.get().unwrap().status_code();
    assert_eq!(found, StatusCode::BadNoCommunication);
    // The received array is shorter than the ReceiverIndexRange.
    let (mut target, cell) = target_of_range("3:4");
    let short = DataValue::good(vec![1_i32, 2]);
    let no_data = StatusCode::BadIndexRangeNoData;
    assert_eq!(target.write(short, now), Err(no_data));
    assert_eq!(cell.get().unwrap().status_code(), no_data);
}

/// Returns a target that takes a range of the received value.
fn target_of_range(range: &str) -> (ReaderTarget, Arc<Cell>) {
    let cell = Arc::new(Cell::of(&Variant::from(vec![0_i32; 2])));
    let configuration = FieldTargetDataType {
        receiver_index_range: range.into(),
        ..FieldTargetDataType::default()
    };
    let field = FieldTarget::Cell(cell.clone());
    let target = ReaderTarget::new(0, &FieldMetaData::default(), field, Some(&configuration));
    (target.unwrap(), cell)
}
