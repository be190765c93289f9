//! Columns of whole numbers that are the differences of two others: how they are found, and written.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::FixedState;

use crate::column::{Column, Encoding};
use crate::encoding::difference::Difference;
use crate::encoding::packed::packed_bytes;
use crate::encoding::simple::Simple;
use crate::frame::FrameWriter;
use crate::hash;

/// Columns that take less packed are not looked at: nothing is gained.
const BYTES_MIN: usize = 256;

/// Of the columns whose values belong together so many are looked at, those that take most: any three of them are tried.
const COLUMNS_MAX: usize = 16;

/// A column that may be told from others, and from which others may be told.
pub(crate) struct Candidate<'v, S> {
    pub(crate) column: usize,
    /// Columns of one scope have their values in the same objects.
    pub(crate) scope: S,
    pub(crate) values: &'v [i64],
}

/// One of the columns of a scope.
struct Member<'v> {
    number: usize,
    /// What it takes packed.
    bytes: usize,
    hash: u64,
    values: &'v [i64],
}

/// For each column the two whose difference it is, if there are such. Those are stored themselves.
///
/// Takes time linear in the values: three columns are compared where their hashes are a difference too.
pub(crate) fn find<S: Eq + Hash>(
    candidates: Vec<Candidate<'_, S>>,
    columns: usize,
) -> Vec<Option<[usize; 2]>> {
    let mut scopes: HashMap<S, Vec<Member<'_>>, FixedState> = HashMap::default();
    for Candidate { column: number, scope, values } in candidates {
        let bytes = packed_bytes(values);
        if bytes >= BYTES_MIN {
            scopes.entry(scope).or_default().push(Member {
                number,
                bytes,
                hash: hash::of_numbers(values),
                values,
            });
        }
    }
    let mut found = vec![None; columns];
    for mut scope in scopes.into_values().filter(|scope| scope.len() >= 3) {
        scope.sort_unstable_by_key(|column| (Reverse(column.bytes), column.number));
        scope.truncate(COLUMNS_MAX);
        // Those that others are told from.
        let mut needed = Vec::new();
        for column in &scope {
            if needed.contains(&column.number) {
                continue;
            }
            let is_free =
                |other: &&Member<'_>| other.number != column.number && found[other.number].is_none();
            let others: Vec<&Member<'_>> = scope.iter().filter(is_free).collect();
            let pairs = others.iter().flat_map(|of| others.iter().map(move |less| (of, less)));
            let mut differences = pairs
                .filter(|(of, less)| of.hash.wrapping_sub(less.hash) == column.hash)
                .filter(|(of, less)| is_difference(column.values, of.values, less.values));
            if let Some((of, less)) = differences.next() {
                needed.extend([of.number, less.number]);
                found[column.number] = Some([of.number, less.number]);
            }
        }
    }
    found
}

/// The difference of two columns, and whether it stands by shape as they do; nothing where they stand in different orders, or so many bytes serve
/// twice that a reader would not allow more.
pub(crate) fn encode(of: [Option<&Column>; 2], frames: &mut FrameWriter) -> Option<(Encoding, bool)> {
    let [Some(of), Some(less)] = of else { return None };
    let (Encoding::Simple(Simple::Whole(first)), Encoding::Simple(Simple::Whole(second))) =
        (&of.encoding, &less.encoding)
    else {
        return None;
    };
    let difference = Difference { of: *first, less: *second };
    let bytes = difference.parts().map(|part| part.length as usize).sum();
    let is_possible = of.grouped == less.grouped && frames.repeat(bytes);
    is_possible.then_some((Encoding::Simple(Simple::Difference(difference)), of.grouped))
}

fn is_difference(values: &[i64], of: &[i64], less: &[i64]) -> bool {
    values.len() == of.len()
        && of.len() == less.len()
        && values.iter().zip(of.iter().zip(less)).all(|(value, (of, less))| *value == of.wrapping_sub(*less))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(columns: &[(u8, Vec<i64>)]) -> Vec<Option<[usize; 2]>> {
        let candidates = columns.iter().enumerate();
        let candidates = candidates.map(|(column, (scope, values))| Candidate { column, scope, values });
        find(candidates.collect(), columns.len())
    }

    #[test]
    fn the_largest_column_is_told_from_two_others() {
        let added: Vec<i64> = (0..1_000).map(|n| n * 7_919 % 4_001 * (n % 3)).collect();
        let deleted: Vec<i64> = (0..1_000).map(|n| n * 104_729 % 997 * ((n + 1) % 2)).collect();
        let delta: Vec<i64> = added.iter().zip(&deleted).map(|(added, deleted)| added - deleted).collect();
        let columns = [(1, added), (1, delta), (1, deleted)];
        assert_eq!(found(&columns), [None, Some([0, 2]), None]);
        // In other objects there may be as many.
        let [added, delta, deleted] = columns;
        assert_eq!(found(&[added, (2, delta.1), deleted]), [None; 3]);
    }

    #[test]
    fn a_column_that_others_are_told_from_is_stored() {
        let first: Vec<i64> = (0..1_000).map(|n| n * 7_919 % 4_001).collect();
        let second: Vec<i64> = (0..1_000).map(|n| n * 104_729 % 3_001).collect();
        let both: Vec<i64> = first.iter().zip(&second).map(|(first, second)| first + second).collect();
        // The second is what both are less the first, and that is what both are less the second.
        let found = found(&[(0, both), (0, first), (0, second)]);
        let told: Vec<[usize; 2]> = found.iter().flatten().copied().collect();
        assert_eq!(told.len(), 1, "{found:?}");
        assert!(told[0].iter().all(|column| found[*column].is_none()), "{found:?}");
    }

    #[test]
    fn numbers_of_any_size_wrap() {
        let of: Vec<i64> = (0..1_000).map(|n| i64::MIN + n * n).collect();
        let less: Vec<i64> = (0..1_000).map(|n| n * 7_919 % 5_003).collect();
        let values: Vec<i64> = of.iter().zip(&less).map(|(of, less)| of.wrapping_sub(*less)).collect();
        assert!(found(&[(0, of), (0, less), (0, values)]).iter().flatten().count() == 1);
    }
}
