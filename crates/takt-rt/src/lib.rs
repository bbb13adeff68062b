//! Time and waiting.
