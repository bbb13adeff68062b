//! SecurityModes and SecurityGroups of groups and readers (OPC 10000-14, 6.2.5.2 and 6.2.5.3).

use takt_ua::UaString;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::PubSubConfiguration2DataType;

use super::mistake::Place;

/// Checks SecurityMode and SecurityGroupId of a group or reader. A reader without either has those of its group.
pub(super) fn check(
    place: &mut Place<'_>,
    mode: MessageSecurityMode,
    group: &UaString,
    configuration: &PubSubConfiguration2DataType,
) {
    let id = group.as_str();
    let known = &configuration.security_groups;
    match (mode, id) {
        (MessageSecurityMode::None | MessageSecurityMode::Invalid, "") => {}
        (MessageSecurityMode::None | MessageSecurityMode::Invalid, id) => place.error(
            "security_mode",
            format!("is missing, so messages of the SecurityGroup '{id}' would not be protected"),
            "Write security_mode = \"SignAndEncrypt\" or \"Sign\", or remove security_group_id",
        ),
        (MessageSecurityMode::Sign | MessageSecurityMode::SignAndEncrypt, "") => place.error(
            "security_group_id",
            "is missing, so there are no keys for the security_mode",
            "Name the SecurityGroup of a SecurityKeyService",
        ),
        (MessageSecurityMode::Sign | MessageSecurityMode::SignAndEncrypt, id) => {
            let mut ids = known.iter().map(|group| group.security_group_id.as_str());
            if !known.is_empty() && !ids.any(|known| known == id) {
                let what = format!("'{id}' is not among the security_groups of the file");
                place.warning(
                    "security_group_id",
                    what,
                    "Correct the name, or add the group",
                );
            }
        }
        (other, _) => place.error(
            "security_mode",
            format!("{} is no MessageSecurityMode", other.0),
            "Use \"None\", \"Sign\" or \"SignAndEncrypt\"",
        ),
    }
}
