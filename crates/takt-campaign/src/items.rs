//! Items of a share: cases with their backends.

use takt_scenario::CampaignBackend;

use crate::plan::CampaignPlan;
use crate::shard::Shard;

/// Returns the items of a share: indices of cases, and backends.
pub(crate) fn owned(
    plan: &CampaignPlan,
    shard: Option<Shard>,
) -> impl Iterator<Item = (usize, CampaignBackend)> + '_ {
    let backends = plan.backends().len().max(1);
    let items = plan.items().enumerate();
    let items = items.filter(move |(item, _)| shard.is_none_or(|shard| shard.has(*item)));
    items.map(move |(item, (_, backend))| (item / backends, backend))
}
