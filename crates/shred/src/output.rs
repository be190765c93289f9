//! What is put together: bytes, up to a limit that was promised.

use crate::error::{DecodeError, malformed};

/// Bytes that never become more than was announced, whatever a directory says.
#[derive(Debug)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    limit: usize,
}

impl Output {
    /// An empty output of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Output {
        Output { bytes: Vec::with_capacity(limit), limit }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        if bytes.len() > self.limit - self.bytes.len() {
            return Err(malformed("its documents are longer than it says"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
