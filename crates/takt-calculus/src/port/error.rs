//! Mistakes in a port, with its classes by index or by name.

use super::gates::GateError;
use crate::Rational;
use crate::curve::CurveError;

/// Reasons why a port cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// A link without a rate.
    #[error("the link's rate of {0} bit/s is not positive")]
    LinkRate(Rational),
    /// A frame size that is negative, or a shortest frame that is longer than the longest.
    #[error("class {class}: frame sizes from {shortest} to {longest} bit are not a valid range")]
    FrameSize {
        /// The class's index.
        class: usize,
        /// Its shortest frame.
        shortest: Rational,
        /// Its longest frame.
        longest: Rational,
    },
    /// An idleSlope that is not positive, or idleSlopes up to this class that are not less than the link's rate.
    #[error(
        "class {class}: the idleSlopes up to it, {idle_slopes} bit/s, are not between 0 and the link's {link_rate} bit/s"
    )]
    IdleSlope {
        /// The class's index.
        class: usize,
        /// The sum of the idleSlopes of this and all higher classes.
        idle_slopes: Rational,
        /// The rate of the link.
        link_rate: Rational,
    },
    /// A quantum of Deficit Round Robin that is not positive, or a negative part of frames that it does not count.
    #[error(
        "class {class}: a quantum of {quantum} bit is not above 0, or {uncounted} uncounted bits are not at least 0"
    )]
    Quantum {
        /// The class's index.
        class: usize,
        /// The quantum, in bits.
        quantum: Rational,
        /// Bits of a frame that do not count.
        uncounted: Rational,
    },
    /// A Credit-Based Shaper below txtime-assist: without gates, the times at which its credit stands still are unknown.
    #[error("class {class}: a Credit-Based Shaper below txtime-assist is not modelled")]
    ShaperBelowTxtimes {
        /// The class's index.
        class: usize,
    },
    /// A frame that is given to ETF after its release time, and dropped.
    #[error("a lead of {lead} s is less than ETF's delta of {delta} s: frames are dropped")]
    Late {
        /// Time between handing a frame over and its txtime, in seconds.
        lead: Rational,
        /// The delta of the class, in seconds.
        delta: Rational,
    },
    /// A Credit-Based Shaper that cuts off high credit that can occur: it serves less than its idleSlope.
    #[error("class {class}: credit of {needed} bit can occur, but hiCredit is {configured} bit")]
    HiCredit {
        /// The class's index.
        class: usize,
        /// Highest credit that can occur, in bits.
        needed: Rational,
        /// Configured highest credit, in bits.
        configured: Rational,
    },
    /// A Credit-Based Shaper that cuts off low credit that can occur: it sends more than its idleSlope.
    #[error("class {class}: credit of {needed} bit can occur, but loCredit is {configured} bit")]
    LoCredit {
        /// The class's index.
        class: usize,
        /// Lowest credit that can occur, in bits.
        needed: Rational,
        /// Configured lowest credit, in bits.
        configured: Rational,
    },
    /// Gates that cannot serve the classes.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// A negative size.
    #[error(transparent)]
    Curve(#[from] CurveError),
}

impl PortError {
    /// Returns the error as text, with the names of classes instead of their indices.
    pub(crate) fn with_names(&self, name: impl Fn(usize) -> String) -> String {
        if let Self::Gate(GateError::SharedTxtimes { one, other }) = self {
            let (one, other) = (name(*one), name(*other));
            return format!(
                "{one} and {other} share a window: txtime-assist does not order their frames by priority"
            );
        }
        let text = self.to_string();
        let named = self.class().and_then(|class| {
            let rest = text.strip_prefix(&format!("class {class}"))?;
            Some(name(class) + rest)
        });
        named.unwrap_or(text)
    }

    /// Returns the index of the class that the error is about, the higher one of two; `None` if it is about the port.
    pub(crate) fn class(&self) -> Option<usize> {
        match self {
            Self::FrameSize { class, .. }
            | Self::IdleSlope { class, .. }
            | Self::Quantum { class, .. }
            | Self::ShaperBelowTxtimes { class }
            | Self::HiCredit { class, .. }
            | Self::LoCredit { class, .. }
            | Self::Gate(
                GateError::Class(class)
                | GateError::WindowTooShort { class, .. }
                | GateError::SharedTxtimes { one: class, .. },
            ) => Some(*class),
            Self::LinkRate(_) | Self::Late { .. } | Self::Gate(_) | Self::Curve(_) => None,
        }
    }
}
