//! A password that is to be checked.

use std::net::IpAddr;

/// The check of one password.
pub(crate) struct PasswordCheck {
    pub(crate) name: String,
    /// True if a user has this name.
    pub(crate) is_known: bool,
    /// True if the check takes no noteworthy time.
    pub(crate) is_quick: bool,
    /// Address or network of the client; `None` over shared memory.
    pub(crate) network: Option<IpAddr>,
    /// Checks the password, keeps the result, and returns whether the password is right. Not called if the login is refused
    /// without a check.
    pub(crate) run: Box<dyn FnOnce() -> bool + Send>,
    /// Lets the request be answered.
    pub(crate) end: Box<dyn FnOnce() + Send>,
}
