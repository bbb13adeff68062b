//! Backends: places at which a scenario runs.

use std::fmt;

/// Place at which a scenario runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Network namespaces, veth and bridges on the kernel of this host: functional runs in seconds.
    Netns,
    /// User-Mode Linux with all queueing disciplines, links with a rate, and virtual time.
    Uml,
    /// Debian's ready-made User-Mode Linux with all queueing disciplines and veth: functional runs without root and without a build.
    UmlReady,
}

impl Backend {
    /// All backends.
    pub const ALL: [Self; 3] = [Self::Netns, Self::Uml, Self::UmlReady];

    /// Returns the name on the command line and in `run.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Netns => "netns",
            Self::Uml => "uml",
            Self::UmlReady => "uml-ready",
        }
    }

    /// Returns the backend with a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
