//! `takt bounds`: the paper's tables through the scenario files, infinite bounds with their reasons, and pictures.

use serde_json::Value;
use takt_tests::Sandbox;
use takt_tests::binary::repository;

use crate::command_line::plain;

fn shipped(name: &str) -> String {
    let path = repository().join("scenarios").join(name);
    path.to_str().unwrap().to_owned()
}

/// Returns the objects that `--json` prints.
fn objects(arguments: &[&str]) -> Vec<Value> {
    let sandbox = Sandbox::new();
    let text = sandbox
        .run(&[&["bounds", "--json"], arguments].concat())
        .expect_success();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn table_iv() {
    let rows = objects(&[&shipped("line.toml")]);
    assert_eq!(rows.len(), 56);
    let cell = |hops: &str, count: &str| {
        let row = rows.iter().find(|row| {
            row["settings"]["topology.hops"] == hops
                && row["settings"]["applications.control.repeated_node_count"] == count
        });
        row.unwrap()["flows"][0].clone()
    };
    for (hops, count, micros) in [
        ("1", "2", 954),
        ("1", "160", 1043),
        ("4", "64", 2461),
        ("7", "2", 3234),
        ("7", "128", 3871),
        ("7", "160", 3851),
    ] {
        assert_eq!(
            cell(hops, count)["delay_us"],
            micros,
            "{hops} hops, {count}"
        );
    }
    // 1.7 · 250 + 150 + 14 (77 / 101 · 250 − 0.616) µs.
    assert_eq!(cell("7", "2")["delay_ns"], "326703976/101");
    assert_eq!(rows[0]["model"], "paper");
    // The paper's model has no bound from the first bit on.
    assert!(rows[0]["flows"][0].get("from_first_bit").is_none());
    assert_eq!(rows[0]["ports"].as_array().unwrap().len(), 2);
    assert_eq!(rows[0]["ports"][0]["utilisation"], "77/101");
}

#[test]
fn figure_6_is_infinite_where_the_paper_says() {
    for row in objects(&[&shipped("line-provisioning.toml")]) {
        let share = row["settings"]["disciplines.cbs.classes.A.provisioning"]
            .as_str()
            .unwrap();
        let count: u32 = row["settings"]["applications.control.repeated_node_count"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        let expected = match share {
            "-5%" => count >= 64,
            "-3%" => count >= 128,
            _ => false,
        };
        let flow = &row["flows"][0];
        assert_eq!(flow["delay_us"].is_null(), expected, "{share} {count}");
        assert_eq!(flow["infinite"].is_object(), expected);
        if expected {
            assert_eq!(flow["infinite"]["port"], "host1 \u{2192} bridge1");
            assert!(
                flow["infinite"]["reason"]
                    .as_str()
                    .unwrap()
                    .contains("% too much"),
                "{flow}"
            );
        }
    }
}

#[test]
fn analyses_are_listed_and_the_smallest_bound_holds() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("line.toml");
    let path = path.to_str().unwrap();
    let _ = sandbox
        .run(&[
            "scenario", "new", "line", "--hops", "3", "--rnc", "32", "--output", path,
        ])
        .expect_success();
    let rows = objects(&[path, "--analysis", "all"]);
    let flow = &rows[0]["flows"][0];
    let of = |name: &str| flow["analyses"][name]["delay_us"].as_u64();
    let least = ["tfa", "tfa++", "sfa", "plp"]
        .map(|name| of(name).unwrap())
        .into_iter()
        .min();
    assert_eq!(flow["delay_us"].as_u64(), least);
    assert!(flow["analyses"]["pmoo"]["not_applicable"].is_string());
    let table = sandbox
        .run(&["bounds", path, "--analysis", "tfa,sfa"])
        .expect_success();
    for part in [
        "tfa",
        "sfa",
        "control (wire round trip)",
        "host1 \u{2192} bridge1",
        "utilisation",
        "100.0",
        "Assumptions, which are not checked",
    ] {
        assert!(table.contains(part), "no `{part}` in {table}");
    }
    let said = plain(
        &sandbox
            .run(&["bounds", path, "--analysis", "tfs"])
            .expect_failure(),
    );
    assert!(said.contains("`tfs` is not an analysis"), "{said}");
    let _ = sandbox
        .run(&[
            "scenario",
            "new",
            "line",
            "--qdisc",
            "mqprio",
            "--model",
            "paper",
            "--output",
            &format!("{path}2"),
        ])
        .expect_success();
    let said = plain(
        &sandbox
            .run(&["bounds", &format!("{path}2")])
            .expect_failure(),
    );
    assert!(
        said.contains("the paper's model has Credit-Based Shapers only"),
        "{said}"
    );
    // The class is shown with its line.
    assert!(said.contains("line.toml2: line "), "{said}");
}

/// An analysis that does not apply prints no bound, which is different from an infinite one. A port behind an
/// overloaded one has its own bound.
#[test]
fn unknown_and_infinite_bounds() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let new = |name: &str, provisioning: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        let options = ["--provisioning", provisioning, "--output", &path];
        let new = ["scenario", "new", "line", "--hops", "2", "--rnc", "160"];
        let _ = sandbox.run(&[&new[..], &options].concat()).expect_success();
        path
    };
    let path = &new("enough.toml", "0%");
    let flow = &objects(&[path, "--analysis", "schedule,schedule"])[0]["flows"][0];
    assert!(flow["delay_ns"].is_null() && flow["infinite"].is_null());
    assert_eq!(flow["analyses"].as_object().unwrap().len(), 1);
    let table = sandbox
        .run(&["bounds", path, "--analysis", "schedule"])
        .expect_success();
    assert!(table.contains("no analysis applies"), "{table}");
    assert!(
        !table.contains("control (wire round trip)  infinite"),
        "{table}"
    );

    let path = &new("too-little.toml", "-3%");
    let row = &objects(&[path, "--analysis", "sfa,schedule"])[0];
    let flow = &row["flows"][0];
    let reason = flow["infinite"]["reason"].as_str().unwrap();
    assert!(reason.ends_with("3.09 % too much"), "{reason}");
    assert_eq!(flow["analyses"]["sfa"]["infinite"]["reason"], reason);
    for port in row["ports"].as_array().unwrap() {
        assert_eq!(port["delay_ns"].is_null(), port["infinite"].is_object());
    }
    assert!(row["ports"][0]["infinite"].is_object());
    assert!(row["ports"][2]["infinite"].is_null());
}

