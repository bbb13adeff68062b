//! StatusCodes of open62541, as errors.

use std::ffi::CStr;

use open62541_sys as sys;

/// An error of open62541: a StatusCode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub u32);

impl Status {
    /// `Ok` if it is Good.
    ///
    /// # Errors
    /// The StatusCode itself if not.
    pub fn check(code: u32) -> Result<(), Self> {
        if code == 0 { Ok(()) } else { Err(Self(code)) }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&status_name(self.0))
    }
}

impl std::error::Error for Status {}

/// The standard's name of a StatusCode.
#[must_use]
pub(crate) fn status_name(code: u32) -> String {
    // SAFETY: open62541 returns a constant, zero-terminated text for any code.
    let name = unsafe { CStr::from_ptr(sys::UA_StatusCode_name(code)) }.to_string_lossy();
    if name.starts_with("Unknown") {
        format!("{code:#010X}")
    } else {
        name.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_names() {
        assert_eq!(status_name(0), "Good");
        assert_eq!(status_name(sys::UA_STATUSCODE_BADTIMEOUT), "BadTimeout");
        assert_eq!(status_name(0x8FFF_0000), "0x8FFF0000");
    }
}
