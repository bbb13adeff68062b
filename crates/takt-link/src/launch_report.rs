//! Reports of messages that a queueing discipline with launch times, such as ETF, has dropped
//! (SOF_TXTIME_REPORT_ERRORS).

use crate::control::find;
use crate::launch_time::LaunchTime;

/// Origin of reports on launch times (`SO_EE_ORIGIN_TXTIME` of linux/errqueue.h).
const ORIGIN: u8 = 6;
/// The launch time or the mode was not valid when the message was queued (`SO_EE_CODE_TXTIME_INVALID_PARAM`).
const INVALID: u8 = 1;
/// The launch time passed while the message was queued (`SO_EE_CODE_TXTIME_MISSED`).
const MISSED: u8 = 2;
/// Kind of the control messages of packet sockets (`PACKET_TX_TIMESTAMP` of linux/if_packet.h).
const PACKET_REPORT: i32 = 16;

/// Report of one dropped message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaunchReport {
    pub(crate) cause: Cause,
    /// Launch time of the message; 0 if it had none.
    pub(crate) launch_time: LaunchTime,
}

/// Cause of a drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Invalid,
    Missed,
}

impl LaunchReport {
    /// Reads the control messages of a message from a socket's error queue; `None` if they report something else, such
    /// as the ICMP answer to a datagram.
    ///
    /// They contain a `struct sock_extended_err`, in the byte order of the host:
    ///
    /// ```text
    /// | errno 4 | origin 1 | type 1 | code 1 | pad 1 | info 4: low half of the launch time | data 4: high half |
    /// ```
    pub(crate) fn read(control: &[u8]) -> Option<Self> {
        let error: [u8; 16] = find(control, libc::SOL_IP, libc::IP_RECVERR)
            .or_else(|| find(control, libc::SOL_IPV6, libc::IPV6_RECVERR))
            .or_else(|| find(control, libc::SOL_PACKET, PACKET_REPORT))?;
        let [
            _,
            _,
            _,
            _,
            origin,
            _,
            code,
            _,
            i0,
            i1,
            i2,
            i3,
            d0,
            d1,
            d2,
            d3,
        ] = error;
        let cause = match (origin, code) {
            (ORIGIN, INVALID) => Cause::Invalid,
            (ORIGIN, MISSED) => Cause::Missed,
            _ => return None,
        };
        let low = u32::from_ne_bytes([i0, i1, i2, i3]);
        let high = u32::from_ne_bytes([d0, d1, d2, d3]);
        let nanos = u64::from(high) << 32 | u64::from(low);
        Some(Self {
            cause,
            launch_time: LaunchTime::from_tai_nanos(i64::try_from(nanos).ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::control::tests::item;

    const TIME: i64 = 1_700_000_037_123_456_789;

    fn error(origin: u8, code: u8, nanos: i64) -> Vec<u8> {
        let mut bytes = libc::EINVAL.to_ne_bytes().to_vec();
        bytes.extend([origin, 0, code, 0]);
        bytes.extend((nanos as u32).to_ne_bytes());
        bytes.extend(((nanos >> 32) as u32).to_ne_bytes());
        bytes
    }

    fn report(cause: Cause, nanos: i64) -> Option<LaunchReport> {
        let launch_time = LaunchTime::from_tai_nanos(nanos);
        Some(LaunchReport { cause, launch_time })
    }

    #[test]
    fn reports_of_all_kinds_of_sockets_are_read() {
        for (level, kind, offender) in [(0, 11, 16), (41, 25, 28), (263, 16, 0)] {
            for (code, cause) in [(1, Cause::Invalid), (2, Cause::Missed)] {
                // Behind the error, sockets of the Internet protocols have an address, which is zero here.
                let data = [error(6, code, TIME), vec![0; offender]].concat();
                let bytes = [item(1, 40, &[0; 4]), item(level, kind, &data)].concat();
                assert_eq!(LaunchReport::read(&bytes), report(cause, TIME));
            }
        }
    }

    /// The control message is laid out by hand, as a packet socket passes it on x86-64.
    #[cfg(all(target_pointer_width = "64", target_endian = "little"))]
    #[test]
    fn a_report_is_read_from_its_bytes() {
        let bytes = [
            32, 0, 0, 0, 0, 0, 0, 0, 7, 1, 0, 0, 16, 0, 0,
            0, // cmsg_len, SOL_PACKET, PACKET_TX_TIMESTAMP
            125, 0, 0, 0, 6, 0, 2,
            0, // ECANCELED, SO_EE_ORIGIN_TXTIME, SO_EE_CODE_TXTIME_MISSED
            0x15, 0xff, 0xe4, 0xda, 0x06, 0x9d, 0x97, 0x17, // low half, high half
        ];
        assert_eq!(LaunchReport::read(&bytes), report(Cause::Missed, TIME));
        assert_eq!(LaunchReport::read(&bytes[..31]), None);
    }

    #[test]
    fn other_reports_are_none() {
        // SO_EE_ORIGIN_ICMP, SO_EE_ORIGIN_TIMESTAMPING, and a code that is not known.
        for (origin, code) in [(2, 1), (4, 2), (6, 0), (6, 3)] {
            let bytes = item(0, 11, &error(origin, code, TIME));
            assert_eq!(LaunchReport::read(&bytes), None);
        }
        // A launch time that the kernel's clocks do not reach.
        assert_eq!(LaunchReport::read(&item(0, 11, &error(6, 1, -1))), None);
        // A control message that is too short, and one of another kind.
        let whole = error(6, 1, TIME);
        assert_eq!(LaunchReport::read(&item(0, 11, &whole[..15])), None);
        assert_eq!(LaunchReport::read(&item(0, 8, &whole)), None);
    }

    proptest! {
        #[test]
        fn any_report_is_read_back(nanos in 0..i64::MAX, is_missed: bool) {
            let (code, cause) = if is_missed { (2, Cause::Missed) } else { (1, Cause::Invalid) };
            let bytes = item(263, 16, &error(6, code, nanos));
            prop_assert_eq!(LaunchReport::read(&bytes), report(cause, nanos));
        }

        #[test]
        fn no_bytes_are_a_report_with_an_unknown_launch_time(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            data in proptest::collection::vec(any::<u8>(), 0..64),
        ) {
            for control in [bytes, item(0, 11, &data), item(41, 25, &data), item(263, 16, &data)] {
                if let Some(report) = LaunchReport::read(&control) {
                    prop_assert!(i64::try_from(report.launch_time.tai_nanos()).is_ok());
                }
            }
        }
    }
}
