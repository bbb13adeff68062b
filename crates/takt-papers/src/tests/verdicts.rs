//! Verdicts: each kind, and cells that are missing.

use std::path::Path;

use serde_json::{Map, json};
use takt_campaign::CampaignRow;

use crate::cells::{PaperCell, PaperTable};
use crate::element::PaperElement;
use crate::verdict::{PaperVerdict, PaperVerdictKind};

const FILE: &str = r#"version = 1
place = "Table 1"
title = "Title"
source = "section 1"
campaigns = ["../../../../scenarios/campaigns/line-load.toml"]
heading = "load"
columns = [
    { name = "a", where = { load = "1" } },
    { name = "b", where = { load = "2" } },
]

[[rows]]
name = "RTT"
unit = "us"
value = "control.round_trip.mean_ns"
paper = [250, 500]

[[rows]]
name = "max"
unit = "us"
value = "control.round_trip.max_ns"
over = "max"

[[rows]]
name = "bound"
unit = "us"
bound = true
value = "control.round_trip.bound_ns"

[[findings]]
name = "greater"
claim = "b is greater."
holds = 'increasing(ours("RTT"))'
expect = "reproduced"
least_messages = 100

[[findings]]
name = "chosen"
claim = "b is greater."
holds = 'increasing(ours("RTT"))'
expect = "fitted"
fitted = "the offset"

[[findings]]
name = "less"
claim = "b is less than a."
holds = 'decreasing(ours("RTT"))'
expect = "not-reproduced"
reason = "a reason"

[[findings]]
name = "bounded"
claim = "No message is later than its bound."
holds = 'every(ours("max") <= ours("bound"))'
expect = "reproduced"

[[findings]]
name = "clocks"
claim = "Clocks are synchronized."
expect = "not-decidable"
reason = "needs PTP"
"#;

fn element() -> PaperElement {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/element.toml");
    PaperElement::parse(FILE.to_owned(), &path, "P").unwrap()
}

fn row(load: &str, backend: &str, values: serde_json::Value) -> CampaignRow {
    let mut settings = Map::new();
    settings.insert("load".to_owned(), load.into());
    CampaignRow {
        case: load.to_owned(),
        scenario: "line.toml".to_owned(),
        settings,
        backend: backend.to_owned(),
        repetition: 1,
        seed: None,
        values: values.as_object().unwrap().clone(),
        measured: false,
        failure: None,
    }
}

fn simulated(load: &str, mean: f64, max: f64) -> CampaignRow {
    let values = json!({
        "control.messages.published": 1000,
        "control.round_trip.mean_ns": mean,
        "control.round_trip.max_ns": max,
    });
    row(load, "simulate", values)
}

fn bound(load: &str, time: Option<f64>) -> CampaignRow {
    row(load, "bounds", json!({"control.round_trip.bound_ns": time}))
}

/// Returns the verdicts' kinds, and whether each is unexpected.
fn verdicts(rows: &[CampaignRow]) -> Vec<(PaperVerdictKind, bool)> {
    let element = element();
    let rows: Vec<&CampaignRow> = rows.iter().collect();
    let tables = PaperTable::of(&element, &rows);
    let verdicts = tables.iter().flat_map(PaperVerdict::of);
    verdicts.map(|it| (it.kind, it.is_unexpected)).collect()
}

use PaperVerdictKind::{Fitted, NotDecidable, NotReproduced, Reproduced};

fn usual() -> Vec<CampaignRow> {
    vec![
        simulated("1", 250e3, 300e3),
        simulated("2", 500e3, 600e3),
        bound("1", Some(310e3)),
        bound("2", None),
    ]
}

#[test]
fn verdicts_follow_from_rows() {
    let expected = [Reproduced, Fitted, NotReproduced, Reproduced, NotDecidable];
    assert_eq!(verdicts(&usual()), expected.map(|kind| (kind, false)));
    // The second mean is smaller: three verdicts change, and all are unexpected.
    let mut rows = usual();
    rows[1] = simulated("2", 200e3, 600e3);
    let expected = [
        (NotReproduced, true),
        (NotReproduced, true),
        (Reproduced, true),
        (Reproduced, false),
        (NotDecidable, false),
    ];
    assert_eq!(verdicts(&rows), expected);
    // Above its bound.
    rows[0] = simulated("1", 250e3, 311e3);
    assert_eq!(verdicts(&rows)[3], (NotReproduced, true));
}

