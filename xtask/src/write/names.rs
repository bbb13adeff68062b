//! Names of the standard as names in Rust.

use crate::model::{BUILT_IN, FieldType};

/// `ServerURIs` as `server_uris`, `MaxAge` as `max_age`.
pub(crate) fn snake_case(name: &str) -> String {
    words(name).join("_").to_lowercase()
}

/// `Server_ServerStatus` as `SERVER_SERVER_STATUS`.
pub(crate) fn upper_snake_case(name: &str) -> String {
    words(name).join("_").to_uppercase()
}

/// Splits at underscores, before a capital after a small letter or digit, and before the last capital of an acronym
/// that a word follows (`EURange`: `EU`, `Range`). `UInt32`, `SByte` and plurals of acronyms stay whole.
fn words(name: &str) -> Vec<String> {
    let mut result = Vec::new();
    for part in name.split('_') {
        let letters: Vec<char> = part.chars().collect();
        let mut word = String::new();
        for (index, letter) in letters.iter().enumerate() {
            let previous = index.checked_sub(1).map(|index| letters[index]);
            let starts = letter.is_ascii_uppercase()
                && previous.is_some_and(|previous| {
                    !previous.is_ascii_uppercase() || ends_acronym(&letters[index + 1..], &word)
                });
            if starts {
                result.push(std::mem::take(&mut word));
            }
            word.push(*letter);
        }
        result.push(word);
    }
    result
}

/// Returns whether a capital followed by `rest` begins a word after the acronym `word`.
fn ends_acronym(rest: &[char], word: &str) -> bool {
    let small: String = rest
        .iter()
        .take_while(|letter| letter.is_ascii_lowercase())
        .collect();
    let one_word = word == "U" && small.starts_with("nt") || word == "S" && small == "yte";
    !small.is_empty() && small != "s" && !one_word
}

/// Type of a field in an owned structure.
pub(crate) fn owned(field_type: &FieldType) -> &str {
    match field_type {
        FieldType::Structure(name) | FieldType::Enumeration(name) => name,
        FieldType::BuiltIn(built_in) => match built_in {
            1 => "bool",
            2 => "i8",
            3 => "u8",
            4 => "i16",
            5 => "u16",
            6 => "i32",
            7 => "u32",
            8 => "i64",
            9 => "u64",
            10 => "f32",
            11 => "f64",
            12 => "UaString",
            other => built_in_name(*other),
        },
    }
}

/// Name of a built-in type in the standard and in `BuiltInType`.
pub(crate) fn built_in_name(built_in: u32) -> &'static str {
    let index = usize::try_from(built_in)
        .ok()
        .and_then(|number| number.checked_sub(1));
    index
        .and_then(|index| BUILT_IN.get(index))
        .unwrap_or(&"Variant")
}

#[cfg(test)]
mod tests {
    use super::{snake_case, upper_snake_case};

    #[test]
    fn words_are_found() {
        for (name, expected) in [
            ("MaxAge", "max_age"),
            ("EURange", "eu_range"),
            ("ServerURIs", "server_uris"),
            ("PriorityValue_PCP", "priority_value_pcp"),
            ("ZeroRTT", "zero_rtt"),
            ("UInt32", "uint32"),
            ("UInteger", "uinteger"),
            ("SByte", "sbyte"),
            ("UserWriteMask", "user_write_mask"),
            ("X", "x"),
            ("ThreeDVector", "three_d_vector"),
            ("X509IdentityToken", "x509_identity_token"),
        ] {
            assert_eq!(snake_case(name), expected);
        }
        assert_eq!(
            upper_snake_case("Server_ServerStatus_CurrentTime"),
            "SERVER_SERVER_STATUS_CURRENT_TIME"
        );
    }
}
