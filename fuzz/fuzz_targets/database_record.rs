//! Records of the registry's database.
#![cfg_attr(not(feature = "together"), no_main)]

takt_fuzz::fuzz_target!(|data: &[u8]| {
    let _ = takt_registry::fuzzing::record(data);
});
