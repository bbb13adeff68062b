//! Test that handling a Read or a Write allocates nothing. It counts calls of malloc, so that C libraries count too.

use std::sync::atomic::AtomicBool;

use takt_bench::transport::handling;

#[test]
fn requests_are_handled_without_allocation() {
    takt_malloc::alone(|| {
        let rows = handling::measure(
            2,
            1,
            Some(takt_malloc::allocations),
            &AtomicBool::new(false),
        )
        .unwrap();
        let handled: Vec<_> = rows.iter().filter(|row| row.peer == "takt").collect();
        assert_eq!(handled.len(), 3);
        for row in handled {
            assert_eq!(row.allocations, Some(0.0), "{row:?}");
        }
    });
}
