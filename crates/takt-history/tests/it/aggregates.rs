//! Aggregates against the examples of OPC 10000-13, Annex A, and against sums of our own.

use crate::support::*;
use takt_history::Aggregate as A;
use takt_ua::Variant;

const GOOD: u32 = 0;
const INTERPOLATED: u32 = 0x402;
const DOUBTFUL: u32 = 0x40A4_0402;
const CALCULATED: u32 = 0x401;
const NO_DATA: u32 = 0x809B_0000;
const PARTIAL: u32 = 0x404;

fn double(value: f64) -> Option<Variant> {
    Some(Variant::Double(value))
}

/// Results as time in seconds, value with three digits, and StatusCode.
fn rows(values: &[takt_ua::DataValue]) -> Vec<(f64, Option<f64>, u32)> {
    let row = |value: &takt_ua::DataValue| {
        let number = match value.value {
            Some(Variant::Double(number)) => Some((number * 1000.0).round() / 1000.0),
            Some(Variant::Int32(number)) => Some(f64::from(number)),
            _ => None,
        };
        let time = value.source_timestamp.unwrap();
        (seconds(time), number, value.status_code().0)
    };
    values.iter().map(row).collect()
}

#[test]
fn interpolative_of_historian_1() {
    let expected = [
        (0., None, NO_DATA),
        (5., None, NO_DATA),
        (10., Some(10.), GOOD),
        (15., Some(15.), INTERPOLATED),
        (20., Some(20.), GOOD),
        (25., Some(25.), INTERPOLATED),
        (30., Some(30.), GOOD),
        (35., Some(35.), DOUBTFUL),
        (40., Some(40.), DOUBTFUL),
        (45., Some(45.), DOUBTFUL),
        (50., Some(50.), GOOD),
        (55., Some(55.), INTERPOLATED),
        (60., Some(60.), GOOD),
        (65., Some(65.), DOUBTFUL),
        (70., Some(70.), 0x4000_0000),
        (75., Some(75.), DOUBTFUL),
        (80., Some(80.), GOOD),
        (85., Some(85.), INTERPOLATED),
        (90., Some(90.), GOOD),
        (95., Some(90.), DOUBTFUL),
    ];
    let values = processed(
        &mut historian_1(),
        A::Interpolative,
        0.,
        100.,
        5000.,
        sloped(false),
    );
    assert_eq!(rows(&values), expected);
}

#[test]
fn interpolative_of_historian_2() {
    let expected = [
        (0., None, NO_DATA),
        (5., Some(11.304), INTERPOLATED),
        (10., Some(13.478), INTERPOLATED),
        (15., Some(15.652), INTERPOLATED),
        (20., Some(17.826), INTERPOLATED),
        (25., Some(20.), GOOD),
        (30., Some(25.909), INTERPOLATED),
        (35., Some(28.182), INTERPOLATED),
        (40., Some(31.111), DOUBTFUL),
        (45., Some(36.667), DOUBTFUL),
        (50., Some(45.), INTERPOLATED),
        (55., Some(51.5), INTERPOLATED),
        (60., Some(54.), INTERPOLATED),
        (65., Some(56.5), INTERPOLATED),
        (70., Some(59.), INTERPOLATED),
        (75., Some(62.727), DOUBTFUL),
        (80., Some(67.273), DOUBTFUL),
        (85., Some(76.667), INTERPOLATED),
        (90., Some(90.), GOOD),
        (95., Some(90.), DOUBTFUL),
    ];
    let values = processed(
        &mut historian_2(),
        A::Interpolative,
        0.,
        100.,
        5000.,
        sloped(true),
    );
    assert_eq!(rows(&values), expected);
}

#[test]
fn interpolative_of_historian_3_is_stepped() {
    let values = [
        10., 10., 10., 10., 20., 25., 25., 30., 30., 40., 50., 50., 50., 50., 60., 60., 70., 90.,
        90.,
    ];
    let status = |index: usize| match index {
        4 | 17 => GOOD,
        8 | 15 | 18 => DOUBTFUL,
        _ => INTERPOLATED,
    };
    let mut expected = vec![(0., None, NO_DATA)];
    for (index, value) in values.iter().enumerate() {
        let time = (index + 1) as f64 * 5.0;
        expected.push((time, Some(*value), status(index)));
    }
    // The records are those of historian 2.
    let results = processed(
        &mut historian_2(),
        A::Interpolative,
        0.,
        100.,
        5000.,
        stepped(),
    );
    assert_eq!(rows(&results), expected);
}

