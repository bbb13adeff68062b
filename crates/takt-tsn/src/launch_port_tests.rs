#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::executor::{CommandResult, ExecutorError};
use crate::shell_command::ShellCommand;

/// System with interfaces: name, output of `ip -j -d link show`, output of `tc -j -s -d qdisc show`.
struct System(Vec<(&'static str, String, String)>);

impl Executor for System {
    fn run(&mut self, command: &ShellCommand) -> Result<CommandResult, ExecutorError> {
        let arguments = command.arguments();
        let place = arguments.iter().position(|it| *it == "dev").unwrap();
        let interface = arguments[place + 1];
        let mut interfaces = self.0.iter();
        let (_, link, qdiscs) = interfaces.find(|(name, ..)| *name == interface).unwrap();
        let stdout = match command.program {
            "ip" => link.clone(),
            // A port with `clsact` may have filters.
            _ if arguments.contains(&"filter") => "[]".to_owned(),
            _ => qdiscs.clone(),
        };
        Ok(CommandResult {
            success: true,
            stdout,
            stderr: String::new(),
        })
    }
}

const LINK: &str = r#"[{"ifname":"eth0","num_tx_queues":8}]"#;

/// The map of the papers: PCP 3 has queue 0, all others have queue 1.
const MAP: &str = r#"{"kind":"mqprio","handle":"100:","root":true,"options":{"tc":2,"map":[1,1,1,0,1,1,1,1,1,1,1,1,1,1,1,1],"queues":[[0,0],[1,1]]}}"#;

fn etf(parent: &str, delta: u64, more: &str) -> String {
    format!(
        r#"{{"kind":"etf","handle":"101:",{parent},"options":{{"clockid":"TAI","delta":{delta},"offload":"off","deadline_mode":"off","skip_sock_check":"off"{more}}}}}"#
    )
}

const FIRST: &str = r#""parent":"100:1""#;
const SECOND: &str = r#""parent":"100:2""#;
const ROOT: &str = r#""root":true"#;

fn fifo(parent: &str) -> String {
    format!(r#"{{"kind":"pfifo","handle":"102:",{parent},"options":{{"limit":1000}}}}"#)
}

fn request() -> LaunchRequest {
    LaunchRequest {
        interface: "eth0".to_owned(),
        priority: 3,
        is_tagged: true,
        deadline_mode: false,
        lead: 250_000,
    }
}

/// Returns the texts of the faults of an interface with these disciplines.
fn faults(qdiscs: &[String], request: &LaunchRequest) -> Vec<String> {
    let qdiscs = format!("[{}]", qdiscs.join(","));
    let mut system = System(vec![("eth0", LINK.to_owned(), qdiscs)]);
    let port = launch_port(request, &mut system).unwrap();
    port.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn etf_of_the_class_keeps_launch_times() {
    let tree = [MAP.to_owned(), etf(FIRST, 200_000, ""), fifo(SECOND)];
    assert_eq!(faults(&tree, &request()), [""; 0]);
    assert_eq!(faults(&[etf(ROOT, 200_000, "")], &request()), [""; 0]);
    let unknown = LaunchRequest {
        lead: 0,
        ..request()
    };
    assert_eq!(faults(&[etf(ROOT, 900_000, "")], &unknown), [""; 0]);
}

#[test]
fn a_port_without_etf_names_its_discipline() {
    let plain =
        |kind: &str| format!(r#"{{"kind":"{kind}","handle":"0:","root":true,"options":{{}}}}"#);
    for kind in ["noqueue", "pfifo_fast", "fq_codel", "tbf", "htb"] {
        let expected =
            format!("eth0 has no ETF for launch times: frames of priority 3 wait in `{kind}`");
        assert_eq!(faults(&[plain(kind)], &request()), [expected]);
    }
    let expected = "eth0 has no ETF for launch times: frames of priority 3 wait in `the default of the kernel`";
    assert_eq!(faults(&[], &request()), [expected]);
    let expected = "`fq` of eth0 has launch times of CLOCK_MONOTONIC, and those of the messages are of CLOCK_TAI";
    assert_eq!(faults(&[plain("fq")], &request()), [expected]);
    let expected = "eth0 has no ETF for launch times: frames of priority 3 wait in `pfifo`";
    let tree = [MAP.to_owned(), fifo(FIRST), fifo(SECOND)];
    assert_eq!(faults(&tree, &request()), [expected]);
    let tree = [
        plain("mq").replace("0:", "8001:"),
        fifo(r#""parent":"8001:1""#),
    ];
    assert_eq!(faults(&tree, &request()), [expected]);
}

#[test]
fn etf_of_another_class_is_found() {
    let tree = [MAP.to_owned(), fifo(FIRST), etf(SECOND, 200_000, "")];
    let expected = "ETF of eth0 is for priorities 0 1 2 4 5 6 7, and frames have priority 3: these wait in `pfifo`";
    assert_eq!(faults(&tree, &request()), [expected]);
    // Table 8-5 of IEEE 802.1Q with two classes, as `--classes 2` has it, gives 4 to 7 to the higher one.
    let table = MAP.replace("1,1,1,0,1,1,1,1,", "1,1,1,1,0,0,0,0,");
    let tree = [table, etf(FIRST, 200_000, ""), fifo(SECOND)];
    let expected =
        "ETF of eth0 is for priorities 4 5 6 7, and frames have priority 3: these wait in `pfifo`";
    assert_eq!(faults(&tree, &request()), [expected]);
}

#[test]
fn each_queue_of_a_class_needs_etf() {
    let map = MAP.replace("[0,0],[1,1]", "[0,1],[2,2]");
    let two = [map, etf(FIRST, 1, ""), fifo(SECOND)];
    let expected = "eth0 has no ETF for launch times: frames of priority 3 wait in `pfifo`";
    assert_eq!(faults(&two, &request()), [expected]);
}

#[test]
fn clock_mode_and_delta_are_compared() {
    let clock = etf(ROOT, 1, "").replace("TAI", "MONOTONIC");
    let expected = "`etf` of eth0 has launch times of CLOCK_MONOTONIC, and those of the messages are of CLOCK_TAI";
    assert_eq!(faults(&[clock], &request()), [expected]);
    let deadline = etf(ROOT, 1, "").replace(r#"deadline_mode":"off"#, r#"deadline_mode":"on"#);
    let expected = "ETF of eth0 is in deadline mode, and the launch times are no deadlines: it drops every frame";
    let found = faults(std::slice::from_ref(&deadline), &request());
    assert_eq!(found, [expected]);
    // Then the discipline asks no socket for its mode, and sends by its own.
    let unchecked = |etf: &str| etf.replace(r#"check":"off"#, r#"check":"on"#);
    let expected = "ETF of eth0 is in deadline mode, and the launch times are no deadlines: it sends every frame at once";
    assert_eq!(faults(&[unchecked(&deadline)], &request()), [expected]);
    let deadlines = LaunchRequest {
        deadline_mode: true,
        ..request()
    };
    assert_eq!(faults(&[deadline], &deadlines), [""; 0]);
    let expected = "ETF of eth0 is not in deadline mode, and the launch times are deadlines: it drops every frame";
    assert_eq!(faults(&[etf(ROOT, 1, "")], &deadlines), [expected]);
    let expected = "ETF of eth0 is not in deadline mode, and the launch times are deadlines: it keeps every frame until its deadline";
    let strict = unchecked(&etf(ROOT, 1, ""));
    assert_eq!(faults(&[strict], &deadlines), [expected]);
}

#[test]
fn a_lead_that_is_shorter_than_delta_is_a_fault_without_offload() {
    let expected = "messages are made 250 us before their launch time, and `delta` of ETF at eth0 is 250.5 us: frames leave as soon as they are made, not `delta` before their launch time";
    let long = etf(ROOT, 250_500, "");
    assert_eq!(faults(std::slice::from_ref(&long), &request()), [expected]);
    assert_eq!(faults(&[etf(ROOT, 250_000, "")], &request()).len(), 1);
    assert_eq!(faults(&[etf(ROOT, 249_999, "")], &request()), [""; 0]);
    // The hardware keeps the launch time of a frame that comes early enough.
    let qdiscs = format!("[{}]", long.replace(r#"offload":"off"#, r#"offload":"on"#));
    let mut system = System(vec![("eth0", LINK.to_owned(), qdiscs)]);
    let port = launch_port(&request(), &mut system).unwrap();
    let warnings: Vec<_> = port.faults.iter().map(LaunchFault::is_warning).collect();
    assert_eq!(warnings, [true]);
    let text = port.faults[0].to_string();
    assert!(text.ends_with("perhaps too late"), "{text}");
    // A discipline in deadline mode sends at once, whatever its delta is.
    let deadline = long.replace(r#"deadline_mode":"off"#, r#"deadline_mode":"on"#);
    let deadlines = LaunchRequest {
        deadline_mode: true,
        ..request()
    };
    assert_eq!(faults(&[deadline], &deadlines), [""; 0]);
}

#[test]
fn a_priority_has_the_class_of_its_lowest_bits() {
    let tree = [MAP.to_owned(), etf(FIRST, 200_000, ""), fifo(SECOND)];
    for (priority, faults_of_it) in [(3, 0), (16 + 3, 0), (0x1_0000 + 3, 0), (16, 1), (256, 1)] {
        let request = LaunchRequest {
            priority,
            ..request()
        };
        assert_eq!(faults(&tree, &request).len(), faults_of_it, "{priority}");
    }
}

#[test]
fn recorded_disciplines_of_the_kernel_are_understood() {
    // `taprio` with txtime-assist above `etf` with skip_sock_check, delta 200 us.
    let assisted = include_str!("../tests/kernel_6_1/taprio_assist.json");
    let mut system = System(vec![("eth0", LINK.to_owned(), assisted.to_owned())]);
    assert_eq!(launch_port(&request(), &mut system).unwrap().faults, []);
    let shaped = include_str!("../tests/kernel_6_1/cbs.json");
    let mut system = System(vec![("eth0", LINK.to_owned(), shaped.to_owned())]);
    let faults = launch_port(&request(), &mut system).unwrap().faults;
    assert!(
        matches!(faults.as_slice(), [LaunchFault::NoEtf { discipline, .. }] if discipline == "cbs")
    );
}

/// Returns the result for the interface of a VLAN upon eth0.
fn of_vlan(map: &str, lower: &str, qdiscs: &str, is_tagged: bool) -> LaunchPort {
    let vlan = format!(
        r#"[{{"ifname":"eth0.5",{lower},"num_tx_queues":1,"linkinfo":{{"info_kind":"vlan","info_data":{{"id":5,"egress_qos":[{map}]}}}}}}]"#
    );
    let mut system = System(vec![
        ("eth0.5", vlan, "[]".to_owned()),
        ("eth0", LINK.to_owned(), format!("[{qdiscs}]")),
    ]);
    let request = LaunchRequest {
        interface: "eth0.5".to_owned(),
        is_tagged,
        ..request()
    };
    launch_port(&request, &mut system).unwrap()
}

#[test]
fn the_interface_of_a_vlan_has_the_discipline_of_its_lower_device() {
    let etf = etf(ROOT, 200_000, "");
    let (lower, identity) = (r#""link":"eth0""#, r#"{"from":3,"to":3}"#);
    let port = of_vlan(identity, lower, &etf, false);
    assert_eq!((port.interface.as_str(), port.faults), ("eth0", vec![]));
    let texts = |port: LaunchPort| {
        port.faults
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        texts(of_vlan("", lower, &etf, false)),
        [
            "eth0.5 writes PCP 0 into frames of priority 3, according to the 0 entries of its egress-qos-map"
        ]
    );
    assert_eq!(
        texts(of_vlan(
            r#"{"from":0,"to":0},{"from":3,"to":6}"#,
            lower,
            &etf,
            false
        )),
        [
            "eth0.5 writes PCP 6 into frames of priority 3, according to the 2 entries of its egress-qos-map"
        ]
    );
    assert_eq!(
        texts(of_vlan(identity, lower, &etf, true)),
        [
            "frames would have two tags: the address has a VLAN, and eth0.5 is the interface of one, upon eth0"
        ]
    );
    assert_eq!(
        texts(of_vlan(identity, lower, &fifo(ROOT), false)),
        ["eth0 has no ETF for launch times: frames of priority 3 wait in `pfifo`"]
    );
    let elsewhere = r#""link_index":7,"link_netnsid":0"#;
    assert_eq!(
        texts(of_vlan(identity, elsewhere, &etf, false)),
        [
            "the lower device of eth0.5 is in another network namespace, where its discipline cannot be read"
        ]
    );
}

#[test]
fn the_fix_is_what_the_check_wants() {
    let port = |transmit_queues| LaunchPort {
        interface: "eth0".to_owned(),
        transmit_queues,
        faults: Vec::new(),
    };
    assert_eq!(
        port(4).script(&request()).unwrap().unwrap(),
        [
            "tc qdisc del dev eth0 root 2>/dev/null || true",
            "tc qdisc replace dev eth0 root handle 100: mqprio num_tc 2 \\",
            "    map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 hw 0",
            "tc qdisc replace dev eth0 parent 100:1 handle 101: etf \\",
            "    clockid CLOCK_TAI delta 200000",
            "tc qdisc replace dev eth0 parent 100:2 handle 102: pfifo \\",
            "    limit 1000",
        ]
    );
    let late = LaunchRequest {
        priority: 0,
        deadline_mode: true,
        lead: 50_000,
        ..request()
    };
    assert_eq!(
        port(1).script(&late).unwrap().unwrap(),
        [
            "tc qdisc del dev eth0 root 2>/dev/null || true",
            "tc qdisc replace dev eth0 root handle 100: etf clockid CLOCK_TAI \\",
            "    delta 40000 deadline_mode",
        ]
    );
    // ETF would drop the frames of all other programs, too.
    for priority in [0, 8, 15, 16, 256] {
        let shared = LaunchRequest {
            priority,
            ..request()
        };
        assert_eq!(port(4).script(&shared).unwrap(), None, "{priority}");
    }
    let masked = LaunchRequest {
        priority: 16 + 3,
        ..request()
    };
    assert_eq!(port(4).script(&masked), port(4).script(&request()));
}
