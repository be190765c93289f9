//! The rows of a chunk shared out to parts, each of which is a chunk of its own.

/// Which rows of a chunk belong to which part.
#[derive(Default)]
pub(crate) struct Split {
    /// For each part its rows in their order.
    rows: Vec<Vec<u32>>,
    /// For each row its part, and its place there.
    places: Vec<(u8, u32)>,
}

impl Split {
    /// Shares rows out to so many parts, by the part of each.
    pub(crate) fn set(&mut self, parts: usize, rows: impl Iterator<Item = u8>) {
        self.rows.resize_with(parts, Vec::new);
        self.rows.iter_mut().for_each(Vec::clear);
        self.places.clear();
        for (row, part) in (0..).zip(rows) {
            let Some(of_part) = self.rows.get_mut(usize::from(part)) else { continue };
            self.places.push((part, of_part.len() as u32));
            of_part.push(row);
        }
    }

    /// The rows of a part.
    pub(super) fn of(&self, part: u8) -> &[u32] {
        self.rows.get(usize::from(part)).map_or(&[], Vec::as_slice)
    }

    /// The place of a row in a part, if it belongs to that.
    #[inline]
    pub(super) fn place(&self, part: u8, row: u32) -> Option<u32> {
        self.places.get(row as usize).filter(|(of, _)| *of == part).map(|(_, place)| *place)
    }

    /// Of the values that some rows have, or all: the places of those that rows of a part have, and these rows if not all have one.
    pub(super) fn values(&self, part: u8, rows: Option<&[u32]>) -> (Vec<u32>, Option<Vec<u32>>) {
        let Some(rows) = rows else { return (self.of(part).to_vec(), None) };
        let places = (0..).zip(rows).filter_map(|(at, row)| Some((at, self.place(part, *row)?)));
        let (places, rows) = places.unzip();
        (places, Some(rows))
    }
}