#[test]
fn minimum_of_historian_1() {
    let expected = [
        (0., Some(10.), CALCULATED | PARTIAL),
        (16., Some(20.), CALCULATED),
        (32., None, NO_DATA),
        (48., Some(50.), CALCULATED),
        (64., None, NO_DATA),
        (80., Some(80.), PARTIAL),
        (96., None, NO_DATA),
    ];
    let values = processed(
        &mut historian_1(),
        A::Minimum,
        0.,
        100.,
        16_000.,
        sloped(false),
    );
    assert_eq!(rows(&values), expected);
    let values = processed(
        &mut historian_1(),
        A::Maximum,
        0.,
        100.,
        16_000.,
        sloped(false),
    );
    assert_eq!(rows(&values)[5], (80., Some(90.), CALCULATED | PARTIAL));
}

#[test]
fn values_of_one_interval() {
    // 0: 4, 10: 8, 20: 2, 30: 8, 40: 6; the interval has the first four.
    let mut records = good(&[(0., 4.), (10., 8.), (20., 2.), (30., 8.), (40., 6.)]);
    let mut one = |aggregate| {
        let values = processed(&mut records, aggregate, 0., 40., 0., sloped(true));
        assert_eq!(values.len(), 1, "{aggregate:?}");
        let value = values.into_iter().next().unwrap();
        (
            seconds(value.source_timestamp.unwrap()),
            value.value.clone(),
            value.status_code().0,
        )
    };
    assert_eq!(one(A::Average), (0., double(5.5), CALCULATED));
    assert_eq!(one(A::TimeAverage), (0., double(5.75), CALCULATED));
    assert_eq!(one(A::Total), (0., double(230.), CALCULATED));
    assert_eq!(one(A::Minimum), (0., double(2.), CALCULATED));
    assert_eq!(one(A::Maximum), (0., double(8.), CALCULATED));
    assert_eq!(one(A::MinimumActualTime), (20., double(2.), 0x400));
    assert_eq!(one(A::MaximumActualTime), (10., double(8.), 0x410));
    assert_eq!(one(A::Range), (0., double(6.), CALCULATED));
    assert_eq!(one(A::Count), (0., Some(Variant::Int32(4)), CALCULATED));
    assert_eq!(one(A::Start), (0., double(4.), GOOD));
    assert_eq!(one(A::End), (30., double(8.), GOOD));
    assert_eq!(one(A::Delta), (0., double(4.), CALCULATED));
    assert_eq!(one(A::DurationGood), (0., double(40_000.), CALCULATED));
    assert_eq!(one(A::DurationBad), (0., double(0.), CALCULATED));
    assert_eq!(one(A::PercentGood), (0., double(100.), CALCULATED));
    assert_eq!(one(A::PercentBad), (0., double(0.), CALCULATED));
    assert_eq!(one(A::VariancePopulation), (0., double(6.75), CALCULATED));
    assert_eq!(one(A::VarianceSample), (0., double(9.), CALCULATED));
    assert_eq!(
        one(A::StandardDeviationSample),
        (0., double(3.), CALCULATED)
    );
    let deviation = one(A::StandardDeviationPopulation).1;
    assert_eq!(deviation, double(6.75_f64.sqrt()));
    let values = processed(&mut records, A::TimeAverage, 0., 40., 0., stepped());
    assert_eq!(rows(&values), [(0., Some(5.5), CALCULATED)]);
}

#[test]
fn intervals_may_follow_each_other_backwards() {
    let mut records = good(&[(0., 1.), (10., 2.), (20., 3.), (30., 4.)]);
    // (20, 30], (10, 20], (0, 10]: the start of an interval is its later end.
    let values = processed(&mut records, A::Count, 30., 0., 10_000., sloped(true));
    let expected = [
        (30., Some(1.), CALCULATED),
        (20., Some(1.), CALCULATED),
        (10., Some(1.), CALCULATED),
    ];
    assert_eq!(rows(&values), expected);
    let values = processed(&mut records, A::Average, 30., 5., 10_000., sloped(true));
    let averages: Vec<_> = rows(&values).iter().map(|row| row.1.unwrap()).collect();
    assert_eq!(averages, [4., 3., 2.]);
}

