//! An egress port with its traffic classes: the least and the greatest service of each class (IEEE 802.1Q, 8.6.8).
//!
//! All sizes are bits on the wire and all rates bit/s. Service is counted bit by bit as it leaves on the link; frames arrive
//! whole. `docs/bounds.md` explains why that matters, and the assumptions of each curve.

mod analyses;
mod answer;
mod arrivals;
mod bounds;
mod credit;
mod delays;
mod error;
mod fair_queueing;
mod gate_curves;
mod gates;
mod growth;
mod lines;
mod losses;
mod network;
mod no_service;
mod one_phase;
mod programme;
mod schedule;
mod separate_flow;
mod software;
mod total_flow;
mod variation;
mod ways;

pub use analyses::PortAnalyses;
pub use answer::{Answer, NotApplicable};
pub use bounds::{FixedPoint, PortBounds, QueueBounds, StreamBounds, Unbounded};
pub use error::PortError;
pub use gates::{GateControlEntry, GateControlList, GateError};
pub use network::{Branch, PortNetwork, PortNetworkError, QueueId, Step, Stream};
pub use no_service::NoService;
pub use schedule::{NotScheduled, ReleaseTimes, Scheduled};
pub use software::{SoftwarePort, SoftwareShaper};
pub use variation::LoopbackStage;

use crate::Rational;
use crate::curve::Curve;

use losses::Losses;

/// Rule by which a class may send its first frame (IEEE 802.1Q, 8.6.8; `tc-mqprio`, `tc-cbs`, `tc-etf`, `tc-fq_codel`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransmissionSelection {
    /// A FIFO queue, served when no higher class has a frame to send.
    StrictPriority,
    /// The Credit-Based Shaper. The bound of its credit depends on the port alone if all higher classes have a Credit-Based
    /// Shaper as well.
    CreditBased {
        /// idleSlope in bit/s on the wire.
        idle_slope: Rational,
    },
    /// ETF: frames are held until `txtime − delta` and sent in the order of their txtime, with strict priority from then on. They
    /// count as arriving when they are released. [`EgressPort::hold`] is the time before.
    EarliestTxTime {
        /// Time from a frame's release to its txtime, in seconds. 0 if the device offloads launch times.
        delta: Rational,
    },
    /// Any discipline that never leaves the link idle while a frame waits, but may send frames of different flows in
    /// any order: for example FQ_CoDel if flows may share a queue. A dropped frame has no delay.
    FlowQueueing,
    /// FQ_CoDel (RFC 8290) where each stream has a queue of its own: Deficit Round Robin, and streams without a frame
    /// that get one are served first. A dropped frame has no delay.
    FairQueueing {
        /// Bits that a stream may send in its turn, above 0, as the discipline counts them.
        quantum: Rational,
        /// Bits of each frame on the wire that the discipline does not count; at least 0.
        uncounted: Rational,
        /// Further bits of each frame that it may or may not count: a VLAN tag that the device inserts; at least 0.
        tag: Rational,
        /// Linux: most frames in the driver, besides the one on the link. A frame that finds the queue empty passes it by
        /// (`TCQ_F_CAN_BYPASS`). `None` if frames are chosen when the link is free and none passes.
        driver_queue: Option<u32>,
    },
}

impl TransmissionSelection {
    /// Returns true if frames leave in the order of their arrival.
    pub fn keeps_order(&self) -> bool {
        !matches!(self, Self::FlowQueueing | Self::FairQueueing { .. })
    }
}

/// A traffic class of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortClass {
    /// Transmission selection of the class.
    pub selection: TransmissionSelection,
    /// Its longest frame, in bits on the wire. 0 if the class is never used.
    pub longest: Rational,
    /// Its shortest frame, in bits on the wire.
    pub shortest: Rational,
}

/// Traffic of a class through a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassTraffic {
    /// The frames that arrive at its queue.
    pub arrival: Curve,
    /// The bits that leave on the link.
    pub departure: Curve,
}

/// Service of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassService {
    /// The minimum service: a service curve.
    pub minimum: Curve,
    /// The service in any interval in which the class always has a frame: a strict service curve. Never above the minimum
    /// service.
    pub strict: Curve,
    /// Most bits that leave in any interval, for any arrivals.
    pub shaping: Curve,
}

/// Curves of a class in software.
#[derive(Debug, Clone, PartialEq, Eq)]
struct InSoftware {
    service: ClassService,
    none: Option<NoService>,
    /// Credit that a shaper loses to rounding; only if its service is guaranteed.
    losses: Option<Losses>,
}

