//! Learned waiting: it decides when a thread spins for the next message, when it sleeps, and when it wakes early.
//!
//! Spinning saves the wake-up of a sleeping thread (6 to 50 µs). But it takes a processor, and it delays everything if the other
//! side needs that processor. Both learners here decide by earlier waits. They use no clock, no system call and no message, so
//! that tests need no real time:
//!
//! * [`SpinBudget`] for the side that waits for a response: spins while responses come within the budget;
//! * [`Arrivals`] for the side that waits for requests: spins for requests that come soon, and wakes just before requests
//!   that come regularly.

mod arrivals;
mod bet;
mod estimate;
mod spin_budget;

pub use arrivals::{Arrivals, WaitStep};
pub use spin_budget::SpinBudget;
