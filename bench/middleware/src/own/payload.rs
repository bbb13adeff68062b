//! Payloads of requests, and their answers.

/// Kind of a request: the answer that it wants.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The same bytes come back.
    Echo,
    /// One byte comes back: the sum of all bytes.
    Ack,
}

impl Mode {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Echo, Self::Ack];

    /// Returns the name in the line protocol.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Ack => "ack",
        }
    }

    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Echo => 0,
            Self::Ack => 1,
        }
    }

    pub(super) const fn of_code(code: u8) -> Self {
        match code {
            0 => Self::Echo,
            _ => Self::Ack,
        }
    }
}

impl std::str::FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "echo" => Ok(Self::Echo),
            "ack" => Ok(Self::Ack),
            _ => Err("possible values: echo, ack".to_owned()),
        }
    }
}

/// Writes the payload of request `number`: the number, and bytes that depend on it and on their place.
pub(super) fn fill(payload: &mut [u8], number: u16) {
    for (place, byte) in payload.iter_mut().enumerate() {
        *byte = number.wrapping_add((place as u16).wrapping_mul(31)) as u8;
    }
    if let Some(first) = payload.get_mut(..2) {
        first.copy_from_slice(&number.to_le_bytes());
    }
}

/// Returns the sum of all bytes, modulo 256.
pub(super) fn sum(payload: &[u8]) -> u8 {
    payload.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// Writes the answer to a request into `answer`.
pub(super) fn answer_to(mode: Mode, request: &[u8], answer: &mut Vec<u8>) {
    answer.clear();
    match mode {
        Mode::Echo => answer.extend_from_slice(request),
        Mode::Ack => answer.push(sum(request)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_follow_the_protocol() {
        let mut payload = [0; 300];
        fill(&mut payload, 0x0105);
        assert_eq!(payload[..2], [5, 1]);
        for (place, byte) in payload.iter().enumerate().skip(2) {
            assert_eq!(usize::from(*byte), (0x105 + 31 * place) % 256);
        }
        let mut answer = Vec::new();
        answer_to(Mode::Echo, &payload, &mut answer);
        assert_eq!(answer, payload);
        answer_to(Mode::Ack, &[200, 100], &mut answer);
        assert_eq!(answer, [44]);
    }
}
