//! The SemanticRegistryServer.
