//! OPC UA services.

pub mod namespace0;
