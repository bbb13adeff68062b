//! `takt lab run --json`: one object for each case that has ended, with its results.

use serde_json::{Value, json};

use crate::case::SandboxedRun;
use crate::{Outcome, TestedBackend};

/// Two cases, one of them with messages of another length.
const SCENARIO: &str = r#"
version = 1
topology = { kind = "p2p" }
discipline = "fq_codel"
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "2 ms"
payload = "100 B"
[[sweeps]]
parameter = "applications.control.payload"
values = ["100 B", "200 B"]
"#;

pub fn each_case_is_an_object(backend: &TestedBackend) -> Outcome {
    let run = SandboxedRun::new(SCENARIO);
    let mut arguments = vec!["--backend", &backend.name, "--messages", "40", "--json"];
    if backend.is_host() {
        arguments.push("--without-disciplines");
    }
    let printed = run.finish(&arguments).expect_success();
    let events: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let kinds: Vec<&Value> = events.iter().map(|event| &event["event"]).collect();
    assert_eq!(kinds, ["started", "case", "case", "ended"], "{printed}");
    assert_eq!(events[0]["cases"], 2);
    assert_eq!(events[0]["backend"], backend.name.as_str());
    for (number, payload) in [(1, "100 B"), (2, "200 B")] {
        let case = &events[number];
        assert_eq!(case["case"], number, "{case}");
        assert_eq!(
            (&case["failure"], &case["messages"]),
            (&Value::Null, &json!(40)),
            "{case}"
        );
        let settings = case["settings"].to_string();
        assert!(settings.contains(payload), "{settings}");
        let application = &case["applications"][0];
        assert_eq!(application["application"], "control");
        // Threads of a busy machine come late, and lose messages.
        let [sent, returned, lost] =
            ["sent", "returned", "lost"].map(|key| application[key].as_u64().unwrap());
        assert_eq!((sent, returned + lost), (40, 40), "{case}");
        assert!(lost == 0 || backend.name != "uml", "{case}");
        for kind in ["applicationRoundTripNs", "wireRoundTripNs"] {
            let times = ["median", "p99", "max"].map(|name| application[kind][name].as_i64());
            assert!(times[0] > Some(0) && times.is_sorted(), "{kind}: {case}");
        }
    }
    assert_eq!(events[3]["failed"], 0);
    Outcome::Passed
}
