//! A stack without a branch between pushing and popping, whose memory is not written before it is used.
#![expect(unsafe_code, reason = "slots are read that are known to be written")]

use std::mem::MaybeUninit;

/// A stack of at most `N` - 1 numbers, for brackets that open and close.
///
/// ```
/// let mut open: tamias_simd::Stack<8> = tamias_simd::Stack::new(Some(1));
/// assert_eq!(open.turn(2, false), Some(2), "pushed");
/// assert_eq!(open.turn(3, true), Some(2), "popped");
/// assert_eq!(open.turn(4, true), Some(1), "popped");
/// assert_eq!(open.turn(5, true), None, "nothing is left");
/// ```
pub struct Stack<const N: usize> {
    /// *Invariant*: those below `depth` are written.
    slots: [MaybeUninit<u32>; N],
    depth: usize,
}

impl<const N: usize> Stack<N> {
    /// A stack with one number at its bottom, or with none.
    #[inline(always)]
    pub fn new(bottom: Option<u32>) -> Stack<N> {
        const { assert!(N > 1) };
        let mut slots = [const { MaybeUninit::uninit() }; N];
        slots[0].write(bottom.unwrap_or_default());
        Stack { slots, depth: usize::from(bottom.is_some()) }
    }

    /// How many numbers are on it.
    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Pushes a number and gives it back; or, if it closes, pops the uppermost instead and gives that. None if the stack is empty, or
    /// already has as many as it can.
    #[inline(always)]
    pub fn turn(&mut self, number: u32, closes: bool) -> Option<u32> {
        if self.depth.wrapping_sub(1) >= N - 1 {
            return None;
        }
        // Pushed in any case: a closing one pops what lies below, an opening one meets itself.
        self.slots[self.depth].write(number);
        self.depth -= usize::from(closes);
        // SAFETY: this slot was written just now, or lies below it.
        let met = unsafe { self.slots[self.depth].assume_init() };
        self.depth += usize::from(!closes);
        Some(met)
    }
}
