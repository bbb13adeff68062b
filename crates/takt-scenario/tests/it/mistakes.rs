//! Messages and positions of mistakes.

use takt_scenario::ScenarioFile;

const HEAD: &str = r#"version = 1
[topology]
kind = "bridged"
"#;
const APPLICATION: &str = r#"[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "250 us"
payload = "59 B"
"#;

/// Returns the mistakes in a text and in the scenarios of its sweeps: line, column, message and help.
fn mistakes(text: &str) -> Vec<String> {
    let error = ScenarioFile::parse(text, "test.toml").and_then(|file| file.variants().map(|_| ()));
    error
        .unwrap_err()
        .mistakes
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Returns the one mistake in a text behind a bridged topology, which has three lines.
fn mistake(text: &str) -> String {
    let found = mistakes(&format!("{HEAD}{text}"));
    let [one] = found.as_slice() else {
        panic!("{found:#?}")
    };
    one.clone()
}

/// Returns the one mistake behind a bridged topology and an application, which has six more lines.
fn mistake_behind_application(text: &str) -> String {
    mistake(&format!("{APPLICATION}{text}"))
}

#[test]
fn the_text_that_mistakes_are_added_to_is_valid() {
    let text = format!("{HEAD}{APPLICATION}");
    assert_eq!(
        ScenarioFile::parse(&text, "test.toml")
            .unwrap()
            .variants()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn names_and_types() {
    assert_eq!(
        mistake(
            "[[applications]]\nname = \"a\"\npublisher = \"host1\"\nloopback = \"host2\"\ncyle = \"1 ms\"\ncycle = \"1 ms\"\npayload = \"59 B\""
        ),
        "line 8, column 1: `cyle` is not a field of an application (did you mean `cycle`?)"
    );
    // A misspelt field is not reported as missing, too.
    assert_eq!(
        mistake(&APPLICATION.replace("cycle", "cycel")),
        "line 8, column 1: `cycel` is not a field of an application (did you mean `cycle`?)"
    );
    assert_eq!(
        mistake_behind_application("offset = 150"),
        "line 10, column 10: expected a time such as \"250 us\", not an integer"
    );
    assert_eq!(
        mistake_behind_application("offset = \"150 uss\""),
        "line 10, column 10: `150 uss` is not a time: did you mean \"150 us\"?"
    );
    assert_eq!(
        mistake("[bounds]\nmodel = \"papr\""),
        "line 5, column 9: `papr` is not one of \"sound\", \"paper\" (did you mean `paper`?)"
    );
    assert_eq!(
        mistakes("")[0],
        "line 1, column 1: a scenario needs `version`, the integer 1"
    );
    assert_eq!(
        mistakes("version = 2")[0],
        "line 1, column 11: expected the integer 1, not 2"
    );
    assert!(
        mistakes("version = ")[0].starts_with("line 1, column"),
        "{:?}",
        mistakes("version = ")
    );
}

#[test]
fn several_at_once() {
    let text = format!(
        "{HEAD}{APPLICATION}vlan = 0\npcp = 8\n[[links]]\nends = [\"host1\", \"host2\"]\nrate = \"0 Gbit/s\"\n"
    );
    let found = mistakes(&text);
    assert_eq!(
        found,
        [
            "line 10, column 8: expected an integer from 1 to 4094, not 0",
            "line 11, column 7: expected an integer from 0 to 7, not 8",
            "line 14, column 8: `0 Gbit/s` must be more than 0",
        ]
    );
    let text = format!(
        "{HEAD}[[links]]\nends = [\"host1\", \"bridge2\"]\n[[ports]]\nnode = \"hots1\"\ndiscipline = \"cbs\"\n"
    );
    assert_eq!(
        mistakes(&text),
        [
            "line 5, column 18: there is no node `bridge2` (did you mean `bridge1`?)",
            "line 7, column 8: there is no node `hots1` (did you mean `host1`?)",
            "line 8, column 14: there is no discipline `cbs` (known: fq_codel)",
        ]
    );
}

#[test]
fn empty_and_repeated_names() {
    let traffic = "[[cross_traffic]]\nname = \"control\"\nfrom = \"host1\"\nto = \"host2\"\nrate = \"1 Mbit/s\"\npayload = \"1 B\"";
    assert_eq!(
        mistake_behind_application(traffic),
        "line 11, column 8: there is an application of this name"
    );
    assert_eq!(
        mistake(&APPLICATION.replace("\"control\"", "\" \"")),
        "line 5, column 8: a name must not be empty"
    );
    let pattern = format!("{}\npattern = \"pareto\"", traffic.replace("control", "c"));
    assert_eq!(
        mistake(&pattern),
        "line 10, column 11: `pareto` is not one of \"constant\", \"poisson\", or a table: a pattern"
    );
}

#[test]
fn unknown_ports_and_topologies() {
    let port = "[[ports]]\nnode = \"host1\"\nto = \"host2\"";
    assert_eq!(
        mistake(port),
        "line 6, column 6: no link joins `host1` and `host2` (`host1` has links to bridge1)"
    );
    assert_eq!(
        mistake("hops = 3"),
        "line 4, column 1: `hops` is for line; this topology is bridged"
    );
    assert_eq!(
        mistake(&APPLICATION.replace("host2", "host1")),
        "line 4, column 1: source and destination are the same node, `host1`"
    );
}

#[test]
fn routes() {
    assert_eq!(
        mistake_behind_application(
            "path = [\"host1\", \"bridge1\", \"host1\", \"bridge1\", \"host2\"]"
        ),
        "line 10, column 29: the path passes `host1` twice"
    );
    assert_eq!(
        mistake_behind_application("path = [\"host1\", \"host2\"]"),
        "line 10, column 18: no link joins `host1` and `host2`"
    );
    assert_eq!(
        mistake_behind_application("path = [\"host1\", \"bridge1\"]"),
        "line 10, column 8: the path must lead from `host1` to `host2`"
    );
    assert_eq!(
        mistake_behind_application(
            "[[nodes]]\nname = \"far\"\n[[cross_traffic]]\nname = \"c\"\nfrom = \"host1\"\nto = \"far\"\npayload = \"1 B\"\nrate = \"1 Mbit/s\""
        ),
        "line 12, column 1: no path leads from `host1` to `far`"
    );
    let through_host = "[[nodes]]\nname = \"far\"\n[[links]]\nends = [\"host2\", \"far\"]\n[[cross_traffic]]\nname = \"c\"\nfrom = \"host1\"\nto = \"far\"\npayload = \"1 B\"\nrate = \"1 Mbit/s\"";
    assert_eq!(
        mistake(through_host),
        "line 8, column 1: no path leads from `host1` to `far`"
    );
    let path = format!("{through_host}\npath = [\"host1\", \"bridge1\", \"host2\", \"far\"]");
    assert_eq!(
        mistake(&path),
        "line 14, column 29: `host2` is a host, which forwards no frames"
    );
}

#[test]
fn frames_and_rates() {
    assert_eq!(
        mistake(&APPLICATION.replace("59 B", "1501 B")),
        "line 9, column 11: a payload of 1501 B does not fit in an Ethernet frame, which holds 1500 B"
    );
    assert_eq!(
        mistake(&APPLICATION.replace("payload = \"59 B\"", "repeated_node_count = 163")),
        "line 9, column 23: a payload of 1508 B does not fit in an Ethernet frame, which holds 1500 B"
    );
    assert_eq!(
        mistake(&APPLICATION.replace("payload = \"59 B\"\n", "")),
        "line 4, column 1: an application needs one of `payload`, `repeated_node_count`, `fields`, `writers`"
    );
    assert_eq!(
        mistake_behind_application("fields = 3"),
        "line 10, column 10: an application has only one of `payload`, `repeated_node_count`, `fields`, `writers`"
    );
    assert_eq!(
        mistake_behind_application("phases = { user = 0.7 }"),
        "line 10, column 10: phases must be in ascending order, at least 0 and less than 1"
    );
    assert_eq!(
        mistake(&APPLICATION.replace("250 us", "0 us")),
        "line 8, column 9: `0 us` must be more than 0"
    );
}

fn taprio(entries: &str) -> String {
    let discipline = format!(
        "[disciplines.gates]\nscheduler = \"taprio\"\nclasses = [{{ name = \"A\", priorities = [3] }}, {{ name = \"B\" }}]\nentries = [{entries}]\n"
    );
    let topology = HEAD.replace("version = 1", "version = 1\ndiscipline = \"gates\"");
    let found = mistakes(&format!("{topology}{discipline}{APPLICATION}"));
    let [one] = found.as_slice() else {
        panic!("{found:#?}")
    };
    one.clone()
}

#[test]
fn gates() {
    assert_eq!(
        taprio(
            "{ gates = [\"A\"], interval = \"800 ns\" }, { gates = [\"B\"], interval = \"50 us\" }"
        ),
        "line 5, column 14: a frame of `control`, 101 B on the wire, needs more than 808 ns at 1 Gbit/s, but no window of class `A` is longer \
         than 800 ns"
    );
    // The guard band is not longer than the time that a frame needs anyway, or it is longer and decides alone.
    let guarded = |guard_band: &str| {
        taprio(&format!(
            "{{ gates = [\"A\"], interval = \"800 ns\" }}, {{ gates = [\"B\"], interval = \"50 us\" }}]\nguard_band = \"{guard_band}\"\n#"
        ))
    };
    assert!(guarded("808 ns").contains("needs more than 808 ns at 1 Gbit/s, but"));
    assert!(guarded("900 ns").contains("needs 900 ns for the guard band, but"));
    assert_eq!(
        taprio("{ gates = [\"B\"], interval = \"50 us\" }"),
        "line 5, column 14: the gate of class `A` never opens, but `control` is in it (PCP 3)"
    );
    assert_eq!(
        taprio("{ gates = [\"A\", \"C\"], interval = \"50 us\" }"),
        "line 8, column 28: there is no class `C` in this discipline (known: A, B)"
    );
}

#[test]
fn gates_of_the_device_are_real_gates() {
    let entries =
        "{ gates = [\"A\"], interval = \"50 us\" }, { gates = [\"B\"], interval = \"50 us\" }]";
    assert!(
        taprio(&format!(
            "{entries}\noffload = true\ntxtime_assist = \"10 us\"\n#"
        ))
        .contains("with `txtime_assist` there are no gates that the hardware could have")
    );
}

#[test]
fn entries_end_with_their_cycle() {
    let entries = |first: &str, second: &str| {
        let cycle = "cycle_time = \"100 us\"";
        taprio(&format!(
            "{{ gates = [\"A\"], interval = \"{first}\" }}, {{ gates = [\"B\"], interval = \"{second}\" }}]\n{cycle}\n#"
        ))
    };
    assert_eq!(
        entries("60 us", "60 us"),
        "line 8, column 79: the entry ends 120 us after the cycle begins, but the cycle is 100 us long (make the entry 40 us long, or \
         the cycle at least 120 us)"
    );
    let discipline = "[disciplines.gates]\nscheduler = \"taprio\"\nclasses = [{ name = \"A\", priorities = [3] }, { name = \"B\" }]\n\
                      cycle_time = \"100 us\"\nentries = [{ gates = [\"A\"], interval = \"300 us\" }, { gates = [\"B\"], interval = \"60 us\" }]\n";
    let found = mistakes(&format!("{HEAD}{discipline}{APPLICATION}"));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("the entry ends 300 us after the cycle begins"),
        "{found:?}"
    );
    assert!(
        found[1].contains("when the cycle of 100 us is over"),
        "{found:?}"
    );
}

#[test]
fn disciplines() {
    let class = |class: &str| {
        mistake(&format!(
            "[disciplines.d]\nscheduler = \"mqprio\"\nclasses = [{{ name = \"A\", priorities = [3] }}, {class}]"
        ))
    };
    assert_eq!(
        class("{ name = \"B\", priorities = [2, 3] }"),
        "line 6, column 77: PCP 3 is in class `A` already"
    );
    assert_eq!(
        class("{ name = \"A\" }"),
        "line 6, column 55: there are two classes of this name"
    );
    assert_eq!(
        class("{ name = \"B\", delta = \"1 us\" }"),
        "line 6, column 60: `delta` is for etf; this queue is fifo"
    );
    assert_eq!(
        class(
            "{ name = \"B\", queue = \"cbs\", idle_slope = \"1 Mbit/s\", provisioning = \"1%\" }"
        ),
        "line 6, column 115: idleSlope is given twice: use only one of `idle_slope`, `provisioning`"
    );
    assert_eq!(
        mistake("[disciplines.d]\nscheduler = \"mqprio\""),
        "line 4, column 14: mqprio needs `classes`"
    );
}

#[test]
fn sweeps() {
    let sweep = |parameter: &str, values: &str| {
        mistake_behind_application(&format!(
            "[[sweeps]]\nparameter = \"{parameter}\"\nvalues = {values}"
        ))
    };
    assert_eq!(
        sweep("applications.contrl.cycle", "[\"1 ms\"]"),
        "line 11, column 13: invalid path `applications.contrl.cycle`: there is no `contrl` in `applications` (did you mean `control`?)"
    );
    assert_eq!(
        sweep("topologi.kind", "[\"line\"]"),
        "line 11, column 13: invalid path `topologi.kind`: `topologi` is not a field of a scenario (did you mean `topology`?)"
    );
    assert_eq!(
        sweep("applications.*.payload", "[\"100 B\", \"1600 B\"]"),
        "line 12, column 20: a payload of 1600 B does not fit in an Ethernet frame, which holds 1500 B"
    );
    assert_eq!(
        sweep("applications.0.cycle", "[\"1 ms\", 5]"),
        "line 12, column 19: expected a time such as \"250 us\", not an integer"
    );
    assert_eq!(
        sweep("bounds.model", "[\"paper\", \"papr\"]"),
        "line 12, column 20: `papr` is not one of \"sound\", \"paper\" (did you mean `paper`?)"
    );
    assert_eq!(
        sweep("applications.control.cycel", "[\"1 ms\"]"),
        "line 11, column 13: invalid path `applications.control.cycel`: `cycel` is not a field of an application (did you mean `cycle`?)"
    );
    assert_eq!(
        sweep("topology.kind", "[\"bridged\", \"rng\"]"),
        "line 12, column 22: `rng` is not one of \"p2p\", \"bridged\", \"line\", \"ring\", \"star\" (did you mean `ring`?)"
    );
    // A message about a consequence of a value shows the value.
    assert_eq!(
        sweep(
            "topology.kind",
            "[\"star\", \"p2p\"]\n[[ports]]\nnode = \"bridge1\""
        ),
        "line 14, column 8: there is no node `bridge1` (known: host1, host2, with topology.kind = p2p)"
    );
    assert_eq!(
        sweep("sweeps.0.values", "[[1]]"),
        "line 11, column 13: `sweeps.0.values` cannot be swept"
    );
    assert_eq!(
        sweep(
            "name",
            "[\"a\"]\n[[sweeps]]\nparameter = \"name\"\nvalues = [\"b\"]"
        ),
        "line 14, column 13: `name` is swept already"
    );
    // Another path to the same field.
    assert_eq!(
        mistake_behind_application(
            "[[sweeps]]\nparameter = \"applications.*.cycle\"\nvalues = [\"1 ms\"]\n\
             [[sweeps]]\nparameter = \"applications.0.cycle\"\nvalues = [\"2 ms\"]"
        ),
        "line 14, column 13: `applications.0.cycle` is swept already"
    );
    assert_eq!(
        sweep("applications.control.phases.user.x", "[1]"),
        "line 11, column 13: invalid path `applications.control.phases.user.x`: `user` has no fields"
    );
    let many: Vec<String> = (1..=101).map(|cycle| format!("\"{cycle} ms\"")).collect();
    let many = format!("[{}]", many.join(", "));
    let second =
        format!("{many}\n[[sweeps]]\nparameter = \"applications.control.offset\"\nvalues = {many}");
    assert_eq!(
        sweep("applications.control.cycle", &second),
        "line 15, column 10: the sweeps make at least 10201 combinations; at most 10000 are allowed"
    );
}

/// Paths to tables that are not in the file, to tables under names, to elements of lists in them, and to fields that may be a
/// table.
#[test]
fn every_field_can_be_swept() {
    let text = format!(
        "{HEAD}forwarding_delay = {{ least = \"0 us\", most = \"1 us\" }}\n{APPLICATION}[disciplines.d]\nscheduler = \"mqprio\"\n\
         classes = [{{ name = \"A\", priorities = [3] }}]\n[[nodes]]\nname = \"host1\"\n"
    );
    for (parameter, values) in [
        ("applications.control.phases.user", "[0.1, 0.2]"),
        (
            "applications.*.path",
            "[[\"host1\", \"bridge1\", \"host2\"], [\"host1\", \"bridge1\", \"host2\"]]",
        ),
        ("topology.forwarding_delay.most", "[\"2 us\", \"3 us\"]"),
        ("disciplines.d.classes.A.limit", "[5, \"5 kB\"]"),
        ("nodes.host1.clock.drift", "[\"1 ppm\", \"2 ppm\"]"),
        (
            "nodes.0.wake_up_latency",
            "[\"1 us\", { histogram = [[\"2 us\", 3]] }]",
        ),
        ("simulation.seed", "[1, 2]"),
        ("measure", "[[\"drops\"], [\"jitter\"]]"),
        ("bounds.analyses", "[[\"sfa\"], [\"tfa\", \"plp\"]]"),
    ] {
        let text = format!("{text}[[sweeps]]\nparameter = \"{parameter}\"\nvalues = {values}\n");
        let variants = ScenarioFile::parse(&text, "test.toml").and_then(|file| file.variants());
        assert_eq!(
            variants.map(|variants| variants.len()),
            Ok(2),
            "{parameter}"
        );
    }
}

#[test]
fn a_histogram_without_end_is_not_read() {
    let node = "[[nodes]]\nname = \"host1\"\nwake_up_latency = { histogram = \"/dev/zero\" }\n";
    let found = mistake_behind_application(node);
    assert!(
        found.ends_with("cannot read /dev/zero: not a file of at most 16 MiB"),
        "{found}"
    );
}

#[test]
fn etf_where_frames_have_no_time() {
    let discipline = "[disciplines.etf]\nscheduler = \"mqprio\"\nclasses = [{ name = \"A\", queue = \"etf\" }]\n";
    let topology = HEAD.replace("version = 1", "version = 1\ndiscipline = \"etf\"");
    let found = mistakes(&format!("{topology}{discipline}{APPLICATION}"));
    let [one] = found.as_slice() else {
        panic!("{found:#?}")
    };
    assert!(
        one.starts_with("line 2, column 14: frames of `control` have no txtime, and the etf of"),
        "{one}"
    );
}

/// Very long names are not compared with others, and messages do not repeat them.
#[test]
fn a_long_name_is_refused_in_few_words() {
    let text = format!("version = 1\n{} = 2\n", "x".repeat(900_000));
    let error = ScenarioFile::parse(&text, "long.toml").unwrap_err();
    let mistake = &error.mistakes[0];
    assert_eq!((mistake.line, mistake.column), (2, 1));
    assert!(mistake.message.len() < 500, "{}", mistake.message.len());
}

#[test]
fn a_line_of_a_hundred_megabytes_is_refused_before_it_is_read() {
    let text = format!("version = 1\n{}", "x".repeat(100_000_000));
    let error = ScenarioFile::parse(&text, "long.toml").unwrap_err();
    assert_eq!(
        error.to_string(),
        "long.toml: line 2, column 1: the line has 100000000 bytes; at most 1048576 are allowed"
    );
}

#[test]
fn bytes_that_are_not_utf_8_have_a_place() {
    let error = ScenarioFile::text(
        b"version = 1\nname = \"\xc3\xa4\xff\"\n".to_vec(),
        "latin.toml",
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "latin.toml: line 2, column 10: the byte 0xff is not valid UTF-8"
    );
}
