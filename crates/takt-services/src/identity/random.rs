//! Random numbers that cannot be guessed.

use takt_ua::{DateTime, StatusCode};

/// Returns random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], StatusCode> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| StatusCode::BadInternalError)?;
    Ok(bytes)
}

/// Returns a random number for the first SessionId or SubscriptionId of a server.
pub(crate) fn random_id() -> u32 {
    // Without random numbers, the low digits of the clock differ from run to run.
    let [a, b, c, d, ..] = DateTime::now().0.to_le_bytes();
    u32::from_le_bytes(random().unwrap_or([a, b, c, d]))
}
