//! Results of campaigns in the report: repetitions merged, one chart and one table for each swept field, and rankings of disciplines.

mod charts;
mod dimensions;
mod judged;
mod printed;
mod ranking;
mod reported;
mod section;
mod tables;

pub use printed::print_campaign;
pub use reported::ReportedCampaign;
pub(crate) use section::add;
