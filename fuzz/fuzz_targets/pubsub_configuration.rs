//! PubSub configuration files: a decoded binary file is written again unchanged, and as TOML unless an error explains
//! why that is impossible.

use takt_pubsub::check::check;
use takt_pubsub::configuration::{from_binary_file, from_json, from_toml, to_binary_file, to_toml};

pub(crate) fn run(data: &[u8]) {
    if let Ok(file) = from_binary_file(data) {
        let bytes = to_binary_file(&file).expect("what was read can be written");
        let again = from_binary_file(&bytes).expect("what was written can be read");
        assert_eq!(to_binary_file(&again), Ok(bytes), "and is the same");
        // The function compares its output itself.
        if let Err(error) = to_toml(&file) {
            drop(error.to_string());
        }
        drop(check(&file));
    }
    if let Ok(file) = from_json(data) {
        drop(check(&file));
    }
    if let Ok(text) = std::str::from_utf8(data)
        && let Err(error) = from_toml(text)
    {
        let shown = error.span.clone().and_then(|span| text.get(span));
        drop(format!("{error} {shown:?}"));
    }
}
