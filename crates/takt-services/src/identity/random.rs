//! Random numbers that cannot be guessed.

use takt_ua::StatusCode;

/// Returns random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], StatusCode> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| StatusCode::BadInternalError)?;
    Ok(bytes)
}
