//! Random ports: scenarios with two nodes and one link, whose frames all pass the first port.

use proptest::prelude::*;
use proptest::sample::select;

/// Scenario with the options of its simulation.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) text: String,
    pub(crate) seed: u64,
    pub(crate) driver_queue: usize,
}

/// Returns cross traffic in frames of random lengths and patterns, in PCPs below `classes`.
fn traffic(classes: u8, link: u64) -> impl Strategy<Value = String> {
    let pattern = select(vec![
        "\"constant\"",
        "\"poisson\"",
        "\"poisson\"",
        "{ burst = 2 }",
        "{ burst = 5 }",
    ]);
    let payload = prop_oneof![0u32..200, 0u32..=1500];
    let flow = (payload, 1u64..70, pattern, 0..classes);
    prop::collection::vec(flow, 1..5).prop_map(move |flows| {
        let flow = |(index, (payload, share, pattern, pcp)): (usize, (u32, u64, &str, u8))| {
            // Rates are no multiples of each other or of those of shapers, so that no two things happen at the same time.
            let rate = share * link * 10_000 + 7 * index as u64 + 13;
            format!(
                "[[cross_traffic]]\nname = \"x{index}\"\nfrom = \"a\"\nto = \"b\"\npayload = \"{payload} B\"\n\
                 rate = \"{rate} bit/s\"\npattern = {pattern}\npcp = {pcp}\n"
            )
        };
        flows.into_iter().enumerate().map(flow).collect()
    })
}

/// Returns the clock of a node: right, wrong by an offset, or with a drift as well.
fn clock() -> impl Strategy<Value = String> {
    let offset = prop_oneof![Just(0i64), -20_000_000i64..20_000_000];
    let drift = prop_oneof![
        Just(0i64),
        -200_000i64..200_000,
        -200_000_000i64..200_000_000
    ];
    (offset, drift).prop_map(|(offset, drift)| {
        format!("clock = {{ offset = \"{offset} ns\", drift = \"{drift} ppb\" }}")
    })
}

fn capacity() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        (1u32..8).prop_map(|frames| format!(", limit = {frames}")),
        (1600u32..6000).prop_map(|bytes| format!(", limit = \"{bytes} B\"")),
    ]
}

/// Returns the fields of a shaper for a part of the link's rate in Mbit/s, with or without a sendSlope and credits of its own.
fn shaper(link: u64) -> impl Strategy<Value = String> {
    let send_slope = prop::option::of(10u64..300);
    // By the fastest clock, two shapers still leave a part of the link.
    let credits = prop::option::of((0i64..4000, -4000i64..0));
    (2u64..40, send_slope, credits, capacity()).prop_map(
        move |(share, send_slope, credits, capacity)| {
            let mut text = format!(
                ", queue = \"cbs\", idle_slope = \"{} kbit/s\"{capacity}",
                share * link * 10
            );
            if let Some(send_slope) = send_slope {
                let send_slope = (share + send_slope) * 15 * link;
                text += &format!(", send_slope = \"{send_slope} kbit/s\"");
            }
            if let Some((highest, lowest)) = credits {
                text += &format!(", hi_credit = \"{highest} B\", lo_credit = \"{lowest} B\"");
            }
            text
        },
    )
}

/// Returns three classes, of which some have a shaper.
fn classes(link: u64, shaped: bool) -> impl Strategy<Value = String> {
    let queue = || {
        let part = if shaped { 0.7 } else { 0.0 };
        (prop::bool::weighted(part), shaper(link), capacity()).prop_map(
            |(shaped, shaper, capacity)| {
                if shaped { shaper } else { capacity }
            },
        )
    };
    (queue(), queue(), capacity()).prop_map(|(first, second, last)| {
        format!(
            "classes = [{{ name = \"A\", priorities = [2]{first} }}, {{ name = \"B\", priorities = [1]{second} }}, \
             {{ name = \"C\"{last} }}]\n"
        )
    })
}

