//! `cbs`, which computes in kbit/s and bytes.

use serde_json::Value;

use super::json::flag;

/// Parameters of `cbs`, in its units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaperNumbers {
    /// IdleSlope in kbit/s.
    pub idle_slope: i64,
    /// SendSlope in kbit/s, negative.
    pub send_slope: i64,
    /// hiCredit in bytes.
    pub hi_credit: i64,
    /// loCredit in bytes, negative.
    pub lo_credit: i64,
    /// True if the hardware shapes.
    pub offload: bool,
}

impl ShaperNumbers {
    /// Returns the words of a `tc` command.
    pub(super) fn phrases(&self) -> Vec<String> {
        vec![
            format!("idleslope {}", self.idle_slope),
            format!("sendslope {}", self.send_slope),
            format!("hicredit {}", self.hi_credit),
            format!("locredit {}", self.lo_credit),
            format!("offload {}", u8::from(self.offload)),
        ]
    }

    /// Reads the options of `tc -j`.
    pub(super) fn read(options: &Value) -> Option<Self> {
        let number = |name| options.get(name)?.as_i64();
        Some(Self {
            idle_slope: number("idleslope")?,
            send_slope: number("sendslope")?,
            hi_credit: number("hicredit")?,
            lo_credit: number("locredit")?,
            offload: flag(options, "offload"),
        })
    }
}
