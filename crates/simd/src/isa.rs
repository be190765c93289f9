//! What the CPU can do, found once per process, and the one place where a task gets to its instructions.

use std::fmt;
use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use crate::avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use crate::avx512::Avx512;
use crate::swar::Swar;
use crate::vector::{Portable, Vector};

/// Something to be done by vectors: written once, compiled for each kind of CPU.
pub trait Task {
    /// What comes of it.
    type Output;

    /// Does it. To be marked `#[inline(always)]`, and so all that it calls with the vector, because only what is inlined
    /// into the function with the instructions can use them. A closure that is not inlined is lost to them too.
    fn run<V: Vector>(self, vector: V) -> Self::Output;
}

/// Which instructions are used. A value exists only where the CPU has them: only detection makes one.
///
/// ```
/// use tamias_simd::Isa;
/// assert!(Isa::available().contains(&Isa::best()));
/// assert_eq!(Isa::available().last().map(|isa| isa.name()), Some("portable"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Isa(Level);

/// The kernels, each with its witness.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    Swar,
    Portable,
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
            named.or(available.first()).copied().unwrap_or(Isa(Level::Portable))
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
        available.extend([Isa(Level::Swar), Isa(Level::Portable)]);
        available
    }

    /// `avx512`, `avx2`, `swar` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(_) => "avx2",
            Level::Swar => "swar",
            Level::Portable => "portable",
        }
    }

    /// Does a task with these instructions.
    #[inline]
    pub fn run<T: Task>(self, task: T) -> T::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "a function compiled for a CPU that was asked for its abilities")]
            // SAFETY: the witness says that the CPU has the instructions.
            Level::Avx512(kernel) => unsafe { run_avx512(kernel, task) },
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "a function compiled for a CPU that was asked for its abilities")]
            // SAFETY: the witness says that the CPU has the instructions.
            Level::Avx2(kernel) => unsafe { run_avx2(kernel, task) },
            Level::Swar => run_plain(Swar, task),
            Level::Portable => run_plain(Portable, task),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,pclmulqdq,bmi1,bmi2,lzcnt,popcnt,fma"
)]
fn run_avx512<T: Task>(kernel: Avx512, task: T) -> T::Output {
    task.run(kernel)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,pclmulqdq,bmi1,bmi2,lzcnt,popcnt,fma")]
fn run_avx2<T: Task>(kernel: Avx2, task: T) -> T::Output {
    task.run(kernel)
}

fn run_plain<V: Vector, T: Task>(kernel: V, task: T) -> T::Output {
    task.run(kernel)
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
