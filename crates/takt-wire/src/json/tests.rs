//! Messages of others, and of ours.
