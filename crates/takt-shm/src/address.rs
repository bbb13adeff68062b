//! Names and addresses: `opc.iox2://<ApplicationName>`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// URL scheme of endpoints over shared memory.
pub const URL_SCHEME: &str = "opc.iox2";

/// Value of `transportProfileUri` in an EndpointDescription (OPC 10000-4, 7.14): messages in the binary DataEncoding (OPC
/// 10000-6, 5.2) without a secure channel, over iceoryx2 shared memory. The OPC Foundation has no profile for this transport; the
/// URI is Takt's own.
pub const TRANSPORT_PROFILE_URI: &str = "urn:takt:transport:iox2-uabinary";

/// Error in the text of an [`ApplicationName`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ApplicationNameError {
    /// The name has no characters.
    #[error("the ApplicationName is empty")]
    Empty,
    /// The name has more than [`ApplicationName::MAX_LENGTH`] characters.
    #[error("the ApplicationName has {length} characters; at most {max} are allowed", max = ApplicationName::MAX_LENGTH)]
    TooLong {
        /// Length of the name in bytes.
        length: usize,
    },
    /// The name contains a character that could be mistaken for part of a path or URL, or that cannot be printed.
    #[error(
        "the ApplicationName contains {character:?} at byte {position}; letters, digits and - _ . ~ + @ are allowed"
    )]
    Character {
        /// First such character.
        character: char,
        /// Offset of the character in bytes.
        position: usize,
    },
    /// The name begins with a dot, as `.`, `..` and hidden files do.
    #[error("the ApplicationName begins with a dot")]
    LeadingDot,
}

/// Name under which an application offers its services on this host.
///
/// It becomes part of service names, file names and URLs, and is therefore limited to 64 of the ASCII letters
/// and digits and `-`, `_`, `.`, `~`, `+`, `@`, not beginning with a dot.
///
/// ```
/// use takt_shm::ApplicationName;
///
/// let name: ApplicationName = "SemanticRegistryServer".parse()?;
/// assert_eq!(name.endpoint_url(), "opc.iox2://SemanticRegistryServer");
/// assert!("../../etc/passwd".parse::<ApplicationName>().is_err());
/// # Ok::<(), takt_shm::ApplicationNameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApplicationName(Box<str>);

impl ApplicationName {
    /// Maximum length, in bytes.
    pub const MAX_LENGTH: usize = 64;

    /// Creates a name after checking it.
    ///
    /// # Errors
    /// [`ApplicationNameError`], with the error in the name.
    pub fn new(name: &str) -> Result<Self, ApplicationNameError> {
        if name.is_empty() {
            return Err(ApplicationNameError::Empty);
        }
        if name.len() > Self::MAX_LENGTH {
            return Err(ApplicationNameError::TooLong { length: name.len() });
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.~+@".contains(c);
        if let Some((position, character)) = name.char_indices().find(|&(_, c)| !allowed(c)) {
            return Err(ApplicationNameError::Character {
                character,
                position,
            });
        }
        if name.starts_with('.') {
            return Err(ApplicationNameError::LeadingDot);
        }
        Ok(Self(name.into()))
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `opc.iox2://<ApplicationName>`.
    #[must_use]
    pub fn endpoint_url(&self) -> String {
        format!("{URL_SCHEME}://{}", self.0)
    }
}

impl fmt::Display for ApplicationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ApplicationName {
    type Err = ApplicationNameError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::new(name)
    }
}

/// Error in the text of a [`SharedMemoryUrl`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SharedMemoryUrlError {
    /// The text does not begin with `opc.iox2://`.
    #[error("the endpoint URL does not begin with {URL_SCHEME}://")]
    Scheme,
    /// The rest of the text is not an ApplicationName.
    #[error("in the endpoint URL: {0}")]
    ApplicationName(#[from] ApplicationNameError),
}

/// Endpoint over shared memory, `opc.iox2://<ApplicationName>`.
///
/// The scheme is read in any case, and one slash at the end is ignored, as in other URLs without a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SharedMemoryUrl {
    /// Application that the URL addresses.
    pub application_name: ApplicationName,
}

impl SharedMemoryUrl {
    /// Returns true if `url` has the scheme of this transport; the rest may be invalid.
    #[must_use]
    pub fn has_scheme(url: &str) -> bool {
        strip_scheme(url).is_some()
    }
}

fn strip_scheme(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    scheme.eq_ignore_ascii_case(URL_SCHEME).then_some(rest)
}

impl FromStr for SharedMemoryUrl {
    type Err = SharedMemoryUrlError;

    fn from_str(url: &str) -> Result<Self, Self::Err> {
        let name = strip_scheme(url).ok_or(SharedMemoryUrlError::Scheme)?;
        let name = name.strip_suffix('/').unwrap_or(name);
        Ok(Self {
            application_name: ApplicationName::new(name)?,
        })
    }
}

impl fmt::Display for SharedMemoryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{URL_SCHEME}://{}", self.application_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_are_taken() {
        for name in [
            "HostTelemetry",
            "a",
            "press-4.station_2~x+y@z",
            &"x".repeat(64),
        ] {
            assert_eq!(ApplicationName::new(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn names_that_could_be_paths_or_urls_are_refused() {
        assert_eq!(ApplicationName::new(""), Err(ApplicationNameError::Empty));
        assert_eq!(
            ApplicationName::new(&"x".repeat(65)),
            Err(ApplicationNameError::TooLong { length: 65 })
        );
        for name in [".", "..", ".hidden"] {
            assert_eq!(
                ApplicationName::new(name),
                Err(ApplicationNameError::LeadingDot)
            );
        }
        for name in [
            "a/b",
            "a\\b",
            "a\0b",
            "a\nb",
            "a b",
            "a%2fb",
            "a?b",
            "a#b",
            "a:b",
            "Überwachung",
        ] {
            let error = ApplicationName::new(name).unwrap_err();
            assert!(
                matches!(error, ApplicationNameError::Character { .. }),
                "{name:?}: {error}"
            );
        }
    }

    #[test]
    fn urls_are_read_and_printed() {
        for url in ["opc.iox2://Foo", "OPC.IOX2://Foo", "opc.iox2://Foo/"] {
            let parsed: SharedMemoryUrl = url.parse().unwrap();
            assert_eq!(parsed.application_name.as_str(), "Foo");
            assert_eq!(parsed.to_string(), "opc.iox2://Foo");
            assert!(SharedMemoryUrl::has_scheme(url));
        }
        assert_eq!(
            "opc.tcp://Foo".parse::<SharedMemoryUrl>(),
            Err(SharedMemoryUrlError::Scheme)
        );
        assert_eq!(
            "Foo".parse::<SharedMemoryUrl>(),
            Err(SharedMemoryUrlError::Scheme)
        );
        assert_eq!(
            "opc.iox2://".parse::<SharedMemoryUrl>(),
            Err(SharedMemoryUrlError::ApplicationName(
                ApplicationNameError::Empty
            ))
        );
        assert!("opc.iox2://a/b".parse::<SharedMemoryUrl>().is_err());
        assert!("opc.iox2://a//".parse::<SharedMemoryUrl>().is_err());
    }
}
