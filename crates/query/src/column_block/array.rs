//! Which arrays are meant: those at a path of events, or at one of the elements of others.

use super::decoded::Way;
use tamias_shred::ArraysAt;

/// The arrays at a path of events, or of the elements of other arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Array {
    pub(super) way: Way,
    pub(crate) at: ArraysAt,
}

impl Array {
    /// The way to a path in its elements, or from events where there is no array.
    pub(super) fn way_to(of: Option<&Array>, path: &[Box<str>]) -> Way {
        let way = of.map_or(&[][..], |array| &array.way);
        way.iter().cloned().chain([path.into()]).collect()
    }

    /// Arrays that a block tells at a path in the elements of others, or of events.
    pub(crate) fn within(of: Option<&Array>, path: &[Box<str>], at: ArraysAt) -> Array {
        Array { way: Array::way_to(of, path), at }
    }

    /// The name of a path in its elements.
    pub(crate) fn name_of(&self, below: &[Box<str>]) -> String {
        let mut name: String = self.way.iter().map(|path| format!("{}[].", path.join("."))).collect();
        name.push_str(&below.join("."));
        name.trim_end_matches('.').to_owned()
    }
}
