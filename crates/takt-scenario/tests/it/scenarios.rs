//! The scenarios that come with Takt.

use std::path::PathBuf;

use takt_scenario::{FlowSource, NodeKind, Rate, ScenarioFile};

fn shipped(name: &str) -> ScenarioFile {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios")
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    ScenarioFile::parse(&text, &path.to_string_lossy()).unwrap()
}

#[test]
fn the_papers_line() {
    let file = shipped("line.toml");
    let scenario = file.scenario();
    assert_eq!(scenario.nodes.len(), 8);
    let bridges = scenario
        .nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Bridge);
    assert_eq!(bridges.count(), 6);
    let [out, back] = scenario.flows() else {
        panic!("one flow out and one back")
    };
    assert_eq!([out.ports.len(), back.ports.len()], [7, 7]);
    assert_eq!(scenario.port_name(out.ports[0]), "host1 \u{2192} bridge1");
    assert_eq!(scenario.port_name(back.ports[0]), "host2 \u{2192} bridge6");
    assert!(
        matches!(back.source, FlowSource::Return(id) if scenario.applications[id.0].name == "control")
    );
    let variants = file.variants().unwrap();
    assert_eq!(variants.len(), 56);
    let last = &variants[55];
    assert_eq!(
        last.settings[0],
        ("topology.hops".to_owned(), "7".to_owned())
    );
    assert_eq!(last.scenario.flows()[0].frame.payload(), 1481);
    // 1523 B on the wire every 250 us.
    let class = &last.scenario.ports[0].discipline.classes[0];
    let shaper = class.queue.shaper().unwrap();
    assert_eq!(
        [shaper.idle_slope, shaper.send_slope.value()],
        [Rate(48_736_000), Rate(951_264_000)]
    );
    assert_eq!(variants[0].scenario.flows()[0].ports.len(), 1);
}

#[test]
fn every_shipped_scenario_is_valid_with_all_its_variants() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".toml") {
            let variants = shipped(&name).variants().unwrap();
            assert!(variants.len() > 1, "{name}");
            assert!(
                variants
                    .iter()
                    .all(|variant| !variant.scenario.flows().is_empty()),
                "{name}"
            );
            names.push(name);
        }
    }
    for name in [
        "b",
        "d",
        "e3",
        "line",
        "line-delays",
        "line-multiflow",
        "line-provisioning",
        "line-taprio",
        "line-taprio-device",
        "whitepaper",
    ] {
        assert!(names.contains(&format!("{name}.toml")), "{name}");
    }
}

#[test]
fn etf_gets_frames_ahead_of_their_time() {
    let variants = shipped("e3.toml").variants().unwrap();
    let of = |discipline: &str| {
        let variant = variants
            .iter()
            .find(|variant| variant.settings[0].1 == discipline)
            .unwrap();
        variant.scenario.applications[0].clone()
    };
    // 0.4 c + o.
    assert_eq!(of("etf").txtime, Some("250 us".parse().unwrap()));
    assert_eq!(
        (of("etf").immediate, of("cbs").immediate, of("cbs").txtime),
        (false, true, None)
    );
    assert_eq!(of("cbs").sending_time(), "150 us".parse().unwrap());
}

#[test]
fn templates_are_scenarios() {
    use takt_scenario::template::{Template, TopologyKind};
    let topologies = [
        TopologyKind::PointToPoint,
        TopologyKind::Bridged,
        TopologyKind::Line(7),
        TopologyKind::Ring(6),
        TopologyKind::Star(5),
    ];
    let hops = topologies.map(|topology| {
        let hops = takt_scenario::disciplines().map(|discipline| {
            let mut template = Template::new(topology, discipline);
            template.provisioning = "-3%".parse().unwrap();
            let text = template.text();
            let file = ScenarioFile::parse(&text, "template.toml").unwrap();
            file.scenario().flows()[0].ports.len()
        });
        let hops: Vec<usize> = hops.collect();
        assert!(hops.iter().all(|count| *count == hops[0]));
        hops[0]
    });
    assert_eq!(hops, [1, 2, 7, 5, 2]);
}

#[test]
fn gates_are_shifted_both_ways() {
    let scenario = shipped("line-taprio.toml")
        .variants()
        .unwrap()
        .pop()
        .unwrap()
        .scenario;
    let shifts = scenario.flows().iter().map(|flow| {
        let base_time =
            |port: &takt_scenario::PortIndex| match &scenario.ports[port.0].discipline.scheduler {
                takt_scenario::Scheduler::Taprio(taprio) => taprio.base_time.0 / 1_000_000,
                _ => panic!("gates at every port"),
            };
        flow.ports.iter().map(base_time).collect::<Vec<u64>>()
    });
    let expected: Vec<u64> = (0..7).map(|hop| 20 * hop).collect();
    assert_eq!(shifts.collect::<Vec<_>>(), [expected.clone(), expected]);
}

