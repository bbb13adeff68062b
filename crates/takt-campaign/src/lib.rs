//! Campaigns: many cases of scenarios, computed in any order, by several threads and hosts, and after interrupts, with the same
//! result byte for byte. This crate computes rows and keeps them in files. It knows no command line and no terminal.
//!
//! * [`CampaignPlan::read`] reads a campaign's file and its scenarios, and makes the cases: each combination of scenarios and swept
//!   values. A case has an id that follows from its values ([`CampaignCase`]).
//! * [`compute_row`] simulates a case, or proves its bounds. A [`CampaignRow`] has no times and no names of hosts, so it is the same
//!   wherever it is computed.
//! * [`run_campaign`] computes the rows that a folder lacks. Each row is added to a journal; when all are there, they are written in
//!   the order of the plan. A killed run therefore loses at most the rows that were being computed.
//! * [`run_campaign_in_lab`] does the same with rows of the backends `uml` and `netns`, which are runs of a [`CampaignLab`].
//! * [`Shard`]: a share of a campaign, and [`merge_shards`]: all shares together.
//! * [`CampaignSummary`] merges repetitions into means and medians with 95 % confidence intervals; [`varied_settings`] tells in what
//!   its cases differ.
//!
//! `docs/campaigns.md` describes the files.

#![forbid(unsafe_code)]

mod case;
mod compute;
mod digest;
mod error;
mod facts;
mod folder;
mod items;
mod lab;
mod lab_error;
mod lab_runner;
mod merge;
mod options;
mod plan;
mod planned_scenario;
mod progress;
mod quantities;
mod queue;
mod resume;
mod row;
mod run;
mod shard;
mod store;
mod summary;
mod table;
mod varied;

#[cfg(test)]
mod tests;

pub use case::{CampaignCase, RowKey};
pub use compute::compute_row;
pub use error::{CampaignError, CampaignPlanError, MergeFlaw};
pub use folder::{CampaignDescription, FACTS, ROWS, TABLE};
pub use lab::CampaignLab;
pub use lab_error::CampaignLabError;
pub use merge::merge_shards;
pub use options::{CampaignObserver, CampaignOutcome, CampaignRunOptions, CampaignStart};
pub use plan::{CampaignPlan, MOST_ROWS};
pub use planned_scenario::PlannedScenario;
pub use progress::CampaignProgress;
pub use row::{CampaignRow, Quantities};
pub use run::{run_campaign, run_campaign_in_lab};
pub use shard::{NoShard, Shard};
pub use summary::{CampaignSummary, MergedQuantity, MergedRow};
pub use table::{RowColumns, for_each_row};
pub use varied::varied_settings;
