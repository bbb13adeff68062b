//! Names of StatusCodes.

use super::StatusCode;
use super::generated::STATUS_CODES;

impl StatusCode {
    /// Returns the standard's name of the code, regardless of its flag bits.
    pub fn name(self) -> Option<&'static str> {
        let code = self.code().0;
        let index = STATUS_CODES
            .binary_search_by_key(&code, |entry| entry.0)
            .ok()?;
        STATUS_CODES.get(index).map(|entry| entry.1)
    }

    /// Returns the code with this name, for example `BadTimeout`.
    pub fn from_name(name: &str) -> Option<StatusCode> {
        STATUS_CODES
            .iter()
            .find(|entry| entry.1 == name)
            .map(|entry| StatusCode(entry.0))
    }
}

impl std::fmt::Debug for StatusCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::fmt::Display for StatusCode {
    /// Writes the standard's name and the number, or the number alone.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} (0x{:08X})", self.0),
            None => write!(f, "0x{:08X}", self.0),
        }
    }
}

impl std::error::Error for StatusCode {}
