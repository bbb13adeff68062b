//! Records of the registry's database.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = takt_registry::fuzzing::record(data);
});
