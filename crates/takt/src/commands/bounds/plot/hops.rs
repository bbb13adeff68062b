//! Arrivals and service at each hop.

use takt_calculus::{Curve, Extended, QueueBound, Rational};
use takt_report::{Axis, Chart, Line};

use super::super::row::Row;
use super::numbers::{micros, near};

/// Least number of steps of the arrivals in a chart.
const STEPS: usize = 2;
/// Longest time in which steps are searched, in seconds.
const LONGEST: u32 = 1;
/// Largest number of hops in a figure. A longer path shows its first hops.
const HOPS: usize = 8;

/// Returns arrival and service curves at the hops of the first flow.
pub(super) fn charts(row: &Row) -> Vec<Chart> {
    let queues = row
        .bounds
        .flows
        .first()
        .map(|flow| flow.queues.clone())
        .unwrap_or_default();
    let queues = queues
        .iter()
        .filter_map(|queue| row.bounds.queues.get(*queue))
        .take(HOPS);
    queues
        .zip(1..)
        .map(|(queue, hop)| hop_chart(queue, hop))
        .collect()
}

fn hop_chart(queue: &QueueBound, hop: usize) -> Chart {
    let end = last_shown(queue);
    // The height is limited, so that a fast link does not leave the arrivals at the bottom.
    let highest = queue.arrival.corners(&end).pop();
    let served = highest
        .filter(|(_, bits)| !bits.is_zero())
        .and_then(|(_, bits)| {
            let top = Extended::Finite(bits * Rational::from(2));
            queue.service.first_at_least(&top)
        });
    let line = |label: &str, curve: &Curve, end: &Rational| Line {
        label: label.to_owned(),
        points: points(curve, end),
        marks: false,
    };
    let bound = micros(&queue.delay).map_or_else(
        || "infinite".to_owned(),
        |micros| format!("{micros:.1} \u{b5}s"),
    );
    Chart {
        title: format!(
            "Hop {hop}: {}, delay {bound}",
            queue.port_name.replace('\u{2192}', "to")
        ),
        x: Axis::new("time (\u{b5}s)"),
        y: Axis::new("data (bit)"),
        ordered: false,
        labelled: true,
        lines: vec![
            line("arrivals", &queue.arrival, &end),
            line(
                "service",
                &queue.service,
                served.as_ref().unwrap_or(&end).min(&end),
            ),
        ],
    }
}

/// Returns the end of a chart. Before it, the burst is served, the delay is over, and steps of the arrivals are visible, if there
/// are any.
fn last_shown(queue: &QueueBound) -> Rational {
    let corners = queue.arrival.corners(&Rational::from(LONGEST));
    let burst = corners.iter().take_while(|(time, _)| time.is_zero()).last();
    let served = burst
        .zip(queue.service.long_term_rate())
        .filter(|(_, rate)| !rate.is_zero())
        .map(|((_, burst), rate)| burst / rate);
    let over = queue.delay.finite().max(served.as_ref());
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
    let points = corners
        .iter()
        .map(|(time, value)| (near(time) * 1e6, near(value)));
    points.collect()
}
