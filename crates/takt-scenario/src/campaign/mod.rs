//! Campaign files: scenarios, swept fields, backends and repetitions, as one TOML file. `takt-campaign` computes them.

mod derived;
mod fields;
mod file;
mod read;

pub use derived::{DerivedField, NotDerived};
pub(crate) use fields::CAMPAIGN;
pub use file::{CampaignBackend, CampaignFile, CampaignSweep, CampaignText, StopRule, SweptName};
