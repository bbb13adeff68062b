//! Revision of requested parameters: the limits of the server are applied (OPC 10000-4, 5.13.1.2 and 5.14.2).

use std::time::Duration;

use super::item::Sampling;
use super::load::{self, Allotment, Load};
use crate::budgets::SubscriptionBudgets;
use crate::reading::attributes;
use takt_space::{Value, View};
use takt_ua::structures::ReadValueId;

/// The revised parameters of a Subscription.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Revised {
    pub(crate) publishing_interval: Duration,
    pub(crate) lifetime_count: u32,
    pub(crate) max_keep_alive_count: u32,
    pub(crate) max_notifications: usize,
}

impl Revised {
    /// Revises the parameters of CreateSubscription and ModifySubscription. An interval that is not a positive number is
    /// replaced by the shortest; a lifetime is at least three keep-alives, and [`SubscriptionBudgets::min_lifetime`].
    pub(crate) fn of_request(
        publishing_interval: f64,
        lifetime_count: u32,
        max_keep_alive_count: u32,
        max_notifications: u32,
        budgets: &SubscriptionBudgets,
    ) -> Self {
        let publishing_interval = duration(publishing_interval)
            .unwrap_or(Duration::ZERO)
            .min(budgets.max_publishing_interval)
            // Three of them are the shortest lifetime.
            .min(budgets.max_lifetime / 3)
            .max(budgets.min_publishing_interval);
        let interval = publishing_interval.as_nanos().max(1);
        let count = |intervals: u128| u32::try_from(intervals).unwrap_or(u32::MAX);
        // At least 3, so that the ranges of both clamps below are valid.
        let longest = count(budgets.max_lifetime.as_nanos() / interval).max(3);
        let shortest = count(budgets.min_lifetime.as_nanos().div_ceil(interval));
        let least = count(budgets.min_keep_alive.as_nanos().div_ceil(interval));
        let max_keep_alive_count = max_keep_alive_count.max(least).clamp(1, longest / 3);
        let lifetime_count = lifetime_count
            .max(shortest)
            .clamp(max_keep_alive_count * 3, longest);
        let max_notifications = match max_notifications {
            0 => budgets.max_notifications_per_publish,
            count => count.min(budgets.max_notifications_per_publish),
        };
        Self {
            publishing_interval,
            lifetime_count,
            max_keep_alive_count,
            max_notifications: usize::try_from(max_notifications)
                .unwrap_or(usize::MAX)
                .max(1),
        }
    }
}

/// Returns the revised queue size of an item: one value unless the client requests more.
pub(crate) fn queue_size(requested: u32, is_durable: bool, budgets: &SubscriptionBudgets) -> u32 {
    let longest = match is_durable {
        true => budgets.max_durable_queue_size,
        false => budgets.max_queue_size,
    };
    requested.clamp(1, longest.max(1))
}

/// Returns the revised queue size of an item that monitors Events: 0 requests a size that the server chooses
/// (OPC 10000-4, 7.21).
pub(crate) fn event_queue_size(
    requested: u32,
    is_durable: bool,
    budgets: &SubscriptionBudgets,
) -> u32 {
    /// Size of a queue if the client requests none.
    const DEFAULT: u32 = 1000;
    match requested {
        0 => queue_size(DEFAULT, is_durable, budgets),
        size => queue_size(size, is_durable, budgets),
    }
}

/// Returns the sampling of an item, within the sampling budget.
///
/// `held` is the part of the budget that the item has already.
///
/// * Negative (or not a number): the publishing interval.
/// * 0, as fast as is practical: stored values report by exception. Other items are sampled so often that the queue is full at
///   the time of publishing, and a queue for one value is filled just before that time. More samples would be lost.
pub(crate) fn sampling(
    requested: f64,
    queue_size: u32,
    publishing_interval: Duration,
    item: &ReadValueId,
    view: &View<'_>,
    budgets: &SubscriptionBudgets,
    (allotment, held): (&mut Allotment, Load),
) -> Sampling {
    let value = (item.attribute_id == attributes::VALUE)
        .then(|| view.node(&item.node_id)?.value())
        .flatten()
        // As in `Sampler::sample`: other encodings take the general path, at its cost.
        .filter(|value| item.data_encoding.is_null() || matches!(value, Value::Remote(_)));
    let longest = budgets.max_publishing_interval;
    if requested == 0.0 && matches!(value, Some(Value::Stored(_))) {
        let (period, load) = allotment.grant(1, held, publishing_interval, longest);
        return Sampling {
            interval: Duration::ZERO,
            period,
            load,
        };
    }
    let interval = match duration(requested) {
        Some(Duration::ZERO) => publishing_interval / queue_size.max(1),
        Some(interval) => interval,
        None => publishing_interval,
    };
    let shortest = match value {
        Some(Value::Remote(ref remote)) if remote.callback.is_none() => {
            budgets.min_remote_sampling_interval
        }
        _ => budgets.min_sampling_interval,
    };
    let longest = longest.max(shortest);
    let interval = interval.clamp(shortest, longest);
    let (interval, load) = allotment.grant(load::cost(value.as_ref()), held, interval, longest);
    Sampling {
        interval,
        period: interval,
        load,
    }
}

/// Converts milliseconds as a Duration of the standard; `None` if the number is negative or not a number.
fn duration(milliseconds: f64) -> Option<Duration> {
    if milliseconds.is_nan() || milliseconds < 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_intervals_are_kept_within_the_limits() {
        let budgets = SubscriptionBudgets::default();
        let revise = |interval, lifetime, keep_alive| {
            Revised::of_request(interval, lifetime, keep_alive, 0, &budgets)
        };
        let revised = revise(100.0, 1000, 10);
        assert_eq!(revised.publishing_interval, Duration::from_millis(100));
        assert_eq!(
            (revised.lifetime_count, revised.max_keep_alive_count),
            (1000, 10)
        );
        let revised = revise(100.0, 0, 0);
        assert_eq!(
            (revised.lifetime_count, revised.max_keep_alive_count),
            (50, 1),
            "5 s"
        );
        let fastest = revise(0.0, 0, 0);
        assert_eq!(
            (fastest.lifetime_count, fastest.max_keep_alive_count),
            (5_000, 100),
            "5 s and 100 ms"
        );
        for nonsense in [0.0, -1.0, f64::NAN] {
            let revised = revise(nonsense, 1, 1);
            assert_eq!(revised.publishing_interval, budgets.min_publishing_interval);
        }
        for huge in [1e300, f64::INFINITY] {
            let revised = revise(huge, u32::MAX, u32::MAX);
            assert_eq!(revised.publishing_interval, budgets.max_lifetime / 3);
            assert!(revised.lifetime_count >= 3 * revised.max_keep_alive_count);
            let lifetime = revised.publishing_interval * revised.lifetime_count;
            assert!(lifetime <= budgets.max_lifetime);
        }
    }
}
