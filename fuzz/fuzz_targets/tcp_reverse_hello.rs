//! The first message of a server that connects to a client: arbitrary bytes, and pieces of them.

use takt_tcp::ReverseHello;

pub(crate) fn run(data: &[u8]) {
    let Ok(Some((hello, size))) = ReverseHello::read(data) else {
        return;
    };
    // A message is complete at its last byte, and not before.
    assert_eq!(
        ReverseHello::read(&data[..size]),
        Ok(Some((hello.clone(), size)))
    );
    assert_eq!(ReverseHello::read(&data[..size - 1]), Ok(None));
    let mut again = Vec::new();
    hello
        .write(&mut again)
        .expect("its texts have been checked");
    let length = again.len();
    assert_eq!(ReverseHello::read(&again), Ok(Some((hello, length))));
}
