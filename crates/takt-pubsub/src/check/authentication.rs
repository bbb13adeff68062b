//! ResourceUri and AuthenticationProfileUri (OPC 10000-14, 6.4.2.2).

use takt_ua::ExtensionObject;

use super::mistake::Place;
use crate::authentication::{Authentication, USER_NAME};

/// Checks the parameters of authentication in transport settings; `is_secure`: TLS protects the connection.
pub(super) fn check(place: &mut Place<'_>, settings: &ExtensionObject, is_secure: bool) {
    let found = Authentication::of(settings);
    if !found.is_supported() {
        place.error(
            "authentication_profile_uri",
            format!("'{}' is not supported", found.profile_uri),
            format!("Leave it out, or write \"{USER_NAME}\""),
        );
    }
    if found.profile_uri == USER_NAME && !is_secure {
        place.warning(
            "authentication_profile_uri",
            "the password is sent in clear, because the address is mqtt://",
            "Use mqtts://",
        );
    }
    let uri = found.resource_uri.as_str();
    let user = uri
        .split_once("://")
        .map(|(_, rest)| rest.split(['@', '/']).next().unwrap_or(rest));
    if uri.contains('@') && user.is_some_and(|user| user.contains(':')) {
        place.error(
            "resource_uri",
            "has a password in it",
            "Write the user only, as in \"mqtts://press@broker:8883\"; the password stays in a file of its own",
        );
    }
}

/// Reports a writer with other credentials than its WriterGroup, whose connection it shares.
pub(super) fn check_writer(
    place: &mut Place<'_>,
    connection: &ExtensionObject,
    group: &ExtensionObject,
    first: &ExtensionObject,
    writer: &ExtensionObject,
) {
    let outer = Authentication::of(connection);
    let used = Authentication::of(group)
        .or(&Authentication::of(first))
        .or(&outer);
    if Authentication::of(writer).or(&used) != used {
        place.error(
            "resource_uri",
            "is not that of the WriterGroup, whose connection to the broker it shares",
            "Give the writer a WriterGroup of its own",
        );
    }
}
