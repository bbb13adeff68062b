//! Times that can be computed by hand.

use takt_scenario::Scenario;
use takt_sim::{
    Loopback, Message, MessageOutcome, Model, Observer, Results, RunOptions, Simulation, Time,
};

/// Publisher, bridges and loopback in a line, with everything in one class. `more` goes before the first table of an array.
fn line(hops: usize, application: &str, more: &str) -> String {
    let mut text = format!("version = 1\ndiscipline = \"fifo\"\n{more}\n");
    if !more.contains("disciplines.fifo") {
        text += "[disciplines.fifo]\nscheduler = \"mqprio\"\nclasses = [{ name = \"all\" }]\n";
    }
    text += "[[nodes]]\nname = \"n0\"\n";
    for hop in 1..=hops {
        let kind = if hop == hops { "host" } else { "bridge" };
        text += &format!("[[nodes]]\nname = \"n{hop}\"\nkind = \"{kind}\"\n");
        text += &format!(
            "[[links]]\nends = [\"n{}\", \"n{hop}\"]\nrate = \"1 Gbit/s\"\n",
            hop - 1
        );
    }
    format!(
        "{text}\n[[applications]]\nname = \"control\"\npublisher = \"n0\"\ncycle = \"250 us\"\nrepeated_node_count = 2\npcp = 3\n{application}\n"
    )
}

fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml").unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn run(text: &str, change: impl FnOnce(&mut RunOptions)) -> Results {
    let scenario = parse(text);
    let mut options = RunOptions::new(&scenario);
    options.simulation.cycles = 200;
    change(&mut options);
    Simulation::new(&scenario, options).run(&mut ())
}

/// Returns the least and the greatest round trip in nanoseconds.
fn round_trip(results: &Results) -> (i64, i64) {
    let extremes = &results.applications[0].round_trip.delay.extremes;
    assert!(extremes.count > 0, "{results:?}");
    (
        extremes.least().unwrap().as_nanoseconds(),
        extremes.most().unwrap().as_nanoseconds(),
    )
}

/// Nanoseconds of 101 B on the wire.
const SENDING: i64 = 808;

#[test]
fn the_offset_decides_which_cycle_takes_a_message() {
    // Messages that arrive within 0.3 cycles are answered a cycle later, all others two cycles later.
    let cases = [
        (0, 250_000),
        (50, 250_000),
        (80, 500_000),
        (150, 500_000),
        (249, 500_000),
    ];
    for model in [Model::Linux, Model::Ieee] {
        for (offset, expected) in cases {
            let text = line(
                1,
                &format!("loopback = \"n1\"\noffset = \"{offset} us\""),
                "",
            );
            let results = run(&text, |options| options.model = model);
            assert_eq!(
                round_trip(&results),
                (expected + SENDING, expected + SENDING),
                "{offset}"
            );
            assert_eq!(results.applications[0].round_trip.delay.extremes.count, 200);
        }
    }
}

#[test]
fn each_bridge_stores_and_forwards() {
    let text = line(3, "loopback = \"n3\"\noffset = \"150 us\"", "");
    let text = text.replace(
        "kind = \"bridge\"",
        "kind = \"bridge\"\nforwarding_delay = \"2 us\"",
    );
    let text = text.replace(
        "rate = \"1 Gbit/s\"",
        "rate = \"1 Gbit/s\"\nlength = \"20 m\"",
    );
    let results = run(&text, |_| {});
    let one_way = results.flows[0].one_way.delay.extremes;
    // The path has three links of 808 ns and 100 ns, and two bridges.
    assert_eq!(
        one_way.most().unwrap().as_nanoseconds(),
        3 * (SENDING + 100) + 2 * 2000
    );
    assert_eq!(
        results.flows[0].hops[1].most().unwrap().as_nanoseconds(),
        SENDING + 100
    );
    assert_eq!(
        results.flows[0].spacing.extremes.most().unwrap(),
        Time::microseconds(250)
    );
    assert_eq!(round_trip(&results).1, 500_000 + 3 * (SENDING + 100) + 4000);
}

/// Results with a bridge whose port to the Subscriber has this class.
fn with_port(class: &str) -> Results {
    let discipline = format!(
        "[disciplines.fifo]\nscheduler = \"mqprio\"\nclasses = [{{ name = \"all\" }}]\n[disciplines.other]\nscheduler = \"mqprio\"\nclasses = [{{ name = \"all\", {class} }}]"
    );
    let text = line(2, "subscriber = \"n2\"", &discipline);
    run(
        &format!("{text}\n[[ports]]\nnode = \"n1\"\ndiscipline = \"other\"\n"),
        |_| {},
    )
}

#[test]
fn frames_that_do_not_arrive_count_where_they_were() {
    // The queue has no room for any frame.
    let results = with_port("limit = \"50 B\"");
    let flow = &results.flows[0];
    assert_eq!((flow.sent, flow.received, flow.all_lost()), (200, 0, 200));
    assert_eq!(
        (flow.hops[0].count, flow.hops[0].most(), flow.hops[1].count),
        (200, Some(Time::nanoseconds(SENDING)), 0)
    );
    // The shaper lets one frame go in a second, and the others are given up after a minute.
    let results = with_port("queue = \"cbs\", idle_slope = \"1 kbit/s\", limit = 1000");
    let flow = &results.flows[0];
    assert_eq!((flow.sent, flow.all_lost()), (200, 0));
    assert!((10..190).contains(&flow.received), "{}", flow.received);
    assert_eq!(
        (flow.hops[0].count, flow.hops[1].count),
        (200, flow.received)
    );
    assert_eq!(flow.one_way.delay.extremes.count, flow.received);
}

