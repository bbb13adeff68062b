//! Control messages of sockets: a sequence of `struct cmsghdr`, each with data behind it.

use crate::launch_time::LaunchTime;
use crate::options::ReceiveClock;
use crate::received::ReceiveTime;

/// Size of a `struct cmsghdr`: length, level, type.
const HEADER: usize = size_of::<usize>() + 8;

/// Returns the first `N` bytes of the first control message of this level and type.
pub(crate) fn find<const N: usize>(mut control: &[u8], level: i32, kind: i32) -> Option<[u8; N]> {
    loop {
        let (&length, rest) = control.split_first_chunk()?;
        let (&its_level, rest) = rest.split_first_chunk()?;
        let (&its_kind, _) = rest.split_first_chunk()?;
        let length = usize::from_ne_bytes(length);
        // A length below that of the header ends the search: a length of 0 would never advance.
        let data = control.get(HEADER..length)?;
        if i32::from_ne_bytes(its_level) == level && i32::from_ne_bytes(its_kind) == kind {
            return data.first_chunk().copied();
        }
        // The kernel aligns each message (CMSG_ALIGN).
        control = control.get(length.next_multiple_of(size_of::<usize>())..)?;
    }
}

/// Returns the time of reception, from the `struct timespec` of SO_TIMESTAMPNS.
pub(crate) fn software_time(control: &[u8]) -> Option<ReceiveTime> {
    let data: [u8; 16] = find(control, libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS)?;
    Some(ReceiveTime::new(ReceiveClock::Software, nanos(&data)?))
}

/// Returns the time of reception, from the `struct scm_timestamping` of SO_TIMESTAMPING: the network card's, or else
/// the kernel's. It has three `struct timespec`: software, nothing nowadays, and hardware. A time of zero is none.
pub(crate) fn hardware_time(control: &[u8]) -> Option<ReceiveTime> {
    let data: [u8; 48] = find(control, libc::SOL_SOCKET, libc::SCM_TIMESTAMPING)?;
    let time = |clock, place| match nanos(data.get(place..)?)? {
        0 => None,
        nanos => Some(ReceiveTime::new(clock, nanos)),
    };
    time(ReceiveClock::Hardware, 32).or_else(|| time(ReceiveClock::Software, 0))
}

/// Returns the nanoseconds of a `struct timespec`; `None` if they are out of range.
fn nanos(timespec: &[u8]) -> Option<i64> {
    let (&seconds, rest) = timespec.split_first_chunk()?;
    let (&nanos, _) = rest.split_first_chunk()?;
    let seconds = i64::from_ne_bytes(seconds).checked_mul(1_000_000_000)?;
    seconds.checked_add(i64::from_ne_bytes(nanos))
}

/// Control message with eight bytes of data, aligned as the kernel reads it.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct Item([u8; HEADER + 8]);

impl Item {
    fn new(level: i32, kind: i32, data: [u8; 8]) -> Self {
        let mut bytes = [0; HEADER + 8];
        let (head, rest) = bytes.split_at_mut(HEADER);
        let (length, kinds) = head.split_at_mut(size_of::<usize>());
        length.copy_from_slice(&(HEADER + 8).to_ne_bytes());
        kinds[..4].copy_from_slice(&level.to_ne_bytes());
        kinds[4..].copy_from_slice(&kind.to_ne_bytes());
        rest.copy_from_slice(&data);
        Self(bytes)
    }

    /// Returns an SCM_TXTIME: the time at which a message shall leave.
    pub(crate) fn launch_time(time: LaunchTime) -> Self {
        let data = time.tai_nanos().to_ne_bytes();
        Self::new(libc::SOL_SOCKET, libc::SCM_TXTIME, data)
    }

    /// Returns the time of an SCM_TXTIME.
    pub(crate) fn as_launch_time(&self) -> Option<LaunchTime> {
        let data = find(&self.0, libc::SOL_SOCKET, libc::SCM_TXTIME)?;
        let nanos = i64::try_from(u64::from_ne_bytes(data)).ok()?;
        Some(LaunchTime::from_tai_nanos(nanos))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a control message with its padding.
    pub(crate) fn item(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let mut bytes = (HEADER + data.len()).to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(size_of::<usize>()), 0);
        bytes
    }