#[test]
fn the_share_of_good_values_determines_the_status() {
    let settings = takt_history::AggregateSettings {
        percent_data_good: 60,
        percent_data_bad: 60,
        ..sloped(true)
    };
    let average = |bad: usize| {
        let quality = |index: usize| if index < bad { 0x8000_0000 } else { GOOD };
        let records: Vec<_> = (0..5)
            .map(|index| (index as f64, 1.0, quality(index)))
            .collect();
        let mut records = with_status(&records);
        let values = processed(&mut records, A::Average, 0., 5., 0., settings);
        (values[0].value.clone(), values[0].status_code().0)
    };
    assert_eq!(average(0), (double(1.), CALCULATED));
    assert_eq!(average(2), (double(1.), CALCULATED));
    assert_eq!(average(3), (None, 0x8000_0000 | CALCULATED));
    assert_eq!(average(5), (None, NO_DATA));
    let undecided = takt_history::AggregateSettings {
        percent_data_good: 100,
        percent_data_bad: 100,
        ..settings
    };
    let mut records = with_status(&[(0., 1., GOOD), (1., 5., 0x8000_0000), (2., 3., GOOD)]);
    let values = processed(&mut records, A::Average, 0., 3., 0., undecided);
    assert_eq!(rows(&values), [(0., Some(2.), 0x40A4_0000 | CALCULATED)]);
    let contradiction = takt_history::AggregateSettings {
        percent_data_good: 10,
        percent_data_bad: 10,
        ..settings
    };
    assert_eq!(
        contradiction.check().unwrap_err(),
        takt_ua::StatusCode::BadAggregateInvalidInputs
    );
}

#[test]
fn durations_follow_the_quality_of_each_record() {
    let mut records = with_status(&[
        (0., 1., GOOD),
        (10., 1., 0x8000_0000),
        (15., 1., 0x4000_0000),
        (20., 2., GOOD),
    ]);
    let mut one = |aggregate, settings| {
        let values = processed(&mut records, aggregate, 0., 20., 0., settings);
        values[0].value.clone()
    };
    assert_eq!(one(A::DurationGood, sloped(true)), double(10_000.));
    assert_eq!(one(A::DurationBad, sloped(true)), double(10_000.));
    assert_eq!(one(A::DurationBad, sloped(false)), double(5_000.));
    assert_eq!(one(A::PercentGood, sloped(true)), double(50.));
}

#[test]
fn values_without_numbers_have_no_average() {
    let mut records = of_values(&[(0., Variant::from("on")), (5., Variant::from("off"))]);
    for aggregate in [A::Average, A::TimeAverage, A::Minimum, A::Range] {
        let values = processed(&mut records, aggregate, 0., 5., 0., stepped());
        assert_eq!(
            values[0].status_code(),
            takt_ua::StatusCode::BadAggregateInvalidInputs,
            "{aggregate:?}"
        );
    }
    let values = processed(&mut records, A::Count, 0., 5., 0., stepped());
    assert_eq!(values[0].value, Some(Variant::Int32(1)));
    let values = processed(&mut records, A::Interpolative, 2., 5., 0., stepped());
    assert_eq!(values[0].value, Some(Variant::from("on")));
}

#[test]
fn a_number_is_the_extreme_wherever_nan_is() {
    let nan = f64::NAN;
    for values in [[nan, 3., 1.], [3., nan, 1.], [3., 1., nan]] {
        let [first, second, third] = values;
        let mut records = good(&[(0., first), (10., second), (20., third)]);
        let mut one = |aggregate| {
            let values = processed(&mut records, aggregate, 0., 30., 0., sloped(true));
            values[0].value.clone()
        };
        assert_eq!(one(A::Minimum), double(1.), "{values:?}");
        assert_eq!(one(A::Maximum), double(3.), "{values:?}");
        assert_eq!(one(A::Range), double(2.), "{values:?}");
    }
}

