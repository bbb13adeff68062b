//! `cbs`: the Credit-Based Shaper of a class (IEEE 802.1Q, 8.6.8.2), with the only formulas of its credits (Annex L.3).

use std::fmt;
use std::ops::Range;

use super::super::description::{DisciplineDescription, DisciplineTemplate};
use super::super::limit::Limit;
use crate::Frame;
use crate::document::{Item, Table};
use crate::error::Problem;
use crate::quantity::{Credit, Drift, Duration, Rate, Share};
use crate::shape::{Kind, may};

pub(super) const DESCRIPTION: DisciplineDescription = DisciplineDescription {
    name: "cbs",
    help: "Credit-Based Shaper",
    fields: &[
        may(
            "provisioning",
            Kind::Share,
            "cbs: share by which idleSlope exceeds one frame on the wire per cycle, summed over all flows of the class at the port; by default 0%.",
        ),
        may(
            "idle_slope",
            Kind::Rate,
            "cbs: idleSlope itself, instead of `provisioning`.",
        ),
        may(
            "send_slope",
            Kind::Rate,
            "cbs: loss of credit while a frame is sent, without its sign; by default the rate of the link minus idleSlope.",
        ),
        may(
            "hi_credit",
            Kind::Credit,
            "cbs: maximum of the credit, in bytes on the wire like all quantities of the shaper; by default enough for the delay by a frame of 1542 B and by the classes above.",
        ),
        may(
            "lo_credit",
            Kind::Credit,
            "cbs: minimum of the credit; by default the cost of the longest frame of the class at the port.",
        ),
    ],
    template: DisciplineTemplate {
        class: Some("queue = \"cbs\", provisioning = \"{provisioning}\""),
        ..DisciplineTemplate::FIFO
    },
};

/// Number of a shaper, with its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShaperNumber<T> {
    /// The scenario gives it.
    Given(T),
    /// The number follows from the link and the traffic of the port.
    Computed(T),
}

impl<T: Copy> ShaperNumber<T> {
    /// Returns the number.
    pub fn value(self) -> T {
        match self {
            Self::Given(value) | Self::Computed(value) => value,
        }
    }

    /// Returns true if the scenario gives the number.
    pub fn is_given(self) -> bool {
        matches!(self, Self::Given(_))
    }

    /// Returns the number that a scenario gives, or else `computed`.
    fn or(given: Option<T>, computed: T) -> Self {
        given.map_or(Self::Computed(computed), Self::Given)
    }

    fn given(self) -> Option<T> {
        self.is_given().then_some(self.value())
    }
}

/// Parameters of a Credit-Based Shaper at a port. Credits are bytes on the wire, as for `tc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CbsParameters {
    /// Gain of credit while frames wait. Not 0: a class that reserves nothing at a port has a FIFO queue there.
    pub idle_slope: Rate,
    /// Loss of credit while a frame is sent, as a positive number: by default the link's rate less idleSlope.
    pub send_slope: ShaperNumber<Rate>,
    /// Highest credit.
    pub hi_credit: ShaperNumber<Credit>,
    /// Lowest credit.
    pub lo_credit: ShaperNumber<Credit>,
    /// Traffic for which computed credits have room.
    pub traffic: ShapedTraffic,
    /// Capacity; further frames are dropped.
    pub limit: Limit,
}

/// Traffic at a port, as far as the credits of a shaper depend on it (IEEE 802.1Q, L.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapedTraffic {
    /// Longest frame of the class, in bytes on the wire (`maxFrameSize`); 0 if no flow of the scenario is in it.
    pub longest: u32,
    /// Frames of other classes for which a frame of this class waits, in bytes on the wire: the longest one below, and the longest of
    /// each class above.
    pub interference: u32,
    /// Drift of the node's clock, by which credit is gained.
    pub drift: Drift,
}

impl ShapedTraffic {
    /// Returns the highest credit: that gained at `idle_slope` while other frames are sent at the rate that classes above leave. The
    /// longest frame of a class above costs it its length less the credit that it gains meanwhile.
    pub fn hi_credit(&self, idle_slope: Rate, link: Rate, above: ReservedAbove) -> Credit {
        let gained = by_fast_clock(idle_slope.0, self.drift);
        let bytes = self.interference.saturating_sub(above.gained);
        let left = Rate(link.0.saturating_sub(above.rate.0));
        Credit(portion(bytes, gained, left))
    }

