//! open62541 as a foreign peer.
fn main() {}
