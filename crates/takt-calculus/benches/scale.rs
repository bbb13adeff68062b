//! Time and peak memory of Total Flow Analysis from 10 to 10 000 flows, with a switch for every ten of them. TFA++ is rounded to
//! a grid of a nanosecond and a bit; without rounding, numbers grow with the servers that a flow depends on.

#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::error::Error;
use std::fs;
use std::time::Instant;

use takt_calculus::{
    Curve, CurveError, EgressPort, Extended, FixedPoint, Network, OutputBound, PortClass,
    PortNetwork, QueueId, Rational, Step, Stream, TransmissionSelection,
};

#[path = "../tests/it/factory/mod.rs"]
mod factory;

/// Resets the peak memory of this process to its present memory.
fn forget_peak() -> std::io::Result<()> {
    fs::write("/proc/self/clear_refs", "5")
}

/// Returns the peak memory since then, in MiB.
fn peak() -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kilobytes.ok_or("no VmHWM")?.parse::<f64>()? / 1024.0)
}

/// Returns the processor time of this thread, in seconds: the elapsed time on a machine without other load.
fn processor() -> Result<f64, Box<dyn Error>> {
    let schedule = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = schedule.split_whitespace().next().ok_or("no time")?;
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}

fn row(
    name: &str,
    analysis: impl FnOnce() -> Result<Vec<Extended>, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    forget_peak()?;
    let (start, processor_start) = (Instant::now(), processor()?);
    let delays = analysis()?;
    let (time, processor) = (start.elapsed(), processor()? - processor_start);
    let longest = delays.iter().max();
    let longest = longest
        .and_then(|longest| longest.finite())
        .ok_or("infinite")?;
    let digits = longest.to_string().len();
    println!(
        "{name:<16} {:>9.3} s {processor:>9.3} s {:>9.1} MiB {:>9.1} us {digits:>10}",
        time.as_secs_f64(),
        peak()?,
        longest.to_f64().value() * 1e6,
    );
    Ok(())
}

/// A staircase with four exact steps, then the line above them.
fn stairs(bits: Rational, cycle: Rational) -> Result<Curve, CurveError> {
    Curve::staircase(bits, cycle, 4)
}

/// The same factory as ports with two classes. The lower class only sends its longest frame at the worst time. Bridges take up to
/// 2 µs.
fn ports(factory: &factory::Factory) -> Result<PortNetwork, Box<dyn Error>> {
    let class = |shortest| PortClass {
        selection: TransmissionSelection::StrictPriority,
        longest: factory::LONGEST.into(),
        shortest,
    };
    let ports = factory.servers.iter().map(|server| {
        let rate = server.service.long_term_rate().ok_or("no rate")?;
        let classes = vec![class(Rational::from(8 * 84)), class(Rational::ZERO)];
        Ok(EgressPort::new(rate.clone(), classes)?)
    });
    let ports = ports.collect::<Result<_, Box<dyn Error>>>()?;
    let forwarding = Step::Delay {
        least: Rational::ZERO,
        most: Rational::from_parts(2.into(), 1_000_000u32.into()),
    };
    let streams = factory.flows.iter().map(|flow| {
        let rate = flow.arrival.long_term_rate().ok_or("no rate")?.clone();
        let frames = Curve::rate_latency(rate, Rational::ZERO)?;
        let frame = flow.arrival.vertical_deviation(&frames);
        let frame = frame.finite().ok_or("no frame")?.clone();
        let queues = flow.path.iter().map(|port| {
            Step::Queue(QueueId {
                port: *port,
                class: 0,
            })
        });
        let path = queues.flat_map(|queue| [queue, forwarding.clone()]);
        Ok(Stream {
            arrival: flow.arrival.clone(),
            longest: frame.clone(),
            shortest: frame,
            path: path.collect(),
            branch: None,
        })
    });
    let streams = streams.collect::<Result<_, Box<dyn Error>>>()?;
    Ok(PortNetwork::new(ports, streams)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let grid = factory::grid()?;
    let rounded = FixedPoint {
        exact_up_to: 0,
        ..FixedPoint::default()
    };
    for flows in [10, 100, 1_000, 10_000] {
        let switches = (flows / 10).max(2);
        let start = Instant::now();
        let factory = factory::factory(switches, flows, factory::buckets)?;
        let hops: usize = factory.flows.iter().map(|flow| flow.path.len()).sum();
        let queues = factory.servers.len();
        let of_ports = ports(&factory)?;
        let buckets = Network::new(factory.servers, factory.flows)?;
        println!(
            "\n{flows} flows, {} switches, {queues} queues, {hops} hops; made in {:.3} s",
            switches,
            start.elapsed().as_secs_f64()
        );
        println!(
            "{:<16} {:>11} {:>11} {:>13} {:>12} {:>10}",
            "analysis", "time", "processor", "peak memory", "longest", "digits"
        );
        row("TFA, exact", || {
            Ok(buckets.total_flow(OutputBound::Delay, false).flow_delays)
        })?;
        row("TFA, rounded", || {
            Ok(buckets.total_flow_rounded(false, &grid).flow_delays)
        })?;
        row("TFA++, rounded", || {
            Ok(buckets.total_flow_rounded(true, &grid).flow_delays)
        })?;
        row("of ports", || {
            let bounds = of_ports.total_flow(true, &rounded)?.streams;
            Ok(bounds.into_iter().map(|stream| stream.delay).collect())
        })?;
        let stairs = factory::factory(switches, flows, stairs)?;
        let of_ports = ports(&stairs)?;
        let stairs = Network::new(stairs.servers, stairs.flows)?;
        row("TFA++, stairs", || {
            Ok(stairs.total_flow_rounded(true, &grid).flow_delays)
        })?;
        row("of ports, stairs", || {
            let bounds = of_ports.total_flow(true, &rounded)?.streams;
            Ok(bounds.into_iter().map(|stream| stream.delay).collect())
        })?;
        // This row is the last, since the analysis leaves memory allocated.
        row("TFA++, exact", || {
            Ok(buckets.total_flow(OutputBound::Delay, true).flow_delays)
        })?;
    }
    Ok(())
}