#[test]
fn the_type_of_a_value_is_kept() {
    let mut records = of_values(&[(0., Variant::Int16(1)), (10., Variant::Int16(4))]);
    let mut one = |aggregate, start| {
        let values = processed(&mut records, aggregate, start, 11., 0., sloped(true));
        values[0].value.clone().unwrap()
    };
    assert_eq!(one(A::Minimum, 0.), Variant::Int16(1));
    assert_eq!(one(A::Delta, 0.), Variant::Int16(3));
    assert_eq!(one(A::Interpolative, 4.), Variant::Int16(2));
    assert_eq!(one(A::Average, 0.), Variant::Double(2.5));
}

#[test]
fn a_value_without_changes_is_continued_up_to_now() {
    let mut changes = good(&[(0., 4.)]);
    let mut stopped = with_status(&[(0., 4., GOOD), (1., 0., 0x809B_0000)]);
    let at = |records: &mut takt_history::MemoryRecords, aggregate, start, end| {
        let (start, end) = (time(start), time(end));
        let query = takt_history::ProcessedQuery::new(aggregate, start, end, 0.0, stepped());
        let mut query = query.unwrap().known_until(time(100.));
        let mut output = unlimited();
        let mut budget = takt_history::Budget::new(1_000);
        query.run(records, &mut output, &mut budget).unwrap();
        decode(&output)[0].clone()
    };
    let no_data = takt_ua::StatusCode::BadNoData;
    let doubtful = takt_ua::StatusCode::UncertainDataSubNormal.0 | CALCULATED;
    let average = at(&mut changes, A::TimeAverage, 50., 60.);
    assert_eq!(average.value, double(4.));
    assert_eq!(average.status_code().0, doubtful);
    assert_eq!(at(&mut changes, A::Total, 50., 60.).value, double(40.));
    let duration = at(&mut changes, A::DurationGood, 50., 60.);
    assert_eq!(duration.value, double(10_000.));
    assert_eq!(
        at(&mut changes, A::PercentGood, 50., 60.).value,
        double(100.)
    );
    // These are made of the records in the interval only.
    for aggregate in [A::Minimum, A::End, A::Average] {
        let value = at(&mut changes, aggregate, 50., 60.);
        assert_eq!(value.status_code(), no_data, "{aggregate:?}");
    }
    // Nothing is known of the future, and of the time in which nothing was recorded.
    let future = at(&mut changes, A::TimeAverage, 101., 110.);
    assert_eq!(future.status_code(), no_data);
    let unknown = at(&mut stopped, A::TimeAverage, 50., 60.);
    assert_eq!(unknown.status_code(), no_data);
}

#[test]
fn nothing_is_known_in_a_gap() {
    let mut records = with_status(&[
        (0., 10., GOOD),
        (10., 20., GOOD),
        (20., 0., NO_DATA),
        (40., 50., GOOD),
        (50., 60., GOOD),
    ]);
    let no_data = takt_ua::StatusCode::BadNoData;
    for settings in [stepped(), sloped(false)] {
        for aggregate in [
            A::TimeAverage,
            A::Total,
            A::Average,
            A::Minimum,
            A::Interpolative,
        ] {
            for (from, to) in [(20., 40.), (22., 38.)] {
                let found = processed(&mut records, aggregate, from, to, 0., settings);
                assert_eq!(found[0].status_code(), no_data, "{aggregate:?}");
                assert_eq!(found[0].value, None);
            }
        }
        for use_simple_bounds in [false, true] {
            let times = vec![time(15.), time(30.), time(45.)];
            let mut query = takt_history::AtTimeQuery::new(times, use_simple_bounds, settings);
            let mut output = unlimited();
            query
                .run(
                    &mut records,
                    &mut output,
                    &mut takt_history::Budget::new(100),
                )
                .unwrap();
            let found: Vec<_> = decode(&output)
                .iter()
                .map(takt_ua::DataValue::status_code)
                .collect();
            assert!(!found[0].is_bad() && found[2].is_good(), "{found:?}");
            assert_eq!(found[1], no_data);
        }
        // The area of an interval with a gap is that of its known parts.
        let found = processed(&mut records, A::TimeAverage, 10., 50., 0., settings);
        let expected = if settings.stepped { 35. } else { 37.5 };
        assert_eq!(found[0].value, Some(Variant::Double(expected)));
        assert!(found[0].status_code().is_uncertain());
    }
    // Up to a gap a value holds that is Stepped.
    let before = processed(&mut records, A::TimeAverage, 12., 18., 0., stepped());
    assert!(before[0].status_code().is_good(), "{before:?}");
}
