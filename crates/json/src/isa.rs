//! The abilities of the CPU, detected once per process.

use std::fmt;
use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use crate::classify::{Avx2, Avx512};
use crate::classify::{Portable, Swar};

/// Which kernel scans. A value exists only where the CPU can run that kernel: only detection makes one.
///
/// ```
/// use tamias_json::{Isa, Offsets};
///
/// let mut offsets = Offsets::new();
/// for isa in Isa::available() {
///     let root = offsets.scan_trusted_with(br#"{"a":1}"#, isa)?;
///     assert_eq!(root.len(), 1, "{}", isa.name());
/// }
/// # Ok::<(), tamias_json::ScanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Isa(Level);

/// The kernels, each with its witness.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    Swar(Swar),
    Portable(Portable),
}

impl Isa {
    /// The fastest kernel of this machine, or the one that the environment variable `TAMIAS_ISA` names
    /// (`avx512`, `avx2`, `swar`, `portable`). A name that is unknown or unavailable here is ignored.
    ///
    /// Detected at the first call of the process.
    pub fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| {
            let available = Isa::available();
            let forced = std::env::var("TAMIAS_ISA").ok();
            let named = available.iter().find(|isa| Some(isa.name()) == forced.as_deref());
            named.or(available.first()).copied().unwrap_or(Isa(Level::Portable(Portable)))
        })
    }

    /// Every kernel that this machine can run, the fastest first.
    pub fn available() -> Vec<Isa> {
        let mut available = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            available.extend(Avx512::detect().map(|kernel| Isa(Level::Avx512(kernel))));
            available.extend(Avx2::detect().map(|kernel| Isa(Level::Avx2(kernel))));
        }
        available.extend([Isa(Level::Swar(Swar)), Isa(Level::Portable(Portable))]);
        available
    }

    /// `avx512`, `avx2`, `swar` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(_) => "avx2",
            Level::Swar(_) => "swar",
            Level::Portable(_) => "portable",
        }
    }

    pub(crate) fn level(self) -> Level {
        self.0
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
