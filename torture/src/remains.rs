//! What files still hold of events that were to be erased from them.

use crate::batch::Batch;
use crate::columns::turned;
use crate::files::Contents;
use crate::truth::Truth;

/// That no file but those in quarantine holds the bytes of an event of which a receipt says that it is erased.
pub(crate) fn check(truth: &Truth, contents: &Contents) -> Result<(), String> {
    for (name, bytes) in contents.iter().filter(|(name, _)| !name.starts_with("quarantine/")) {
        for bytes in [bytes.clone(), turned(bytes)] {
            if let Some((id, n)) = events(&bytes).find(|(id, n)| truth.is_erased(*id, *n)) {
                return Err(format!("event {n} of batch {id} is erased by a receipt, and {name} holds it"));
            }
        }
    }
    Ok(())
}

/// Shorter documents are not looked for: they may stand in others.
const BYTES_MIN: usize = 20;

/// The events whose documents stand in these bytes, whole: batch and place.
fn events(bytes: &[u8]) -> impl Iterator<Item = (u64, usize)> {
    let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    slashes.flat_map(move |slash| {
        let head = bytes.get(..slash).unwrap_or_default();
        let digits = head.iter().rev().take(9).take_while(|byte| byte.is_ascii_digit()).count();
        // A digit before it may be no part of it.
        (1..=digits).filter_map(move |digits| {
            let rest = bytes.get(slash - digits..)?;
            let line = rest.split(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'/')).next()?;
            let (id, n) = Batch::origin(line)?;
            let batch = Batch::new(id);
            let (_, document) = batch.rows.get(n)?;
            (line == document && line.len() >= BYTES_MIN).then_some((id, n))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found_as_they_are() {
        let rows = [3, 12].map(|id| Batch::new(id).rows[0].1.clone());
        let long = rows.each_ref().map(|row| row.len() >= BYTES_MIN);
        assert_eq!(long, [true, true]);
        let bytes = [b"\0\x017".as_slice(), &rows[0], b"\n0\n", &rows[1], b"\xff12/9/abc"].concat();
        assert_eq!(events(&bytes).collect::<Vec<_>>(), [(3, 0), (12, 0)]);
        assert_eq!(events(&turned(&turned(&bytes))).count(), 2);
        assert_eq!(events(&turned(&bytes)).count(), 0);
    }
}
