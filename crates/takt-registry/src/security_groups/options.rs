//! SecurityGroups in the form of the command line.

use std::process::Command;
use std::str::FromStr;
use std::time::Duration;

use takt_pubsub::security::PubSubSecurityPolicy;

use super::group;

/// A SecurityGroup to be created, with the users who may get its keys besides the user who added it, the registry's
/// user, and root.
///
/// The text form is `NAME`, `NAME=POLICY`, `NAME:USER,USER` or `NAME=POLICY:USER,USER`. POLICY is `PubSub-Aes128-CTR`
/// or `PubSub-Aes256-CTR`, USER the name or the number of a Unix user, or the ApplicationUri of an application (it contains
/// a colon) for encrypted connections over `opc.tcp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityGroupOptions {
    /// Name of the group, which is also its SecurityGroupId.
    pub name: String,
    /// SecurityPolicy; by default that of the existing group, or PubSub-Aes256-CTR for a new one.
    pub security_policy: Option<PubSubSecurityPolicy>,
    /// KeyLifetime of a new group; by default an hour.
    pub key_lifetime: Option<Duration>,
    /// Unix users who may get the keys.
    pub users: Vec<u32>,
    /// ApplicationUris of applications that may get the keys over encrypted `opc.tcp`. Their certificates have to contain
    /// them.
    pub applications: Vec<String>,
}

/// Error of a text that is not a SecurityGroup.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecurityGroupOptionsError {
    /// The name is missing, too long or has control characters.
    #[error("a SecurityGroup needs a name of 1 to {longest} bytes without control characters: NAME[=POLICY][:USER,...]", longest = group::LONGEST_NAME)]
    Name,
    /// The SecurityPolicy does not exist.
    #[error("{0:?} is not a SecurityPolicy: use PubSub-Aes128-CTR or PubSub-Aes256-CTR")]
    SecurityPolicy(String),
    /// The user does not exist.
    #[error("{0:?} is neither the name nor the number of a Unix user")]
    User(String),
}

impl FromStr for SecurityGroupOptions {
    type Err = SecurityGroupOptionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (group, users) = text.split_once(':').unwrap_or((text, ""));
        let (name, policy) = match group.split_once('=') {
            Some((name, policy)) => (name, Some(policy)),
            None => (group, None),
        };
        if !group::is_name(name) {
            return Err(SecurityGroupOptionsError::Name);
        }
        let named = |name: &str| {
            let mut policies = PubSubSecurityPolicy::ALL.into_iter();
            policies.find(|policy| policy.uri().rsplit('#').next() == Some(name))
        };
        let policy = policy.map(|policy| {
            named(policy)
                .ok_or_else(|| SecurityGroupOptionsError::SecurityPolicy(policy.to_owned()))
        });
        let (applications, users): (Vec<&str>, Vec<&str>) = users
            .split(',')
            .filter(|user| !user.is_empty())
            .partition(|user| user.contains(':'));
        let users = users.into_iter().map(|user| {
            let number = user.parse().ok().or_else(|| number_of(user));
            number.ok_or_else(|| SecurityGroupOptionsError::User(user.to_owned()))
        });
        Ok(Self {
            name: name.to_owned(),
            security_policy: policy.transpose()?,
            key_lifetime: None,
            users: users.collect::<Result<_, _>>()?,
            applications: applications.into_iter().map(str::to_owned).collect(),
        })
    }
}

/// Returns the number of the Unix user with a name. The command queries all user databases of the system, including
/// directories in the network.
fn number_of(name: &str) -> Option<u32> {
    let mut command = Command::new("id");
    let output = command.args(["-u", "--", name]).output().ok()?;
    let number = String::from_utf8(output.stdout).ok()?;
    number
        .trim()
        .parse()
        .ok()
        .filter(|_| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_and_mistakes_named() {
        let read = |text: &str| text.parse::<SecurityGroupOptions>();
        let plain = read("Plant").unwrap();
        assert_eq!(
            (plain.name.as_str(), plain.security_policy),
            ("Plant", None)
        );
        let full = read("Plant=PubSub-Aes128-CTR:1000,1001").unwrap();
        assert_eq!(
            full.security_policy,
            Some(PubSubSecurityPolicy::PubSubAes128Ctr)
        );
        assert_eq!(full.users, [1000, 1001]);
        assert_eq!(read("Plant:7").unwrap().users, [7]);
        assert_eq!(read("Plant:root,7").unwrap().users, [0, 7]);
        let remote = read("Plant:7,urn:plant:press").unwrap();
        assert_eq!(remote.users, [7]);
        assert_eq!(remote.applications, ["urn:plant:press"]);
        assert_eq!(read("=x:1"), Err(SecurityGroupOptionsError::Name));
        assert_eq!(
            read("Plant=Basic256"),
            Err(SecurityGroupOptionsError::SecurityPolicy(
                "Basic256".to_owned()
            ))
        );
        assert_eq!(
            read("Plant:no such user"),
            Err(SecurityGroupOptionsError::User("no such user".to_owned()))
        );
    }
}
