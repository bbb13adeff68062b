//! Names of system calls.

/// Defines the function that returns the name of a number.
macro_rules! names {
    ($($name:ident = $number:path),* $(,)?) => {
        #[allow(clippy::useless_conversion, reason = "a `long` has 32 bits on some processors")]
        /// Returns the name of a system call; `None` for those that real-time threads hardly use.
        pub(crate) fn system_call_name(number: i64) -> Option<&'static str> {
            $(if number == i64::from($number) {
                return Some(stringify!($name));
            })*
            None
        }
    };
}

names! {
    read = libc::SYS_read,
    write = libc::SYS_write,
    close = libc::SYS_close,
    openat = libc::SYS_openat,
    pread64 = libc::SYS_pread64,
    pwrite64 = libc::SYS_pwrite64,
    readv = libc::SYS_readv,
    writev = libc::SYS_writev,
    lseek = libc::SYS_lseek,
    ioctl = libc::SYS_ioctl,
    fcntl = libc::SYS_fcntl,
    fsync = libc::SYS_fsync,
    fdatasync = libc::SYS_fdatasync,
    mmap = libc::SYS_mmap,
    munmap = libc::SYS_munmap,
    mprotect = libc::SYS_mprotect,
    mremap = libc::SYS_mremap,
    madvise = libc::SYS_madvise,
    mlock = libc::SYS_mlock,
    mlockall = libc::SYS_mlockall,
    brk = libc::SYS_brk,
    membarrier = libc::SYS_membarrier,
    futex = libc::SYS_futex,
    nanosleep = libc::SYS_nanosleep,
    clock_nanosleep = libc::SYS_clock_nanosleep,
    restart_syscall = libc::SYS_restart_syscall,
    clock_gettime = libc::SYS_clock_gettime,
    timerfd_settime = libc::SYS_timerfd_settime,
    ppoll = libc::SYS_ppoll,
    pselect6 = libc::SYS_pselect6,
    epoll_pwait = libc::SYS_epoll_pwait,
    epoll_ctl = libc::SYS_epoll_ctl,
    sendto = libc::SYS_sendto,
    recvfrom = libc::SYS_recvfrom,
    sendmsg = libc::SYS_sendmsg,
    recvmsg = libc::SYS_recvmsg,
    sendmmsg = libc::SYS_sendmmsg,
    recvmmsg = libc::SYS_recvmmsg,
    setsockopt = libc::SYS_setsockopt,
    getsockopt = libc::SYS_getsockopt,
    getrandom = libc::SYS_getrandom,
    sched_yield = libc::SYS_sched_yield,
    sched_setaffinity = libc::SYS_sched_setaffinity,
    sched_setscheduler = libc::SYS_sched_setscheduler,
    rt_sigprocmask = libc::SYS_rt_sigprocmask,
    rt_sigreturn = libc::SYS_rt_sigreturn,
    kill = libc::SYS_kill,
    tgkill = libc::SYS_tgkill,
    clone = libc::SYS_clone,
    clone3 = libc::SYS_clone3,
    execve = libc::SYS_execve,
    wait4 = libc::SYS_wait4,
    getrusage = libc::SYS_getrusage,
    sched_getaffinity = libc::SYS_sched_getaffinity,
}

/// System call in which a cyclic thread sleeps until its next start.
pub(crate) const SLEEP: i64 = libc::SYS_clock_nanosleep;

/// Returns true for a system call in which a cyclic thread sleeps until its next start. A signal makes the kernel restart it.
pub(crate) fn is_sleep(number: i64) -> bool {
    [SLEEP, libc::SYS_nanosleep, libc::SYS_restart_syscall].contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_names() {
        assert_eq!(
            system_call_name(libc::SYS_clock_nanosleep),
            Some("clock_nanosleep")
        );
        assert_eq!(system_call_name(-1), None);
        assert!(is_sleep(libc::SYS_clock_nanosleep));
        assert!(!is_sleep(libc::SYS_read));
    }
}