/// A port and the link behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressPort {
    link_rate: Rational,
    /// The classes, the highest first.
    classes: Vec<PortClass>,
    gates: Option<GateControlList>,
    /// Shaping curve of each class behind gates: it is needed often, and never changes.
    shapings: Vec<Curve>,
    /// Classes whose gates or shapers are those of Linux in software.
    software: Vec<Option<InSoftware>>,
}

impl EgressPort {
    /// Makes a port with these classes, the highest first.
    ///
    /// # Errors
    /// A rate, size or idleSlope that is impossible.
    pub fn new(link_rate: Rational, classes: Vec<PortClass>) -> Result<Self, PortError> {
        if link_rate <= Rational::ZERO {
            return Err(PortError::LinkRate(link_rate));
        }
        let mut idle_slopes = Rational::ZERO;
        for (index, class) in classes.iter().enumerate() {
            if class.shortest < Rational::ZERO || class.shortest > class.longest {
                return Err(PortError::FrameSize {
                    class: index,
                    shortest: class.shortest.clone(),
                    longest: class.longest.clone(),
                });
            }
            if let TransmissionSelection::FairQueueing {
                quantum,
                uncounted,
                tag,
                ..
            } = &class.selection
                && (*quantum <= Rational::ZERO
                    || *uncounted < Rational::ZERO
                    || *tag < Rational::ZERO)
            {
                return Err(PortError::Quantum {
                    class: index,
                    quantum: quantum.clone(),
                    uncounted: uncounted.clone().min(tag.clone()),
                });
            }
            let TransmissionSelection::CreditBased { idle_slope } = &class.selection else {
                continue;
            };
            idle_slopes += idle_slope;
            if *idle_slope <= Rational::ZERO || idle_slopes >= link_rate {
                return Err(PortError::IdleSlope {
                    class: index,
                    idle_slopes,
                    link_rate,
                });
            }
        }
        Ok(Self {
            link_rate,
            classes,
            gates: None,
            shapings: Vec::new(),
            software: Vec::new(),
        })
    }

    /// Adds a gate control list (TAPRIO) to the port.
    ///
    /// # Errors
    /// A class in use that has no window as long as its longest frame, that shares a window under txtime-assist, or that has a
    /// Credit-Based Shaper there.
    pub fn with_gates(mut self, gates: GateControlList) -> Result<Self, PortError> {
        for (index, class) in self.classes.iter().enumerate() {
            let shaped = matches!(class.selection, TransmissionSelection::CreditBased { .. });
            if shaped && gates.txtime_delay().is_some() {
                return Err(PortError::ShaperBelowTxtimes { class: index });
            }
            gates.check(index, &(&class.longest / &self.link_rate))?;
        }
        let used = |class: &usize| !self.classes[*class].longest.is_zero();
        let used: Vec<usize> = (0..self.classes.len()).filter(used).collect();
        gates.check_shared(&used)?;
        self.gates = Some(gates);
        // `shaping` would return the curves of earlier gates. From the highest class on: each needs those of the classes above it.
        self.shapings.clear();
        for class in 0..self.classes.len() {
            let shaping = self.shaping(class)?;
            self.shapings.push(shaping);
        }
        Ok(self)
    }

    /// Returns the rate of the link, in bit/s.
    pub fn link_rate(&self) -> &Rational {
        &self.link_rate
    }

    /// Returns the classes, the highest first.
    pub fn classes(&self) -> &[PortClass] {
        &self.classes
    }

    /// Returns the time for which ETF holds a frame of a class that it is given `lead` before the frame's txtime. 0 for other
    /// classes.
    ///
    /// # Errors
    /// The lead is less than ETF's delta.
    pub fn hold(&self, class: usize, lead: &Rational) -> Result<Rational, PortError> {
        match self.classes.get(class).map(|class| &class.selection) {
            Some(TransmissionSelection::EarliestTxTime { delta }) if lead < delta => {
                Err(PortError::Late {
                    lead: lead.clone(),
                    delta: delta.clone(),
                })
            }
            Some(TransmissionSelection::EarliestTxTime { delta }) => Ok(lead - delta),
            _ => Ok(Rational::ZERO),
        }
    }

