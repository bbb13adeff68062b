//! Applications with several Subscribers: each has quantities of its own.

use serde_json::Value;

use super::folder::{Folder, SCENARIO};
use crate::CampaignRow;

/// Flows to the Subscribers.
const SUBSCRIBERS: [&str; 2] = ["control \u{2192} host2", "control \u{2192} host3"];

const NETWORK: &str = r#"version = 1
nodes = [
    { name = "host1" }, { name = "host2" }, { name = "host3" },
    { name = "bridge1", kind = "bridge", forwarding_delay = "5 us" },
]
links = [
    { ends = ["host1", "bridge1"], rate = "1 Gbit/s" },
    { ends = ["bridge1", "host2"], rate = "1 Gbit/s" },
    { ends = ["bridge1", "host3"], rate = "100 Mbit/s" },
]
[[applications]]
name = "control"
publisher = "host1"
subscribers = ["host2", "host3"]
cycle = "250 us"
payload = "59 B"
"#;

const CAMPAIGN: &str = r#"version = 1
scenarios = ["plant.toml", "loop.toml"]
backends = ["simulate", "bounds"]
messages = 20
"#;

/// Returns the rows of the campaign.
fn rows(folder: &Folder) -> Vec<CampaignRow> {
    folder.run(&folder.options("out")).unwrap();
    let rows = folder.result("out");
    let rows = rows["rows.jsonl"].lines();
    rows.map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn number(row: &CampaignRow, quantity: &str) -> f64 {
    let value = row.values.get(quantity).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("{quantity}: {:#?}", row.values))
}

#[test]
fn each_subscriber_has_quantities() {
    let folder = Folder::new(CAMPAIGN);
    folder.write("plant.toml", NETWORK);
    folder.write("loop.toml", SCENARIO);
    let rows = rows(&folder);
    let row = |backend: &str| {
        let mut rows = rows.iter();
        let wanted = |row: &&CampaignRow| row.scenario == "plant.toml" && row.backend == backend;
        rows.find(wanted).unwrap()
    };
    let (simulated, bounds) = (row("simulate"), row("bounds"));
    assert_eq!((&simulated.failure, &bounds.failure), (&None, &None));
    let mut longest = Vec::new();
    for name in SUBSCRIBERS {
        for (quantity, count) in [
            ("messages.published", 20.0),
            ("messages.lost", 0.0),
            ("messages.missed", 0.0),
            ("frames.received", 20.0),
        ] {
            let quantity = format!("{name}.{quantity}");
            assert_eq!(number(simulated, &quantity), count, "{quantity}");
        }
        let time = number(simulated, &format!("{name}.one_way.max_ns"));
        let bound = number(bounds, &format!("{name}.one_way.bound_ns"));
        assert!(0.0 < time && time <= bound, "{name}: {time} {bound}");
        longest.push(time);
    }
    assert!(
        longest[0] < longest[1],
        "the second link is slower: {longest:?}"
    );
    // No quantity of one Subscriber has the name of all.
    let mut names = simulated.values.keys().chain(bounds.values.keys());
    assert!(!names.any(|name| name.starts_with("control.one_way")));
    assert_eq!(number(simulated, "control.messages.published"), 20.0);
}

#[test]
fn losses_belong_to_the_subscriber_that_has_them() {
    let folder = Folder::new(
        &CAMPAIGN
            .replace(", \"bounds\"", "")
            .replace(", \"loop.toml\"", ""),
    );
    // A frame takes more than four cycles on the slow link.
    let slow = NETWORK
        .replace("100 Mbit/s", "10 Mbit/s")
        .replace("59 B", "1400 B")
        .replace("version = 1\n", "version = 1\ndiscipline = \"short\"\n");
    let short =
        "[disciplines.short]\nscheduler = \"mqprio\"\nclasses = [{ name = \"all\", limit = 2 }]\n";
    folder.write("plant.toml", &format!("{slow}{short}"));
    let rows = rows(&folder);
    let row = &rows[0];
    let of = |name: &str, quantity: &str| number(row, &format!("{name}.messages.{quantity}"));
    let lost = of(SUBSCRIBERS[1], "lost");
    assert!(lost > 5.0, "{lost}");
    assert_eq!(of(SUBSCRIBERS[0], "lost"), 0.0);
    for quantity in ["lost", "lost_at_bridges"] {
        assert_eq!(of("control", quantity), lost);
    }
    for quantity in [
        "lost_at_publisher",
        "lost_at_loopback",
        "lost_at_bridges_back",
    ] {
        assert_eq!(of("control", quantity), 0.0);
    }
    let missed = SUBSCRIBERS.map(|name| of(name, "missed"));
    assert_eq!(missed[0], 0.0);
    assert!(missed[1] > 0.0 && missed[1] <= lost, "{missed:?} {lost}");
    assert_eq!(of("control", "missed"), missed[1]);
}
