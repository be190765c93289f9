//! What a medium does not give back, and how often it is asked.

use std::io;

/// Whether an error says that the medium does not give the bytes back, so that they are damaged, rather than that the system is
/// short of something or forbids it.
pub fn is_unreadable(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        // Block devices say EIO, ENODATA ("critical medium error"), EILSEQ (protection information) or EREMOTEIO; file systems
        // EBADMSG and EUCLEAN where a checksum of their own does not hold; `madvise` EFAULT and EHWPOISON.
        #[cfg(target_os = "linux")]
        const MORE: [i32; 6] =
            [libc::ENODATA, libc::EILSEQ, libc::EREMOTEIO, libc::EBADMSG, libc::EUCLEAN, libc::EHWPOISON];
        #[cfg(not(target_os = "linux"))]
        const MORE: [i32; 0] = [];
        matches!(error.raw_os_error(), Some(libc::EIO | libc::EFAULT))
            || error.raw_os_error().is_some_and(|code| MORE.contains(&code))
    }
    #[cfg(not(unix))]
    {
        // ERROR_CRC and ERROR_SECTOR_NOT_FOUND, ERROR_READ_FAULT, ERROR_IO_DEVICE.
        matches!(error.raw_os_error(), Some(23 | 27 | 30 | 1117))
    }
}

/// So many times in all something is asked for that a medium does not give.
const TRIES: usize = 3;

/// Asks again where the medium did not give something: a cable or a controller may fail for a moment, and what was read then is not damaged. `is_unreadable` says which errors these are.
pub(crate) fn ask_again<T, E>(
    is_unreadable: impl Fn(&E) -> bool,
    mut ask: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let mut answer = ask();
    for _ in 1..TRIES {
        match &answer {
            Err(error) if is_unreadable(error) => answer = ask(),
            _ => break,
        }
    }
    answer
}
