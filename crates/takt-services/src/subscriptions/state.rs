//! The state machine of a Subscription (OPC 10000-4, 5.14.1.2, the state table), without the published content.
//!
//! The rows of the table are named in the code that implements them. The caller owns the timer, the queues and the encoding:
//! events are inputs, and required actions are outputs.

use takt_ua::structures::SubscriptionDiagnosticsDataType;

/// The state (OPC 10000-4, 5.14.1.2). CREATING and CLOSED are not represented: in these states there is no Subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Publishing in each interval of the timer.
    Normal,
    /// Late: the timer has expired with something to send, and no Publish request was waiting.
    Late,
    /// Keep-alive: there has been nothing to send for a while.
    KeepAlive,
}

/// Required action after the publishing timer has expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnTimer {
    /// No action.
    Nothing,
    /// Dequeue a Publish request and answer it with Notifications.
    Notifications,
    /// Dequeue a Publish request and answer it without Notifications.
    KeepAlive,
    /// Close the Subscription: its lifetime is over.
    Expired,
}

/// Required action for an incoming Publish request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnPublish {
    /// Queue it until the timer expires.
    Enqueue,
    /// Answer it with Notifications.
    Notifications,
    /// Answer it without Notifications.
    KeepAlive,
}

/// State variables (OPC 10000-4, 5.14.1.3).
#[derive(Debug)]
pub(crate) struct StateMachine {
    state: State,
    /// True if Notifications are sent at all.
    publishing_enabled: bool,
    /// True if a NotificationMessage was full, and more Notifications are waiting.
    more_notifications: bool,
    /// True if a message was sent since the Subscription was created. Until then the timer is answered in any case.
    message_sent: bool,
    max_keep_alive_count: u32,
    keep_alive_counter: u32,
    lifetime_count: u32,
    lifetime_counter: u32,
    /// Number of times at which it has become late.
    late_count: u32,
}

impl StateMachine {
    /// Creates the machine of a new Subscription (row 3). Both counts are at least 1.
    pub(crate) fn new(
        publishing_enabled: bool,
        lifetime_count: u32,
        max_keep_alive_count: u32,
    ) -> Self {
        Self {
            state: State::Normal,
            publishing_enabled,
            more_notifications: false,
            message_sent: false,
            max_keep_alive_count,
            keep_alive_counter: max_keep_alive_count,
            lifetime_count,
            lifetime_counter: lifetime_count,
            late_count: 0,
        }
    }

    /// Handles the expiration of the publishing timer, which is started again: rows 6 to 9, 12, 14 to 17 and 27.
    ///
    /// `request_queued` is true if a Publish request is waiting, `available` if there are Notifications.
    pub(crate) fn timer_expired(&mut self, request_queued: bool, available: bool) -> OnTimer {
        // Row 27; StartPublishingTimer() counts down.
        if self.lifetime_counter <= 1 {
            return OnTimer::Expired;
        }
        self.lifetime_counter -= 1;
        let ready = self.publishing_enabled && available;
        match self.state {
            State::Normal if request_queued && ready => self.send_notifications(),
            State::Normal if request_queued && !self.message_sent => {
                self.message_sent = true;
                self.reset_lifetime();
                OnTimer::KeepAlive
            }
            State::Normal if !request_queued && (!self.message_sent || ready) => self.be_late(),
            State::Normal => {
                self.state = State::KeepAlive;
                self.keep_alive_counter = self.max_keep_alive_count;
                OnTimer::Nothing
            }
            State::Late => OnTimer::Nothing,
            State::KeepAlive if ready && request_queued => self.send_notifications(),
            State::KeepAlive if ready || (self.keep_alive_counter <= 1 && !request_queued) => {
                self.be_late()
            }
            State::KeepAlive if self.keep_alive_counter <= 1 => {
                self.keep_alive_counter = self.max_keep_alive_count;
                self.reset_lifetime();
                OnTimer::KeepAlive
            }
            State::KeepAlive => {
                self.keep_alive_counter -= 1;
                OnTimer::Nothing
            }
        }
    }

