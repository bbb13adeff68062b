//! The counter counts allocations of Rust and of C.

#[test]
fn rust_allocations_count() {
    let (kept, counted) = crate::count(|| vec![0_u8; 1000]);
    assert_eq!(kept.len(), 1000);
    assert!(counted >= 1);
}

#[test]
fn c_allocations_count() {
    unsafe extern "C" {
        fn strdup(text: *const std::ffi::c_char) -> *mut std::ffi::c_char;
        fn free(pointer: *mut std::ffi::c_void);
    }
    // SAFETY: strdup copies a C string into memory from malloc, which free gives back.
    let ((), counted) = crate::count(|| unsafe { free(strdup(c"takt".as_ptr()).cast()) });
    assert!(counted >= 1, "libc's own call of malloc was not seen");
}

#[test]
fn aligned_allocations_count() {
    #[repr(align(4096))]
    struct Page([u8; 4096]);
    let (page, counted) = crate::count(|| Box::new(Page([1; 4096])));
    assert_eq!(page.0[4095], 1);
    assert!(counted >= 1);
    assert!(std::ptr::from_ref(&*page).addr().is_multiple_of(4096));
}

/// One allocation that the optimizer keeps.
fn allocate() {
    std::hint::black_box(vec![1_u8; 100]);
}

#[test]
fn other_threads_count() {
    let (other, counted) = crate::count(|| {
        let thread = std::thread::spawn(|| (0..100).for_each(|_| allocate()));
        thread.join().is_ok()
    });
    assert!(other);
    assert!(counted >= 100, "{counted}");
}
