//! Shapes as they are written: the set of keys apart from their order.
//!
//! Where each event orders its keys anew, each has a shape of its own, but few sets of keys. So a set is written once, its members by
//! path, and a shape is a set and, where its order is another one, a permutation of the members of each object. A permutation is told by
//! successors: a key that follows the same key as it did the last time costs the symbol 0.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::{FixedState, RandomState};

use crate::bytes::{Reader, put};
use crate::error::{DecodeError, malformed};
use crate::limits::{PATH_DEPTH_MAX, SHAPES_MAX, TOKENS_MAX};
use crate::shape::{Leaf, Shapes, Simple, Token};

/// Objects of more members are written in their own order, so that permutations stay cheap to follow.
const ORDERED_MAX: usize = 256;

/// Kinds of tokens: an object, the leaves, the end.
const KINDS: u64 = 2 + Leaf::ALL.len() as u64;

/// Writes shapes. Each is a value's tokens: a leaf, or an object and all in it.
pub(crate) fn write<'t>(shapes: impl ExactSizeIterator<Item = &'t [Token]> + Clone, out: &mut Vec<u8>) {
    // Most shapes have keys that no other one has, and are written in their own order.
    let mut alike: HashMap<u64, usize, FixedState> = HashMap::default();
    let names: Vec<u64> = shapes.clone().map(in_any_order).collect();
    names.iter().for_each(|name| *alike.entry(*name).or_default() += 1);
    let mut sets: HashMap<Vec<Token>, usize, RandomState> = HashMap::default();
    let mut count = 0;
    let mut written = Vec::new();
    let mut heads = Vec::new();
    let mut symbols = Vec::new();
    let mut followers = Followers::default();
    put(&mut heads, shapes.len() as u64);
    for (tokens, name) in shapes.zip(names) {
        if alike.get(&name) == Some(&1) {
            write_tokens(tokens, &mut written);
            put(&mut heads, count * 2);
            count += 1;
            continue;
        }
        let mut set = Vec::with_capacity(tokens.len());
        let nested = Nested::of(tokens);
        let ordered = sort(&nested, 0, &mut set);
        let number = *sets.entry(set).or_insert_with_key(|set| {
            write_tokens(set, &mut written);
            count += 1;
            count as usize - 1
        });
        put(&mut heads, number as u64 * 2 + u64::from(!ordered));
        if !ordered {
            write_order(&nested, 0, &mut followers, &mut symbols);
        }
    }
    put(out, count);
    out.append(&mut written);
    out.append(&mut heads);
    put(out, symbols.len() as u64);
    out.append(&mut symbols);
}

/// A number that shapes of the same keys and kinds have, whatever their order, and others as good as never.
fn in_any_order(tokens: &[Token]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let of = |token: &Token| {
        let number = match *token {
            Token::Open(path) => u64::from(path) * KINDS + 1,
            Token::Leaf(path, leaf) => u64::from(path) * KINDS + 2 + leaf as u64,
            Token::Close => 0,
        };
        let mixed = (number + 1).wrapping_mul(ODD);
        (mixed ^ (mixed >> 29)).wrapping_mul(ODD)
    };
    tokens.iter().map(of).fold(0, u64::wrapping_add)
}

