//! Unix users and groups: their numbers, and the Roles that the file of users gives them.

use std::process::Command;

use takt_space::RoleSet;

use super::user::{User, UserProof, UsersError};

/// Returns the proof of a Unix user with this name or number.
///
/// # Errors
/// [`UsersError::UnixUser`] if there is none.
pub fn unix_user(name: &str) -> Result<UserProof, UsersError> {
    let number = name.parse().ok();
    let number = number.or_else(|| {
        // After `--`, a name that begins with a hyphen is not taken for an option.
        output(Command::new("id").args(["-u", "--", name]))?
            .parse()
            .ok()
    });
    let number = number.ok_or_else(|| UsersError::UnixUser(name.to_owned()))?;
    Ok(UserProof::UnixUser(number))
}

/// Returns the proof of a Unix group with this name or number.
///
/// # Errors
/// [`UsersError::UnixGroup`] if there is none.
pub fn unix_group(name: &str) -> Result<UserProof, UsersError> {
    let number = name.parse().ok();
    let number = number.or_else(|| {
        let entry = output(Command::new("getent").args(["--", "group", name]))?;
        entry.split(':').nth(2)?.parse().ok()
    });
    let number = number.ok_or_else(|| UsersError::UnixGroup(name.to_owned()))?;
    Ok(UserProof::UnixGroup(number))
}

/// Returns the output of a command that queries all user databases of the system, including directories in the network.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Returns the Roles that the file gives a Unix user who is in `groups`: its own ones, or else those of its groups together.
pub(super) fn roles(users: &[User], user: u32, groups: &[u32]) -> Option<RoleSet> {
    let own = users
        .iter()
        .find(|entry| entry.proof == UserProof::UnixUser(user));
    if let Some(own) = own {
        return Some(own.roles);
    }
    let of_groups = users.iter().filter(|entry| match entry.proof {
        UserProof::UnixGroup(group) => groups.contains(&group),
        _ => false,
    });
    of_groups.map(|entry| entry.roles).reduce(RoleSet::union)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(roles: &str, proof: UserProof) -> User {
        User {
            name: String::from("name"),
            roles: roles.parse().unwrap(),
            proof,
        }
    }

    #[test]
    fn a_user_comes_before_its_groups() {
        let users = [
            entry("operator", UserProof::UnixGroup(100)),
            entry("engineer", UserProof::UnixGroup(200)),
            entry("observer", UserProof::UnixUser(1000)),
        ];
        let roles = |user, groups: &[u32]| roles(&users, user, groups).map(|set| set.to_string());
        assert_eq!(roles(1000, &[100, 200]).as_deref(), Some("observer"));
        assert_eq!(roles(1001, &[100]).as_deref(), Some("operator"));
        assert_eq!(
            roles(1001, &[200, 100]).as_deref(),
            Some("operator,engineer")
        );
        assert_eq!(roles(1001, &[300]), None);
    }

    #[test]
    fn names_become_numbers() {
        assert_eq!(unix_user("root").unwrap(), UserProof::UnixUser(0));
        assert_eq!(unix_user("4711").unwrap(), UserProof::UnixUser(4711));
        assert_eq!(unix_group("root").unwrap(), UserProof::UnixGroup(0));
        assert_eq!(unix_group("4711").unwrap(), UserProof::UnixGroup(4711));
        assert!(unix_user("no such user").is_err());
        assert!(unix_group("no such group").is_err());
        assert!(unix_group("--help").is_err());
    }
}
