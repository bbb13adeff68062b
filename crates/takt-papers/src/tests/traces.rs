//! Traces: the credit of a shaper, computed by hand.

use crate::trace::{CreditCourse, ShapedFrame, credit, extremes};

/// A microsecond in picoseconds.
const US: i64 = 1_000_000;

fn frame(queued: i64, begins: i64, ends: i64) -> ShapedFrame {
    ShapedFrame {
        queued: queued * US,
        begins: begins * US,
        ends: ends * US,
    }
}

#[test]
fn credit_rises_falls_and_is_cleared() {
    // 1 bit per µs while waiting, 9 while sending. The first frame waits 3 µs behind another class, and takes 1 µs: 3 - 9 = -6.
    // The second one waits since 2 µs; the credit is 0 after 6 µs. Nothing waits then: it rises to 0 by itself.
    let frames = [frame(0, 3, 4), frame(2, 10, 11), frame(30, 30, 31)];
    let CreditCourse { points, at_begin } = credit(&frames, 1e6, 9e6);
    let micros = points.iter();
    let micros: Vec<(i64, f64)> = micros.map(|(time, bits)| (time / US, *bits)).collect();
    let expected = [
        (0, 0.0),
        (3, 3.0),
        (4, -6.0),
        (10, 0.0),
        (11, -9.0),
        (20, 0.0),
        (30, 0.0),
        (30, 0.0),
        (31, -9.0),
    ];
    assert_eq!(micros, expected);
    assert_eq!(at_begin, [3.0, 0.0, 0.0]);
}

#[test]
fn a_positive_credit_is_cleared_without_frames() {
    // It waits 20 µs, so 11 bits are left after it.
    let frames = [frame(0, 20, 21), frame(25, 25, 26)];
    let course = credit(&frames, 1e6, 9e6);
    let after: Vec<f64> = course.points.iter().map(|point| point.1).collect();
    assert_eq!(after, [0.0, 20.0, 11.0, 0.0, 0.0, 0.0, -9.0]);
    assert_eq!(course.at_begin, [20.0, 0.0]);
    // A frame that is sent too early begins with a negative credit.
    let early = credit(&[frame(0, 0, 1), frame(1, 2, 3)], 1e6, 9e6);
    assert_eq!(early.at_begin, [0.0, -8.0]);
}

#[test]
fn without_frames_there_is_no_credit() {
    let values = |frames: &[ShapedFrame]| extremes(&credit(frames, 1e6, 9e6)).map(|it| it.1);
    assert_eq!(values(&[]), [None; 3]);
    let expected = [Some(3.0), Some(-6.0), Some(3.0)];
    assert_eq!(values(&[frame(0, 3, 4)]), expected);
}