/// Reads what [`write()`] writes.
pub(crate) fn read(reader: &mut Reader<'_>, paths: usize) -> Result<Shapes, DecodeError> {
    let count = reader.count()?;
    // Each takes a byte at least, and shapes are the last of a directory.
    let mut tokens = Vec::with_capacity(reader.0.len().min(TOKENS_MAX));
    let (mut sets, mut simple) = (Vec::new(), Simple::default());
    for _ in 0..count {
        let start = tokens.len();
        read_tokens(reader, paths, &mut tokens, &mut simple)?;
        sets.push(start..tokens.len());
    }
    let count = reader.at_most(SHAPES_MAX + paths, "too many shapes")?;
    let mut heads = Vec::with_capacity(count);
    for _ in 0..count {
        heads.push(reader.at_most(2 * sets.len(), "a shape of no known set")?);
    }
    let mut symbols = Reader(reader.bytes()?);
    let mut followers = Followers::default();
    let mut left = TOKENS_MAX + paths;
    let mut places = Vec::with_capacity(count);
    for head in heads {
        let set = sets.get(head / 2).ok_or(malformed("a shape of no known set"))?.clone();
        left = left.checked_sub(set.len()).ok_or(malformed("shapes of too many keys"))?;
        if head % 2 == 0 {
            places.push(set.start as u32..set.end as u32);
        } else {
            let set = tokens.get(set).unwrap_or_default().to_vec();
            let start = tokens.len() as u32;
            read_order(&Nested::of(&set), 0, &mut followers, &mut symbols, &mut tokens)?;
            places.push(start..tokens.len() as u32);
        }
    }
    symbols.end()?;
    // They stay as long as the group.
    tokens.shrink_to_fit();
    Ok(Shapes::new(tokens, places, &simple))
}

fn write_tokens(tokens: &[Token], out: &mut Vec<u8>) {
    put(out, tokens.len() as u64);
    let mut before = 0;
    for token in tokens {
        let (path, kind) = match *token {
            Token::Open(path) => (path, 0),
            Token::Leaf(path, leaf) => (path, 1 + leaf as u64),
            Token::Close => (before, KINDS - 1),
        };
        let step = i64::from(path) - i64::from(before);
        put(out, ((step << 1) ^ (step >> 63)) as u64 * KINDS + kind);
        before = path;
    }
}

/// Appends the tokens of a set.
fn read_tokens(
    reader: &mut Reader<'_>,
    paths: usize,
    tokens: &mut Vec<Token>,
    simple: &mut Simple,
) -> Result<(), DecodeError> {
    let count = reader.count()?;
    if count > TOKENS_MAX.saturating_sub(tokens.len()) || count == 0 {
        return Err(malformed("shapes of too many keys"));
    }
    simple.begin();
    let mut path = 0i64;
    let mut open = 0usize;
    for index in 0..count {
        let number = reader.number()?;
        let (step, kind) = (number / KINDS, number % KINDS);
        path = path.wrapping_add((step >> 1) as i64 ^ -((step & 1) as i64));
        // None below 0 is known either.
        if path.cast_unsigned() >= paths as u64 || (index > 0 && open == 0) {
            return Err(malformed("a shape with an unknown path, or with something after its end"));
        }
        let path = path as u32;
        let token = match kind {
            // What is inside what is read by calls within calls.
            0 if open > PATH_DEPTH_MAX => return Err(malformed("a shape of objects that are too deep")),
            0 => {
                open += 1;
                Token::Open(path)
            }
            kind if kind == KINDS - 1 => {
                open = open.checked_sub(1).ok_or(malformed("a shape that closes what is not open"))?;
                Token::Close
            }
            kind => Token::Leaf(path, Leaf::ALL[kind as usize - 1]),
        };
        simple.add(token);
        tokens.push(token);
    }
    if open != 0 {
        return Err(malformed("a shape that does not end"));
    }
    Ok(())
}

/// The tokens of a value, and where what begins at each of them ends: found once, as what is nested would be gone over again at every level.
struct Nested<'t> {
    tokens: &'t [Token],
    /// Of a leaf and of an object just past it; of what closes one nothing.
    ends: Vec<usize>,
}

impl<'t> Nested<'t> {
    fn of(tokens: &'t [Token]) -> Nested<'t> {
        let mut ends = vec![0; tokens.len()];
        let mut open = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            match token {
                Token::Open(_) => open.push(index),
                Token::Leaf(..) => ends[index] = index + 1,
                Token::Close => {
                    if let Some(begin) = open.pop() {
                        ends[begin] = index + 1;
                    }
                }
            }
        }
        Nested { tokens, ends }
    }

    /// Where the members of the object stand that begins at `at`.
    fn members(&self, at: usize) -> Vec<Range<usize>> {
        let mut members = Vec::new();
        let mut start = at + 1;
        while let Some(&end) = self.ends.get(start).filter(|end| **end > start) {
            members.push(start..end);
            start = end;
        }
        members
    }
}

