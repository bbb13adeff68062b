//! Questions to the driver of an interface (SIOCETHTOOL, `linux/ethtool.h`).

use std::ffi::c_int;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use super::result;

/// SIOCETHTOOL of `linux/sockios.h`.
const SIOCETHTOOL: c_int = 0x8946;
/// ETHTOOL_GDRVINFO.
const DRIVER: u32 = 0x03;
/// ETHTOOL_GCOALESCE.
const COALESCING: u32 = 0x0e;
/// ETHTOOL_GET_TS_INFO.
const TIME_STAMPING: u32 = 0x41;

/// `struct ethtool_drvinfo`.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    version: [u8; 32],
    firmware: [u8; 32],
    bus: [u8; 32],
    expansion_rom: [u8; 32],
    reserved: [u8; 12],
    numbers: [u32; 5],
}

/// `struct ethtool_ts_info`.
#[repr(C)]
struct TimeStampingInfo {
    command: u32,
    flags: u32,
    clock: i32,
    transmit_types: u32,
    transmit_reserved: [u32; 3],
    receive_filters: u32,
    receive_reserved: [u32; 3],
}

/// `struct ethtool_coalesce`.
#[repr(C)]
struct Coalescing {
    command: u32,
    receive_micros: u32,
    receive: [u32; 3],
    transmit_micros: u32,
    others: [u32; 17],
}

/// Request of this module: plain numbers, which begin with the command, as long as the kernel's own structure.
trait Request {}
impl Request for DriverInfo {}
impl Request for Coalescing {}
impl Request for TimeStampingInfo {}

/// Sends a request, and fills it with the answer.
fn ask<R: Request>(socket: BorrowedFd<'_>, interface: &str, request: &mut R) -> Result<(), Errno> {
    // SAFETY: a `struct ifreq` is numbers and pointers, for which zeros are valid.
    let mut outer: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays 0.
    if interface.len() >= outer.ifr_name.len() {
        return Err(Errno::NODEV);
    }
    for (to, from) in outer.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    outer.ifr_ifru.ifru_data = std::ptr::from_mut(request).cast();
    // SAFETY: the call reads the name and the command, and writes a structure of the kernel, which is as long as `R`, to the
    // pointer; `request` lives until the call returns.
    result(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut outer) }).map(drop)
}

/// Returns the name of a driver, its version, and that of the firmware.
pub(crate) fn driver(socket: BorrowedFd<'_>, interface: &str) -> Result<[String; 3], Errno> {
    let mut info = DriverInfo {
        command: DRIVER,
        driver: [0; 32],
        version: [0; 32],
        firmware: [0; 32],
        bus: [0; 32],
        expansion_rom: [0; 32],
        reserved: [0; 12],
        numbers: [0; 5],
    };
    ask(socket, interface, &mut info)?;
    Ok([
        text(&info.driver),
        text(&info.version),
        text(&info.firmware),
    ])
}

/// Returns the flags of SO_TIMESTAMPING that an interface has, and the number of its PTP clock, -1 for none.
pub(crate) fn time_stamping(socket: BorrowedFd<'_>, interface: &str) -> Result<(u32, i32), Errno> {
    let mut info = TimeStampingInfo {
        command: TIME_STAMPING,
        flags: 0,
        clock: -1,
        transmit_types: 0,
        transmit_reserved: [0; 3],
        receive_filters: 0,
        receive_reserved: [0; 3],
    };
    ask(socket, interface, &mut info)?;
    Ok((info.flags, info.clock))
}

/// Returns the times in microseconds after which a network card reports received and sent frames at the latest, if no more come. Cards
/// with common interrupts have the first one for both.
pub(crate) fn coalescing(socket: BorrowedFd<'_>, interface: &str) -> Result<[u32; 2], Errno> {
    let mut coalescing = Coalescing {
        command: COALESCING,
        receive_micros: 0,
        receive: [0; 3],
        transmit_micros: 0,
        others: [0; 17],
    };
    ask(socket, interface, &mut coalescing)?;
    Ok([coalescing.receive_micros, coalescing.transmit_micros])
}

/// Returns the text before the first byte 0.
fn text(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use super::*;

    #[test]
    fn requests_are_as_long_as_those_of_the_kernel() {
        assert_eq!(size_of::<DriverInfo>(), 196);
        assert_eq!(size_of::<TimeStampingInfo>(), 44);
        assert_eq!(size_of::<Coalescing>(), 92);
        assert_eq!(text(b"igb\0\0x"), "igb");
        assert_eq!(text(&[b'a'; 32]).len(), 32);
    }
}
