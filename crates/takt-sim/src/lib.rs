//! x
pub mod calendar;
mod clock;
pub mod discipline;
mod line_rate;
mod random;
mod time;
pub use clock::Clock;
pub use line_rate::LineRate;
pub use random::Random;
pub use time::Time;
