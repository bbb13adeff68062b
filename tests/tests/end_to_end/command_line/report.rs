//! `takt report`: runs that were made by hand, without a network.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use takt_control::{Trace, TracePoint, trace_file};
use takt_tests::Sandbox;
use takt_tests::process::Finished;

use crate::command_line::plain;

/// A control loop of one hop. The loopback's answers are due before two cycles are over.
const SCENARIO: &str = r#"
version = 1
name = "by-hand"
description = "One hop"
discipline = "priority"
topology = { kind = "p2p", rate = "1 Gbit/s" }
[disciplines.priority]
scheduler = "mqprio"
classes = [{ name = "control", priorities = [3] }, { name = "best effort" }]
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "250 us"
offset = "150 us"
payload = "59 B"
pcp = 3
"#;

/// Number of messages of the runs.
const MESSAGES: u64 = 200;

/// Beginning of the runs in nanoseconds, TAI.
const BEGIN: i64 = 1_790_000_000_000_000_000;

/// Directory of a run that was made by hand.
struct HandMade {
    directory: tempfile::TempDir,
    sandbox: Sandbox,
}

impl HandMade {
    /// Writes a run whose message number `n`, from 0, takes `delay(n)` nanoseconds from T1 to T8.
    fn new(links: &str, disciplines: bool, delay: impl Fn(u64) -> i64) -> Self {
        let made = Self {
            directory: tempfile::tempdir().unwrap(),
            sandbox: Sandbox::new(),
        };
        let run = json!({
            "format": 1,
            "scenario": "by-hand",
            "backend": if links == "veth" { "netns" } else { "uml" },
            "host": { "kernel": "6.12.57", "links": links, "takt": "0.2.0" },
            "started": 1_790_000_000,
            "disciplines": disciplines,
            "settings": [],
            "cases": [{
                "directory": "001",
                "settings": [],
                "messages": MESSAGES,
                "seed": 7,
                "synchronized": true,
                "failure": null,
                "applications": [{
                    "name": "control",
                    "publisher_id": 1,
                    "loopback_id": 2,
                    "publisher_trace": "control.publisher.trace",
                    "loopback_trace": "control.loopback.trace",
                    "publisher_capture": null,
                    "loopback_capture": null,
                }],
            }],
        });
        fs::create_dir(made.path("001")).unwrap();
        fs::write(made.path("run.json"), run.to_string()).unwrap();
        fs::write(made.path("scenario.toml"), SCENARIO).unwrap();
        let end = |end: &str| {
            json!({
                "application": "control", "end": end, "cycles": 200, "overruns": 0,
                "max_wake_up_latency_nanos": 1_500, "sent": 200, "received": 200, "refused": 0,
                "send_errors": 0, "last_error": null, "launch_refused": 0, "launch_invalid": 0,
                "launch_missed": 0, "unset": [],
            })
        };
        let record = json!({
            "device": links, "remarks": [], "ends": [end("publisher"), end("loopback")],
            "cross_traffic": [], "captures": [],
        });
        fs::write(made.path("001/case.json"), record.to_string()).unwrap();
        let (mut publisher, mut loopback) = (Vec::new(), Vec::new());
        for number in 0..MESSAGES {
            let at = BEGIN + 250_000 * i64::try_from(number).unwrap();
            publisher.push((TracePoint::T1, number, at));
            loopback.push((TracePoint::T4, number, at + 1_000));
            loopback.push((TracePoint::T5, number, at + 2_000));
            publisher.push((TracePoint::T8, number, at + delay(number)));
        }
        publisher.sort_by_key(|record| record.2);
        made.trace("control.publisher.trace", &publisher);
        made.trace("control.loopback.trace", &loopback);
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn trace(&self, name: &str, records: &[(TracePoint, u64, i64)]) {
        let mut trace = Trace::with_capacity(records.len());
        for (point, counter, nanos) in records {
            trace.add(*point, *counter, *nanos);
        }
        let mut bytes = Vec::new();
        let description = [("tai_offset_s", "37".to_owned())];
        trace_file::write(&mut bytes, &description, &trace).unwrap();
        fs::write(self.path("001").join(name), bytes).unwrap();
    }

    fn report(&self, arguments: &[&str]) -> Finished {
        let directory = self.directory.path().to_str().unwrap();
        self.sandbox
            .run(&[&["report", directory], arguments].concat())
    }

    fn html(&self) -> String {
        fs::read_to_string(self.path("report.html")).unwrap()
    }
}

/// Returns the place of a text in a page.
fn place(html: &str, text: &str) -> usize {
    html.find(text)
        .unwrap_or_else(|| panic!("no `{text}` in the page"))
}

/// Returns the JSON rows of a report: wire, then application.
fn rows(finished: &str) -> Vec<Value> {
    let rows = finished.lines();
    rows.map(|row| serde_json::from_str(row).unwrap()).collect()
}

#[test]
fn a_run_below_its_bounds_is_reported() {
    let made = HandMade::new("takt-link", true, |number| {
        500_000 + number.cast_signed() * 10
    });
    let text = made.report(&["--json"]).expect_success();
    let rows = rows(&text);
    assert_eq!(rows.len(), 2);
    let [wire, application] = [&rows[0], &rows[1]];
    assert_eq!(wire["round_trip"], "wire");
    assert_eq!(wire["measured"], Value::Null);
    assert_eq!(application["round_trip"], "application");
    assert_eq!(application["delays"], MESSAGES);
    assert_eq!(application["trim"], MESSAGES / 10);
    assert_eq!(application["seed"], 7);
    // The trimmed measurement, and the longest of all messages.
    let delay = &application["measured"]["delay"];
    assert_eq!(delay["count"], MESSAGES - 2 * (MESSAGES / 10));
    assert_eq!(delay["min_ns"], 500_200.0);
    assert_eq!(delay["max_ns"], 501_790.0);
    assert_eq!(application["longest_ns"], 501_990);
    assert_eq!(application["above_bound"], 0);
    // Bounds are those of `takt bounds`, and the simulation stays below.
    let scenario = made.path("scenario.toml");
    let bounds = made
        .sandbox
        .run(&["bounds", "--json", scenario.to_str().unwrap()]);
    let bounds: Value = serde_json::from_str(&bounds.expect_success()).unwrap();
    let flow = &bounds["flows"][0]["application_round_trip"];
    let micros = flow["delay_us"].as_u64().unwrap();
    let picos = application["bound"]["picos"].as_u64().unwrap();
    assert_eq!(picos.div_ceil(1_000_000), micros);
    let worst = application["simulated"]["delay"]["max_ns"]
        .as_f64()
        .unwrap();
    assert!(
        worst > 0.0 && worst * 1e3 <= picos as f64,
        "{worst} {picos}"
    );
    let html = made.html();
    let good = place(&html, "no measurement is above its sound bound");
    assert!(good < place(&html, "<h2"));
    for text in [
        "kernel 6.12.57",
        "takt-link",
        "seed 7",
        "idleSlope",
        "latest message",
    ] {
        assert_eq!(html.contains(text), text != "idleSlope", "{text}");
    }
}

#[test]
fn a_measurement_above_its_bound_is_an_error_and_comes_first() {
    // The last message is left out at the end of the run, but counts for the bound.
    let made = HandMade::new("takt-link", true, |number| match number {
        199 => 5_000_000,
        _ => 500_000,
    });
    let error = plain(&made.report(&[]).expect_failure());
    assert!(
        error.contains("A measurement is above its sound bound"),
        "{error}"
    );
    assert!(error.contains("Message 199 took 5000.000"), "{error}");
    assert!(error.contains("Cause: "), "{error}");
    let html = made.html();
    let first = place(&html, "notice error");
    assert!(first < place(&html, "<h2"), "the error comes first");
    assert!(first < html.find("<p>Two kinds").unwrap());
    let title =
        "A measurement is above its sound bound: round trip (application) of control, case 1";
    assert!(place(&html, title) > first);
    assert!(html.contains("Message 199 took 5000.000 \u{b5}s. It began at "));
    assert!(html.contains("1 of 200 messages are above the bound"));
    assert!(html.contains("Longest recorded wake-up latency: 1.500 \u{b5}s"));
    assert!(html.contains("Cause: "));
    assert!(html.contains("\u{2717} above the bound"));
    assert!(!html.contains("no measurement is above"));
}

/// Returns the value of an attribute of an SVG element.
fn attribute(element: &str, name: &str) -> f64 {
    let from = format!(" {name}=\"");
    let value = element.split(from.as_str()).nth(1).unwrap();
    value.split('"').next().unwrap().parse().unwrap()
}

#[test]
fn a_violation_is_drawn_at_its_value() {
    for longest in [1_297_000, 5_000_000, 80_000_000] {
        let made = HandMade::new("takt-link", true, |number| match number {
            100 => longest,
            _ => 500_000,
        });
        let _ = made.report(&[]).expect_failure();
        let html = made.html();
        let pictures = html.split("<svg ").skip(1);
        let pictures: Vec<&str> = pictures
            .filter(|it| it.contains("above its bound"))
            .collect();
        // Round trips and time line, each for a page and for a telephone.
        assert_eq!(pictures.len(), 4);
        for svg in pictures {
            let svg = svg.split("</svg>").next().unwrap();
            // Ticks of the vertical axis: a label ends left of a line over the chart.
            let ticks = svg.lines().filter(|it| it.contains("text-anchor=\"end\""));
            let ticks = ticks.filter_map(|it| {
                let value: f64 = it.split('>').nth(1)?.split('<').next()?.parse().ok()?;
                Some((value, attribute(it, "y")))
            });
            let ticks: Vec<(f64, f64)> = ticks.collect();
            let ((low, low_y), (high, high_y)) = (ticks[0], ticks[ticks.len() - 1]);
            let per_pixel = (high - low) / (high_y - low_y);
            // The baseline of a label is below the line of its tick by a part of its size, which is 12.
            let value = |y: f64| low + (y + 0.35 * 12.0 - low_y) * per_pixel;
            let crosses = svg
                .split("class=\"")
                .filter(|it| it.contains("stroke-width=\"2\""));
            let crosses = crosses.filter_map(|it| it.split("points=\"").nth(1));
            let middles = crosses.filter_map(|it| {
                let points = it.split('"').next()?.split_whitespace();
                let y: Vec<f64> = points
                    .filter_map(|point| point.split(',').nth(1)?.parse().ok())
                    .collect();
                // The arm of a cross that is drawn has two ends, 9 pixels from each other.
                (y.len() == 2 && ((y[0] - y[1]).abs() - 9.0).abs() < 0.2)
                    .then(|| f64::midpoint(y[0], y[1]))
            });
            let middles: Vec<f64> = middles.collect();
            // One of them is the sign beside the label.
            let wanted = longest as f64 / 1e3;
            let is_near = |y: &f64| (value(*y) - wanted).abs() <= 0.5 * per_pixel.abs();
            assert!(middles.iter().any(is_near), "{wanted}: {svg}");
            assert!(wanted <= high, "{svg}");
        }
    }
}

#[test]
fn cells_have_their_headings_on_a_phone() {
    let made = HandMade::new("takt-link", true, |_| 500_000);
    let _ = made.report(&[]).expect_success();
    let html = made.html();
    // No cell of a table is without a heading of its own, since a narrow screen shows no row of headings.
    let bodies = html.split("<tbody>").skip(1);
    let cells = bodies.filter_map(|it| it.split("</tbody>").next());
    let cells: Vec<&str> = cells.flat_map(|it| it.split("<td").skip(1)).collect();
    assert!(cells.len() > 20);
    for cell in cells {
        assert!(
            cell.contains("data-label=\"") && !cell.contains("data-label=\"\""),
            "{cell}"
        );
    }
    assert!(html.contains("data-label=\"measured, application: longest (\u{b5}s)\""));
    assert!(html.contains("content: attr(data-label)"));
    assert!(html.contains("of 1 of 4 round trips and ways"));
}

#[test]
fn times_that_are_not_comparable_are_no_errors() {
    for (links, disciplines, words) in [
        ("veth", true, "have no rate (veth)"),
        ("takt-link", false, "had no queueing disciplines"),
    ] {
        let made = HandMade::new(links, disciplines, |_| 5_000_000);
        let text = made.report(&[]).expect_success();
        assert!(text.contains("not comparable"), "{text}");
        assert!(!text.contains("\u{2717}"), "{text}");
        let html = made.html();
        assert!(html.contains("times are not comparable with bounds and simulation"));
        assert!(html.contains(words), "{words}");
        assert!(!html.contains("notice error"));
    }
}

#[test]
fn a_damaged_directory_is_explained() {
    let made = HandMade::new("takt-link", true, |_| 500_000);
    fs::remove_file(made.path("001/control.loopback.trace")).unwrap();
    let error = plain(&made.report(&[]).expect_failure());
    assert!(
        error.contains("files of") && error.contains("missing or damaged"),
        "{error}"
    );
    let html = made.html();
    assert!(place(&html, "Case 1 of") < place(&html, "<h2"));
    assert!(html.contains("control.loopback.trace"));

    let made = HandMade::new("takt-link", true, |_| 500_000);
    let trace = made.path("001/control.publisher.trace");
    let bytes = fs::read(&trace).unwrap();
    fs::write(&trace, &bytes[..bytes.len() - 5]).unwrap();
    let error = plain(&made.report(&[]).expect_failure());
    assert!(error.contains("missing or damaged"), "{error}");
    assert!(made.html().contains("was not read to its end"));

    for (file, content, words) in [
        ("run.json", "{", "run.json"),
        ("run.json", "{\"format\": 9", "run.json"),
        ("scenario.toml", "version = 2", "scenario.toml"),
    ] {
        let made = HandMade::new("takt-link", true, |_| 500_000);
        fs::write(made.path(file), content).unwrap();
        let error = plain(&made.report(&[]).expect_failure());
        assert!(
            error.contains(words) && error.contains("takt lab run"),
            "{error}"
        );
    }
    let sandbox = Sandbox::new();
    let error = plain(&sandbox.run(&["report", "/nowhere"]).expect_failure());
    assert!(error.contains("/nowhere/run.json"), "{error}");
}

#[test]
fn the_page_is_one_file_and_the_pictures_are_not_empty() {
    let made = HandMade::new("takt-link", true, |number| {
        500_000 + number.cast_signed() * 97 % 5_000
    });
    let pictures = made.path("pictures");
    let page = made.path("page.html");
    let arguments = [
        "--pictures",
        pictures.to_str().unwrap(),
        "--to",
        page.to_str().unwrap(),
    ];
    let _ = made.report(&arguments).expect_success();
    let html = fs::read_to_string(&page).unwrap();
    for part in [
        "http:", "https:", "//", "src=", "url(", "@import", "<script", "<link",
    ] {
        assert!(!html.contains(part), "{part}");
    }
    let links: Vec<&str> = html.split("href=\"").skip(1).collect();
    assert!(links.iter().all(|link| link.starts_with('#')));
    let mut names: Vec<PathBuf> = fs::read_dir(&pictures)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    let of = |extension: &str| -> Vec<&PathBuf> {
        let has = |path: &&PathBuf| path.extension().is_some_and(|it| it == extension);
        names.iter().filter(has).collect()
    };
    let (svg, png) = (of("svg"), of("png"));
    // Round trips, histogram and time line of the application, and inter-frame spacing.
    assert_eq!((svg.len(), png.len()), (4, 4), "{names:?}");
    for (svg, png) in svg.iter().zip(png) {
        assert_eq!(svg.file_stem(), png.file_stem());
        let text = fs::read_to_string(svg).unwrap();
        let shapes = ["<polyline", "<polygon", "<circle"].map(|it| text.matches(it).count());
        assert!(shapes.iter().sum::<usize>() > 5, "{svg:?}");
        assert!(fs::read(png).unwrap().starts_with(b"\x89PNG"));
        assert!(fs::metadata(png).unwrap().len() > 5_000, "{png:?}");
    }
    let shown = |name: &str| {
        let found = svg
            .iter()
            .find(|path| path.to_string_lossy().contains(name));
        fs::read_to_string(found.unwrap()).unwrap()
    };
    let round_trips = shown("application-round-trips");
    for label in ["sound bound", "worst simulated", "measured"] {
        assert!(round_trips.contains(label), "{label}");
    }
    assert!(shown("spacing").contains("T4, loopback takes"));
    assert_eq!(html.matches("<figure>").count(), 4);
}

#[test]
fn requirements_have_verdicts_and_margins() {
    let made = HandMade::new("takt-link", true, |number| {
        if number == 100 { 3_000_000 } else { 500_000 }
    });
    let sandbox = &made.sandbox;
    let list = sandbox.run(&["report", "--requirements"]).expect_success();
    for name in [
        "motion-control",
        "sr-class",
        "control-round-trip",
        "real-time-host",
    ] {
        assert!(list.contains(name), "{list}");
    }
    let arguments = [
        "--requirement",
        "control-round-trip",
        "--requirement",
        "real-time-host",
    ];
    let finished = made.report(&[&arguments[..], &["--json"]].concat());
    let text = finished.stdout.clone();
    // 3 ms are above the bound, and twelve cycles.
    let _ = finished.expect_failure();
    let rows = rows(&text);
    let of = |number: usize, answer: &str| {
        let verdicts = rows[1]["requirements"][number]["verdicts"]
            .as_array()
            .unwrap();
        let found = verdicts.iter().find(|it| it["answer"] == answer);
        found.unwrap().clone()
    };
    let longest = of(0, "measurement");
    assert_eq!(
        (&longest["value"], &longest["margin"]),
        (&json!(12.0), &json!(-3.0))
    );
    assert_eq!(longest["passes"], false);
    assert_eq!(of(0, "bound")["passes"], true);
    assert_eq!(of(0, "simulation")["passes"], true);
    let late = of(1, "measurement");
    assert_eq!(
        (&late["value"], &late["margin"]),
        (&json!(1.5), &json!(68.5))
    );
    assert_eq!(late["passes"], true);
    let html = made.html();
    assert!(html.contains("\u{2717} fail: measurement") && html.contains("\u{2713} pass"));
    assert!(html.contains("section IV-A"));
    let unknown = plain(&made.report(&["--requirement", "none"]).expect_failure());
    assert!(unknown.contains("motion-control"), "{unknown}");
}

#[test]
fn several_runs_are_in_one_report() {
    let one = HandMade::new("takt-link", true, |_| 500_000);
    let other = HandMade::new("veth", false, |_| 600_000);
    let page = one.path("both.html");
    let arguments = [
        other.directory.path().to_str().unwrap(),
        "--to",
        page.to_str().unwrap(),
    ];
    let _ = one.report(&arguments).expect_success();
    let html = fs::read_to_string(&page).unwrap();
    assert_eq!(html.matches("<h2").count(), 2);
    assert!(place(&html, "by-hand on uml") < place(&html, "by-hand on netns"));
    assert!(!Path::new("report.html").exists());
}

/// All delays as a Parquet file, read by the library of Parquet.
#[cfg(feature = "parquet")]
#[test]
fn delays_are_written_as_parquet() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    let made = HandMade::new("takt-link", true, |number| {
        500_000 + number.cast_signed() * 10
    });
    let path = made.path("delays.parquet");
    let text = path.to_str().unwrap();
    let _ = made.report(&["--parquet", text]).expect_success();
    let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
    let mut found = 0;
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        if row.get_string(3).unwrap() != "application round trip" {
            continue;
        }
        let counter = row.get_ulong(4).unwrap();
        assert!(
            row.get_string(0)
                .unwrap()
                .ends_with(made.directory.path().to_str().unwrap())
        );
        assert_eq!(row.get_string(1).unwrap(), "001");
        assert_eq!(row.get_string(2).unwrap(), "control");
        assert_eq!(
            row.get_long(6).unwrap(),
            500_000 + counter.cast_signed() * 10
        );
        let trimmed = MESSAGES / 10;
        let counted = (trimmed..MESSAGES - trimmed).contains(&counter);
        assert_eq!(row.get_bool(7).unwrap(), counted, "{counter}");
        found += 1;
    }
    assert_eq!(found, MESSAGES);

    let nowhere = made.path("nowhere/delays.parquet");
    let error = plain(
        &made
            .report(&["--parquet", nowhere.to_str().unwrap()])
            .expect_failure(),
    );
    assert!(error.contains("existing directory"), "{error}");
}
