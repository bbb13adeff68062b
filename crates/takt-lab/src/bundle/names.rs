//! Names of this host and its user, which a bundle must not have.

use std::env;
use std::fs;
use std::io::{self, Read};

/// Names that say nothing about anybody: those of every host, and of accounts that an installer makes.
const COMMON: [&str; 20] = [
    "root",
    "localhost",
    "localdomain",
    "local",
    "home",
    "lan",
    "/",
    "user",
    "users",
    "live",
    "admin",
    "administrator",
    "account",
    "default",
    "system",
    "linux",
    "debian",
    "ubuntu",
    "fedora",
    "test",
];

/// Shortest part of a full name that is sought alone, in bytes: shorter ones are initials and particles.
const SHORTEST_PART: usize = 3;

/// Number of bytes of binary data, all of them printable, in which a name is taken for one.
const PRINTABLE: usize = 8;

/// Number of bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// Length from which on a name is sought within words, too: shorter ones are parts of many words, and come about by chance.
const LONG: usize = 5;

/// Names of a host, its users and their home directories.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrivateNames {
    names: Vec<String>,
    /// Parts of full names, which may be words, such as "Max" and "Will". They are sought where people write: in scenarios.
    parts: Vec<String>,
}

impl PrivateNames {
    /// Returns the names of this host and of the user of this process, also of the one behind `sudo`.
    #[must_use]
    pub fn of_this_host() -> Self {
        let (mut names, mut of_full_names) = (Vec::new(), Vec::new());
        let uname = rustix::system::uname();
        let host = uname.nodename().to_string_lossy().into_owned();
        // The name of a host may have its domain behind it.
        if let Some((name, domain)) = host.split_once('.') {
            names.extend([name, domain].map(str::to_owned));
        }
        names.push(host);
        let users = ["USER", "LOGNAME", "SUDO_USER"];
        let users = users.into_iter().filter_map(|name| env::var(name).ok());
        let mut users: Vec<String> = users.collect();
        let mut ids = vec![rustix::process::getuid().as_raw().to_string()];
        ids.extend(env::var("SUDO_UID").ok());
        let passwords = fs::read_to_string("/etc/passwd").unwrap_or_default();
        names.extend(env::var("HOME").ok());
        for account in accounts(&passwords) {
            let Account {
                user,
                id,
                full_name,
                home,
            } = account;
            if ids.iter().any(|it| it == id) || users.iter().any(|it| it == user) {
                users.push(user.to_owned());
                names.push(home.to_owned());
                let full_name = full_name.replace('&', user);
                of_full_names.extend(parts(&full_name));
                names.push(full_name);
            }
        }
        names.extend(users);
        Self {
            parts: private(of_full_names),
            ..Self::new(names)
        }
    }

    /// Returns these names, without those that everybody has.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self {
            names: private(names),
            parts: Vec::new(),
        }
    }

    /// Leaves out names that are words of the run as well.
    #[must_use]
    pub fn without(mut self, allowed: &[String]) -> Self {
        for names in [&mut self.names, &mut self.parts] {
            names.retain(|name| !allowed.contains(name));
        }
        self
    }

    /// Returns the first name that a text has, in capital or small letters.
    #[must_use]
    pub fn found_in(&self, bytes: &[u8]) -> Option<&str> {
        let names = self.names.iter().map(String::as_str);
        let mut names = names.filter(|name| has(bytes, bytes.len(), name, is_in_text));
        names.next()
    }

    /// Returns the first name that a text of any length has.
    pub(super) fn found_in_text(&self, input: impl Read) -> io::Result<Option<&str>> {
        found(names_of(&self.names, 0), input, is_in_text)
    }

    /// Returns the first name, or part of a full name, that a text of a person has.
    pub(super) fn found_in_written(&self, input: impl Read) -> io::Result<Option<&str>> {
        let names = names_of(&self.names, 0);
        let all = [names, names_of(&self.parts, 0)].concat();
        found(all, input, is_in_text)
    }

    /// Returns the first name that binary data has. Short names are in any data by chance: only long ones within printable bytes count.
    pub(super) fn found_in_binary(&self, input: impl Read) -> io::Result<Option<&str>> {
        found(names_of(&self.names, LONG), input, is_in_binary)
    }
}