fn path_at(tokens: &[Token], member: &Range<usize>) -> u32 {
    tokens.get(member.start).and_then(|token| token.path()).unwrap_or_default()
}

/// The members in the order in which a set has them, as indices.
fn sorted(tokens: &[Token], members: &[Range<usize>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..members.len()).collect();
    if members.len() <= ORDERED_MAX {
        order.sort_by_key(|index| path_at(tokens, &members[*index]));
    }
    order
}

/// Appends the set of the value that begins at `at`; whether that is its tokens as they are.
fn sort(value: &Nested<'_>, at: usize, set: &mut Vec<Token>) -> bool {
    set.extend(value.tokens.get(at));
    let Some(Token::Open(_)) = value.tokens.get(at) else { return true };
    let members = value.members(at);
    let order = sorted(value.tokens, &members);
    let mut ordered = order.is_sorted();
    for index in order {
        ordered &= sort(value, members[index].start, set);
    }
    set.push(Token::Close);
    ordered
}

/// Which member followed which, the last time: by path, in the object with a path. The first follows the object itself.
#[derive(Default)]
struct Followers(HashMap<(u32, u32), u32, FixedState>);

/// The ranks of an object's members, told or to be told one after another.
struct Ranks<'f> {
    followers: &'f mut Followers,
    object: u32,
    before: u32,
    /// The path of each member that is left, by rank.
    left: Vec<(u32, usize)>,
}

impl<'f> Ranks<'f> {
    fn new(followers: &'f mut Followers, object: u32, paths: impl Iterator<Item = u32>) -> Ranks<'f> {
        let left = paths.zip(0..).collect();
        Ranks { followers, object, before: object, left }
    }

    /// The place among those left of the member that is expected next.
    fn expected(&self) -> Option<usize> {
        let path = self.followers.0.get(&(self.object, self.before))?;
        self.left.iter().position(|(left, _)| left == path)
    }

    /// Takes the member at a place among those left, and gives its rank.
    fn take(&mut self, place: usize) -> usize {
        let (path, rank) = self.left.remove(place);
        self.followers.0.insert((self.object, self.before), path);
        self.before = path;
        rank
    }
}

/// Appends the permutation of each object of the value that begins at `at`, in the order of the document.
fn write_order(value: &Nested<'_>, at: usize, followers: &mut Followers, symbols: &mut Vec<u8>) {
    let tokens = value.tokens;
    let Some(Token::Open(object)) = tokens.get(at) else { return };
    let members = value.members(at);
    if members.len() <= ORDERED_MAX {
        let order = sorted(tokens, &members);
        let paths = order.iter().map(|index| path_at(tokens, &members[*index]));
        let mut ranks = Ranks::new(followers, *object, paths);
        let mut rank_of = vec![0; order.len()];
        for (rank, index) in order.iter().enumerate() {
            rank_of[*index] = rank;
        }
        for rank in rank_of {
            let place = ranks.left.iter().position(|(_, left)| *left == rank).unwrap_or_default();
            let expected = ranks.expected();
            // The last one is told by what is left.
            if ranks.left.len() > 1 {
                put(symbols, if expected == Some(place) { 0 } else { place as u64 + 1 });
            }
            ranks.take(place);
        }
    }
    for member in members {
        write_order(value, member.start, followers, symbols);
    }
}

/// Appends the value that begins at `at` of a set, its members in the order that is told.
fn read_order(
    set: &Nested<'_>,
    at: usize,
    followers: &mut Followers,
    symbols: &mut Reader<'_>,
    out: &mut Vec<Token>,
) -> Result<(), DecodeError> {
    out.extend(set.tokens.get(at));
    let Some(Token::Open(object)) = set.tokens.get(at) else { return Ok(()) };
    let members = set.members(at);
    let mut order: Vec<usize> = (0..members.len()).collect();
    if members.len() <= ORDERED_MAX {
        let paths = members.iter().map(|member| path_at(set.tokens, member));
        let mut ranks = Ranks::new(followers, *object, paths);
        order.clear();
        while !ranks.left.is_empty() {
            let symbol = if ranks.left.len() > 1 { symbols.number()? } else { 1 };
            let place = match symbol.checked_sub(1) {
                None => ranks.expected(),
                Some(place) => usize::try_from(place).ok().filter(|place| *place < ranks.left.len()),
            };
            order.push(ranks.take(place.ok_or(malformed("an order of keys that is none"))?));
        }
    }
    for rank in order {
        let Some(member) = members.get(rank) else { continue };
        read_order(set, member.start, followers, symbols, out)?;
    }
    out.push(Token::Close);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values of random structure; paths are those of a tree of any form, since nothing here looks at it.
    fn value() -> impl Strategy<Value = Vec<Token>> {
        let leaf = (0..30u32, 0..9usize).prop_map(|(path, leaf)| vec![Token::Leaf(path, Leaf::ALL[leaf])]);
        leaf.prop_recursive(4, 60, 8, |inner| {
            (0..30u32, prop::collection::vec(inner, 0..8)).prop_map(|(path, members)| {
                let mut tokens = vec![Token::Open(path)];
                tokens.extend(members.into_iter().flatten());
                tokens.push(Token::Close);
                tokens
            })
        })
    }

    proptest! {
        #[test]
        fn shapes_come_back_in_their_own_order(values in prop::collection::vec(value(), 0..20)) {
            let mut out = Vec::new();
            write(values.iter().map(Vec::as_slice), &mut out);
            let mut reader = Reader(&out);
            let shapes = read(&mut reader, 30).unwrap();
            prop_assert!(shapes.iter().eq(values.iter().map(Vec::as_slice)));
            prop_assert_eq!(reader.end(), Ok(()));
        }

        #[test]
        fn objects_in_objects_end_at_the_depth_of_documents(deep in PATH_DEPTH_MAX + 2..60_000) {
            let mut bytes = vec![1];
            put(&mut bytes, 2 * deep as u64);
            bytes.extend(std::iter::repeat_n(0, deep));
            bytes.extend(std::iter::repeat_n(KINDS as u8 - 1, deep));
            // One shape of that set, ordered anew, and no symbols.
            bytes.extend([1, 1, 0]);
            prop_assert!(read(&mut Reader(&bytes), 1).is_err());
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&mut Reader(&bytes), 20);
        }
    }

