//! Texts that are nearly JSON: words that are no JSON values become texts.

/// Returns the text with U+FFFD for bytes that are not UTF-8, and with quotes around words that are not JSON values.
#[cold]
pub(super) fn mend(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let mut mended = String::with_capacity(text.len() + 16);
    let mut rest = &*text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            _ if is_of_word(first) => rest.find(|one| !is_of_word(one)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (part, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        match is_of_word(first) && !is_value(part) {
            true => {
                mended.push('"');
                mended.push_str(part);
                mended.push('"');
            }
            false => mended.push_str(part),
        }
        rest = behind;
    }
    mended.into_bytes()
}

/// Returns the length of a string with its quotes, or of all the text if it does not end.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let mut chars = text.char_indices().skip(1);
    let end = chars.find(|(_, one)| {
        let ends = *one == '"' && !is_escaped;
        is_escaped = *one == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Returns true if the character can be in a number or a literal. Others that are not JSON stay as they are: an error.
fn is_of_word(one: char) -> bool {
    one.is_ascii_alphanumeric() || "+-._#".contains(one)
}

fn is_value(word: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(word).is_ok()
}
