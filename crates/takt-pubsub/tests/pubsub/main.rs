//! WriterGroups that publish, and subscribers that receive.

#![allow(clippy::unwrap_used, clippy::panic)] // A failing test may panic.

mod action;
mod discovery;
mod drill;
mod json;
mod protection;
mod publisher;
mod reports;
mod subscriber;
mod support;