/// Returns gates, whose windows hold at least one longest frame of each class by the fastest clock, before their guard bands.
fn gates(link: u64) -> impl Strategy<Value = String> {
    let longest = 1542 * 10_000 / link;
    let open = select(vec![
        "\"A\"",
        "\"B\"",
        "\"C\"",
        "\"A\", \"B\"",
        "\"B\", \"C\"",
        "\"A\", \"B\", \"C\"",
        "",
    ]);
    let more = prop::collection::vec((open, longest / 8..3 * longest), 0..4);
    let first = select(vec![
        ["\"A\", \"B\", \"C\"", ""],
        ["\"A\"", "\"B\", \"C\""],
        ["\"A\", \"B\"", "\"C\""],
        ["\"A\", \"C\"", "\"B\", \"C\""],
    ]);
    let (one, two) = (longest + 1..4 * longest, longest + 1..4 * longest);
    let guard_band = prop_oneof![Just(0), 0..longest];
    let base = prop_oneof![Just(0), 0..20 * longest];
    (first, one, two, more, guard_band, base).prop_map(
        |(first, one, two, more, guard_band, base)| {
            let mut entries = vec![(first[0], one + guard_band), (first[1], two + guard_band)];
            entries.extend(more);
            let entry = |(open, long): (&str, u64)| {
                format!("{{ gates = [{open}], interval = \"{long} ns\" }}")
            };
            let entries: Vec<String> = entries.into_iter().map(entry).collect();
            format!(
                "entries = [{}]\nguard_band = \"{guard_band} ns\"\nbase_time = \"{base} ns\"\n",
                entries.join(", ")
            )
        },
    )
}

fn scenario(link: u64, clock: &str, discipline: &str, traffic: &str) -> String {
    format!(
        "version = 1\ndiscipline = \"d\"\n[disciplines.d]\n{discipline}\n[[nodes]]\nname = \"a\"\n{clock}\n\
         [[nodes]]\nname = \"b\"\n[[links]]\nends = [\"a\", \"b\"]\nrate = \"{link} Mbit/s\"\n{traffic}"
    )
}

/// Returns the rate of a link in Mbit/s.
fn link() -> impl Strategy<Value = u64> {
    select(vec![10u64, 100, 300, 1000])
}

/// Returns ports with strict priority, or with shapers.
pub(crate) fn priority(shaped: bool) -> impl Strategy<Value = Setup> {
    let parts = link()
        .prop_flat_map(move |link| (Just(link), clock(), classes(link, shaped), traffic(3, link)));
    (parts, any::<u64>(), 1usize..4).prop_map(
        |((link, clock, classes, traffic), seed, driver_queue)| {
            let discipline = format!("scheduler = \"mqprio\"\n{classes}");
            let text = scenario(link, &clock, &discipline, &traffic);
            Setup {
                text,
                seed,
                driver_queue,
            }
        },
    )
}

impl Setup {
    /// Returns the same port with gates of the device.
    pub(crate) fn with_device_gates(mut self) -> Self {
        let kernel = "scheduler = \"taprio\"\n";
        assert!(self.text.contains(kernel), "{}", self.text);
        self.text = self
            .text
            .replacen(kernel, &format!("{kernel}offload = true\n"), 1);
        self
    }
}

/// Returns ports with gates.
pub(crate) fn gated(shaped: bool) -> impl Strategy<Value = Setup> {
    let parts = link().prop_flat_map(move |link| {
        let discipline = (classes(link, shaped), gates(link));
        (Just(link), clock(), discipline, traffic(3, link))
    });
    (parts, any::<u64>(), 1usize..4).prop_map(
        |((link, clock, (classes, gates), traffic), seed, driver_queue)| {
            let discipline = format!("scheduler = \"taprio\"\n{classes}{gates}");
            let text = scenario(link, &clock, &discipline, &traffic);
            Setup {
                text,
                seed,
                driver_queue,
            }
        },
    )
}

/// Returns ports with FQ_CoDel, whose target and interval are short beside the frames.
pub(crate) fn fq_codel() -> impl Strategy<Value = Setup> {
    let parts = link().prop_flat_map(move |link| {
        let frame = 1542 * 8 / link + 1;
        let parameters = (
            select(vec![1u64, 2, 1024]),
            300u64..2000,
            0..2 * frame,
            1..8 * frame,
            prop_oneof![Just(10_240u64), 3u64..40],
            prop_oneof![Just(33_554_432u64), 3000u64..20_000],
        );
        (Just(link), clock(), parameters, traffic(3, link))
    });
    (parts, any::<u64>(), 1usize..4).prop_map(
        |((link, clock, parameters, traffic), seed, driver_queue)| {
            let (flows, quantum, target, interval, limit, memory) = parameters;
            let discipline = format!(
                "scheduler = \"fq_codel\"\nflows = {flows}\nquantum = \"{quantum} B\"\ntarget = \"{target} us\"\n\
                 interval = \"{interval} us\"\nlimit = {limit}\nmemory_limit = \"{memory} B\"\n"
            );
            let text = scenario(link, &clock, &discipline, &traffic);
            Setup { text, seed, driver_queue }
        },
    )
}

