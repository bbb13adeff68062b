//! ClientUserId of a caller (OPC 10000-5, 6.4.3).

use takt_space::{Caller, UserIdentity};

/// Returns the ClientUserId of an authenticated user or a Unix user; empty for others.
#[must_use]
pub fn client_user_id(caller: &Caller) -> String {
    match (user_name(&caller.user), caller.peer().user()) {
        (Some(name), _) => name,
        (None, Some(user)) => format!("unix-user={user}"),
        (None, None) => String::new(),
    }
}

/// Returns the ClientUserId of the user on whose behalf a request is carried out: the one that a trusted client forwards it for, or
/// that of the caller.
#[must_use]
pub fn acting_user_id(caller: &Caller) -> String {
    let forwarded = caller.on_behalf_of.clone();
    forwarded.unwrap_or_else(|| client_user_id(caller))
}

/// Returns the ClientUserId of a user; `None` for anonymous ones.
pub(crate) fn user_name(user: &UserIdentity) -> Option<String> {
    match user {
        UserIdentity::Anonymous => None,
        UserIdentity::UserName { name } | UserIdentity::Application { name } => Some(name.clone()),
        UserIdentity::Certificate { subject, .. } => Some(subject.clone()),
        UserIdentity::Issued { issuer, subject } => Some(format!("{subject} of {issuer}")),
    }
}