    #[test]
    fn items_are_found_among_others() {
        let bytes = [
            item(1, 2, &[9]),
            item(1, 3, &[1, 2, 3, 4]),
            item(4, 3, &[7; 8]),
        ]
        .concat();
        assert_eq!(find::<4>(&bytes, 1, 3), Some([1, 2, 3, 4]));
        assert_eq!(find::<8>(&bytes, 4, 3), Some([7; 8]));
        assert_eq!(find::<1>(&bytes, 4, 2), None);
        assert_eq!(find::<2>(&bytes, 1, 2), None);
    }

    #[test]
    fn a_launch_time_is_a_control_message_that_is_found_again() {
        let time = LaunchTime::from_tai_nanos(1_700_000_037_123_456_789);
        let item = Item::launch_time(time);
        let found = find::<8>(item.as_bytes(), libc::SOL_SOCKET, libc::SCM_TXTIME);
        assert_eq!(found.map(u64::from_ne_bytes), Some(time.tai_nanos()));
        assert_eq!(item.as_launch_time(), Some(time));
        assert_eq!(item.as_bytes().as_ptr().addr() % 8, 0);
        // The bytes are laid out like `CMSG_DATA` and `CMSG_LEN(8)` on 64-bit Linux, little-endian.
        #[cfg(all(target_pointer_width = "64", target_endian = "little"))]
        assert_eq!(
            item.as_bytes(),
            [
                24, 0, 0, 0, 0, 0, 0, 0, // cmsg_len
                1, 0, 0, 0, // SOL_SOCKET
                61, 0, 0, 0, // SCM_TXTIME
                0x15, 0xff, 0xe4, 0xda, 0x06, 0x9d, 0x97, 0x17,
            ]
        );
    }

    /// The control messages are those of a datagram with SO_RXQ_OVFL and SO_TIMESTAMPNS, as Linux 6.18 passed them on x86-64.
    #[cfg(all(target_pointer_width = "64", target_endian = "little"))]
    #[test]
    fn the_time_of_reception_is_read_from_recorded_control_messages() {
        let recorded = [
            32, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 35, 0, 0, 0, //
            122, 131, 3, 107, 0, 0, 0, 0, 17, 198, 41, 40, 0, 0, 0, 0, //
            20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 40, 0, 0, 0, 45, 0, 0, 0, 0, 0, 0, 0,
        ];
        let time = ReceiveTime::new(ReceiveClock::Software, 1_795_392_378_673_826_321);
        assert_eq!(software_time(&recorded), Some(time));
        assert_eq!(software_time(&recorded[..24]), None);
        assert_eq!(software_time(&recorded[32..]), None);
    }

    fn timestamping(data: &[u8]) -> Vec<u8> {
        item(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, data)
    }

    #[test]
    fn the_time_of_the_card_goes_before_that_of_the_kernel() {
        let times = |software: [i64; 2], hardware: [i64; 2]| {
            let numbers = [software, [0, 0], hardware].concat();
            timestamping(
                &numbers
                    .into_iter()
                    .flat_map(i64::to_ne_bytes)
                    .collect::<Vec<u8>>(),
            )
        };
        let time = |clock, nanos| Some(ReceiveTime::new(clock, nanos));
        let hardware = time(ReceiveClock::Hardware, 1_800_000_037_000_000_009);
        let (kernel, card) = ([1_800_000_000, 7], [1_800_000_037, 9]);
        assert_eq!(hardware_time(&times(kernel, card)), hardware);
        assert_eq!(hardware_time(&times([0, 0], card)), hardware);
        let software = time(ReceiveClock::Software, 1_800_000_000_000_000_007);
        assert_eq!(hardware_time(&times(kernel, [0, 0])), software);
        assert_eq!(hardware_time(&times([0, 0], [0, 0])), None);
        assert_eq!(hardware_time(&times(kernel, card)[..60]), None);
        assert_eq!(software_time(&times(kernel, card)), None);
    }

    #[test]
    fn a_time_of_reception_out_of_range_is_none() {
        let mut data = i64::MAX.to_ne_bytes().to_vec();
        data.extend(0_i64.to_ne_bytes());
        let bytes = item(libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS, &data);
        assert_eq!(software_time(&bytes), None);
        data.resize(48, 0);
        assert_eq!(hardware_time(&timestamping(&data)), None);
    }

    #[test]
    fn invalid_control_messages_contain_nothing() {
        assert_eq!(find::<1>(&[0; 64], 1, 1), None);
        assert_eq!(find::<1>(&[0xFF; 64], 1, 1), None);
        assert_eq!(find::<1>(&item(1, 2, &[9])[..12], 1, 2), None);
    }
}
