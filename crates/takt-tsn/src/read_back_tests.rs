#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

//! Output of `tc` 6.1 on Linux 6.1.176, recorded on veth interfaces with eight queues in User-Mode Linux.

use super::*;

fn at(text: &str, parent: &str) -> KernelQdisc {
    let qdiscs = read_qdiscs(text).unwrap();
    let found = qdiscs
        .into_iter()
        .find(|qdisc| qdisc.parent.to_string() == parent);
    found.unwrap()
}

fn words(text: &str, parent: &str) -> String {
    at(text, parent).kind.unwrap().phrases().join(" ")
}

const MAP: &str = "num_tc 2 map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1";

#[test]
fn disciplines_of_the_kernel_are_read() {
    let fq_codel = include_str!("../tests/kernel_6_1/fq_codel.json");
    assert_eq!(
        words(fq_codel, "root"),
        "limit 10240 flows 1024 quantum 1514 target 5000us interval 100000us memory_limit 33554432 ecn"
    );
    assert_eq!(at(fq_codel, "root").counters.sent_bytes, 70);
    assert!(at(fq_codel, "parent ffff:fff1").is_ingress());
    let mqprio = include_str!("../tests/kernel_6_1/mqprio.json");
    assert_eq!(words(mqprio, "root"), format!("{MAP} hw 0"));
    assert!(at(mqprio, "parent 100:8").is_default());
    let cbs = include_str!("../tests/kernel_6_1/cbs.json");
    assert_eq!(
        words(cbs, "parent 100:1"),
        "idleslope 3556 sendslope -9996444 hicredit 1 locredit -101 offload 0"
    );
    assert_eq!(words(cbs, "parent 101:1"), "limit 1000");
    let three = words(include_str!("../tests/kernel_6_1/two_shapers.json"), "root");
    assert!(
        three.starts_with("num_tc 3 map 2 2 1 0 2") && three.ends_with("queues 1@0 1@1 1@2 hw 0"),
        "{three}"
    );
}

#[test]
fn gates_of_the_kernel_are_read() {
    let software = include_str!("../tests/kernel_6_1/taprio.json");
    assert_eq!(
        words(software, "root"),
        format!(
            "{MAP} base-time 0 sched-entry S 01 40000 sched-entry S 02 60000 clockid CLOCK_TAI"
        )
    );
    assert_eq!(
        words(software, "parent 100:1"),
        "clockid CLOCK_TAI delta 150000"
    );
}

#[test]
fn a_schedule_that_waits_has_no_name_in_the_output() {
    let assist = include_str!("../tests/kernel_6_1/taprio_assist.json");
    assert!(
        serde_json::from_str::<Value>(assist).is_err(),
        "the output is no JSON"
    );
    let schedule = words(assist, "root");
    assert!(
        schedule.contains("sched-entry S 00 15000 sched-entry S 01 62500"),
        "{schedule}"
    );
    assert!(
        schedule.ends_with("flags 0x1 txtime-delay 205000 clockid CLOCK_TAI"),
        "{schedule}"
    );
    assert_eq!(
        words(assist, "parent 100:1"),
        "clockid CLOCK_TAI delta 200000 skip_sock_check"
    );
    let other = assist.replace(
        r#"],{"base_time":1000000000"#,
        r#"],{"base_time":2000000000"#,
    );
    assert!(
        words(&other, "root").contains("base-time 2000000000"),
        "the schedule that waits counts"
    );
}

#[test]
fn filters_of_the_kernel_are_read() {
    let filters = include_str!("../tests/kernel_6_1/filters.json");
    assert_eq!(read_marked(filters).unwrap(), [2, 3]);
    let wrong = filters.replace(r#""priority":":3""#, r#""priority":":5""#);
    assert_eq!(read_marked(&wrong).unwrap(), [2]);
    let foreign = filters.replace(r#""pref":7100"#, r#""pref":1"#);
    assert_eq!(read_marked(&foreign).unwrap(), [0u8; 0]);
    assert_eq!(read_marked("\n").unwrap(), [0u8; 0]);
}

#[test]
fn unknown_kinds_and_other_spellings_are_tolerated() {
    let text = r#"[{"kind":"netem","handle":"8001:","root":true,"options":{"limit":1000}},
        {"kind":"etf","handle":"101:","parent":"100:a","options":{"delta":5,"offload":true,"skip_sock_check":1}},
        {"nothing":1}]"#;
    assert_eq!(at(text, "root").kind, None);
    assert_eq!(
        words(text, "parent 100:a"),
        "clockid CLOCK_TAI delta 5 offload skip_sock_check"
    );
    assert!(read_qdiscs("qdisc noqueue 0: root").is_err());
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text: String) {
        let _ = read_qdiscs(&text);
        let _ = read_marked(&text);
    }

    #[test]
    fn damaged_output_is_read_or_refused(at in 0usize..2000, byte in proptest::prelude::any::<u8>()) {
        let mut bytes = include_bytes!("../tests/kernel_6_1/taprio_assist.json").to_vec();
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        let _ = read_qdiscs(&String::from_utf8_lossy(&bytes));
    }
}

/// Linux 6.12 shows no entries beside a schedule that waits for its first beginning. Recorded with `tc` 6.1.
#[test]
fn gates_that_wait_for_their_first_beginning_are_read() {
    let waiting = include_str!("../tests/kernel_6_12/taprio_waiting.json");
    assert_eq!(
        words(waiting, "root"),
        "num_tc 2 map 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 0 \
         sched-entry S 01 500000 sched-entry S 02 500000 clockid CLOCK_TAI"
    );
    assert_eq!(words(waiting, "parent 100:2"), "limit 1000");
}
