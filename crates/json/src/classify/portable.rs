//! A byte at a time: the specification of all kernels.

use super::{BLOCK, Kernel, Masks};

/// The kernel that every machine has and every other one is tested against.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portable;

impl Kernel for Portable {
    #[inline(always)]
    fn classify(self, block: &[u8; BLOCK]) -> Masks {
        let mut masks = Masks::default();
        for (at, byte) in block.iter().enumerate() {
            let bit = 1 << at;
            match byte {
                b'"' => masks.quotes |= bit,
                b'\\' => masks.backslashes |= bit,
                b':' => masks.colons |= bit,
                b',' => masks.delimiters |= bit,
                b'{' | b'}' | b'[' | b']' => {
                    masks.delimiters |= bit;
                    masks.brackets |= bit;
                }
                _ => {}
            }
        }
        masks
    }
}