/// Returns names without those that everybody has, each once.
fn private(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let names = names.into_iter().map(|name| name.trim().to_owned());
    let is_common = |name: &String| COMMON.iter().any(|it| it.eq_ignore_ascii_case(name));
    let names = names.filter(|name| !name.is_empty() && !is_common(name));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the names of this length or a greater one, in bytes.
fn names_of(names: &[String], shortest: usize) -> Vec<&str> {
    let names = names.iter().map(String::as_str);
    names.filter(|name| name.len() >= shortest).collect()
}

/// Returns the first name that an input has at a place that counts.
fn found(
    names: Vec<&str>,
    mut input: impl Read,
    counts: fn(&[u8], usize, &str) -> bool,
) -> io::Result<Option<&str>> {
    let longest = names.iter().map(|name| name.len()).max().unwrap_or(0);
    // What follows a name decides whether it counts, and so does what is before it.
    let kept = longest + 2 * PRINTABLE;
    let mut bytes: Vec<u8> = Vec::with_capacity(CHUNK + kept);
    loop {
        let beyond = bytes.len().saturating_sub(kept);
        bytes.drain(..beyond);
        let read = input.by_ref().take(CHUNK as u64).read_to_end(&mut bytes)?;
        let is_last = read < CHUNK;
        let unseen = if is_last { 0 } else { PRINTABLE };
        let limit = bytes.len().saturating_sub(unseen);
        let mut found = names.iter().copied();
        let found = found.find(|name| has(&bytes, limit, name, counts));
        if found.is_some() || is_last {
            return Ok(found);
        }
    }
}

/// Returns true if bytes have a name that ends before `limit`, at a place that counts.
fn has(bytes: &[u8], limit: usize, name: &str, counts: fn(&[u8], usize, &str) -> bool) -> bool {
    let Some(first) = name.as_bytes().first() else {
        return false;
    };
    let places = bytes.iter().take(limit).enumerate();
    let mut places = places.filter(|(_, byte)| byte.eq_ignore_ascii_case(first));
    places.any(|(at, _)| {
        let end = at + name.len();
        let found = bytes.get(at..end).filter(|_| end <= limit);
        found.is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes())) && counts(bytes, at, name)
    })
}

/// Returns true if a name at a place of a text is a word, or long enough to be one within others.
fn is_in_text(bytes: &[u8], at: usize, name: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    name.len() >= LONG
        || !is_word(at.checked_sub(1).and_then(|at| bytes.get(at)))
            && !is_word(bytes.get(at + name.len()))
}

/// Returns true if a name at a place of binary data is among enough printable bytes.
fn is_in_binary(bytes: &[u8], at: usize, name: &str) -> bool {
    let is_printable = |byte: &&u8| byte.is_ascii_graphic() || **byte == b' ';
    let before = bytes.get(..at).unwrap_or_default().iter().rev();
    let behind = bytes.get(at + name.len()..).unwrap_or_default().iter();
    let [before, behind] = [
        before.take(PRINTABLE).take_while(is_printable).count(),
        behind.take(PRINTABLE).take_while(is_printable).count(),
    ];
    before + name.len() + behind >= PRINTABLE
}

/// Account of a file passwd(5).
#[derive(Debug, PartialEq, Eq)]
struct Account<'t> {
    user: &'t str,
    id: &'t str,
    /// Field GECOS up to its first comma. An ampersand stands for the name of the account.
    full_name: &'t str,
    home: &'t str,
}

fn accounts(text: &str) -> impl Iterator<Item = Account<'_>> {
    text.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let (user, id) = (fields.next()?, fields.nth(1)?);
        let (gecos, home) = (fields.nth(1)?, fields.next()?);
        Some(Account {
            user,
            id,
            full_name: gecos.split(',').next().unwrap_or_default(),
            home,
        })
    })
}