    /// Checks that the configured `loCredit` and `hiCredit` of a class, in bits on the wire, leave room for all credit that can
    /// occur. Only then do the bounds hold for a device that limits credit to these values. Classes without a Credit-Based Shaper
    /// always pass.
    ///
    /// # Errors
    /// Credit outside the limits can occur.
    pub fn check_credit(
        &self,
        class: usize,
        lo_credit: &Rational,
        hi_credit: &Rational,
    ) -> Result<(), PortError> {
        let limits = self.credit_limits(class).or_else(|| {
            // The highest credit is unknown, and hiCredit is assumed to have room for it.
            Some((self.lowest_credit(class)?, hi_credit.clone()))
        });
        match limits {
            Some((low, _)) if low < *lo_credit => Err(PortError::LoCredit {
                class,
                needed: low,
                configured: lo_credit.clone(),
            }),
            Some((_, high)) if high > *hi_credit => Err(PortError::HiCredit {
                class,
                needed: high,
                configured: hi_credit.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns the limits of the credit of a class, in bits on the wire, for which loCredit and hiCredit have to leave room.
    /// `None` without a Credit-Based Shaper, and below a class that has none, since the traffic of that class then decides how
    /// high the credit rises. The limits are those of a port without gates: behind gates credit can rise higher.
    pub fn credit_limits(&self, class: usize) -> Option<(Rational, Rational)> {
        let limits = self.credit(class)?;
        Some((limits.low, limits.high))
    }

    /// Returns the longest frame of any class below one.
    fn longest_below(&self, class: usize) -> Rational {
        let below = self.classes.iter().skip(class + 1);
        below
            .map(|class| class.longest.clone())
            .max()
            .unwrap_or(Rational::ZERO)
    }

    /// Returns the service of a class. `higher` is the traffic of the higher classes, the highest first.
    ///
    /// # Errors
    /// None that a valid port can cause.
    pub fn service(
        &self,
        class: usize,
        higher: &[ClassTraffic],
    ) -> Result<ClassService, PortError> {
        if let Some(Some(software)) = self.software.get(class) {
            return Ok(software.service.clone());
        }
        let shaping = self.shaping(class)?;
        if let Some(gates) = &self.gates {
            let (minimum, strict) = self.behind_gates(gates, class, higher)?;
            return Ok(ClassService {
                minimum,
                strict,
                shaping,
            });
        }
        if let Some(credit) = self.credit(class) {
            return Ok(ClassService {
                minimum: credit.minimum_service()?,
                strict: credit.strict_service()?,
                shaping,
            });
        }
        // The busy period begins when nothing of this class or a higher one without shaper waited. Since then the link was never
        // idle, and sent at most the rest of one lower frame. Frames of shaped classes may have waited at its beginning, so that
        // their departures count; for the other classes, arrivals since then count.
        let link = Curve::rate_latency(self.link_rate.clone(), Rational::ZERO)?;
        let blocking = Curve::leaky_bucket(self.longest_below(class), Rational::ZERO)?;
        let (mut since, mut always) = (blocking.clone(), blocking);
        for (index, traffic) in higher.iter().enumerate().take(class) {
            since = since.sum(if self.is_shaped(index) {
                &traffic.departure
            } else {
                &traffic.arrival
            });
            always = always.sum(&traffic.departure);
        }
        let strict = link.residual(&always, &Rational::ZERO);
        let (minimum, strict) = if self.is_shaped(class) {
            self.shaped_below_unshaped(class, strict)?
        } else {
            (link.residual(&since, &Rational::ZERO), strict)
        };
        Ok(ClassService {
            minimum,
            strict,
            shaping,
        })
    }

    /// Returns the most bits of a class that leave in any interval, for any arrivals, bit by bit.
    ///
    /// # Errors
    /// None that a valid port can cause.
    pub fn shaping(&self, class: usize) -> Result<Curve, PortError> {
        if let Some(Some(software)) = self.software.get(class) {
            return Ok(software.service.shaping.clone());
        }
        if let Some(known) = self.shapings.get(class) {
            return Ok(known.clone());
        }
        let link = Curve::leaky_bucket(Rational::ZERO, self.link_rate.clone())?;
        if let Some(gates) = &self.gates {
            let longest = self.classes.get(class).map(|class| &class.longest);
            let frame = longest.map_or(Rational::ZERO, |bits| bits / &self.link_rate);
            let windows = link.minimum(&gates.shaping(class, &self.link_rate, &frame));
            return Ok(match self.shaping_behind_gates(gates, class)? {
                Some(credit) => windows.minimum(&credit),
                None => windows,
            });
        }
        match self.credit(class) {
            Some(credit) => Ok(link.minimum(&credit.shaping()?)),
            None => Ok(link),
        }
    }
}
