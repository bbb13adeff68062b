//! Both ends of all streams: sends each message, and checks it when it is back.

use std::fmt::Write;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::incoming::Incoming;
use super::link::Next;

/// Longest time until a message is back.
const ROUND_TRIP: Duration = Duration::from_secs(10);
/// Bytes of a message that name its stream and its number.
const HEAD: usize = 8;
/// Largest message in bytes.
const LARGEST: usize = 1 << 20;

/// Carries out `run BYTES REPETITIONS`. Returns the lines of the result.
pub(super) fn run(
    line: &str,
    next: &mut [Next],
    received: &Receiver<Incoming>,
) -> Result<String, String> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let numbers = match words.as_slice() {
        ["run", bytes, repetitions] => bytes.parse::<usize>().ok().zip(repetitions.parse().ok()),
        _ => None,
    };
    let Some((bytes, repetitions)) = numbers.filter(|(bytes, _)| (HEAD..=LARGEST).contains(bytes))
    else {
        return Err(format!("`{line:.100}` is no command"));
    };
    let mut message = vec![0; bytes];
    let mut output = String::new();
    let (mut wrong, mut lost) = (0, 0);
    for number in 0..repetitions {
        let begin = Instant::now();
        for (stream, next) in (0..).zip(&mut *next) {
            fill(&mut message, stream, number);
            next.send(&message)?;
        }
        let faults = collect(received, &mut message, next.len(), number);
        wrong += faults.wrong;
        lost += faults.lost;
        let sample = match faults.lost {
            0 => begin.elapsed().as_nanos().to_string(),
            _ => "lost".to_owned(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(output, "sample {sample}");
    }
    let _ = write!(output, "errors wrong={wrong} lost={lost}\ndone");
    Ok(output)
}

/// Writes a message: its stream, its number, and bytes that depend on both.
fn fill(message: &mut [u8], stream: u32, number: u32) {
    for (place, byte) in message.iter_mut().enumerate() {
        *byte = (stream as usize)
            .wrapping_add(number as usize)
            .wrapping_add(place * 31) as u8;
    }
    let head = [stream.to_le_bytes(), number.to_le_bytes()].concat();
    if let Some(place) = message.get_mut(..HEAD) {
        place.copy_from_slice(&head);
    }
}

/// Messages that are not right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Faults {
    /// Messages with other bytes, of an earlier repetition, or twice.
    wrong: u64,
    /// Messages that did not come back in time.
    lost: u64,
}

/// Takes the messages of all streams with this number.
fn collect(
    received: &Receiver<Incoming>,
    expected: &mut [u8],
    streams: usize,
    number: u32,
) -> Faults {
    let deadline = Instant::now() + ROUND_TRIP;
    let mut is_open = vec![true; streams];
    let mut wrong = 0;
    while is_open.contains(&true) {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(Some(message)) = received.recv_timeout(left) else {
            break;
        };
        let stream = message
            .first_chunk()
            .map(|bytes| u32::from_le_bytes(*bytes));
        let place = stream.and_then(|stream| usize::try_from(stream).ok());
        let Some(open) = place.and_then(|place| is_open.get_mut(place)) else {
            wrong += 1;
            continue;
        };
        fill(expected, stream.unwrap_or_default(), number);
        match message == expected && *open {
            true => *open = false,
            // A message of an earlier repetition that was lost comes late.
            false => wrong += 1,
        }
    }
    let lost = is_open.iter().filter(|open| **open).count();
    Faults {
        wrong,
        lost: u64::try_from(lost).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn missing_twice_and_strange_messages_are_faults() {
        let message = |stream, number| {
            let mut message = vec![0; 16];
            fill(&mut message, stream, number);
            Some(message)
        };
        let (sender, received) = channel();
        let mut expected = vec![0; 16];
        for stream in [1, 0] {
            sender.send(message(stream, 7)).unwrap();
        }
        let none = Faults { wrong: 0, lost: 0 };
        assert_eq!(collect(&received, &mut expected, 2, 7), none);
        // A late one, one twice, one of no stream; then the sender is gone.
        for (stream, number) in [(0, 7), (1, 8), (1, 8), (5, 8)] {
            sender.send(message(stream, number)).unwrap();
        }
        drop(sender);
        let faults = collect(&received, &mut expected, 2, 8);
        assert_eq!(faults, Faults { wrong: 3, lost: 1 });
    }

    #[test]
    fn other_commands_are_refused() {
        let (_sender, received) = channel();
        for line in ["", "run", "run 7 1", "run 8 x", "run 2000000 1", "stop"] {
            assert!(run(line, &mut [], &received).is_err(), "{line}");
        }
        let output = run("run 8 1", &mut [], &received).unwrap();
        assert!(output.ends_with("errors wrong=0 lost=0\ndone"), "{output}");
    }
}
