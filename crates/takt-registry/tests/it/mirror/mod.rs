//! Mirrors of a server with types of its own.

mod conditions;
mod events;
mod foreign;
mod hostile;
mod limited;
mod nodes;
mod refused;
mod restarts;
mod support;
mod types;
