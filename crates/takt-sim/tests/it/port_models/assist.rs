//! Txtime-assist of taprio: it gives a frame the first txtime in an entry where the frame fits.

use std::collections::HashMap;

use crate::port_models::clock::Gates;

/// Txtimes that taprio gave.
#[derive(Default)]
pub(crate) struct Slots {
    /// End of the last frame in each entry.
    ends: HashMap<usize, i64>,
}

impl Slots {
    /// Returns the first txtime, not before `earliest`, at which a frame that needs so long fits in an entry behind the others.
    pub(crate) fn choose(
        &mut self,
        gates: &Gates,
        class: usize,
        needs: i64,
        earliest: i64,
        is_kernel: bool,
    ) -> i64 {
        let mut begin = earliest - (earliest - gates.base).rem_euclid(gates.cycle);
        for index in (0..gates.entries.len()).cycle() {
            let (open, length) = gates.entries[index];
            let last = self.ends.get(&index).copied();
            let time = begin.max(earliest).max(last.unwrap_or(begin));
            begin += length;
            if open >> class & 1 == 1 && time + gates.room(needs, is_kernel) <= begin {
                self.ends.insert(index, time + needs);
                return time;
            }
        }
        panic!("no entry")
    }
}

/// Returns true if a frame that needs so long fits in the entry of a txtime that the application chose. The kernel wants it to begin
/// behind the begin of the entry, and to end before the end.
pub(crate) fn accepts(
    gates: &Gates,
    class: usize,
    needs: i64,
    txtime: i64,
    is_kernel: bool,
) -> bool {
    let (open, end) = gates.entry(txtime);
    let ends = txtime + gates.room(needs, is_kernel);
    let fits = match is_kernel {
        true => ends < end && gates.begin(txtime) < txtime,
        false => ends <= end,
    };
    open >> class & 1 == 1 && fits
}