#[test]
fn missing_rows_decide_nothing() {
    let rows = usual();
    // No bounds.
    let found = verdicts(&rows[..2]);
    assert_eq!(found[3], (NotDecidable, false));
    assert_eq!(found[0], (Reproduced, false));
    // Bounds only.
    let found = verdicts(&rows[2..]);
    assert_eq!(found, [(NotDecidable, false); 5]);
    // Too few messages for the first finding only.
    let mut few = usual();
    few[0]
        .values
        .insert("control.messages.published".to_owned(), 99.into());
    let found = verdicts(&few);
    assert_eq!((found[0].0, found[1].0), (NotDecidable, Fitted));
    // A row that failed.
    let mut failed = usual();
    failed[2].failure = Some("a reason".to_owned());
    assert_eq!(verdicts(&failed)[3].0, NotDecidable);
}

#[test]
fn each_backend_has_verdicts_of_its_own() {
    let mut rows = usual();
    for mut row in usual().into_iter().take(2) {
        row.backend = "uml".to_owned();
        if row.case == "2" {
            row.values
                .insert("control.round_trip.mean_ns".to_owned(), json!(1.0));
        }
        rows.push(row);
    }
    let found = verdicts(&rows);
    assert_eq!(found.len(), 10);
    assert_eq!((found[0].0, found[5].0), (Reproduced, NotReproduced));
    // The file foresees the verdicts of simulations.
    assert!(found.iter().all(|it| !it.1), "{found:?}");
}

#[test]
fn repetitions_are_merged() {
    let element = element();
    let mut rows = usual();
    for (repetition, mean) in [(2, 252e3), (3, 254e3)] {
        let mut row = simulated("1", mean, 300e3 + mean);
        row.repetition = repetition;
        rows.push(row);
    }
    let rows: Vec<&CampaignRow> = rows.iter().collect();
    let tables = PaperTable::of(&element, &rows);
    let cells = &tables[0].cells;
    match &cells[0][0] {
        PaperCell::Value {
            value,
            margin: Some(margin),
        } => {
            assert!((value - 252e3).abs() < 1e-6);
            // Student's t for two degrees of freedom, times the standard error.
            assert!(
                (margin - 4.302_65 * 2e3 / 3f64.sqrt()).abs() < 1.0,
                "{margin}"
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(cells[1][0].value(), Some(554e3));
    // An infinite bound is a value.
    assert_eq!(cells[2][1].value(), Some(f64::INFINITY));
}

#[test]
fn columns_are_ranked() {
    let element = element();
    let rows = usual();
    let mut rows: Vec<CampaignRow> = rows.into_iter().rev().collect();
    let ranked = |rows: &[CampaignRow]| {
        let rows: Vec<&CampaignRow> = rows.iter().collect();
        let tables = PaperTable::of(&element, &rows);
        crate::table::ranking(&tables[0], "RTT")
    };
    let expected = "RTT: a (250) < b (500) \u{b5}s";
    assert_eq!(ranked(&rows).as_deref(), Some(expected));
    // The interval of a reaches up to b.
    let mut second = simulated("1", 900e3, 300e3);
    second.repetition = 2;
    rows.push(second);
    let text = ranked(&rows).unwrap();
    assert!(text.starts_with("RTT: b (500) \u{2248} a (575"), "{text}");
}

#[test]
fn settings_of_several_cases_are_no_cell() {
    let element = element();
    let mut other = simulated("1", 1.0, 1.0);
    other.case = "another one".to_owned();
    let mut rows = usual();
    rows.push(other);
    let rows: Vec<&CampaignRow> = rows.iter().collect();
    let tables = PaperTable::of(&element, &rows);
    match &tables[0].cells[0][0] {
        PaperCell::Missing(reason) => assert!(reason.contains("several cases"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

/// No Subscriber stands for all of them.
#[test]
fn quantities_of_several_subscribers_are_no_quantity_of_the_application() {
    let element = element();
    let mut rows = usual();
    rows[0].values.remove("control.round_trip.mean_ns");
    for host in ["host2", "host3"] {
        let name = format!("control \u{2192} {host}.round_trip.mean_ns");
        rows[0].values.insert(name, json!(1.0));
    }
    let rows: Vec<&CampaignRow> = rows.iter().collect();
    let tables = PaperTable::of(&element, &rows);
    let PaperCell::Missing(reason) = &tables[0].cells[0][0] else {
        panic!("{:?}", tables[0].cells[0][0]);
    };
    let expected = "the row of backend simulate has no control.round_trip.mean_ns; each Subscriber has its own: \
                    `control \u{2192} host2.round_trip.mean_ns`, `control \u{2192} host3.round_trip.mean_ns`";
    assert_eq!(reason, expected);
}

#[test]
fn no_message_is_no_agreement() {
    let mut rows = usual();
    for row in &mut rows[..2] {
        row.values
            .insert("control.round_trip.mean_ns".to_owned(), json!(null));
    }
    let found = verdicts(&rows);
    assert_eq!(found[0], (NotReproduced, true));
}
