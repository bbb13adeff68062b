//! ROS 1: XML-RPC over HTTP with the master and between nodes (wiki.ros.org/ROS/Technical Overview), and TCPROS between nodes
//! (wiki.ros.org/ROS/TCPROS): a connection header, then messages; each begins with its length in four bytes, little-endian.

use super::super::message::{Part, Purpose};

/// End of the header of HTTP.
const END: &[u8] = b"\r\n\r\n";

pub(super) fn is_http(bytes: &[u8]) -> bool {
    [&b"POST "[..], b"GET ", b"HTTP/"]
        .iter()
        .any(|beginning| bytes.starts_with(beginning))
}

pub(super) fn http(rest: &[u8], _: usize) -> Option<Part> {
    let header = rest.windows(END.len()).position(|four| four == END)? + END.len();
    let text = std::str::from_utf8(rest.get(..header)?).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        is_length.then(|| value.trim().parse::<usize>().ok())?
    });
    let bytes = header.checked_add(length.unwrap_or(0))?;
    let body = String::from_utf8_lossy(rest.get(header..bytes)?);
    let method = body
        .split_once("<methodName>")
        .and_then(|(_, rest)| Some(rest.split_once("</methodName>")?.0));
    let name = method.map_or("XML-RPC response".to_owned(), |method| {
        format!("XML-RPC {method}")
    });
    Some(Part::new(name, Purpose::Control, bytes))
}

pub(super) fn topic(rest: &[u8], before: usize) -> Option<Part> {
    let length = u32::from_le_bytes(*rest.first_chunk()?);
    let bytes = usize::try_from(length).ok()?.checked_add(4)?;
    let (name, purpose) = match before {
        0 => ("TCPROS connection header", Purpose::Control),
        _ => ("TCPROS message", Purpose::Data),
    };
    (bytes <= rest.len()).then(|| Part::new(name, purpose, bytes))
}

#[cfg(test)]
mod tests {
    use super::super::divide::divide;
    use super::*;

    #[test]
    fn requests_have_the_name_of_their_method() {
        let body = "<methodCall><methodName>getPid</methodName></methodCall>";
        let request = format!(
            "POST /RPC2 HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let parts = divide(&[request.as_bytes(), request.as_bytes()].concat(), http);
        assert_eq!(parts.len(), 2);
        assert_eq!(
            (&parts[1].name[..], parts[1].bytes),
            ("XML-RPC getPid", request.len())
        );
        let parts = divide(&[1, 0, 0, 0, 9, 2, 0, 0, 0, 1, 2], topic);
        assert_eq!(parts.iter().map(|it| it.bytes).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(parts[1].purpose, Purpose::Data);
    }
}
