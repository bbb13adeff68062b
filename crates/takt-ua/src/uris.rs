//! URIs of the standard that several crates need.

/// URI of SecurityPolicy None (OPC 10000-7): messages are neither signed nor encrypted.
pub const SECURITY_POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";