    /// Returns the lowest credit: the cost of the longest frame on a link.
    pub fn lo_credit(&self, send_slope: Rate, link: Rate) -> Credit {
        Credit(-portion(self.longest, send_slope.0, link))
    }
}

/// Shaped classes above one, at a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReservedAbove {
    /// Sum of the rates at which they send in the long run, by the node's clock.
    pub rate: Rate,
    /// Credit that they gain while the longest frame of each is sent, in bytes on the wire, rounded down.
    pub gained: u32,
}

impl ReservedAbove {
    /// Adds a shaper.
    pub(crate) fn add(&mut self, shaper: &CbsParameters, link: Rate) {
        let rate = shaper.reserved(link).0;
        let gained = u128::from(shaper.traffic.longest) * u128::from(rate);
        // Rounded down: it reduces the highest credit of classes below, which must not become too small.
        let gained = gained / u128::from(link.0.max(1));
        self.rate = Rate(self.rate.0.saturating_add(rate));
        self.gained = (self.gained).saturating_add(u32::try_from(gained).unwrap_or(u32::MAX));
    }
}

impl CbsParameters {
    /// Makes a shaper of which all numbers are given.
    pub fn given(
        idle_slope: Rate,
        send_slope: Rate,
        hi_credit: Credit,
        lo_credit: Credit,
        limit: Limit,
    ) -> Self {
        Self {
            idle_slope,
            send_slope: ShaperNumber::Given(send_slope),
            hi_credit: ShaperNumber::Given(hi_credit),
            lo_credit: ShaperNumber::Given(lo_credit),
            traffic: ShapedTraffic {
                longest: 0,
                interference: 0,
                drift: Drift(0),
            },
            limit,
        }
    }

    /// Makes the shaper of the highest class of a port, for frames of any length, with computed numbers.
    pub fn of_idle_slope(idle_slope: Rate, link: Rate, limit: Limit) -> Self {
        let longest = Frame::LONGEST.physical();
        let traffic = ShapedTraffic {
            longest,
            interference: longest,
            drift: Drift(0),
        };
        Self::new(idle_slope, (None, None, None), traffic, limit).at(link, ReservedAbove::default())
    }

    /// Makes a shaper with sendSlope, hiCredit and loCredit as far as they are given.
    fn new(
        idle_slope: Rate,
        (send_slope, hi_credit, lo_credit): (Option<Rate>, Option<Credit>, Option<Credit>),
        traffic: ShapedTraffic,
        limit: Limit,
    ) -> Self {
        Self {
            idle_slope,
            send_slope: ShaperNumber::or(send_slope, Rate(0)),
            hi_credit: ShaperNumber::or(hi_credit, Credit(0)),
            lo_credit: ShaperNumber::or(lo_credit, Credit(0)),
            traffic,
            limit,
        }
    }

    /// Returns the shaper at a link, below classes that reserve `above`: computed numbers follow, given ones stay.
    #[must_use]
    fn at(self, link: Rate, above: ReservedAbove) -> Self {
        let usual = Rate(link.0.saturating_sub(self.idle_slope.0));
        let send_slope = ShaperNumber::or(self.send_slope.given(), usual);
        let hi_credit = self.traffic.hi_credit(self.idle_slope, link, above);
        let lo_credit = self.traffic.lo_credit(send_slope.value(), link);
        Self {
            send_slope,
            hi_credit: ShaperNumber::or(self.hi_credit.given(), hi_credit),
            lo_credit: ShaperNumber::or(self.lo_credit.given(), lo_credit),
            ..self
        }
    }

    /// Returns the shaper at an interface of another rate than the link. A given sendSlope is for the link, and is computed there.
    #[must_use]
    pub(crate) fn at_interface(self, rate: Rate, above: ReservedAbove) -> Self {
        let send_slope = ShaperNumber::Computed(Rate(0));
        Self { send_slope, ..self }.at(rate, above)
    }

    /// Returns idleSlope as a node with a fast clock gains it; a slow clock does not change it.
    pub fn idle_slope_by_clock(&self) -> Rate {
        Rate(by_fast_clock(self.idle_slope.0, self.traffic.drift))
    }

    /// Returns the rate at which the class sends in the long run, by the node's clock: idleSlope, unless the scenario gives
    /// another sendSlope.
    pub fn reserved(&self, link: Rate) -> Rate {
        let idle = u128::from(self.idle_slope.0);
        let both = idle + u128::from(self.send_slope.value().0);
        // Rounded up, so that classes below do not count on more than is left.
        let sends = (idle * u128::from(link.0)).div_ceil(both.max(1));
        let sends = u64::try_from(sends).unwrap_or(u64::MAX);
        Rate(by_fast_clock(sends, self.traffic.drift))
    }
}

