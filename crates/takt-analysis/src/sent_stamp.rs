//! Time stamps of sent frames in captures.

use serde::{Deserialize, Serialize};

/// Time that a capture has of a frame that its port sends: T2 at the Publisher, T6 at the loopback.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentStamp {
    /// Nothing tells it, because a file of a capture does not say how its times were taken. Those of tcpdump on the sending host are
    /// `Driver`, those of a tap in the cable are `FirstBit`.
    #[default]
    Unknown,
    /// Time at which the driver gets the frame, a software time stamp. The frame leaves later: by the wait in the card's queue, for its
    /// launch time, and for its gate.
    Driver,
    /// Time of the first bit on the wire, by the clock of the device.
    FirstBit,
}

impl SentStamp {
    /// Returns the name for programs: `unknown`, `driver` or `first_bit`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Driver => "driver",
            Self::FirstBit => "first_bit",
        }
    }

    /// Returns the time in words.
    #[must_use]
    pub const fn described(self) -> &'static str {
        match self {
            Self::Unknown => "unknown, the captures do not tell",
            Self::Driver => "the driver gets the frame, by the clock of the kernel",
            Self::FirstBit => "first bit on the wire, by the clock of the device",
        }
    }
}