/// Returns the parts of a full name.
fn parts(full_name: &str) -> Vec<String> {
    let parts = full_name.split_whitespace().map(|it| it.trim_matches('.'));
    let parts = parts.filter(|part| part.len() >= SHORTEST_PART);
    parts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

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
        let found = accounts(text);
        let found: Vec<_> = found
            .map(|it| (it.user, it.id, it.full_name, it.home))
            .collect();
        assert_eq!(
            found,
            [
                ("root", "0", "root", "/root"),
                ("ada", "1000", "Ada", "/home/ada")
            ]
        );
        assert_eq!(parts("Ada K. von Lovelace"), ["Ada", "von", "Lovelace"]);
    }

    /// Many first names are words of a report, too.
    #[test]
    fn parts_of_full_names_are_sought_where_people_write() {
        let names = PrivateNames {
            names: vec!["Max Power".to_owned()],
            parts: vec!["Max".to_owned(), "Power".to_owned()],
        };
        let written = |text: &str| names.found_in_written(text.as_bytes()).unwrap();
        let generated = |text: &str| names.found_in_text(text.as_bytes()).unwrap();
        assert_eq!(written("# by Max, 2026"), Some("Max"));
        assert_eq!(written("powerful"), Some("Power"));
        assert_eq!(written("maximal"), None);
        assert_eq!(generated("<th>max</th>"), None);
        assert_eq!(generated("of max power"), Some("Max Power"));
        let allowed = names.clone().without(&["Max".to_owned()]);
        assert_eq!(allowed.found_in_written(&b"max"[..]).unwrap(), None);
    }

    /// Three letters are in every capture of some length.
    #[test]
    fn short_names_are_not_sought_in_binary_data() {
        let names = PrivateNames::new(["ada", "Lovelace", "byron"].map(str::to_owned));
        let binary = |bytes: &[u8]| names.found_in_binary(bytes).unwrap();
        assert_eq!(binary(b"\0\x01ada\0\xff"), None);
        assert_eq!(binary(b"\0\x01byron\0\xff"), None);
        assert_eq!(binary(b"\0\x01of byron\0\xff"), Some("byron"));
        assert_eq!(binary(b"\xffLOVELACE\xff"), Some("Lovelace"));
        let text = |bytes: &[u8]| names.found_in_text(bytes).unwrap();
        assert_eq!(text(b"by ada"), Some("ada"));
        // Random bytes have each short name many times.
        let mut state = 1_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        };
        let bytes: Vec<u8> = (0..1 << 17).flat_map(|_| random()).collect();
        let names = PrivateNames::new(["ad", "byron"].map(str::to_owned));
        assert_eq!(names.found_in_text(&bytes[..]).unwrap(), Some("ad"));
        assert_eq!(names.found_in_binary(&bytes[..]).unwrap(), None);
    }

    #[test]
    fn names_are_found_at_the_edges_of_chunks() {
        let names = PrivateNames::new(["ada", "lovelace"].map(str::to_owned));
        for begin in CHUNK - 12..=CHUNK + 2 {
            for name in ["ada", "lovelace"] {
                let mut text = vec![b' '; begin];
                text.extend_from_slice(name.as_bytes());
                assert_eq!(names.found_in_text(&text[..]).unwrap(), Some(name));
                text.extend([b' '; 10]);
                assert_eq!(names.found_in_text(&text[..]).unwrap(), Some(name));
                // Within a word, a short name is none.
                text[begin - 1] = b'x';
                let expected = Some(name).filter(|name| name.len() >= LONG);
                assert_eq!(names.found_in_text(&text[..]).unwrap(), expected, "{begin}");
                text[begin - 1] = b' ';
                text[begin + name.len()] = b'x';
                assert_eq!(names.found_in_text(&text[..]).unwrap(), expected, "{begin}");
            }
        }
    }

    #[test]
    fn this_host_has_names() {
        let PrivateNames { names, .. } = PrivateNames::of_this_host();
        assert!(names.iter().all(|name| !COMMON.contains(&name.as_str())));
    }
}
