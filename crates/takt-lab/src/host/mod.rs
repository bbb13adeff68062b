//! Facts about a host that decide its times: processor, memory, kernel, network card, clock.
//!
//! Nothing here asks the system: files come from a folder, which is `/` for this host, and answers of the kernel are values.

mod card;
mod clock;
mod files;

pub use card::{card_facts, time_stamping_text};
pub use clock::{clock_facts, ptp_offset_nanos};
pub use files::{HostFiles, host_facts};

/// Name and value of a fact, for people.
pub type HostFact = (String, String);
