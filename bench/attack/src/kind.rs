//! The attacks: names, descriptions, and the budgets that protect against them.

use serde::{Deserialize, Serialize};

macro_rules! attacks {
    ($($attack:ident $name:literal $description:literal;)*) => {
        /// A kind of attack on a server.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "see `description`")]
        pub enum Attack {
            $($attack,)*
        }

        impl Attack {
            /// All attacks.
            pub const ALL: &[Self] = &[$(Self::$attack,)*];

            /// Returns the name on the command line and in tables.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$attack => $name,)*
                }
            }

            /// Returns the description of the attack at full strength.
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$attack => $description,)*
                }
            }
        }
    };
}

attacks! {
    TranslateSmall "translate-54k" "TranslateBrowsePaths of 54 kB, 4 pipelined";
    TranslateMedium "translate-1M" "TranslateBrowsePaths of 1.1 MB, 4 pipelined";
    TranslateLarge "translate-16M" "TranslateBrowsePaths of 15.7 MB, 2 pipelined";
    TranslateShm "translate-shm" "TranslateBrowsePaths of 1.1 MB over shared memory";
    Browse "browse" "Browse of 1000 x PropertyType, inverse, 24 pipelined, answers unread";
    BrowseShm "browse-shm" "the same over shared memory";
    BrowseMany "browse-many" "short Browses that examine all Properties, 500 pipelined";
    BrowseNext "browse-next" "BrowseNext of 16 ContinuationPoints on 8 connections";
    Read "read" "Read of 10 000 structures, 8 pipelined";
    MonitoredItems "monitored-items" "100 000 MonitoredItems, sampled each millisecond";
    AbandonedItems "abandoned-items" "the same, then the connection is closed";
    DeadClients "dead-clients" "80 Subscriptions of 1000 MonitoredItems with the longest lifetimes; their clients are gone";
    DeletedItems "deleted-items" "100 000 MonitoredItems, deleted with their Subscription, again and again";
    ClosedItems "closed-items" "the same, deleted with their Session";
    EventFilters "event-filters" "60 MonitoredItems with large and deep EventFilters, deleted again and again";
    RefreshStorm "refresh-storm" "ConditionRefresh of 10 000 MonitoredItems, 800 calls pipelined";
    HistoryReads "history-reads" "HistoryRead of a Variable 1000 times in each request, 8 pipelined";
    AddNodes "add-nodes" "100 000 nodes added below a Provider and deleted with it, over TCP";
    AddNodesShm "add-nodes-shm" "the same over shared memory";
    Names "names" "4092 registrations under names of their own, over TCP";
    NamesShm "names-shm" "the same over shared memory";
    Unfinished "unfinished" "240 unfinished messages of 16 MiB without Session";
    SlowChunks "slow-chunks" "200 chunks that come byte by byte without Session";
    Unread "unread" "Reads of 10 000 structures on 64 connections, answers unread";
    UnreadEndpoints "unread-endpoints" "GetEndpoints on 200 connections without Session, answers unread";
    LargeValues "large-values" "a value of 16 MiB, written and read over 4 connections";
    Elements "elements" "arrays of 262 144 and of 15.9 million texts of one byte, written over 4 connections";
    Guesses "guesses" "wrong passwords of a user and of unknown users, from 8 clients at once";
    RegisterServers "register-servers" "RegisterServer2 with names of their own and 1000 URLs, without Session";
    FindServers "find-servers" "FindServers with 50 000 ServerUris, 4 pipelined, without Session";
    Mdns "mdns" "mDNS: records that never expire, up to 4000 messages a second from 8 addresses";
    HostileMirror "hostile-mirror" "a mirrored server: references without end, names of 2 kB, large values; it comes and goes";
    HalfOpen "half-open" "900 connections that say nothing";
    HelloOnly "hello-only" "900 connections that say Hello and nothing more";
    ConnectFlood "connect-flood" "connections that are opened and closed";
    Channels "channels" "900 SecureChannels without Session";
    NotActivated "not-activated" "900 Sessions that are not activated";
    SecureStorm "secure-storm" "1000 secured channels at once, with a trusted certificate";
    SecureStrangers "secure-strangers" "the same with 100 certificates that are not trusted";
    SecureRenewals "secure-renewals" "tokens of 50 secured channels, renewed at once, again and again";
    SecureViolations "secure-violations" "stale tokens, wrong signatures, short and repeated chunks";
    AbandonedSessions "abandoned-sessions" "Sessions whose connection closes at once";
    ShmFlood "shm-flood" "connections to the Unix socket that are opened and closed";
    ShmHalfOpen "shm-half-open" "900 connections to the Unix socket that open no channel";
    ShmClients "shm-clients" "300 clients over shared memory";
    ShmLarge "shm-large" "requests of 60 MiB from 100 clients over shared memory";
    ShmStopped "shm-stopped" "16 stopped processes (SIGSTOP) with 4 requests each in flight";
    ShmInFlight "shm-in-flight" "a client over shared memory that takes no answers";
}

impl Attack {
    /// Returns the attack of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|attack| attack.name() == name)
    }

    /// Returns true if the server keeps memory after the attack: Subscriptions that live for an hour, until others need their memory;
    /// the last copy of a mirrored server; records that others have announced.
    #[must_use]
    pub const fn leaves_memory(self) -> bool {
        matches!(self, Self::DeadClients | Self::HostileMirror | Self::Mdns)
    }

    /// Returns true if the attack has no effect on a server that was not started for it: one with a mirror
    /// ([`mirror_arguments`](crate::mirror_arguments)), or one with `--mdns` in a [network of its own](Self::needs_network).
    #[must_use]
    pub const fn needs_prepared_server(self) -> bool {
        matches!(self, Self::HostileMirror) || self.needs_network()
    }

    /// Returns true if server, attackers and clients must be in a [`PrivateNetwork`](crate::PrivateNetwork).
    #[must_use]
    pub const fn needs_network(self) -> bool {
        matches!(self, Self::Mdns)
    }

    /// Returns true if the attack has no Session. Then the smaller memory budget applies.
    #[must_use]
    pub const fn is_without_session(self) -> bool {
        matches!(
            self,
            Self::Unfinished
                | Self::SlowChunks
                | Self::UnreadEndpoints
                | Self::RegisterServers
                | Self::FindServers
                | Self::Mdns
                | Self::HalfOpen
                | Self::HelloOnly
                | Self::ConnectFlood
                | Self::Channels
                | Self::SecureStorm
                | Self::SecureStrangers
                | Self::SecureRenewals
                | Self::SecureViolations
                | Self::ShmFlood
                | Self::ShmHalfOpen
                | Self::ShmClients
        )
    }
}
