//! Memory and descriptors of a process, as the kernel counts them (proc(5)).

use std::fs;
use std::time::{Duration, Instant};

use takt_app::{Client, ClientError};
use takt_ua::{NodeId, Variant, ids};

use crate::error::AttackError;

/// Memory and descriptors of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Resident memory in bytes (VmRSS).
    pub resident: u64,
    /// Largest resident memory since [`Usage::reset_peak`], in bytes (VmHWM).
    pub peak: u64,
    /// Open file descriptors.
    pub descriptors: usize,
}

impl Usage {
    /// Reads memory and descriptors of the process `id`.
    ///
    /// # Errors
    /// The process does not exist or belongs to another user.
    pub fn of(id: u32) -> Result<Self, AttackError> {
        let failed = || AttackError::system("read the memory and descriptors of the server");
        let status = fs::read_to_string(format!("/proc/{id}/status")).map_err(failed())?;
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next());
            number
                .and_then(|text| text.parse::<u64>().ok())
                .map(|kib| kib << 10)
        };
        let (Some(resident), Some(peak)) = (bytes("VmRSS:"), bytes("VmHWM:")) else {
            return Err(AttackError::Process {
                what: "the server".to_owned(),
                reason: "has ended".to_owned(),
            });
        };
        let descriptors = fs::read_dir(format!("/proc/{id}/fd")).map_err(failed())?;
        Ok(Self {
            resident,
            peak,
            descriptors: descriptors.count(),
        })
    }

    /// Resets the peak that the kernel counts.
    ///
    /// # Errors
    /// The process belongs to another user.
    pub fn reset_peak(id: u32) -> Result<(), AttackError> {
        // 5: "reset the peak resident set size".
        fs::write(format!("/proc/{id}/clear_refs"), "5")
            .map_err(AttackError::system("reset the server's peak of memory"))
    }

    /// Returns true if a process is back at its use `before`: the same descriptors, and memory within 10 % and 8 MiB.
    #[must_use]
    pub fn is_recovered(&self, before: &Self) -> bool {
        self.descriptors == before.descriptors
            && self.resident <= before.resident + before.resident / 10 + (8 << 20)
    }

    /// Waits until the process `id` has recovered to `before`, at most for the time `within`, and returns its use at that time.
    ///
    /// # Errors
    /// The process has ended.
    pub fn recovered(id: u32, before: &Self, within: Duration) -> Result<Self, AttackError> {
        let deadline = Instant::now() + within;
        loop {
            let now = Self::of(id)?;
            if now.is_recovered(before) || Instant::now() >= deadline {
                return Ok(now);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Longest slice of work that a server has done at a time, in the server's units, and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slices {
    /// Longest slice so far.
    pub longest: u64,
    /// Limit of a slice.
    pub limit: u64,
}

impl Slices {
    /// Returns the slices of work that the server shows below `Server/VendorServerInfo`; `None` if it shows none.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn of(client: &mut Client) -> Result<Option<Self>, ClientError> {
        let parent = NodeId::numeric(0, ids::SERVER_VENDOR_SERVER_INFO);
        let shown = client.browse(&parent, &takt_app::client::Follow::children())?;
        let mut value = |name: &str| {
            let node = shown
                .iter()
                .find(|reference| reference.browse_name.name.as_str() == name);
            let Some(node) = node else { return Ok(None) };
            let value = client.read_good(&node.node_id.node_id)?;
            Ok::<_, ClientError>(match value {
                Variant::UInt64(value) => Some(value),
                Variant::UInt32(value) => Some(u64::from(value)),
                _ => None,
            })
        };
        let (longest, limit) = (value("LongestSlice")?, value("LongestSliceLimit")?);
        Ok(longest
            .zip(limit)
            .map(|(longest, limit)| Self { longest, limit }))
    }
}
