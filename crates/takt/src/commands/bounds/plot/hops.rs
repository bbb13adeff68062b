//! Arrivals and service at each hop.

use std::collections::BTreeSet;

use takt_calculus::{Curve, Extended, FrameDelay, QueueBound, Rational};
use takt_figures::{Axis, Chart, ChartSeries};

use super::super::row::Row;
use super::numbers::{micros, near};

/// Least number of steps of the arrivals in a chart.
const STEPS: usize = 2;
/// Longest time in which steps are searched, in seconds.
const LONGEST: u32 = 1;
/// Largest number of charts in a figure.
const CHARTS: usize = 12;

/// Returns arrival and service curves at the queues that flows pass, each queue once, in the order of the first flow through it.
pub(super) fn charts(row: &Row) -> Vec<Chart> {
    let mut drawn = BTreeSet::new();
    let mut charts = Vec::new();
    for flow in &row.bounds.flows {
        for (index, hop) in flow.queues.iter().zip(1..) {
            let Some(queue) = row.bounds.queues.get(*index) else {
                continue;
            };
            if charts.len() < CHARTS && drawn.insert(*index) {
                let flows = row.bounds.flows.iter();
                let passing = flows.filter(|flow| flow.queues.contains(index)).count();
                let others = match passing {
                    1 => String::new(),
                    passing => format!(" and {} more", passing - 1),
                };
                charts.push(hop_chart(
                    queue,
                    &format!("Hop {hop} of {}{others}", flow.name),
                ));
            }
        }
    }
    charts
}

fn hop_chart(queue: &QueueBound, place: &str) -> Chart {
    let longest = queue.longest_delay();
    let backlog = queue.arrival.greatest_backlog(&queue.service);
    let end = last_shown(queue, longest.as_ref());
    // The height is limited, so that a fast link does not leave the arrivals at the bottom.
    let highest = queue.arrival.corners(&end).pop();
    let served = highest
        .filter(|(_, bits)| !bits.is_zero())
        .and_then(|(_, bits)| {
            let top = Extended::Finite(bits * Rational::from(2));
            queue.service.first_at_least(&top)
        });
    let bound = micros(&queue.delay).map_or_else(
        || "infinite".to_owned(),
        |micros| format!("{micros:.1} \u{b5}s"),
    );
    let mut lines = vec![
        ChartSeries::line("arrivals", points(&queue.arrival, &end)),
        ChartSeries::line(
            "service",
            points(&queue.service, served.as_ref().unwrap_or(&end).min(&end)),
        ),
    ];
    if let Some(longest) = &longest {
        // The last frame is on the link at the link's rate, and not at that of the service.
        let begun = &longest.bits - &queue.shortest;
        if queue.keeps_order && !queue.shortest.is_zero() {
            let frame = [(&longest.begins, &begun), (&longest.ends, &longest.bits)];
            lines.push(ChartSeries::line("last frame", frame.map(point).to_vec()));
        }
        let ends = [&longest.arrives, &longest.ends].map(|time| point((time, &longest.bits)));
        lines.push(ChartSeries::marked("delay", ends.to_vec()));
    }
    if let Some(backlog) = &backlog {
        let ends = [&backlog.served, &backlog.arrived].map(|value| point((&backlog.time, value)));
        lines.push(ChartSeries::marked("backlog", ends.to_vec()));
    }
    Chart {
        title: format!(
            "{place}: {}, class {}, delay {bound}",
            queue.port_name.replace('\u{2192}', "to"),
            queue.class_name
        ),
        x: Axis::new("time (\u{b5}s)"),
        y: Axis::new("data (bit)"),
        ordered: false,
        labelled: true,
        series: lines,
    }
}

/// Returns the end of a chart. Before it, the burst is served, the longest delay is over, and steps of the arrivals are visible, if
/// there are any.
fn last_shown(queue: &QueueBound, longest: Option<&FrameDelay>) -> Rational {
    let corners = queue.arrival.corners(&Rational::from(LONGEST));
    let burst = corners.iter().take_while(|(time, _)| time.is_zero()).last();
    let served = burst
        .zip(queue.service.long_term_rate())
        .filter(|(_, rate)| !rate.is_zero())
        .map(|((_, burst), rate)| burst / rate);
    let over = longest.map(|longest| &longest.ends).max(served.as_ref());
    let over = over.map_or(Rational::ZERO, |over| {
        over * Rational::from_parts(3.into(), 2u32.into())
    });
    let steps = corners.windows(2).filter(|pair| {
        let [(before, low), (time, high)] = pair else {
            return false;
        };
        before == time && low < high && !time.is_zero()
    });
    let steps = steps.take(STEPS).last();
    let steps = steps.map_or(Rational::ZERO, |pair| {
        &pair[0].0 * Rational::from_parts(5.into(), 4u32.into())
    });
    let little = Rational::from_parts(1.into(), 1_000_000u32.into());
    over.max(steps).max(little)
}

/// Returns the corners of a curve, both ends of each step included.
fn points(curve: &Curve, end: &Rational) -> Vec<(f64, f64)> {
    let corners = curve.corners(end);
    let points = corners.iter().map(|(time, value)| point((time, value)));
    points.collect()
}

/// Returns a point of a chart: microseconds and bits.
fn point((time, bits): (&Rational, &Rational)) -> (f64, f64) {
    (near(time) * 1e6, near(bits))
}
