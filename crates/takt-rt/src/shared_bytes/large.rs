//! Copies of many bytes at a time, by vector instructions in assembly.
//!
//! The compiler does not see these accesses. The effect of the assembly on memory is that of relaxed atomic loads and
//! stores of words in some order: on x86-64 and aarch64 vector instructions load and store aligned halves of 8 bytes
//! whole. A copy of bytes that others are writing is therefore a mixture of old and new, not a data race.

/// Size of a block in bytes, and smallest size of copies by [`copy_large`]. Without assembly, no copy is large.
pub(super) const LARGE: usize = if cfg!(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
)) {
    128
} else {
    usize::MAX
};

/// Copies `length` bytes of any alignment.
///
/// # Safety
/// `from` can be read and `to` written for `length` bytes, at least [`LARGE`], and they do not overlap. Concurrent
/// accesses to this memory are atomics of 8 bytes, in assembly, or in another process.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[inline]
pub(super) unsafe fn copy_large(from: *const u8, to: *mut u8, length: usize) {
    #[cfg(target_arch = "aarch64")]
    let copy_blocks = copy_blocks_neon;
    #[cfg(target_arch = "x86_64")]
    let copy_blocks = if std::arch::is_x86_feature_detected!("avx") {
        copy_blocks_avx
    } else {
        copy_blocks_sse
    };
    // SAFETY: the caller fulfils the contract. There is at least one whole block, and the last one, which may begin
    // inside the block before, ends with the bytes. The function for AVX is chosen only if the processor has it.
    unsafe {
        copy_blocks(from, to, length / LARGE);
        if !length.is_multiple_of(LARGE) {
            let last = length - LARGE;
            copy_blocks(from.add(last), to.add(last), 1);
        }
    }
}

/// Replaces the copy on other machines, where no copy is large.
///
/// # Safety
/// Never called: no slice has `usize::MAX` bytes.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
pub(super) unsafe fn copy_large(_: *const u8, _: *mut u8, _: usize) {}

/// Copies blocks of [`LARGE`] bytes.
///
/// # Safety
/// `from` can be read and `to` written for `blocks` (at least one) times [`LARGE`] bytes; they do not overlap; the
/// processor has AVX.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
unsafe fn copy_blocks_avx(from: *const u8, to: *mut u8, blocks: usize) {
    // SAFETY: the loop reads and writes `blocks` times 128 bytes, which the caller guarantees to be valid. It changes
    // no register other than those named here, and does not use the stack.
    unsafe {
        std::arch::asm!(
            "2:",
            "vmovups ymm0, [{from}]",
            "vmovups ymm1, [{from} + 32]",
            "vmovups ymm2, [{from} + 64]",
            "vmovups ymm3, [{from} + 96]",
            "vmovups [{to}], ymm0",
            "vmovups [{to} + 32], ymm1",
            "vmovups [{to} + 64], ymm2",
            "vmovups [{to} + 96], ymm3",
            "add {from}, 128",
            "add {to}, 128",
            "dec {blocks}",
            "jnz 2b",
            "vzeroupper",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            blocks = inout(reg) blocks => _,
            // `vzeroupper` clears the upper halves of all of them.
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack),
        );
    }
}

/// Copies blocks of [`LARGE`] bytes.
///
/// # Safety
/// As for [`copy_blocks_avx`], on any x86-64.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
unsafe fn copy_blocks_sse(from: *const u8, to: *mut u8, blocks: usize) {
    // SAFETY: as in `copy_blocks_avx`; every x86-64 has SSE.
    unsafe {
        std::arch::asm!(
            "2:",
            "movups {a}, [{from}]",
            "movups {b}, [{from} + 16]",
            "movups {c}, [{from} + 32]",
            "movups {d}, [{from} + 48]",
            "movups [{to}], {a}",
            "movups [{to} + 16], {b}",
            "movups [{to} + 32], {c}",
            "movups [{to} + 48], {d}",
            "movups {a}, [{from} + 64]",
            "movups {b}, [{from} + 80]",
            "movups {c}, [{from} + 96]",
            "movups {d}, [{from} + 112]",
            "movups [{to} + 64], {a}",
            "movups [{to} + 80], {b}",
            "movups [{to} + 96], {c}",
            "movups [{to} + 112], {d}",
            "add {from}, 128",
            "add {to}, 128",
            "dec {blocks}",
            "jnz 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            blocks = inout(reg) blocks => _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack),
        );
    }
}