impl fmt::Display for CbsParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cbs, idleSlope {}", self.idle_slope)
    }
}

/// Fields of a shaper in the file. A port completes them.
pub(crate) struct CbsFields {
    provisioning: Share,
    idle_slope: Option<Rate>,
    send_slope: Option<Rate>,
    hi_credit: Option<Credit>,
    lo_credit: Option<Credit>,
    pub(crate) limit: Limit,
    pub(crate) span: Range<usize>,
}

impl CbsFields {
    pub(super) fn read(item: &Item, table: &Table, problems: &mut Vec<Problem>) -> Self {
        if let (Some(item), Some(_)) = (table.get("provisioning"), table.get("idle_slope")) {
            problems.push(Problem::new(
                "idleSlope is given twice: use only one of `idle_slope`, `provisioning`",
                item.span.clone(),
            ));
        }
        let provisioning: Share = table.quantity("provisioning").unwrap_or_default();
        if let Some(item) = table.get("provisioning")
            && provisioning.0 <= -Share::ONE.0
        {
            problems.push(Problem::new(
                "no idleSlope is left: the share must be above -100%",
                item.span.clone(),
            ));
        }
        Self {
            provisioning,
            idle_slope: table.quantity("idle_slope"),
            send_slope: table.quantity("send_slope"),
            hi_credit: table.quantity("hi_credit"),
            lo_credit: table.quantity("lo_credit"),
            limit: Limit::read(table),
            span: table.get("idle_slope").unwrap_or(item).span.clone(),
        }
    }

    /// Returns the shaper for these flows, each with a frame per interval, at a link below classes that reserve `above`. `None`
    /// for a class without a flow and without an idleSlope of its own: it reserves nothing, and is not shaped.
    pub(crate) fn at_port(
        &self,
        frames: &[(Frame, Duration)],
        (link, above): (Rate, ReservedAbove),
        (interference, drift): (u32, Drift),
    ) -> Option<CbsParameters> {
        let idle_slope = match self.idle_slope {
            Some(slope) => slope,
            None if frames.is_empty() => return None,
            None => reservation(frames, self.provisioning),
        };
        let longest = frames.iter().map(|(frame, _)| frame.physical()).max();
        let traffic = ShapedTraffic {
            longest: longest.unwrap_or(0),
            interference,
            drift,
        };
        let given = (self.send_slope, self.hi_credit, self.lo_credit);
        let parameters = CbsParameters::new(idle_slope, given, traffic, self.limit);
        Some(parameters.at(link, above))
    }
}

/// Returns the rate that flows of one frame per interval each need, in bits on the wire, changed by a share; rounded up to whole
/// bits.
fn reservation(frames: &[(Frame, Duration)], provisioning: Share) -> Rate {
    // `read` reports shares of -100 % and less. Here they only must not wrap.
    let part = u128::from(
        Share::ONE
            .0
            .saturating_add(provisioning.0)
            .max(0)
            .unsigned_abs(),
    );
    let one = u128::from(Share::ONE.0.unsigned_abs());
    let needs = frames.iter().map(|(frame, interval)| {
        let bits = 8 * u128::from(frame.physical()) * 1_000_000_000_000;
        (bits * part).div_ceil(u128::from(interval.0.max(1)) * one)
    });
    Rate(u64::try_from(needs.sum::<u128>()).unwrap_or(u64::MAX))
}

/// Returns a slope or a time by the clock of a fast node, rounded up; a slow clock does not change it.
pub(crate) fn by_fast_clock(value: u64, drift: Drift) -> u64 {
    let billion = 1_000_000_000;
    let speed = billion + u128::from(drift.0.max(0).unsigned_abs());
    u64::try_from((u128::from(value) * speed).div_ceil(billion)).unwrap_or(u64::MAX)
}

/// Returns `bytes · slope / rate`, rounded up.
fn portion(bytes: u32, slope: u64, rate: Rate) -> i64 {
    // Classes above may reserve the whole link. The port reports that, but is read to its end first.
    let portion = (u128::from(bytes) * u128::from(slope)).div_ceil(u128::from(rate.0.max(1)));
    i64::try_from(portion).unwrap_or(i64::MAX)
}
