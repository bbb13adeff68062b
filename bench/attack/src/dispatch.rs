//! The functions that carry out the attacks.

use crate::channel::{Lost, Way};
use crate::kind::Attack;
use crate::target::Attacker;
use crate::{
    announcements, connections, discovery, events, guesses, history, items, messages, mirrored,
    nodes, secured, shared_memory, values, walking,
};

impl Attack {
    /// Carries out the attack until it has to end. Calls `is_under_way` once the attack has begun.
    pub(crate) fn run(
        self,
        attacker: &mut Attacker<'_>,
        is_under_way: impl FnOnce(),
    ) -> Result<(), Lost> {
        // These begin after their preparation.
        match self {
            Self::ShmInFlight => return shared_memory::in_flight(attacker, is_under_way),
            Self::HostileMirror => return mirrored::serve(attacker, is_under_way),
            Self::HistoryReads => return history::read(attacker, is_under_way),
            Self::SecureStorm => return secured::storm(attacker, is_under_way),
            Self::SecureStrangers => return secured::strangers(attacker, is_under_way),
            Self::SecureRenewals => return secured::renewals(attacker, is_under_way),
            Self::SecureViolations => return secured::violations(attacker, is_under_way),
            _ => {}
        }
        is_under_way();
        match self {
            Self::TranslateSmall => walking::translate(attacker, Way::Tcp, 54_000, 4),
            Self::TranslateMedium => walking::translate(attacker, Way::Tcp, 1_100_000, 4),
            Self::TranslateLarge => walking::translate(attacker, Way::Tcp, 15_700_000, 2),
            Self::TranslateShm => walking::translate(attacker, Way::SharedMemory, 1_100_000, 4),
            Self::Browse => walking::browse(attacker, Way::Tcp),
            Self::BrowseShm => walking::browse(attacker, Way::SharedMemory),
            Self::BrowseMany => walking::browse_many(attacker),
            Self::BrowseNext => walking::browse_next(attacker, Way::Tcp),
            Self::Read => walking::read(attacker, Way::Tcp),
            Self::MonitoredItems => items::keep(attacker),
            Self::AbandonedItems => items::abandon(attacker),
            Self::DeadClients => items::die(attacker),
            Self::DeletedItems => items::delete(attacker),
            Self::ClosedItems => items::close(attacker),
            Self::EventFilters => events::filters(attacker),
            Self::RefreshStorm => events::refresh(attacker),
            Self::RegisterServers => discovery::register(attacker),
            Self::FindServers => discovery::find(attacker),
            Self::Mdns => announcements::flood(attacker),
            Self::AddNodes => nodes::add_and_delete(attacker, Way::Tcp),
            Self::AddNodesShm => nodes::add_and_delete(attacker, Way::SharedMemory),
            Self::Names => nodes::names(attacker, Way::Tcp),
            Self::NamesShm => nodes::names(attacker, Way::SharedMemory),
            Self::Unfinished => messages::unfinished(attacker),
            Self::SlowChunks => messages::slow(attacker),
            Self::Unread => messages::unread(attacker),
            Self::UnreadEndpoints => messages::unread_without_session(attacker),
            Self::LargeValues => values::write_and_read(attacker),
            Self::Elements => values::write_elements(attacker),
            Self::ShmLarge => shared_memory::large(attacker),
            Self::ShmStopped => shared_memory::stopped(attacker),
            Self::ShmFlood => shared_memory::flood(attacker),
            Self::ShmHalfOpen => shared_memory::half_open(attacker),
            _ => {
                self.hold(attacker);
                Ok(())
            }
        }
    }

    /// Runs attacks that count each failure themselves and continue.
    fn hold(self, attacker: &mut Attacker<'_>) {
        match self {
            Self::HalfOpen => connections::half_open(attacker, false),
            Self::HelloOnly => connections::half_open(attacker, true),
            Self::ConnectFlood => connections::flood(attacker),
            Self::Channels => connections::channels(attacker),
            Self::NotActivated => connections::not_activated(attacker),
            Self::AbandonedSessions => connections::abandoned(attacker),
            Self::ShmClients => shared_memory::clients(attacker),
            Self::Guesses => guesses::passwords(attacker),
            _ => {}
        }
    }
}