    /// Handles an incoming Publish request: rows 4, 5, 10, 11 and 13.
    pub(crate) fn publish_received(&mut self, available: bool) -> OnPublish {
        let more = self.publishing_enabled && self.more_notifications;
        let ready = self.publishing_enabled && available;
        match self.state {
            State::Normal if more => {
                self.sent();
                OnPublish::Notifications
            }
            State::Late if ready || more => {
                self.state = State::Normal;
                self.sent();
                OnPublish::Notifications
            }
            State::Late => {
                self.state = State::KeepAlive;
                self.keep_alive_counter = self.max_keep_alive_count;
                self.sent();
                OnPublish::KeepAlive
            }
            State::Normal | State::KeepAlive => OnPublish::Enqueue,
        }
    }

    fn send_notifications(&mut self) -> OnTimer {
        self.state = State::Normal;
        self.sent();
        OnTimer::Notifications
    }

    fn sent(&mut self) {
        self.message_sent = true;
        self.reset_lifetime();
    }

    fn be_late(&mut self) -> OnTimer {
        self.late_count = self.late_count.wrapping_add(1);
        self.state = State::Late;
        OnTimer::Nothing
    }

    /// Returns true if an incoming Publish request would be answered at once.
    pub(crate) fn wants_request(&self) -> bool {
        self.state == State::Late || (self.publishing_enabled && self.more_notifications)
    }

    /// Sets the result of ReturnNotifications(): true if the message was full and more Notifications are waiting.
    pub(crate) fn set_more_notifications(&mut self, more: bool) {
        self.more_notifications = more;
    }

    /// Returns the diagnostics of the state. The counts begin with 0 after a message, and end at the agreed ones.
    pub(crate) fn diagnostics(&self) -> SubscriptionDiagnosticsDataType {
        // The counters never exceed their maximum.
        let keep_alive = match self.state {
            State::KeepAlive => self.max_keep_alive_count - self.keep_alive_counter,
            State::Normal | State::Late => 0,
        };
        SubscriptionDiagnosticsDataType {
            max_keep_alive_count: self.max_keep_alive_count,
            max_lifetime_count: self.lifetime_count,
            publishing_enabled: self.publishing_enabled,
            late_publish_request_count: self.late_count,
            current_keep_alive_count: keep_alive,
            current_lifetime_count: self.lifetime_count - self.lifetime_counter,
            ..SubscriptionDiagnosticsDataType::default()
        }
    }

    /// Resets the lifetime after a request of the client: rows 18 to 25.
    pub(crate) fn reset_lifetime(&mut self) {
        self.lifetime_counter = self.lifetime_count;
    }

    /// Returns the number of intervals after which the Subscription ends without a request of the client.
    pub(crate) fn lifetime_left(&self) -> u32 {
        self.lifetime_counter
    }

    /// Sets the number of intervals after which the Subscription ends, after a time without a timer.
    pub(crate) fn set_lifetime_left(&mut self, left: u32) {
        self.lifetime_counter = left.min(self.lifetime_count);
    }

    /// Handles SetPublishingMode: row 19.
    pub(crate) fn set_publishing_enabled(&mut self, enabled: bool) {
        self.publishing_enabled = enabled;
        self.more_notifications = false;
        self.reset_lifetime();
    }

    /// Returns the number of intervals without a Publish request after which the Subscription ends.
    pub(crate) fn lifetime_count(&self) -> u32 {
        self.lifetime_count
    }

    /// Sets the lifetime of a durable Subscription (OPC 10000-4, 5.14.9).
    pub(crate) fn set_lifetime(&mut self, lifetime_count: u32) {
        self.lifetime_count = lifetime_count;
        self.reset_lifetime();
    }

