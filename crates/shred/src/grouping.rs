//! The values of a column by shape: those of all documents of one shape together, then those of the next.
//!
//! What a shape determines, or nearly so, becomes a few long runs. Which place a value has is told by the shapes alone.

/// HEURISTIC: so many values tell whether they are better stored by shape, or those of so many elements.
const SAMPLE: usize = 2048;
const SAMPLE_ELEMENTS: usize = 4096;

/// How many values of a column each shape of its list has: by the shape's code, those that have any.
pub(crate) type Counts = [(u32, u32)];

/// The same while they are counted.
pub(crate) type CountsSoFar = Vec<(u32, u32)>;

/// For each value, in the order of the documents, its place among the values by shape. `codes` are the shapes' codes of all
/// elements of the list, `shapes` is how many shapes there are. Nothing where the shapes do not make up `total` values.
pub(crate) fn places(
    codes: impl Iterator<Item = u32> + Clone,
    counts: &Counts,
    shapes: usize,
    total: usize,
) -> Option<Vec<u32>> {
    let mut values = vec![0u32; shapes];
    for (code, count) in counts {
        if let Some(value) = values.get_mut(*code as usize) {
            *value += count;
        }
    }
    // How many elements each shape has, then where its values begin.
    let mut next = vec![0u32; shapes];
    for code in codes.clone() {
        if let Some(elements) = next.get_mut(code as usize) {
            *elements += 1;
        }
    }
    let mut start = 0u64;
    let mut table = Vec::with_capacity(shapes);
    for (elements, count) in next.into_iter().zip(values) {
        // Only what is no more than the total is looked at.
        table.push((start as u32, count));
        start = start.saturating_add(u64::from(elements) * u64::from(count));
    }
    if start != total as u64 {
        return None;
    }
    let mut places = Vec::with_capacity(total);
    for code in codes {
        match table.get_mut(code as usize) {
            Some((next, 1)) => {
                places.push(*next);
                *next += 1;
            }
            Some((next, count)) => {
                places.extend(*next..next.saturating_add(*count));
                *next = next.saturating_add(*count);
            }
            None => {}
        }
    }
    Some(places)
}

/// HEURISTIC: values that fewer of their list's elements have are not gone over with all of them.
const ELEMENTS_PER_VALUE: usize = 8;

/// Whether so many values are few among so many elements: such are not stored by shape, and of older groups read by the elements that have them alone.
pub(crate) fn are_few(values: usize, elements: usize) -> bool {
    elements > ELEMENTS_PER_VALUE * values
}

/// The elements of a list by shape: those of one together, each time in the order of the documents.
pub(crate) struct ByShape {
    elements: Vec<u32>,
    /// Where those of each shape begin, and where the last ones end.
    starts: Vec<u32>,
}

