//! Credit of a Credit-Based Shaper over time, reconstructed from the times of frames at its port (IEEE 802.1Q, 8.6.8.2).

use serde_json::Map;
use takt_scenario::{PortIndex, Scenario};

use super::curve::{TraceCurve, Traced, application, thinned};
use super::observer::ObservedFrame;

/// Picoseconds in a second.
const SECOND: f64 = 1e12;

/// Longest time that the curve shows, in microseconds: some frames.
const SHOWN: f64 = 500.0;

/// A frame of the class: when it came to the queue, when its first bit left, and when its last bit had left, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ShapedFrame {
    pub(crate) queued: i64,
    pub(crate) begins: i64,
    pub(crate) ends: i64,
}

/// Course of the credit in bits over picoseconds, and the credits at which frames began to be sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CreditCourse {
    pub(crate) points: Vec<(i64, f64)>,
    pub(crate) at_begin: Vec<f64>,
}

/// Returns the credit of a class whose frames are in order. Slopes are in bit/s, `send` without its sign.
///
/// While a frame of the class is sent, the credit falls; while one waits, or the credit is negative, it rises; it is 0 when no frame
/// is there and it was positive.
pub(crate) fn credit(frames: &[ShapedFrame], idle: f64, send: f64) -> CreditCourse {
    let bits = |time: i64, rate: f64| time as f64 * rate / SECOND;
    let (mut now, mut credit) = (0i64, 0f64);
    let mut course = CreditCourse {
        points: vec![(0, 0.0)],
        at_begin: Vec::with_capacity(frames.len()),
    };
    for frame in frames {
        // Without a frame, a negative credit rises to 0 at most.
        if frame.queued > now {
            let risen = credit + bits(frame.queued - now, idle);
            if risen > 0.0 && credit < 0.0 {
                let zero = now + (-credit / idle * SECOND).round() as i64;
                course.points.push((zero, 0.0));
            }
            credit = risen.min(0.0);
            now = frame.queued;
            course.points.push((now, credit));
        }
        credit += bits(frame.begins - now, idle);
        course.points.push((frame.begins, credit));
        course.at_begin.push(credit);
        credit -= bits(frame.ends - frame.begins, send);
        now = frame.ends;
        course.points.push((now, credit));
        let waits = frames
            .get(course.at_begin.len())
            .is_some_and(|next| next.queued <= now);
        if !waits && credit > 0.0 {
            credit = 0.0;
            course.points.push((now, credit));
        }
    }
    course
}

/// Returns the quantities of a course: highest and lowest credit, and the lowest one at the begin of a frame. Without frames there is
/// none: no claim about them holds.
pub(crate) fn extremes(course: &CreditCourse) -> [(&'static str, Option<f64>); 3] {
    let has_frames = !course.at_begin.is_empty();
    let credits = || course.points.iter().map(|point| point.1);
    let credits = || credits().filter(|_| has_frames);
    let at_begin = course.at_begin.iter().copied().reduce(f64::min);
    [
        ("max", credits().reduce(f64::max)),
        ("min", credits().reduce(f64::min)),
        ("min_at_begin", at_begin),
    ]
}

/// Returns the credit of the first application's class at a port; `None` without a shaper.
pub(super) fn traced(
    scenario: &Scenario,
    port: PortIndex,
    frames: &[ObservedFrame],
) -> Option<Traced> {
    let of_port = scenario.ports.get(port.0)?;
    let discipline = &of_port.discipline;
    let class = discipline.class_of(scenario.applications.first()?.pcp);
    let shaper = discipline.classes.get(class)?.queue.shaper()?;
    let link = scenario.links.get(of_port.link.0)?;
    let length = link.length.propagation().0 as i64;
    let rate = link.rate.0 as f64;
    let shaped = frames.iter().filter_map(|frame| {
        let flow = scenario
            .flows()
            .iter()
            .find(|it| it.source == frame.source)?;
        let time = f64::from(flow.frame.physical()) * 8.0 / rate * SECOND;
        let ends = frame.arrived - length;
        (discipline.class_of(flow.pcp) == class).then_some(ShapedFrame {
            queued: frame.queued,
            begins: ends - time.round() as i64,
            ends,
        })
    });
    let shaped: Vec<ShapedFrame> = shaped.collect();
    let idle = shaper.idle_slope.0 as f64;
    let course = credit(&shaped, idle, shaper.send_slope.value().0 as f64);
    let mut values = Map::new();
    let name = application(scenario);
    for (quantity, bits) in extremes(&course) {
        values.insert(format!("{name}.credit.{quantity}"), bits.into());
    }
    let first = shaped.first().map_or(0, |it| it.queued);
    let points = course.points.iter();
    let points = points.map(|(time, bits)| ((time - first) as f64 / 1e6, *bits));
    let points = points.filter(|(time, _)| (0.0..SHOWN).contains(time));
    let curve = TraceCurve {
        label: String::new(),
        points: thinned(points.collect()),
    };
    Some((values, vec![curve]))
}