/// Returns the fields of an etf, without those that depend on the scheduler.
fn timed() -> impl Strategy<Value = String> {
    let modes = select(vec![
        "offload = false",
        "offload = true",
        "deadline_mode = true, offload = false",
        "deadline_mode = true, offload = true",
    ]);
    (modes, prop_oneof![Just(0u64), 0u64..300_000])
        .prop_map(|(mode, delta)| format!(", queue = \"etf\", delta = \"{delta} ns\", {mode}"))
}

/// Returns applications with txtimes in the first two classes.
fn applications(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let application = (50_000u64..400_000, 0u64..200_000, 1u32..160, 1u8..3);
    prop::collection::vec(application, count).prop_map(|applications| {
        let applications = applications.into_iter().enumerate();
        let applications = applications.map(|(index, (cycle, offset, count, pcp))| {
            format!(
                "[[applications]]\nname = \"a{index}\"\npublisher = \"a\"\nsubscriber = \"b\"\n\
                 cycle = \"{cycle} ns\"\noffset = \"{offset} ns\"\nrepeated_node_count = {count}\npcp = {pcp}\ntxtime = true\n"
            )
        });
        applications.collect()
    })
}

/// Returns the clock of a node whose threads may be late for the txtimes of their frames.
fn late_clock() -> impl Strategy<Value = String> {
    let late = prop_oneof![Just(0u64), 0u64..150_000];
    (clock(), late).prop_map(|(clock, late)| format!("{clock}\nwake_up_latency = \"{late} ns\""))
}

/// Returns ports with ETF below MQPRIO, beside a shaper if that is wanted.
pub(crate) fn etf(shaped: bool) -> impl Strategy<Value = Setup> {
    let parts = select(vec![100u64, 300, 1000]).prop_flat_map(move |link| {
        let second = prop_oneof![
            timed().prop_map(|etf| etf + ", skip_sock_check = true"),
            if shaped {
                shaper(link).boxed()
            } else {
                capacity().boxed()
            },
        ];
        let queues = (timed(), second, capacity());
        (
            Just(link),
            late_clock(),
            queues,
            applications(1..4),
            traffic(3, link),
        )
    });
    (parts, any::<u64>(), 1usize..4).prop_map(
        |((link, clock, (first, second, last), applications, traffic), seed, driver_queue)| {
            let discipline = format!(
                "scheduler = \"mqprio\"\nclasses = [{{ name = \"A\", priorities = [2]{first}, skip_sock_check = true }}, \
                 {{ name = \"B\", priorities = [1]{second} }}, {{ name = \"C\"{last} }}]\n"
            );
            let text = scenario(link, &clock, &discipline, &(traffic + &applications));
            Setup { text, seed, driver_queue }
        },
    )
}

/// Returns ports with txtime-assist, whose gates give frames their txtimes, and do nothing else, or with ETF behind gates.
pub(crate) fn timed_gates(assisted: bool) -> impl Strategy<Value = Setup> {
    // Fast links would carry too many frames while applications send theirs.
    let parts = select(vec![10u64, 100, 300]).prop_flat_map(move |link| {
        let longest = 1542 * 8000 / link;
        let last = prop_oneof![timed(), capacity()];
        (
            Just(link),
            late_clock(),
            (timed(), timed(), last),
            gates(link),
            0..3 * longest,
            applications(0..3),
            traffic(3, link),
        )
    });
    (parts, any::<u64>(), 1usize..4).prop_map(
        move |((link, clock, queues, gates, delay, applications, traffic), seed, driver_queue)| {
            let (first, second, last) = queues;
            let (assist, check) = match assisted {
                true => (format!("txtime_assist = \"{delay} ns\"\n"), ""),
                false => (String::new(), ", skip_sock_check = true"),
            };
            let check_last = if last.contains("etf") { check } else { "" };
            let discipline = format!(
                "scheduler = \"taprio\"\nclasses = [{{ name = \"A\", priorities = [2]{first}{check} }}, \
                 {{ name = \"B\", priorities = [1]{second}{check} }}, {{ name = \"C\"{last}{check_last} }}]\n\
                 {assist}{gates}"
            );
            let text = scenario(link, &clock, &discipline, &(traffic + &applications));
            Setup { text, seed, driver_queue }
        },
    )
}