#[test]
fn clocks_that_differ_move_the_loopback() {
    // The loopback's clock is 100 µs ahead: a message that arrives at 150.8 of the Publisher's cycle comes at 0.8 of the
    // loopback's.
    let text = line(1, "loopback = \"n1\"\noffset = \"150 us\"", "");
    let text = text.replace(
        "name = \"n1\"",
        "name = \"n1\"\nclock = { offset = \"100 us\" }",
    );
    // It is sent at 150 of its next cycle, 50 of the Publisher's.
    assert_eq!(
        round_trip(&run(&text, |_| {})),
        (400_000 + SENDING, 400_000 + SENDING)
    );
    // With 1000 ppm all delays between 0.7 and 1.7 cycles plus offset occur.
    let text = text.replace("offset = \"100 us\"", "drift = \"1000 ppm\"");
    let (least, most) = round_trip(&run(&text, |options| options.simulation.cycles = 3000));
    assert!(
        (325_000..330_000).contains(&least) && (571_000..576_000).contains(&most),
        "{least} {most}"
    );
}

#[test]
fn etf_drops_what_comes_late_and_sends_in_time() {
    let etf = |latency: &str, offload: bool| {
        let discipline = format!(
            "[disciplines.fifo]\nscheduler = \"mqprio\"\nclasses = [{{ name = \"all\", queue = \"etf\", delta = \"200 us\", offload = {offload} }}]"
        );
        let text = line(1, "loopback = \"n1\"\noffset = \"150 us\"", &discipline);
        run(
            &text.replace(
                "name = \"n0\"",
                &format!("name = \"n0\"\nwake_up_latency = {latency}"),
            ),
            |_| {},
        )
    };
    // The publisher thread has 0.4 cycles and the offset, 250 µs.
    for offload in [false, true] {
        let results = etf("{ least = \"0 us\", most = \"200 us\" }", offload);
        assert_eq!(results.flows[0].received, 200);
    }
    let results = etf("{ least = \"0 us\", most = \"200 us\" }", true);
    assert_eq!(round_trip(&results), (500_000 + SENDING, 500_000 + SENDING));
    let spacing = results.flows[0].spacing.extremes;
    assert_eq!(
        (spacing.least(), spacing.most()),
        (Some(Time::microseconds(250)), Some(Time::microseconds(250)))
    );
    let results = etf("\"251 us\"", true);
    assert_eq!(
        (results.flows[0].received, results.flows[0].all_lost()),
        (0, 200)
    );
}

#[test]
fn one_message_per_cycle_repeats_and_overwrites() {
    // The loopback's cycle is as long, but the Publisher's thread is sometimes late.
    let text = line(1, "loopback = \"n1\"\noffset = \"70 us\"", "");
    let text = text.replace(
        "name = \"n0\"",
        "name = \"n0\"\nwake_up_latency = { least = \"0 us\", most = \"20 us\" }",
    );
    let all = run(&text, |options| options.simulation.cycles = 2000);
    let counters = &all.applications[0].counters;
    assert_eq!(
        (counters.missed, counters.repeated, counters.out_of_order),
        (0, 0, 0)
    );
    let latest = run(&text, |options| {
        options.simulation.cycles = 2000;
        options.loopback = Loopback::Latest;
    });
    let statistics = &latest.applications[0];
    assert!(
        statistics.overwritten > 100 && statistics.counters.repeated > 100,
        "{statistics:?}"
    );
    assert_eq!(statistics.overwritten, statistics.counters.missed);
}

#[derive(Default, PartialEq, Debug)]
struct Seen(Vec<Message>);

impl Observer for Seen {
    fn message(&mut self, message: &Message) {
        self.0.push(*message);
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let cross = "[[cross_traffic]]\nname = \"load\"\nfrom = \"n0\"\nto = \"n2\"\nrate = \"400 Mbit/s\"\npayload = \"1500 B\"\npattern = \"poisson\"\n";
    let text = line(
        2,
        &format!("loopback = \"n2\"\noffset = \"150 us\"\n{cross}"),
        "",
    );
    let scenario = parse(&text.replace(
        "name = \"n0\"",
        "name = \"n0\"\nwake_up_latency = { least = \"5 us\", most = \"40 us\" }",
    ));
    let run = |seed| {
        let mut seen = Seen::default();
        let mut options = RunOptions::new(&scenario);
        options.simulation.cycles = 300;
        options.simulation.seed = seed;
        let results = Simulation::new(&scenario, options).run(&mut seen);
        (seen, results.events)
    };
    let first = run(1);
    assert_eq!(first, run(1));
    assert_ne!(first.0, run(2).0);
    assert!(
        first
            .0
            .0
            .iter()
            .filter(|message| message.outcome == MessageOutcome::Arrived)
            .count()
            == 300
    );
}

#[test]
fn a_user_thread_behind_the_publisher_thread_costs_a_cycle() {
    // 0.3 cycles are 75 µs, 0.6 cycles 150: with 76 µs of latency the publisher thread has run.
    for (latency, expected) in [(74, 250_000 + 74_000), (76, 500_000 + 76_000)] {
        let text = line(1, "loopback = \"n1\"\noffset = \"0 us\"", "");
        let text = text.replace(
            "name = \"n1\"",
            &format!("name = \"n1\"\nwake_up_latency = \"{latency} us\""),
        );
        let most = round_trip(&run(&text, |_| {})).1;
        assert_eq!(most, expected + SENDING, "{latency}");
    }
}
