//! Unix groups: applications of different users that share with each other, and with no others.

use std::fmt;
use std::os::fd::AsFd;

use crate::error::ShmError;
use crate::system;

/// Unix group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    name: String,
    id: u32,
}

impl Group {
    /// Finds the group with that name, or else the one with that number: in a container groups may have no names.
    ///
    /// # Errors
    /// [`ShmError::NoSuchGroup`].
    pub fn find(name: &str) -> Result<Self, ShmError> {
        let unknown = || ShmError::NoSuchGroup(name.to_owned());
        // The name becomes the name of a directory.
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
            return Err(unknown());
        }
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let id = match system::group_id(name) {
            Some(id) => id,
            None if is_number => name.parse().map_err(|_| unknown())?,
            None => return Err(unknown()),
        };
        Ok(Self {
            name: name.to_owned(),
            id,
        })
    }

    /// Returns the name or number with which it was found.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns true if the calling thread belongs to it.
    pub(crate) fn has_us(&self) -> bool {
        rustix::process::getegid().as_raw() == self.id
            || rustix::process::getgroups()
                .is_ok_and(|groups| groups.iter().any(|group| group.as_raw() == self.id))
    }

    /// Returns true if the process at the other end of a socket belonged to it when it connected, or began to listen.
    pub(crate) fn has_peer(&self, socket: impl AsFd) -> bool {
        let socket = socket.as_fd();
        system::peer(socket).is_ok_and(|peer| peer.gid == self.id)
            || system::peer_groups(socket).is_ok_and(|groups| groups.contains(&self.id))
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_name_and_by_number() {
        assert_eq!(Group::find("root").unwrap().id(), 0);
        let numbered = Group::find("54321").unwrap();
        assert_eq!((numbered.id(), numbered.name()), (54321, "54321"));
        for wrong in [
            "",
            ".",
            "..",
            "a/b",
            "99999999999",
            "-1",
            "+1",
            "no such group",
            "nul\0",
        ] {
            assert!(
                matches!(Group::find(wrong), Err(ShmError::NoSuchGroup(_))),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn membership_is_what_the_kernel_says() {
        let ours = rustix::process::getegid().as_raw();
        let groups = rustix::process::getgroups().unwrap();
        let foreign = (50_000..)
            .find(|id| *id != ours && groups.iter().all(|group| group.as_raw() != *id))
            .unwrap();
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        for (id, expected) in [(ours, true), (foreign, false)] {
            let group = Group::find(&id.to_string()).unwrap();
            assert_eq!(group.has_us(), expected);
            assert_eq!(group.has_peer(&socket), expected);
        }
    }
}
