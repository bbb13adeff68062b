//! Identities of an application's messages where Takt itself sends them: in the lab, and on the command line.

use crate::scenario::FlowSource;

/// WriterGroupId of the messages that Takt sends for an application of a scenario.
pub const WRITER_GROUP_ID: u16 = 1;

impl FlowSource {
    /// Returns the PublisherId of the messages that Takt sends for this flow: those of the first application have 1, and those that
    /// its loopback sends back have 2, those of the second application 3 and 4, and so on. `None` for cross traffic.
    #[must_use]
    pub const fn publisher_id(self) -> Option<u64> {
        match self {
            Self::Publish(application) | Self::Branch(application, _) => {
                Some(2 * application.0 as u64 + 1)
            }
            Self::Return(application) => Some(2 * application.0 as u64 + 2),
            Self::Cross(_) => None,
        }
    }
}
