//! OPC UA services.
