//! Names of this host and its user, which a bundle must not have.

use std::env;
use std::fs;

/// Names that say nothing about anybody.
const COMMON: [&str; 3] = ["root", "localhost", "/"];

/// Length from which on a name is sought within words, too: shorter ones are parts of many words, and come about by chance.
const LONG: usize = 5;

/// Names of a host, its users and their home directories.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrivateNames(Vec<String>);

impl PrivateNames {
    /// Returns the names of this host and of the user of this process, also of the one behind `sudo`.
    #[must_use]
    pub fn of_this_host() -> Self {
        let mut names = Vec::new();
        let uname = rustix::system::uname();
        let host = uname.nodename().to_string_lossy().into_owned();
        // The name of a host may have its domain behind it.
        names.extend(host.split('.').next().map(str::to_owned));
        names.push(host);
        let users = ["USER", "LOGNAME", "SUDO_USER"];
        let users = users.into_iter().filter_map(|name| env::var(name).ok());
        let mut users: Vec<String> = users.collect();
        let mut ids = vec![rustix::process::getuid().as_raw().to_string()];
        ids.extend(env::var("SUDO_UID").ok());
        let passwords = fs::read_to_string("/etc/passwd").unwrap_or_default();
        names.extend(env::var("HOME").ok());
        for (user, id, home) in accounts(&passwords) {
            if ids.iter().any(|it| it == id) || users.iter().any(|it| it == user) {
                users.push(user.to_owned());
                names.push(home.to_owned());
            }
        }
        names.extend(users);
        Self::new(names)
    }

    /// Returns these names, without those that everybody has.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        let names = names.into_iter().map(|name| name.trim().to_owned());
        let names = names.filter(|name| !name.is_empty() && !COMMON.contains(&name.as_str()));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.dedup();
        Self(names)
    }

    /// Leaves out names that are words of the run as well.
    #[must_use]
    pub fn without(self, allowed: &[String]) -> Self {
        Self(
            self.0
                .into_iter()
                .filter(|name| !allowed.contains(name))
                .collect(),
        )
    }

    /// Returns the first name that bytes have, in capital or small letters.
    #[must_use]
    pub fn found_in(&self, bytes: &[u8]) -> Option<&str> {
        let names = self.0.iter().map(String::as_str);
        let mut names = names.filter(|name| has(bytes, name));
        names.next()
    }
}

fn has(bytes: &[u8], name: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let mut places = bytes.windows(name.len().max(1)).enumerate();
    places.any(|(at, window)| {
        window.eq_ignore_ascii_case(name.as_bytes())
            && (name.len() >= LONG
                || !is_word(at.checked_sub(1).and_then(|at| bytes.get(at)))
                    && !is_word(bytes.get(at + name.len())))
    })
}

/// Returns name, id and home directory of the accounts in a file passwd(5).
fn accounts(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    text.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let (user, id) = (fields.next()?, fields.nth(1)?);
        Some((user, id, fields.nth(2)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_bytes() {
        let names = ["ada", "Machine7", "/home/ada", "root", ""].map(str::to_owned);
        let names = PrivateNames::new(names);
        for (text, expected) in [
            (&b"kernel 6.12"[..], None),
            (b"adam and canada", None),
            (b"\0\xffada\n", Some("ada")),
            (b"of ADA", Some("ada")),
            (b"xmachine7x", Some("Machine7")),
            (b"/home/ada/run", Some("/home/ada")),
            (b"the root", None),
            (b"", None),
        ] {
            assert_eq!(names.found_in(text), expected, "{}", text.escape_ascii());
        }
        let allowed = names.without(&["ada".to_owned(), "/home/ada".to_owned()]);
        assert_eq!(allowed.found_in(b"ada"), None);
    }

    #[test]
    fn accounts_have_homes() {
        let text = "root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000:Ada,,,:/home/ada:/bin/sh\nx\n";
        let found: Vec<_> = accounts(text).collect();
        assert_eq!(
            found,
            [("root", "0", "/root"), ("ada", "1000", "/home/ada")]
        );
    }

    #[test]
    fn this_host_has_names() {
        let PrivateNames(names) = PrivateNames::of_this_host();
        assert!(names.iter().all(|name| !COMMON.contains(&name.as_str())));
    }
}
