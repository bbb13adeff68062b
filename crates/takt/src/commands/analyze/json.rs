//! Quantities for programs. Times are in nanoseconds.

use serde_json::{Map, Value, json};
use takt_analysis::{
    ExactStatistics, LATE_WAKE_UPS, LateWakeUp, PointQuantities, RunAnalysis, RunFile,
    RunFileFormat, SentStamp,
};

use super::quantity::{STATISTICS, statistics};

pub(super) fn of(run: &RunAnalysis) -> Value {
    let intervals = run.intervals.iter().map(|it| {
        json!({
            "name": it.interval.name,
            "from": format!("{:?}", it.interval.from),
            "to": format!("{:?}", it.interval.to),
            "delay": summary(&it.delay),
            "jitter": summary(&it.jitter),
            "negative": it.negative,
        })
    });
    let losses = run.losses.as_ref().map(|losses| {
        let loss = losses.iter().map(|it| {
            json!({
                "after": format!("{:?}", it.after),
                "before": format!("{:?}", it.before),
                "count": it.count,
            })
        });
        loss.collect::<Vec<_>>()
    });
    let missing = run.missing_records.iter();
    let missing = missing.map(|(point, count)| (format!("{point:?}"), (*count).into()));
    json!({
        "files": run.files.iter().map(file).collect::<Vec<_>>(),
        "trim": run.trim,
        "first_counter": run.first_counter,
        "last_counter": run.last_counter,
        "sent_stamp": run.sent_stamp().map(SentStamp::name),
        "messages": run.messages,
        "lost": run.lost(),
        "losses": losses,
        "missing_records": Value::Object(missing.collect()),
        "late_records": run.late_records,
        "intervals": intervals.collect::<Vec<_>>(),
        "points": run.points.iter().map(point).collect::<Vec<_>>(),
    })
}

fn file(file: &RunFile) -> Value {
    let points = file.points.iter();
    let points = points.map(|(point, count)| (format!("{point:?}"), (*count).into()));
    let description = file.description.iter();
    let description = description.map(|(name, value)| (name.clone(), value.clone().into()));
    json!({
        "path": file.path.display().to_string(),
        "format": match file.format {
            RunFileFormat::Trace => "trace",
            RunFileFormat::Capture => "capture",
        },
        "records": Value::Object(points.collect()),
        "lost_records": file.lost,
        "skipped_packets": file.skipped,
        "clock": match file.has_card_stamps {
            true => "network card",
            false => "system",
        },
        "step_ns": file.step_nanos,
        "damage": file.damage,
        "description": Value::Object(description.collect()),
        "late_wake_ups": late_wake_ups(&file.description),
        "late_wake_ups_total": LateWakeUp::total(&file.description),
    })
}

/// Returns the objects of late wake-ups in a description as they are. A damaged line has none.
fn late_wake_ups(description: &[(String, String)]) -> Vec<Value> {
    let mut lines = description.iter();
    let line = lines.find(|(name, _)| name == LATE_WAKE_UPS);
    let found = line.and_then(|(_, text)| serde_json::from_str(text).ok());
    found.unwrap_or_default()
}

fn point(point: &PointQuantities) -> Value {
    json!({
        "point": format!("{:?}", point.point),
        "sent_stamp": point.sent_stamp.map(SentStamp::name),
        "messages": point.counters.messages,
        "missed": point.counters.missed,
        "repeated": point.counters.repeated,
        "reordered": point.counters.reordered,
        "clock_steps": point.clock_steps,
        "inter_frame_spacing": summary(&point.spacing),
    })
}

fn summary(of: &ExactStatistics) -> Value {
    let mut object = Map::new();
    object.insert("count".to_owned(), of.count().into());
    let numbers = statistics(of);
    for (index, name) in STATISTICS.into_iter().enumerate() {
        let number = numbers.and_then(|numbers| numbers.get(index).copied());
        object.insert(name.to_owned(), number.into());
    }
    object.insert("resolution_ns".to_owned(), of.resolution_nanos().into());
    object.into()
}
