//! MQTT 3.1.1 (OASIS, section 2.2): a byte with the type, the remaining length in one to four bytes of seven bits.

use super::super::message::{Part, Purpose};

const NAMES: [&str; 16] = [
    "reserved",
    "CONNECT",
    "CONNACK",
    "PUBLISH",
    "PUBACK",
    "PUBREC",
    "PUBREL",
    "PUBCOMP",
    "SUBSCRIBE",
    "SUBACK",
    "UNSUBSCRIBE",
    "UNSUBACK",
    "PINGREQ",
    "PINGRESP",
    "DISCONNECT",
    "AUTH",
];

pub(super) fn next(rest: &[u8], _: usize) -> Option<Part> {
    let code = usize::from(*rest.first()? >> 4);
    let (mut length, mut header) = (0, 1);
    for shift in [0, 7, 14, 21] {
        let byte = *rest.get(header)?;
        header += 1;
        length |= usize::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    let bytes = header + length;
    let purpose = match code {
        3 => Purpose::Data,
        4..=7 => Purpose::Acknowledgement,
        12 | 13 => Purpose::KeepAlive,
        _ => Purpose::Control,
    };
    let name = *NAMES.get(code)?;
    (bytes <= rest.len()).then(|| Part::new(name, purpose, bytes))
}

#[cfg(test)]
mod tests {
    use super::super::divide::divide;
    use super::*;

    #[test]
    fn lengths_of_up_to_four_bytes_are_read() {
        // A PUBLISH of QoS 0 has a topic with its length; the payload is the rest.
        let publish = |payload: usize| {
            let remaining = 2 + 1 + payload;
            let mut bytes = vec![0x30];
            match remaining {
                0..128 => bytes.push(remaining as u8),
                _ => bytes.extend([remaining as u8 | 0x80, (remaining >> 7) as u8]),
            }
            bytes.extend([0, 1, b'e']);
            bytes.resize(bytes.len() + payload, 0);
            bytes
        };
        let stream = [
            publish(0),
            publish(100),
            publish(1000),
            vec![0xC0, 0],
            vec![0x40, 2, 0, 1],
        ]
        .concat();
        let parts = divide(&stream, next);
        let sizes: Vec<usize> = parts.iter().map(|part| part.bytes).collect();
        // 5, 105 and 1006 bytes are those of the paper, Table II.
        assert_eq!(sizes, [5, 105, 1006, 2, 4]);
        let purposes: Vec<Purpose> = parts.iter().map(|part| part.purpose).collect();
        assert_eq!(purposes[..3], [Purpose::Data; 3]);
        assert_eq!(
            purposes[3..],
            [Purpose::KeepAlive, Purpose::Acknowledgement]
        );
    }
}
