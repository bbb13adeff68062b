//! NodeSet2 documents, imported into an address space: types, instances and references that may contradict each
//! other.

use std::cell::RefCell;
use takt_rt::memory_budget::MemoryBudget;
use takt_space::AddressSpace;

/// Number of inputs after which the address space is created again, because added nodes make it slower.
const INPUTS: u32 = 200;

thread_local! {
    static SPACE: RefCell<(AddressSpace, u32)> = RefCell::new((space(), 0));
}

fn space() -> AddressSpace {
    AddressSpace::new("urn:takt:fuzz", 4096, 20_000, MemoryBudget::new(64 << 20))
}

pub(crate) fn run(data: &[u8]) {
    let Ok(xml) = std::str::from_utf8(data) else {
        return;
    };
    SPACE.with_borrow_mut(|(space, inputs)| {
        *inputs += 1;
        if *inputs > INPUTS {
            (*space, *inputs) = (self::space(), 0);
        }
        match space.import_nodeset("fuzz.xml", xml) {
            Ok(imported) => drop(format!("{imported:?}")),
            Err(error) => drop(format!("{error} {error:?}")),
        }
        // The same document again, whose nodes exist already or are refused as before.
        drop(space.import_nodeset("fuzz.xml", xml));
    });
}
