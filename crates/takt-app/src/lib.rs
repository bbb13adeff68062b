//! Provider and Consumer.
