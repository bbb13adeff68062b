//! What every foreign product must be able to do with ours, and ours with it: run by the `interop_*` tests for each.