/// Copies blocks of [`LARGE`] bytes.
///
/// # Safety
/// `from` can be read and `to` written for `blocks` (at least one) times [`LARGE`] bytes, and they do not overlap.
#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline]
unsafe fn copy_blocks_neon(from: *const u8, to: *mut u8, blocks: usize) {
    // SAFETY: as in `copy_blocks_avx`; the targets that std has for Linux on aarch64 have NEON.
    unsafe {
        std::arch::asm!(
            "2:",
            "ldp {a:q}, {b:q}, [{from}]",
            "ldp {c:q}, {d:q}, [{from}, #32]",
            "ldp {e:q}, {f:q}, [{from}, #64]",
            "ldp {g:q}, {h:q}, [{from}, #96]",
            "stp {a:q}, {b:q}, [{to}]",
            "stp {c:q}, {d:q}, [{to}, #32]",
            "stp {e:q}, {f:q}, [{to}, #64]",
            "stp {g:q}, {h:q}, [{to}, #96]",
            "add {from}, {from}, #128",
            "add {to}, {to}, #128",
            "subs {blocks}, {blocks}, #1",
            "b.ne 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            blocks = inout(reg) blocks => _,
            a = out(vreg) _,
            b = out(vreg) _,
            c = out(vreg) _,
            d = out(vreg) _,
            e = out(vreg) _,
            f = out(vreg) _,
            g = out(vreg) _,
            h = out(vreg) _,
            options(nostack),
        );
    }
}

#[cfg(test)]
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod tests {
    use super::*;

    type CopyBlocks = unsafe fn(*const u8, *mut u8, usize);

    /// Lengths around one, two and three blocks.
    fn lengths() -> impl Iterator<Item = usize> {
        (1..=3)
            .flat_map(|blocks| (blocks * LARGE).saturating_sub(17).max(LARGE)..=blocks * LARGE + 17)
    }

    /// Copies from every alignment to every alignment, and compares the result and the bytes around it with an
    /// ordinary copy.
    fn compare(lengths: impl Iterator<Item = usize>, copy: impl Fn(*const u8, *mut u8, usize)) {
        let source: Vec<u8> = (0..500_u32).map(|n| (n * 7 + n / 256 + 1) as u8).collect();
        for length in lengths {
            for from in 0..16 {
                for to in 0..16 {
                    let mut target = vec![0xA5; 500];
                    let mut wanted = target.clone();
                    wanted[to..to + length].copy_from_slice(&source[from..from + length]);
                    copy(source[from..].as_ptr(), target[to..].as_mut_ptr(), length);
                    assert_eq!(target, wanted, "{length} bytes, {from} to {to}");
                }
            }
        }
    }

    #[test]
    fn large_copies_are_those_of_single_bytes() {
        compare(lengths(), |from, to, length| {
            // SAFETY: `compare` gives two vectors that are longer than that, and `lengths` no less than a block.
            unsafe { copy_large(from, to, length) };
        });
    }

    #[test]
    fn every_way_to_copy_blocks_is_right() {
        #[cfg(target_arch = "aarch64")]
        let ways: [(bool, CopyBlocks); 1] = [(true, copy_blocks_neon)];
        #[cfg(target_arch = "x86_64")]
        let ways: [(bool, CopyBlocks); 2] = [
            (std::arch::is_x86_feature_detected!("avx"), copy_blocks_avx),
            (true, copy_blocks_sse),
        ];
        for (_, copy_blocks) in ways.into_iter().filter(|(available, _)| *available) {
            compare((1..=3).map(|n| n * LARGE), |from, to, length| {
                // SAFETY: as above; the processor has the instructions.
                unsafe { copy_blocks(from, to, length / LARGE) };
            });
        }
    }
}
