//! Tables of the TCP sockets of a network namespace: `/proc/net/tcp` and `/proc/net/tcp6` (proc_pid_net(5)), without a file.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::sock_diag::SocketQuestion;

/// Returns the user of the socket in `table`; `None` if there is none, or if sockets of several users have its addresses.
///
/// The state counts, because the kernel writes user 0 for a socket that no process has any more.
pub(crate) fn find_user(table: &[u8], question: &SocketQuestion) -> Option<u32> {
    let mut users = table.split(|byte| *byte == b'\n').filter_map(|line| {
        let row = Row::parse(line)?;
        let is_asked = question.is_about(row.local, row.remote, row.state);
        (is_asked && row.is_held).then_some(row.user)
    });
    let user = users.next()?;
    users.all(|other| other == user).then_some(user)
}

/// Row of a table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    local: SocketAddr,
    remote: SocketAddr,
    state: u8,
    user: u32,
    /// False if no process has the socket any more: it has no inode.
    is_held: bool,
}

impl Row {
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = str::from_utf8(line).ok()?.split_ascii_whitespace();
        let number = fields.next()?.strip_suffix(':')?;
        let _: u32 = number.parse().ok()?;
        Some(Self {
            local: address(fields.next()?)?,
            remote: address(fields.next()?)?,
            state: u8::from_str_radix(fields.next()?, 16).ok()?,
            // Queues, timer and retransmissions are in front of it.
            user: fields.nth(3)?.parse().ok()?,
            is_held: fields.nth(1)?.parse::<u64>().ok()? != 0,
        })
    }
}

/// Parses an address: words of 32 bits as this processor has them in memory, and the port, all hexadecimal.
fn address(text: &str) -> Option<SocketAddr> {
    let (words, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut octets = [0; 16];
    if !matches!(words.len(), 8 | 32) {
        return None;
    }
    for (index, octets) in octets.chunks_exact_mut(4).enumerate().take(words.len() / 8) {
        let word = u32::from_str_radix(words.get(8 * index..8 * index + 8)?, 16).ok()?;
        octets.copy_from_slice(&word.to_ne_bytes());
    }
    let ip: IpAddr = match (words.len(), octets) {
        (8, [a, b, c, d, ..]) => Ipv4Addr::new(a, b, c, d).into(),
        _ => Ipv6Addr::from(octets).into(),
    };
    Some((ip, port).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(local: &str, remote: &str, state: u8, user: u32) -> String {
        format!(
            "   7: {local} {remote} {state:02X} 00000000:00000000 02:000A1B2C 00000000 {user:5}        0 4711 1 00000000efb98414 20 4 0 10 -1\n"
        )
    }

    /// Returns an address as the kernel writes it.
    fn written(address: SocketAddr) -> String {
        let octets = match address.ip() {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        let words = octets.chunks_exact(4).map(|word| {
            let word = u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
            format!("{word:08X}")
        });
        format!("{}:{:04X}", words.collect::<String>(), address.port())
    }

    const HEADER: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    fn question(local: &str, remote: &str) -> SocketQuestion {
        SocketQuestion::connected(local.parse().unwrap(), remote.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_connected_socket_is_found_by_both_addresses() {
        let wanted = question("127.0.0.1:49152", "127.0.0.2:4840");
        let [local, remote, other] = ["127.0.0.1:49152", "127.0.0.2:4840", "127.0.0.1:49153"]
            .map(|address| written(address.parse().unwrap()));
        let found = [HEADER.to_owned(), row(&local, &remote, 1, 1000)].concat();
        assert_eq!(find_user(found.as_bytes(), &wanted), Some(1000));
        // The other end, another port, a listener, and a socket that no process has any more.
        for table in [
            row(&remote, &local, 1, 1000),
            row(&other, &remote, 1, 1000),
            row(&local, &remote, 10, 1000),
            row(&local, &remote, 6, 0),
            row(&local, &remote, 1, 0).replace("4711", "0"),
            HEADER.to_owned(),
            String::new(),
        ] {
            assert_eq!(find_user(table.as_bytes(), &wanted), None, "{table}");
        }
        let two = [row(&local, &remote, 1, 1000), row(&local, &remote, 1, 1001)];
        assert_eq!(find_user(two.concat().as_bytes(), &wanted), None);
    }

    #[test]
    fn a_socket_of_ipv6_may_have_an_address_of_ipv4() {
        let mapped = ["[::ffff:127.0.0.1]:49152", "[::ffff:127.0.0.1]:4840"];
        let [local, remote] = mapped.map(|address| written(address.parse().unwrap()));
        let table = row(&local, &remote, 1, 1000);
        let wanted = question("127.0.0.1:49152", "127.0.0.1:4840");
        assert_eq!(find_user(table.as_bytes(), &wanted), Some(1000));
        let own = ["[::1]:49152", "[::1]:4840"];
        let [local, remote] = own.map(|address| written(address.parse().unwrap()));
        let table = row(&local, &remote, 1, 7);
        let wanted = question("[::1]:49152", "[::1]:4840");
        assert_eq!(find_user(table.as_bytes(), &wanted), Some(7));
    }

    #[test]
    fn damaged_rows_are_no_sockets() {
        let local = written("127.0.0.1:49152".parse().unwrap());
        let whole = row(&local, &local, 1, 1000);
        for length in 0..whole.find("4711").unwrap() {
            assert_eq!(Row::parse(&whole.as_bytes()[..length]), None, "{length}");
        }
        for damaged in [
            whole.replace("7:", "x:"),
            whole.replace(" 1000", " 99999999999"),
            whole.replacen(&local, "7F0000:1", 1),
            whole.replacen(&local, "ä27F000001:C000", 1),
        ] {
            assert_eq!(Row::parse(damaged.as_bytes()), None, "{damaged}");
        }
        assert_eq!(Row::parse(&[0xFF; 40]), None);
    }
}
