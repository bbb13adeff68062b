//! Identity of a client: application, user and Roles, and what they may do (OPC 10000-4, 5.7.3, 7.40; OPC 10000-3, 8.55).
//!
//! * [`authentication`], [`users`]: interfaces of the application that decides who a user is.
//! * [`token_policies`], [`user_tokens`]: the kinds of user tokens that are offered, and the check of one.
//! * [`password_checks`]: the thread on which passwords are checked.
//! * [`session_security`], [`additional_header`]: signatures and keys of CreateSession and ActivateSession.
//! * [`forwarded_user`], [`forwarded_identity`]: the user on whose behalf another server sends a request.
//! * [`user_id`], [`claimed_user`]: names of users in audit records and diagnostics.
//! * [`access`]: what a caller may do with a node.

pub(crate) mod access;
mod additional_header;
pub(crate) mod authentication;
pub(crate) mod claimed_user;
pub(crate) mod forwarded_identity;
pub(crate) mod forwarded_user;
pub(crate) mod password_checks;
pub(crate) mod random;
pub(crate) mod session_security;
pub(crate) mod token_policies;
pub(crate) mod user_id;
pub(crate) mod user_tokens;
pub(crate) mod users;
