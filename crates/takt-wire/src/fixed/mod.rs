//! Messages whose layout never changes.
