//! Realisation of the queueing disciplines for which bounds hold.

/// Realisation of the queueing disciplines: the place where frames are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Realisation {
    /// IEEE 802.1Q: a frame is chosen when the link is free. FQ_CoDel is that of RFC 8290.
    Ieee,
    /// Linux: disciplines hand frames to the driver before the link is free, and a frame that finds FQ_CoDel empty passes it by. Gates
    /// and shapers are those of the device.
    Linux {
        /// Most frames of each class in the driver, besides the one on the link.
        driver_queue: u32,
    },
    /// Linux, where gates and shapers are those of the kernel: `sch_taprio` and `sch_cbs` without offload. Gates are those of the device where
    /// the scenario offloads them.
    Software {
        /// Most frames of each class in the driver, besides the one on the link.
        driver_queue: u32,
    },
}

impl Default for Realisation {
    fn default() -> Self {
        Self::Linux { driver_queue: 1 }
    }
}

impl Realisation {
    /// Returns the most frames of each class in the driver; `None` if there is no driver.
    pub(super) fn driver_queue(self) -> Option<u32> {
        match self {
            Self::Ieee => None,
            Self::Linux { driver_queue } | Self::Software { driver_queue } => Some(driver_queue),
        }
    }

    /// Returns true if gates and shapers are those of the kernel.
    pub(super) fn is_software(self) -> bool {
        matches!(self, Self::Software { .. })
    }
}
