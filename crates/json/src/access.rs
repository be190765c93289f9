//! The one place where a slice is read or written without a bounds check.
//!
//! With the feature `checked` every such access is checked and panics outside its slice: tests and fuzzing run so.

/// `N` neighbours from `at` on.
///
/// # Safety
/// `at + N <= slice.len()`.
#[inline(always)]
#[expect(unsafe_code, reason = "the access point itself")]
pub(crate) unsafe fn array<T, const N: usize>(slice: &[T], at: usize) -> &[T; N] {
    if cfg!(feature = "checked") {
        assert!(at <= slice.len() && N <= slice.len() - at, "read of {N} at {at} of {}", slice.len());
    }
    // SAFETY: by the contract the N elements from `at` on lie inside the slice, and an array has a slice's layout.
    unsafe { &*slice.as_ptr().add(at).cast::<[T; N]>() }
}

/// `N` neighbours from `at` on, to be written.
///
/// # Safety
/// `at + N <= slice.len()`.
#[inline(always)]
#[expect(unsafe_code, reason = "the access point itself")]
pub(crate) unsafe fn array_mut<T, const N: usize>(slice: &mut [T], at: usize) -> &mut [T; N] {
    if cfg!(feature = "checked") {
        assert!(at <= slice.len() && N <= slice.len() - at, "write of {N} at {at} of {}", slice.len());
    }
    // SAFETY: by the contract the N elements from `at` on lie inside the slice, and an array has a slice's layout.
    unsafe { &mut *slice.as_mut_ptr().add(at).cast::<[T; N]>() }
}

/// The elements from `from` on up to `to`, that one excluded.
///
/// # Safety
/// `from <= to <= slice.len()`.
#[inline(always)]
#[expect(unsafe_code, reason = "the access point itself")]
pub(crate) unsafe fn range<T>(slice: &[T], from: usize, to: usize) -> &[T] {
    if cfg!(feature = "checked") {
        &slice[from..to]
    } else {
        // SAFETY: the contract.
        unsafe { slice.get_unchecked(from..to) }
    }
}

/// Asks for the bytes at `at` to be brought near, for they will be read soon. A hint: any place will do, outside the slice too.
#[inline(always)]
pub(crate) fn prefetch(bytes: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "an instruction that every x86-64 has")]
        // SAFETY: nothing is read in the sense of the language, and no address faults.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(at).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}
