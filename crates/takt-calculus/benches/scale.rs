//! How Total Flow Analysis grows from 10 to 10 000 flows, with a switch for every ten of them: time and peak memory. TFA++ is rounded to a grid of a
//! nanosecond and a bit; exact, numbers grow with the servers that a flow depends on.

#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::error::Error;
use std::fs;
use std::time::Instant;

use takt_calculus::{Curve, CurveError, Network, Output, Rational, TotalFlow};

#[path = "../tests/factory/mod.rs"]
mod factory;

/// Sets the highest amount of memory of this process to what it has now.
fn forget_peak() -> std::io::Result<()> {
    fs::write("/proc/self/clear_refs", "5")
}

/// The highest amount of memory since then, in MiB.
fn peak() -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kilobytes.ok_or("no VmHWM")?.parse::<f64>()? / 1024.0)
}

/// For how long this thread has had a processor, in seconds: what the time is on a machine with nothing else to do.
fn processor() -> Result<f64, Box<dyn Error>> {
    let schedule = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = schedule.split_whitespace().next().ok_or("no time")?;
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}

fn row(
    name: &str,
    network: &Network,
    analysis: impl Fn(&Network) -> TotalFlow,
) -> Result<(), Box<dyn Error>> {
    forget_peak()?;
    let (start, processor_start) = (Instant::now(), processor()?);
    let bounds = analysis(network);
    let (time, processor) = (start.elapsed(), processor()? - processor_start);
    let longest = bounds.flow_delays.iter().max();
    let longest = longest
        .and_then(|longest| longest.finite())
        .ok_or("infinite")?;
    let digits = longest.to_string().len();
    println!(
        "{name:<14} {:>9.3} s {processor:>9.3} s {:>9.1} MiB {:>9.1} us {digits:>10}",
        time.as_secs_f64(),
        peak()?,
        longest.to_f64().value() * 1e6,
    );
    Ok(())
}

/// Four steps exactly, then the line above them.
fn stairs(bits: Rational, cycle: Rational) -> Result<Curve, CurveError> {
    Curve::staircase(bits, cycle, 4)
}

fn main() -> Result<(), Box<dyn Error>> {
    let grid = factory::grid()?;
    for flows in [10, 100, 1_000, 10_000] {
        let switches = (flows / 10).max(2);
        let start = Instant::now();
        let factory = factory::factory(switches, flows, factory::buckets)?;
        let hops: usize = factory.flows.iter().map(|flow| flow.path.len()).sum();
        let ports = factory.servers.len();
        let buckets = Network::new(factory.servers, factory.flows)?;
        println!(
            "\n{flows} flows, {} switches, {ports} ports, {hops} hops; made in {:.3} s",
            switches,
            start.elapsed().as_secs_f64()
        );
        println!(
            "{:<14} {:>11} {:>11} {:>13} {:>12} {:>10}",
            "analysis", "time", "processor", "peak memory", "longest", "digits"
        );
        row("TFA, exact", &buckets, |network| {
            network.total_flow(Output::Delay, false)
        })?;
        row("TFA, rounded", &buckets, |network| {
            network.total_flow_rounded(false, &grid)
        })?;
        row("TFA++, rounded", &buckets, |network| {
            network.total_flow_rounded(true, &grid)
        })?;
        let stairs = factory::factory(switches, flows, stairs)?;
        let stairs = Network::new(stairs.servers, stairs.flows)?;
        row("TFA++, stairs", &stairs, |network| {
            network.total_flow_rounded(true, &grid)
        })?;
        // The last, since it leaves the memory larger than it found it.
        row("TFA++, exact", &buckets, |network| {
            network.total_flow(Output::Delay, true)
        })?;
    }
    Ok(())
}
