//! A task is written once, above the kernels, and compiled for each of them.

use crate::classify::Kernel;
#[cfg(target_arch = "x86_64")]
use crate::classify::{Avx2, Avx512};
use crate::isa::{Isa, Level};

/// Something to be done by a kernel.
pub(crate) trait Task {
    /// What comes of it.
    type Output;

    /// Does it. Inlined into a function with the kernel's instructions.
    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

/// Does a task by the kernel that `isa` is the witness of.
#[inline]
pub(crate) fn run<T: Task>(isa: Isa, task: T) -> T::Output {
    match isa.level() {
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "a function compiled for a CPU that was asked for its abilities")]
        // SAFETY: the witness says that the CPU has the instructions.
        Level::Avx512(kernel) => unsafe { run_avx512(kernel, task) },
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "a function compiled for a CPU that was asked for its abilities")]
        // SAFETY: the witness says that the CPU has the instructions.
        Level::Avx2(kernel) => unsafe { run_avx2(kernel, task) },
        Level::Swar(kernel) => run_plain(kernel, task),
        Level::Portable(kernel) => run_plain(kernel, task),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,pclmulqdq,bmi1,bmi2,lzcnt,popcnt"
)]
fn run_avx512<T: Task>(kernel: Avx512, task: T) -> T::Output {
    task.run(kernel)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,pclmulqdq,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<T: Task>(kernel: Avx2, task: T) -> T::Output {
    task.run(kernel)
}

fn run_plain<K: Kernel, T: Task>(kernel: K, task: T) -> T::Output {
    task.run(kernel)
}
