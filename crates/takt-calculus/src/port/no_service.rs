//! Reasons why gates and shapers of Linux in software guarantee a class nothing.

use crate::Rational;

/// Reason why a class has no guaranteed service in software.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoService {
    /// Its gate is open together with that of another class: releases of Linux differ in the class that they serve first.
    SharedWindow(usize),
    /// Frames of other classes in the driver leave no room for a frame in any of its windows: bits of these frames.
    ShortWindows(Rational),
    /// A shaper behind gates: the kernel takes a frame from it, and with it credit, to look at the frame while the gate is closed.
    ShaperBehindGates,
    /// A shaper below another class: it gains no credit while it has some and waits.
    ShaperBelow(usize),
    /// A shaper whose frames can come closer together than the driver can send them behind a frame of a lower class.
    ShaperTooFast,
    /// A rate of the link that is no whole number of Mbit/s, for which the kernel's time of a byte is not exact.
    LinkRate,
    /// A rate of the link above 400 Gbit/s, for which the kernel's time of a byte is not exact either.
    LinkTooFast,
    /// Frames that wait for launch times behind gates: the kernel looks at them before their time, and each look takes their bytes
    /// from the budget of the window.
    LaunchBehindGates,
    /// Frames of another class that the device keeps until their launch times: many of them pass their gate before, and the device sends
    /// them in windows of other classes.
    LaunchesOfOthers(usize),
    /// An idleSlope for which the proof does not know how much the kernel rounds.
    ShaperRate,
    /// An idleSlope and a sendSlope together so far below the rate of the link that the bytes that the kernel does not count do not
    /// pay for its rounding.
    ShaperCost,
    /// A class with a shaper whose settings in the kernel are not given.
    NoSettings,
    /// More frames of the class can come while one waits than the bound takes into account.
    ManyFrames,
}
