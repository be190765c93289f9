//! The columns of a block in their bytes.

/// A block's columns taken apart.
pub(crate) struct Columns<'a> {
    pub(crate) instants: &'a [[u8; 8]],
    pub(crate) arrivals: &'a [[u8; 8]],
    pub(crate) ends: &'a [[u8; 4]],
}

impl<'a> Columns<'a> {
    /// `None` if there are fewer bytes than `events` need.
    pub(crate) fn of(bytes: &'a [u8], events: usize) -> Option<Columns<'a>> {
        let (instants, rest) = bytes.split_at_checked(events.checked_mul(8)?)?;
        let (arrivals, rest) = rest.split_at_checked(events.checked_mul(8)?)?;
        let (ends, _) = rest.split_at_checked(events.checked_mul(4)?)?;
        Some(Columns {
            instants: instants.as_chunks().0,
            arrivals: arrivals.as_chunks().0,
            ends: ends.as_chunks().0,
        })
    }
}
