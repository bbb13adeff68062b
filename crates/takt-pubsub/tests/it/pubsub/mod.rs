//! WriterGroups that publish, and subscribers that receive.

mod action;
mod damage;
mod discovery;
mod json;
mod losses;
mod paths;
mod protection;
mod publisher;
mod quality;
mod reports;
mod senders;
mod subscriber;