/// A table with many rows shows the worst of them. `--all` and `--json` print all.
#[test]
fn a_long_table_is_a_summary() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.toml");
    let mut text = "version = 1\n[topology]\nkind = \"p2p\"\n".to_owned();
    for flow in 0..150 {
        text += &format!(
            "[[cross_traffic]]\nname = \"x{flow}\"\nfrom = \"host1\"\nto = \"host2\"\npayload = \"100 B\"\ninterval = \"1 ms\"\n"
        );
    }
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let table = |options: &[&str]| {
        let table = sandbox
            .run(&[&["bounds", path, "--analysis", "tfa++"], options].concat())
            .expect_success();
        let flows = table.lines().filter(|line| line.starts_with('x')).count();
        (flows, table)
    };
    let (flows, summary) = table(&[]);
    assert_eq!(flows, 20, "{summary}");
    assert!(summary.contains("20 of 150 flows"), "{summary}");
    assert!(summary.contains("0 flows have no bound"), "{summary}");
    let (flows, complete) = table(&["--all"]);
    assert_eq!(flows, 150, "{complete}");
    assert!(!complete.contains("20 of 150"), "{complete}");
    let rows = objects(&[path, "--analysis", "tfa++"]);
    assert_eq!(rows[0]["flows"].as_array().unwrap().len(), 150);
}

#[test]
fn bounds_are_drawn() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("p2p.toml");
    let scenario = scenario.to_str().unwrap();
    let _ = sandbox
        .run(&["scenario", "new", "p2p", "--output", scenario])
        .expect_success();
    let picture = folder.path().join("picture.svg");
    let drawn = |scenario: &str| {
        let _ = sandbox
            .run(&["bounds", scenario, "--plot", picture.to_str().unwrap()])
            .expect_success();
        std::fs::read_to_string(&picture).unwrap()
    };
    let hops = drawn(scenario);
    assert!(hops.contains("Hop 2 of control: host2 to host1, class A, delay"));
    for label in ["arrivals", "service", "delay", "backlog"] {
        assert!(hops.contains(&format!(">{label}</text>")), "{label}");
    }
    // All applications and flows are drawn, each queue once.
    let mut two = std::fs::read_to_string(scenario).unwrap();
    two += "[[cross_traffic]]\nname = \"other\"\nfrom = \"host1\"\nto = \"host2\"\npayload = \"100 B\"\ninterval = \"1 ms\"\n";
    let other = folder.path().join("two.toml");
    std::fs::write(&other, two).unwrap();
    let both = drawn(other.to_str().unwrap());
    assert!(both.contains("Hop 1 of control: host1 to host2, class A"));
    assert!(both.contains("Hop 1 of other: host1 to host2, class"));
    let sweep = drawn(&shipped("line.toml"));
    assert!(sweep.contains("Bounds over hops") && sweep.contains("7 hops"));
    // Two sweeps and two flows.
    let flows = drawn(&shipped("b.toml"));
    assert!(flows.contains("control: Bounds over rate"));
    assert!(flows.contains("iperf3: Bounds over rate"));
    // Over values that are not numbers, and over some with different units.
    let names = drawn(&shipped("e3.toml"));
    for text in ["etf", "fq_codel", "mqprio", "cbs", "control"] {
        let is_there = names.contains(&format!(">{text}</text>"));
        assert!(is_there, "{text}");
    }
    let mut cycles = std::fs::read_to_string(scenario).unwrap();
    cycles +=
        "[[sweeps]]\nparameter = \"applications.control.cycle\"\nvalues = [\"900 us\", \"1 ms\"]\n";
    std::fs::write(scenario, cycles).unwrap();
    let units = drawn(scenario);
    assert!(units.contains("cycle of control (\u{b5}s)"));
    assert!(units.contains(">1000</text>"));
}
