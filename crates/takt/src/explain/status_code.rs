//! Advice on StatusCodes.

use takt_app::ClientError;
use takt_ua::StatusCode;

/// Returns advice on an error of a Client that is known by its StatusCode.
pub(super) fn advice(error: &ClientError) -> Option<&'static str> {
    Some(match error.status_code() {
        StatusCode::BadNodeIdUnknown | StatusCode::BadNoMatch => {
            "`takt browse ENDPOINT` lists the nodes. A node is a NodeId such as \"ns=1;s=Spindle/Speed\", or a \
                 path below the Objects folder such as Machine/Spindle/Speed. A slash in a name is written as `&/`."
        }
        StatusCode::BadUserAccessDenied if matches!(error, ClientError::Service { service, .. } if service.starts_with("ActivateSession")) => {
            "Name or password is wrong, or too many are tried at this moment: then try again. `takt user list` shows the users of a server \
                 of Takt. A token needs a role of the server."
        }
        StatusCode::BadIdentityTokenRejected => {
            "A certificate of a user has to be known to the server, and valid: at a server of Takt, `takt user add NAME --certificate \
                 FILE` adds a user. A token has to be valid now, and issued by the authorization service of this server for this server. \
                 The log of a server of Takt (-v) tells why it was refused."
        }
        StatusCode::BadNotWritable => {
            "The node is not writable, or not for this user: `takt read ENDPOINT NODE --attribute UserAccessLevel` tells it."
        }
        StatusCode::BadUserAccessDenied => {
            "This user may not do this with the node: read or write it, call it, or see its Events. --user gives another user; at a \
                 server of Takt, `takt user add NAME` adds one, and `takt user list` shows the roles. On the host of the server, `takt user add --unix-user NAME` \
                 gives a Unix user roles. Behind a registry, the Provider of the node has a table of users of its own."
        }
        StatusCode::BadSecurityModeInsufficient => {
            "This needs an encrypted connection: leave --security away, or use --security encrypt."
        }
        StatusCode::BadTypeMismatch => {
            "`takt read ENDPOINT NODE --attribute DataType` tells the type."
        }
        StatusCode::BadNoCommunication => {
            "The server of this node is not available now: the Provider, or the server that the registry mirrors. For a mirror \
                 named MIRROR, `takt read ENDPOINT MIRROR/Problem` tells the reason."
        }
        StatusCode::BadAttributeIdInvalid => {
            "The node has no such attribute: only Variables have a Value, and --events needs an Object with Events, such as the \
                 Server. `takt read ENDPOINT NODE --attribute NodeClass` tells what it is."
        }
        StatusCode::BadOutOfRange => {
            "The server does not take this value. Its Properties may tell which ones it takes: `takt browse ENDPOINT NODE` shows \
                 them, for example EURange or EnumStrings."
        }
        StatusCode::BadTooManyArguments | StatusCode::BadArgumentsMissing => {
            "`takt read ENDPOINT METHOD/InputArguments` tells the arguments of the Method: give each of them, an array as JSON."
        }
        StatusCode::BadMethodInvalid => {
            "The Object has no such Method, or does not support it now: `takt browse ENDPOINT OBJECT` shows its Methods. Without a path, \
                 --object names the Object. An alarm is confirmed only if it needs it, and shelved only if it can be."
        }
        StatusCode::BadEventIdUnknown => {
            "The EventId has to be that of an Event of the present alarm: `takt watch ENDPOINT --events --json` shows it."
        }
        StatusCode::BadConditionBranchAlreadyAcked
        | StatusCode::BadConditionBranchAlreadyConfirmed => {
            "Somebody was faster: the Properties Comment and ClientUserId of the alarm tell who it was."
        }
        StatusCode::BadConditionNotShelved | StatusCode::BadConditionAlreadyShelved => {
            "`takt read ENDPOINT ALARM/ShelvingState/CurrentState` tells whether the alarm is shelved, and how."
        }
        StatusCode::BadShelvingTimeOutOfRange => {
            "ShelvingTime is in milliseconds, above 0 and at most the Property MaxTimeShelved of the alarm."
        }
        StatusCode::BadSessionClosed => {
            "The server has ended the session, for example because the token of the user has expired: connect again, with a new one."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_mistakes_have_advice() {
        for (status, part) in [
            (StatusCode::BadAttributeIdInvalid, "NodeClass"),
            (StatusCode::BadOutOfRange, "EURange"),
            (StatusCode::BadTooManyArguments, "InputArguments"),
            (StatusCode::BadArgumentsMissing, "InputArguments"),
            (StatusCode::BadSessionClosed, "token"),
            (StatusCode::BadUserAccessDenied, "read or write"),
            (StatusCode::BadNotWritable, "AccessLevel"),
            (StatusCode::BadMethodInvalid, "--object"),
            (StatusCode::BadEventIdUnknown, "--json"),
            (StatusCode::BadConditionBranchAlreadyAcked, "ClientUserId"),
            (
                StatusCode::BadConditionBranchAlreadyConfirmed,
                "ClientUserId",
            ),
            (StatusCode::BadConditionNotShelved, "CurrentState"),
            (StatusCode::BadConditionAlreadyShelved, "CurrentState"),
            (StatusCode::BadShelvingTimeOutOfRange, "MaxTimeShelved"),
            (StatusCode::BadNoCommunication, "MIRROR/Problem"),
        ] {
            let error = ClientError::Operation {
                subject: "i=85".to_owned(),
                status,
            };
            assert!(
                advice(&error).is_some_and(|advice| advice.contains(part)),
                "{status}"
            );
        }
    }
}
