//! Reader of the tables of names and numbers in the TypeScript sources of the sibling packages. They are generated
//! and regular, so they are read line by line. Texts that describe a code are ignored.

use std::collections::BTreeMap;

use crate::error::Error;

const NODE_IDS: &str = "opcua_node_ids.ts";
const STATUS_CODES: &str = "_generated_status_codes.ts";

/// Reads symbolic names by numeric identifier.
pub(crate) fn node_ids(text: &str) -> Result<BTreeMap<u32, String>, Error> {
    let mut ids = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if let Some((name, value)) = line.trim_end_matches([',', ' ']).split_once('=') {
            let value = value.trim();
            let id = value
                .parse()
                .map_err(|_| Error::content(NODE_IDS, format!("`{value}` is not a NodeId")))?;
            ids.insert(id, name.trim().to_owned());
        }
    }
    if ids.is_empty() {
        return Err(Error::content(NODE_IDS, "no NodeIds found"));
    }
    Ok(ids)
}

/// Reads names and codes in the order of the file.
pub(crate) fn status_codes(text: &str) -> Result<Vec<(String, u32)>, Error> {
    let mut codes: Vec<(String, u32)> = Vec::new();
    for definition in text.split("new ConstantStatusCode({").skip(1) {
        let field = |name: &str| {
            let rest = definition.split_once(name)?.1;
            Some(
                rest.split([',', '\n'])
                    .next()
                    .unwrap_or(rest)
                    .trim()
                    .trim_matches('"'),
            )
        };
        let code = field("name:")
            .zip(field("value:"))
            .and_then(|(name, value)| {
                Some((
                    name.to_owned(),
                    u32::from_str_radix(value.strip_prefix("0x")?, 16).ok()?,
                ))
            });
        codes.push(
            code.ok_or_else(|| Error::content(STATUS_CODES, "a StatusCode without name or value"))?,
        );
    }
    if codes.is_empty() {
        return Err(Error::content(STATUS_CODES, "no StatusCodes found"));
    }
    Ok(codes)
}

#[cfg(test)]
mod tests {
    use super::{node_ids, status_codes};

    #[test]
    fn node_ids_are_read() {
        let ids = node_ids(" export enum DataTypeIds {\n   ReadRequest=    629 ,\n }\n").unwrap();
        assert_eq!(ids[&629], "ReadRequest");
        assert!(node_ids("nothing").is_err());
    }

    #[test]
    fn status_codes_are_read_in_both_layouts() {
        let text = r#"static Good: C = new ConstantStatusCode({ name: "Good", value: 0x0, description: "value: x" });
            static Bad: C = new ConstantStatusCode({
                name: "Bad",
                value: 0x80000000,
                description: "…"
            });"#;
        assert_eq!(
            status_codes(text).unwrap(),
            [("Good".to_owned(), 0), ("Bad".to_owned(), 0x8000_0000)]
        );
    }
}
