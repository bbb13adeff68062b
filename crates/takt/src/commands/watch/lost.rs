//! Notifications that are lost on the way to `takt watch`.

use serde_json::{Value, json};

use crate::output;

/// Numbers of lost notifications. The first loss of each cause is reported when it happens, the numbers at the end.
#[derive(Debug, Default)]
pub(super) struct LostNotifications {
    /// Number of messages that the server could not send again.
    messages: u64,
    /// Number of values before which others were lost, because the queue of their item was full.
    overflows: u64,
}

impl LostNotifications {
    /// Notes how many messages the Subscription has lost so far.
    pub(super) fn note_messages(&mut self, count: u64) {
        if self.messages == 0 && count > 0 {
            tracing::warn!("messages were lost, and the server could not send them again");
        }
        self.messages = count;
    }

    /// Notes a value of a node before which others were lost.
    pub(super) fn note_overflow(&mut self, node: &str) {
        if self.overflows == 0 {
            tracing::warn!(
                "{node}: values were lost, because they came faster than they were sent"
            );
        }
        self.overflows += 1;
    }

    /// Reports the numbers, if there are any.
    pub(super) fn finish(&self, is_json: bool) {
        let Some(row) = self.to_json() else {
            return;
        };
        let (messages, overflows) = (self.messages, self.overflows);
        tracing::warn!("{messages} messages were lost; queues overflowed {overflows} times");
        if is_json {
            output::line(row);
        }
    }

    fn to_json(&self) -> Option<Value> {
        let row = json!({"losses": {"messages": self.messages, "overflows": self.overflows}});
        (self.messages + self.overflows > 0).then_some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_losses_are_reported() {
        let mut lost = LostNotifications::default();
        lost.note_messages(0);
        assert_eq!(lost.to_json(), None);
        lost.note_messages(3);
        lost.note_overflow("ns=1;s=Speed");
        lost.note_overflow("ns=1;s=Speed");
        let expected = json!({"losses": {"messages": 3, "overflows": 2}});
        assert_eq!(lost.to_json(), Some(expected));
    }
}