#[test]
fn settings_replace_fields_and_their_sweeps() {
    let set = |name: &str, settings: &[(&str, &str)]| {
        let settings = settings
            .iter()
            .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()));
        shipped(name).with_settings(&settings.collect::<Vec<_>>())
    };
    let line = set(
        "line.toml",
        &[
            ("topology.hops", "2"),
            ("disciplines.cbs.classes.A.provisioning", "10%"),
        ],
    )
    .unwrap();
    assert_eq!(line.scenario().nodes.len(), 3);
    let class = &line.scenario().ports[0].discipline.classes[0];
    let shaper = class.queue.shaper().unwrap();
    assert_eq!(shaper.idle_slope, Rate(3_555_200));
    assert_eq!(line.variants().unwrap().len(), 8, "the other sweep is left");
    let message = |settings: &[(&str, &str)]| set("line.toml", settings).unwrap_err().to_string();
    assert!(message(&[("topology.hop", "2")]).contains("did you mean `hops`?"));
    let wrong = message(&[("discipline", "csb")]);
    assert!(
        wrong.contains("csb") && wrong.contains("with discipline = csb"),
        "{wrong}"
    );
}

#[test]
fn a_field_has_one_value() {
    let line = shipped("line.toml");
    let set = |settings: &[(&str, &str)]| {
        let settings = settings
            .iter()
            .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()));
        line.with_settings(&settings.collect::<Vec<_>>())
    };
    let message =
        |settings: &[(&str, &str)]| set(settings).unwrap_err().mistakes[0].message.clone();
    assert_eq!(
        message(&[("topology.hops", "2"), ("topology.hops", "3")]),
        "the field `topology.hops` is given twice"
    );
    // The same value twice is a mistake, too: one of them is not read.
    assert!(message(&[("name", "a"), ("name", "a")]).contains("given twice"));
    // Other paths to the same field, in both orders.
    for (one, other) in [
        ("applications.0.cycle", "applications.control.cycle"),
        ("applications.*.cycle", "applications.0.cycle"),
        ("applications.control.cycle", "applications.*.cycle"),
    ] {
        assert_eq!(
            message(&[("name", "a"), (one, "1 ms"), (other, "2 ms")]),
            format!("the field `{other}` is given twice: `{one}` sets it as well")
        );
    }
    // A later call may set a field again.
    let again = set(&[("topology.hops", "2")]).unwrap();
    let again = again.with_settings(&[("topology.hops".to_owned(), "3".to_owned())]);
    assert_eq!(again.unwrap().scenario().nodes.len(), 4);
    // The sweep is that of the field, whatever its path.
    let cycle = [("applications.*.repeated_node_count", "2")];
    assert_eq!(set(&cycle).unwrap().variants().unwrap().len(), 7);
}

#[test]
fn a_sweep_of_further_elements_is_no_sweep_of_the_field() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/line-multiflow.toml"
    ));
    let text = text.unwrap() + "\n[[sweeps]]\nparameter = \"cross_traffic.*.pcp\"\nvalues = [2]\n";
    let file = takt_scenario::ScenarioFile::parse(&text, "test.toml").unwrap();
    let error = file.with_settings(&[("cross_traffic.0.pcp".to_owned(), "3".to_owned())]);
    let mistake = error.unwrap_err().mistakes.remove(0);
    assert_eq!(
        mistake.message,
        "the sweep of `cross_traffic.*.pcp` sets other elements than those that are given a value"
    );
    assert_eq!(
        mistake.help.as_deref(),
        Some("give a value for `cross_traffic.*.pcp`")
    );
}

/// A scenario with a table as a field, and these lines at its end.
fn with_latency(more: &str) -> Result<takt_scenario::ScenarioFile, takt_scenario::ScenarioError> {
    let text = "version = 1\ntopology = { kind = \"bridged\" }\n[[nodes]]\nname = \"host1\"\n\
                wake_up_latency = { least = \"1 us\", most = \"9 us\" }\n[[applications]]\nname = \"control\"\n\
                publisher = \"host1\"\nloopback = \"host2\"\ncycle = \"1 ms\"\npayload = \"59 B\"\n";
    takt_scenario::ScenarioFile::parse(&format!("{text}{more}"), "latency.toml")
}

