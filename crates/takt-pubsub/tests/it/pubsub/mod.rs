//! WriterGroups that publish, and subscribers that receive.

mod action;
mod damage;
mod discovery;
pub(crate) mod json;
mod losses;
mod paths;
mod protection;
mod publisher;
mod quality;
mod reports;
mod senders;
mod subscriber;