    /// Handles ModifySubscription: row 18.
    pub(crate) fn modify(&mut self, lifetime_count: u32, max_keep_alive_count: u32) {
        self.lifetime_count = lifetime_count;
        self.max_keep_alive_count = max_keep_alive_count;
        // Otherwise the next keep-alive would come later than the new count allows.
        self.keep_alive_counter = self.keep_alive_counter.min(max_keep_alive_count);
        self.reset_lifetime();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUED: bool = true;
    const AVAILABLE: bool = true;

    fn machine() -> StateMachine {
        StateMachine::new(true, 9, 3)
    }

    /// Returns a machine that has sent its first message.
    fn settled() -> StateMachine {
        let mut machine = machine();
        assert_eq!(
            machine.timer_expired(QUEUED, AVAILABLE),
            OnTimer::Notifications
        );
        machine
    }

    #[test]
    fn row_4_a_request_waits_for_the_timer() {
        assert_eq!(machine().publish_received(AVAILABLE), OnPublish::Enqueue);
    }

    #[test]
    fn row_5_more_notifications_are_sent_at_once() {
        let mut machine = settled();
        machine.set_more_notifications(true);
        assert!(machine.wants_request());
        assert_eq!(
            machine.publish_received(AVAILABLE),
            OnPublish::Notifications
        );
        machine.set_publishing_enabled(false);
        assert_eq!(machine.publish_received(AVAILABLE), OnPublish::Enqueue);
    }

    #[test]
    fn row_7_the_first_timer_is_answered_without_notifications_too() {
        let mut machine = machine();
        assert_eq!(machine.timer_expired(QUEUED, false), OnTimer::KeepAlive);
        assert_eq!(machine.state, State::Normal);
    }

    #[test]
    fn rows_8_10_and_11_without_a_request_it_is_late_and_answers_the_next() {
        let mut machine = machine();
        assert_eq!(machine.timer_expired(false, false), OnTimer::Nothing);
        assert_eq!(machine.state, State::Late);
        assert_eq!(machine.publish_received(false), OnPublish::KeepAlive);
        assert_eq!(machine.state, State::KeepAlive);

        let mut machine = settled();
        assert_eq!(machine.timer_expired(false, AVAILABLE), OnTimer::Nothing);
        assert_eq!(
            machine.publish_received(AVAILABLE),
            OnPublish::Notifications
        );
        assert_eq!(machine.state, State::Normal);
    }

    #[test]
    fn rows_9_15_and_16_keep_alive_after_max_keep_alive_count_timers() {
        let mut machine = settled();
        assert_eq!(machine.timer_expired(QUEUED, false), OnTimer::Nothing);
        assert_eq!(machine.state, State::KeepAlive);
        for _ in 0..3 {
            assert_eq!(machine.timer_expired(QUEUED, false), OnTimer::Nothing);
            assert_eq!(machine.timer_expired(QUEUED, false), OnTimer::Nothing);
            assert_eq!(machine.timer_expired(QUEUED, false), OnTimer::KeepAlive);
        }
    }

    #[test]
    fn rows_13_and_14_notifications_end_the_quiet() {
        let mut machine = settled();
        machine.timer_expired(QUEUED, false);
        assert_eq!(machine.publish_received(AVAILABLE), OnPublish::Enqueue);
        assert_eq!(
            machine.timer_expired(QUEUED, AVAILABLE),
            OnTimer::Notifications
        );
        assert_eq!(machine.state, State::Normal);
    }

    #[test]
    fn row_17_quiet_without_a_request_becomes_late() {
        let mut machine = settled();
        machine.timer_expired(QUEUED, false);
        assert_eq!(machine.timer_expired(false, AVAILABLE), OnTimer::Nothing);
        assert_eq!(machine.state, State::Late);

        let mut machine = settled();
        machine.timer_expired(QUEUED, false);
        for _ in 0..3 {
            assert_eq!(machine.state, State::KeepAlive);
            machine.timer_expired(false, false);
        }
        assert_eq!(machine.state, State::Late);
    }

    #[test]
    fn row_27_no_publish_requests_for_a_lifetime() {
        let mut machine = machine();
        for _ in 0..8 {
            assert_eq!(machine.timer_expired(false, AVAILABLE), OnTimer::Nothing);
        }
        assert_eq!(machine.timer_expired(false, AVAILABLE), OnTimer::Expired);
    }

    #[test]
    fn keep_alives_reset_the_lifetime() {
        let mut machine = machine();
        for _ in 0..100 {
            assert_ne!(machine.timer_expired(QUEUED, false), OnTimer::Expired);
        }
    }

    #[test]
    fn publishing_disabled_sends_keep_alives_only() {
        let mut machine = settled();
        machine.set_publishing_enabled(false);
        let sent: Vec<_> = (0..7)
            .map(|_| machine.timer_expired(QUEUED, AVAILABLE))
            .collect();
        assert!(!sent.contains(&OnTimer::Notifications));
        assert_eq!(
            sent.iter()
                .filter(|sent| **sent == OnTimer::KeepAlive)
                .count(),
            2
        );
    }
}
