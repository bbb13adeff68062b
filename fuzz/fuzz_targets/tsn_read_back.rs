//! Output of `tc -j`, and saved states made of it: what is read can be attached again, compared and counted.

use takt_tsn::{InterfacePlace, KernelState, SavedState, class_counters, read_marked, read_qdiscs};

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let _ = read_marked(text);
    let Ok(qdiscs) = read_qdiscs(text) else {
        return;
    };
    for kind in qdiscs.iter().filter_map(|qdisc| qdisc.kind.as_ref()) {
        assert!(!kind.phrases().is_empty());
        assert!(!kind.parameters().is_empty());
    }
    let state = KernelState {
        qdiscs,
        marked: Vec::new(),
    };
    let _ = class_counters(&state);
    let saved = SavedState {
        place: InterfacePlace {
            interface: "eth0".to_owned(),
            index: 1,
            namespace: "net:[1]".to_owned(),
            boot: String::new(),
        },
        qdiscs: text.to_owned(),
        clsact: false,
        vlan_interfaces: Vec::new(),
    };
    if let Ok(tree) = saved.tree() {
        assert!(tree.len() <= state.qdiscs.len());
    }
}