fn sweep(parameter: &str) -> String {
    format!("[[sweeps]]\nparameter = \"{parameter}\"\nvalues = [\"3 us\", \"4 us\"]\n")
}

/// The value of the table would replace that of the field, or the other way round.
#[test]
fn a_field_and_the_table_that_it_is_in_have_one_value() {
    let (table, field) = (
        "nodes.host1.wake_up_latency",
        "nodes.host1.wake_up_latency.most",
    );
    let pair = |path: &str, value: &str| (path.to_owned(), value.to_owned());
    let file = with_latency("").unwrap();
    for (one, other) in [
        (table, field),
        (field, table),
        ("nodes.0.wake_up_latency.most", table),
        (table, "nodes.*.wake_up_latency.most"),
        // The file has neither.
        ("simulation", "simulation.seed"),
        ("simulation.seed", "simulation"),
    ] {
        let settings = [pair("name", "x"), pair(one, "5 us"), pair(other, "6 us")];
        let error = file.with_settings(&settings).unwrap_err();
        assert_eq!(
            error.mistakes[0].message,
            format!("the field `{other}` is given twice: `{one}` sets it as well")
        );
    }
    // Two fields of one table are two fields.
    let least = pair("nodes.host1.wake_up_latency.least", "2 us");
    let both = file.with_settings(&[least, pair(field, "5 us")]).unwrap();
    let latency = &both.scenario().nodes[0].wake_up_latency;
    assert_eq!(
        (latency.least().0, latency.most().0),
        (2_000_000, 5_000_000)
    );
}

#[test]
fn a_sweep_of_a_table_is_not_one_of_its_field() {
    let (table, field) = (
        "nodes.host1.wake_up_latency",
        "nodes.host1.wake_up_latency.most",
    );
    let set = |path: &str, value: &str| [(path.to_owned(), value.to_owned())];
    // The swept values would replace the given one.
    let swept = with_latency(&sweep(table)).unwrap();
    let error = swept.with_settings(&set(field, "5 us")).unwrap_err();
    assert_eq!(
        error.mistakes[0].message,
        format!("the sweep of `{table}` sets other elements than those that are given a value")
    );
    // The given value replaces all of the table, and so the sweep in it.
    let swept = with_latency(&sweep(field)).unwrap();
    let given = swept.with_settings(&set(table, "5 us")).unwrap();
    let variants = given.variants().unwrap();
    assert_eq!(variants.len(), 1);
    assert_eq!(
        variants[0].scenario.nodes[0].wake_up_latency.most().0,
        5_000_000
    );
    for (one, other) in [(table, field), (field, table)] {
        let error = with_latency(&(sweep(one) + &sweep(other))).unwrap_err();
        let message = &error.mistakes[0].message;
        assert_eq!(message, &format!("`{other}` is swept already"));
    }
}

/// Otherwise, a file that changes during a long run would give its later scenarios other contents.
#[test]
fn a_histogram_file_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let histogram = folder.path().join("one.csv");
    let bins = "2 us,10\n10 us,0\n";
    std::fs::write(&histogram, bins).unwrap();
    let text = "version = 1\ntopology = { kind = \"bridged\" }\n[[nodes]]\nname = \"host1\"\n\
                wake_up_latency = { histogram = \"one.csv\" }\n";
    let name = folder.path().join("scenario.toml").display().to_string();
    let file = takt_scenario::ScenarioFile::parse(text, &name).unwrap();
    std::fs::write(&histogram, "2 us,10\n20 us,0\n").unwrap();
    let settings = [("name".to_owned(), "later".to_owned())];
    let later = file.with_settings(&settings).unwrap();
    let latency =
        |file: &takt_scenario::ScenarioFile| file.scenario().nodes[0].wake_up_latency.most();
    assert_eq!(latency(&later), latency(&file));
    assert_eq!(later.histogram_text("one.csv").as_deref(), Some(bins));
    assert_eq!(later.histogram_text("two.csv"), None);
    // A new reading has the new contents.
    let anew = takt_scenario::ScenarioFile::parse(text, &name).unwrap();
    assert_eq!(latency(&anew).0, 2 * latency(&file).0);
}

#[test]
fn histogram_files_are_named_once() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/e3.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let file = takt_scenario::ScenarioFile::parse(&text, path).unwrap();
    assert_eq!(file.histogram_files(), ["wake-up-e3.csv"]);
}