impl ByShape {
    pub(crate) fn of(codes: &[u32], shapes: usize) -> ByShape {
        let mut starts = vec![0u32; shapes + 1];
        for code in codes {
            if let Some(count) = starts.get_mut(*code as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let (mut elements, mut next) = (vec![0; codes.len()], starts.clone());
        for (element, code) in (0..).zip(codes) {
            let Some(next) = next.get_mut(*code as usize) else { continue };
            if let Some(place) = elements.get_mut(*next as usize) {
                *place = element;
            }
            *next += 1;
        }
        ByShape { elements, starts }
    }

    /// What [`places`] gives, from the elements alone that have values.
    pub(crate) fn places(&self, counts: &Counts, total: usize) -> Option<Vec<u32>> {
        // Each element, where its values begin, and how many they are.
        let mut own = Vec::new();
        let mut found = 0usize;
        for (code, count) in counts {
            let [from, to, ..] = self.starts.get(*code as usize..)? else { return None };
            for element in self.elements.get(*from as usize..*to as usize)? {
                own.push((*element, found as u32, *count));
                found = found.checked_add(*count as usize).filter(|found| *found <= total)?;
            }
        }
        if found != total {
            return None;
        }
        own.sort_unstable();
        let mut places = Vec::with_capacity(total);
        own.into_iter().for_each(|(_, start, count)| places.extend(start..start + count));
        Some(places)
    }
}

/// The values by shape.
pub(crate) fn group(values: &[i64], places: &[u32]) -> Vec<i64> {
    let mut grouped = vec![0; values.len()];
    for (value, place) in values.iter().zip(places) {
        if let Some(grouped) = grouped.get_mut(*place as usize) {
            *grouped = *value;
        }
    }
    grouped
}

/// The values at some places: with all places, the values in the order of the documents again. Nothing where a place is none.
pub(crate) fn ungroup<T: Copy>(grouped: &[T], places: &[u32]) -> Option<Vec<T>> {
    let Some(first) = grouped.first().copied() else { return places.is_empty().then(Vec::new) };
    let mut are_there = true;
    let value = |place: &u32| {
        let value = grouped.get(*place as usize).copied();
        are_there &= value.is_some();
        value.unwrap_or(first)
    };
    let values = places.iter().map(value).collect();
    are_there.then_some(values)
}

/// Whether values are better stored by shape: whether neighbours differ half as often then. HEURISTIC: of columns that compress at
/// all, the number of changes tells the size well enough, without trying. So does a sample of those at the beginning.
pub(crate) fn pays(values: &[i64], codes: impl Iterator<Item = u32>, counts: &Counts, shapes: usize) -> bool {
    let values = &values[..values.len().min(SAMPLE)];
    let mut by_shape = vec![(0, None); shapes];
    for (code, count) in counts {
        if let Some((of_shape, _)) = by_shape.get_mut(*code as usize) {
            *of_shape = *count as usize;
        }
    }
    let mut rest = values;
    let mut grouped = 0;
    for code in codes.take(SAMPLE_ELEMENTS) {
        let Some((count, last)) = by_shape.get_mut(code as usize) else { continue };
        let (own, after) = rest.split_at((*count).min(rest.len()));
        rest = after;
        for value in own {
            grouped += usize::from(*last != Some(*value));
            *last = Some(*value);
        }
        if rest.is_empty() {
            break;
        }
    }
    let values = &values[..values.len() - rest.len()];
    grouped * 2 < values.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_of_a_shape_stand_together() {
        // Two values in each of shape 0, none in 1, one in 2.
        let codes = [0, 2, 1, 0, 2];
        let places = places(codes.into_iter(), &[(0, 2), (2, 1)], 3, 6).unwrap();
        assert_eq!(places, [0, 1, 4, 2, 3, 5]);
        assert_eq!(group(&[10, 11, 30, 12, 13, 31], &places), [10, 11, 12, 13, 30, 31]);
    }

    proptest! {
        #[test]
        fn they_come_back_in_order(codes in prop::collection::vec(0..6u32, 0..200), counts in prop::collection::vec(0..3u32, 6)) {
            let counts: Vec<(u32, u32)> = (0..).zip(counts).collect();
            let total = codes.iter().map(|code| counts[*code as usize].1 as usize).sum();
            let by_shape = ByShape::of(&codes, 6);
            // A shape without values is none of those that are counted.
            let some: Vec<(u32, u32)> = counts.iter().copied().filter(|(_, count)| *count > 0).collect();
            prop_assert_eq!(by_shape.places(&some, total), places(codes.iter().copied(), &counts, 6, total));
            prop_assert_eq!(by_shape.places(&some, total + 1), None);
            prop_assert_eq!(places(codes.iter().copied(), &counts, 6, total + 1), None);
            let places = places(codes.iter().copied(), &counts, 6, total).unwrap();
            let values: Vec<i64> = (0..places.len() as i64).collect();
            prop_assert_eq!(ungroup(&group(&values, &places), &places), Some(values));
        }
    }
}