    #[test]
    fn members_are_found_without_going_over_what_is_in_them() {
        let tokens = [
            Token::Open(0),
            Token::Open(1),
            Token::Leaf(2, Leaf::Text),
            Token::Close,
            Token::Leaf(3, Leaf::Text),
            Token::Close,
        ];
        let mut nested = Nested::of(&tokens);
        assert_eq!(nested.ends, [6, 4, 3, 0, 5, 0]);
        // Nothing is looked at but the first token of each.
        nested.ends[2] = usize::MAX;
        nested.tokens = &[];
        assert_eq!(nested.members(0), [1..4, 4..5]);
    }

    #[test]
    fn another_order_of_the_same_keys_is_a_few_symbols() {
        let object = |order: &[u32]| {
            let mut tokens = vec![Token::Open(0)];
            tokens.extend(order.iter().map(|path| Token::Leaf(*path, Leaf::Text)));
            tokens.push(Token::Close);
            tokens
        };
        let mut one = Vec::new();
        write([object(&[1, 2, 3, 4, 5, 6, 7, 8]).as_slice()].into_iter(), &mut one);
        let mut three = Vec::new();
        let values = [
            object(&[1, 2, 3, 4, 5, 6, 7, 8]),
            object(&[5, 6, 7, 8, 1, 2, 3, 4]),
            object(&[3, 4, 5, 6, 7, 8, 1, 2]),
        ];
        write(values.iter().map(Vec::as_slice), &mut three);
        // Two heads, and seven symbols each.
        assert_eq!(three.len(), one.len() + 2 + 14);
    }
}
