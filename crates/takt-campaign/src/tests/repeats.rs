//! The result does not depend on the order of computations, and the stop rule not on the number of jobs.

use crate::{CampaignRunOptions, CampaignSummary};
use serde_json::Value;

use super::folder::{CAMPAIGN, Folder, SCENARIO, Stop};

fn rows(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn rows_are_the_same_in_each_repeat() {
    let folder = Folder::new(CAMPAIGN);
    let mut stop = Stop::never();
    let outcome = folder.run_with(&folder.options("one"), &mut stop).unwrap();
    assert_eq!(
        (outcome.rows, outcome.computed, outcome.failed),
        (16, 16, 0)
    );
    assert_eq!((stop.progress.done, stop.progress.of), (16, 16));
    let one = folder.result("one");
    let found = rows(&one["rows.jsonl"]);
    assert_eq!(found[0]["settings"]["applications.control.cycle"], "250 us");
    let of_first: Vec<(&str, u64, &Value)> = found[..4]
        .iter()
        .map(|row| {
            let backend = row["backend"].as_str().unwrap();
            (backend, row["repetition"].as_u64().unwrap(), &row["seed"])
        })
        .collect();
    let (one_seed, two, three) = (1.into(), 2.into(), 3.into());
    let expected = [
        ("simulate", 1, &one_seed),
        ("simulate", 2, &two),
        ("simulate", 3, &three),
        ("bounds", 1, &Value::Null),
    ];
    assert_eq!(of_first, expected);
    // Another seed is another run, and each run keeps its bound.
    let quantity = |row: usize, name: &str| found[row]["values"][name].as_f64().unwrap();
    let mean = "control.application_round_trip.mean_ns";
    assert_ne!(quantity(0, mean), quantity(1, mean));
    let bound = quantity(3, "control.application_round_trip.bound_ns");
    for row in 0..3 {
        let most = quantity(row, "control.application_round_trip.max_ns");
        assert!(most <= bound, "{most} {bound}");
    }
    let options = CampaignRunOptions {
        jobs: 4,
        ..folder.options("many")
    };
    folder.run(&options).unwrap();
    assert_eq!(folder.result("many"), one);
    let random = format!("order = \"random\"\norder_seed = 9\n{CAMPAIGN}");
    let shuffled = Folder::new(&random);
    shuffled.run(&shuffled.options("random")).unwrap();
    let shuffled = shuffled.result("random");
    assert_eq!(shuffled["rows.jsonl"], one["rows.jsonl"]);
    assert_eq!(shuffled["rows.csv"], one["rows.csv"]);
    assert_eq!(shuffled["campaign.json"], one["campaign.json"]);
}

#[test]
fn a_table_has_a_column_for_each_quantity() {
    let folder = Folder::new(CAMPAIGN);
    folder.run(&folder.options("out")).unwrap();
    let table = &folder.result("out")["rows.csv"];
    let mut lines = table.lines();
    let headings: Vec<&str> = lines.next().unwrap().split(',').collect();
    let expected = [
        "case",
        "scenario",
        "backend",
        "repetition",
        "seed",
        "failure",
        "settings.applications.control.payload",
    ];
    assert_eq!(headings[..7], expected);
    assert!(headings.contains(&"values.control.round_trip.mean_ns"));
    assert!(headings.contains(&"values.control.round_trip.bound_ns"));
    assert_eq!(lines.clone().count(), 16);
    assert!(lines.all(|line| line.split(',').count() == headings.len()));
}

/// The rule looks at repetitions in their order, whatever the order in which they were computed.
#[test]
fn a_stop_rule_gives_the_same_rows_with_all_jobs() {
    let stop = "[stop]\nquantity = \"control.application_round_trip.mean_ns\"\ninterval = \"3%\"\n";
    let campaign = CAMPAIGN.replace("repetitions = 3", "repetitions = 40") + stop;
    let folder = Folder::new(&campaign);
    let mut shown = Stop::never();
    let outcome = folder.run_with(&folder.options("one"), &mut shown).unwrap();
    assert!((4 * 4..4 * 41).contains(&outcome.rows), "{outcome:?}");
    assert_eq!(shown.progress.done, outcome.rows);
    assert_eq!(shown.progress.of, outcome.rows);
    for jobs in [2, 7] {
        let to = format!("jobs{jobs}");
        let options = CampaignRunOptions {
            jobs,
            ..folder.options(&to)
        };
        folder.run_with(&options, &mut shown).unwrap();
        assert_eq!(folder.result(&to), folder.result("one"));
        assert_eq!(
            (shown.progress.done, shown.progress.of),
            (outcome.rows, outcome.rows)
        );
    }
    // Each simulated case has an interval of 3 %, unless it has all repetitions.
    let quantity = ["control.application_round_trip.mean_ns".to_owned()];
    let summary = CampaignSummary::read(&folder.path("one"), &quantity).unwrap();
    assert_eq!(summary.quantities[0].rows.len(), 4);
    for row in &summary.quantities[0].rows {
        let mean = row.mean.unwrap();
        let width = (mean.high - mean.low) / mean.value;
        assert!(width <= 0.03 || row.rows == 40, "{width} {}", row.rows);
        assert!(row.rows >= 3);
    }
}

#[test]
fn repetitions_are_merged() {
    let folder = Folder::new(CAMPAIGN);
    folder.run(&folder.options("out")).unwrap();
    let summary = CampaignSummary::read(&folder.path("out"), &[]).unwrap();
    let names: Vec<&str> = summary.quantities.iter().map(|it| &*it.quantity).collect();
    let expected = [
        "control.round_trip.mean_ns",
        "control.round_trip.max_ns",
        "control.round_trip.bound_ns",
    ];
    assert_eq!(names, expected);
    assert_eq!((summary.rows, summary.failed), (16, 0));
    let means = &summary.quantities[0].rows;
    assert_eq!(means.len(), 4, "bounds have no mean");
    let text = folder.result("out")["rows.jsonl"].clone();
    let first: Vec<f64> = rows(&text)[..3]
        .iter()
        .map(|row| {
            row["values"]["control.round_trip.mean_ns"]
                .as_f64()
                .unwrap()
        })
        .collect();
    let mean = means[0].mean.unwrap();
    assert!((mean.value - first.iter().sum::<f64>() / 3.0).abs() < 1e-6);
    assert_eq!((mean.count, means[0].rows), (3, 3));
    let mut sorted = first.clone();
    sorted.sort_by(f64::total_cmp);
    assert_eq!(means[0].median.unwrap().value, sorted[1]);
    assert_eq!(
        (means[0].least, means[0].most),
        (Some(sorted[0]), Some(sorted[2]))
    );
    let bounds = &summary.quantities[2].rows;
    assert!(
        bounds
            .iter()
            .all(|row| row.backend == "bounds" && row.rows == 1)
    );
}

#[test]
fn an_infinite_bound_is_null() {
    let folder = Folder::new(CAMPAIGN);
    let slow = SCENARIO.replace(
        "kind = \"bridged\"",
        "kind = \"bridged\"\nrate = \"1 Mbit/s\"",
    );
    folder.write("plant.toml", &slow);
    let outcome = folder.run(&folder.options("out")).unwrap();
    assert_eq!(outcome.failed, 0, "overload is no failure");
    let found = rows(&folder.result("out")["rows.jsonl"]);
    let bound = &found[3]["values"]["control.round_trip.bound_ns"];
    assert_eq!((bound, &found[3]["failure"]), (&Value::Null, &Value::Null));
}

#[test]
fn rows_without_quantities_have_a_reason() {
    let folder = Folder::new(CAMPAIGN);
    // The paper's model has shapers at all ports.
    folder.write(
        "plant.toml",
        &format!("{SCENARIO}[bounds]\nmodel = \"paper\"\n"),
    );
    let outcome = folder.run(&folder.options("out")).unwrap();
    assert_eq!((outcome.rows, outcome.failed), (16, 4));
    let found = rows(&folder.result("out")["rows.jsonl"]);
    let failed: Vec<&Value> = found
        .iter()
        .filter(|row| !row["failure"].is_null())
        .collect();
    assert_eq!(failed.len(), 4);
    assert!(failed.iter().all(|row| row["backend"] == "bounds"));
    assert_eq!(failed[0]["values"], serde_json::json!({}));
    let summary = CampaignSummary::read(&folder.path("out"), &[]).unwrap();
    assert_eq!((summary.rows, summary.failed), (16, 4));
}

#[test]
fn quantities_that_no_row_has_are_apart() {
    let (mean, bound) = ("control.round_trip.mean_ns", "control.round_trip.bound_ns");
    let file = format!("quantities = [\"{mean}\", \"{bound}\"]\n");
    let only = CAMPAIGN.replace("\"simulate\", \"bounds\"", "\"bounds\"");
    let only = only.replace("repetitions = 3\n", "");
    let folder = Folder::new(&(file + &only));
    folder.run(&folder.options("out")).unwrap();
    let summary = CampaignSummary::read(&folder.path("out"), &[]).unwrap();
    assert_eq!(summary.absent, [mean]);
    assert_eq!(summary.quantities.len(), 1);
    assert_eq!(summary.quantities[0].quantity, bound);
    assert_eq!(summary.quantities[0].rows.len(), 4);
    let given = ["x".to_owned()];
    let summary = CampaignSummary::read(&folder.path("out"), &given).unwrap();
    assert_eq!(summary.absent, given);
}
