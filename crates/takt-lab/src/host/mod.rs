//! Facts about a host that decide its times: processor, memory, kernel, network card, clock.
//!
//! Nothing here asks the system: files come from a folder, which is `/` for this host, and answers of the kernel are values.

mod card;
mod clock;
mod files;

pub(crate) use card::{DUPLEX, HALF, PTP_CLOCK, SPEED};
pub use card::{card_facts, time_stamping_text};
pub(crate) use clock::{AT_END, GRANDMASTER, PTP_CLOCK_OFFSET, PTP_OFFSET, STEERED, SYSTEM_CLOCK};
pub use clock::{PtpClockOffset, PtpState, clock_facts, clock_facts_at_end, ptp_state};
pub use files::{HostFiles, host_facts};

/// Name and value of a fact, for people.
pub type HostFact = (String, String);
