//! Every kernel gives what the portable one gives, operation by operation.

use crate::*;
use proptest::prelude::*;

/// All that the operations make of some bytes.
#[derive(Debug, PartialEq)]
struct Answers {
    masks: Masks,
    last: Vec<Masks>,
    sets: [u64; 6],
    counts: Vec<usize>,
    decimals: Vec<Option<(u64, u32)>>,
    standings: Vec<Option<Standing>>,
    entries: Vec<Entry>,
    brackets: Vec<u16>,
    value: u32,
    positions: Vec<u32>,
}

struct Ask<'b> {
    a: &'b [u8; VECTOR],
    b: &'b [u8; VECTOR],
}

impl Task for Ask<'_> {
    type Output = Answers;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Answers {
        let Ask { a, b } = self;
        let masks = vector.classify(a);
        let both = [&a[..], b].concat();
        // Of some bytes the last ones, less than a vector.
        let last = [1, 7, 63, 64, 65, 100, 127]
            .map(|length: usize| vector.classify_last(&both[..length], length - length.min(1 + length % 63)));
        let sets = [
            vector.equal(a, b[0]),
            vector.same(a, b),
            vector.both(a, b[0], b, a[0]),
            vector.begins(a),
            vector.special(a),
            vector.prefix_xor(u64::from_le_bytes(*a.first_chunk().unwrap())),
        ];
        let numbers = a.as_chunks::<4>().0.first_chunk().unwrap();
        let most = numbers.iter().map(|number| u32::from_le_bytes(*number));
        let counts = most.chain([0, u32::MAX]).map(|most| vector.count_up_to(numbers, most)).collect();
        let texts = || a.windows(DIGITS).map(|text| text.first_chunk().unwrap());
        let decimals = (1..=DIGITS).cycle().zip(texts()).map(|(length, text)| vector.decimal(text, length));
        let wholes = [0, 1, 9, 10, 200, 1_234_567].map(|whole| Whole::new(whole).unwrap());
        for (whole, text) in wholes.iter().flat_map(|whole| texts().map(move |text| (whole, text))) {
            let mut standing = Standing::default();
            standing.set(0, text, *whole);
            let is_less = standing.is_told & !(standing.is_equal | standing.is_greater);
            let expected = (standing.is_told == 1).then(|| standing.is_greater.cmp(&is_less));
            assert_eq!(whole.compare(text), expected, "{}", text.escape_ascii());
        }
        let places = [0, 3, 40, 5, 17, 18, 33, 7];
        let standings =
            wholes.map(|whole| vector.compare_several(&both, &places, usize::from(a[1] % 80), whole));

        let (mut entries, mut memory) = (vec![Entry::new(1, 2)], Brackets::new());
        let mut sink = Sink::new(&mut entries, &mut memory, 3 * VECTOR, 7);
        let structural = (masks.delimiters | masks.colons)
            & b.iter().fold(0, |bits, byte| bits << 1 | u64::from(byte & 3 != 0));
        let delimiters = masks.delimiters & structural;
        for (base, structural) in [(64, structural), (128, u64::MAX), (192, structural)] {
            let delimiters = if structural == u64::MAX { u64::MAX } else { delimiters };
            let brackets = if structural == u64::MAX { u64::MAX } else { masks.brackets };
            if structural != 0 {
                vector.emit(Marks { base, structural, delimiters, brackets }, &mut sink);
            }
        }
        let (value, brackets) = sink.finish();
        let brackets = brackets.to_vec();
        let mut positions = vec![1];
        let mut room = Room::for_bytes(&mut positions, 3 * VECTOR);
        for mask in [structural, u64::MAX, sets[0]] {
            vector.put_positions(mask, 1000, &mut room);
        }
        room.finish();
        Answers {
            masks,
            last: last.to_vec(),
            sets,
            counts,
            decimals: decimals.collect(),
            standings: standings.to_vec(),
            entries,
            brackets,
            value,
            positions,
        }
    }
}

fn portable() -> Isa {
    Isa::available().into_iter().find(|isa| isa.name() == "portable").unwrap()
}

fn check(a: &[u8; VECTOR], b: &[u8; VECTOR]) {
    let expected = portable().run(Ask { a, b });
    for isa in Isa::available() {
        assert_eq!(
            isa.run(Ask { a, b }),
            expected,
            "{} of {} and {}",
            isa.name(),
            a.escape_ascii(),
            b.escape_ascii()
        );
    }
    for byte in [a[0], b'\\', b'"', 0, 0xff] {
        assert_eq!(equal(a, byte), Portable.equal(a, byte));
    }
    let eight = a.first_chunk().unwrap();
    assert_eq!(leading_digits(eight), eight.iter().take_while(|byte| byte.is_ascii_digit()).count());
}

/// 64 bytes of some kinds.
fn vector_of(byte: impl Strategy<Value = u8>) -> impl Strategy<Value = [u8; VECTOR]> {
    prop::collection::vec(byte, VECTOR).prop_map(|bytes| *bytes.first_chunk().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn kernels_agree_on_any_bytes(a in vector_of(any::<u8>()), b in vector_of(any::<u8>())) {
        check(&a, &b);
        check(&a, &a);
    }

    #[test]
    fn kernels_agree_on_structure(
        a in vector_of(prop::sample::select(&b"\"\"\\\\{}[]::,,a1 \x1f\x20\x7f\x80\xbf\xc0\xff"[..])),
        b in vector_of(prop::sample::select(&b"\"\\{}[]:,a1"[..])),
    ) {
        check(&a, &b);
    }

    #[test]
    fn kernels_agree_on_numbers(
        a in vector_of(prop_oneof![20 => b'0'..=b'9', 2 => Just(b'.'), 3 => prop::sample::select(&b",}-e+/:"[..])]),
        b in vector_of(prop_oneof![20 => b'0'..=b'9', 2 => Just(b'.'), 3 => prop::sample::select(&b",}-e+/:"[..])]),
    ) {
        check(&a, &b);
    }

    #[test]
    fn a_decimal_reads_the_same_alone_and_among_others(
        before in "[0-9.,-]{0,20}", text in "-?[0-9]{0,12}[.]?[0-9]{0,6}", after in "[,}][0-9]{0,9}",
    ) {
        let all = format!("{before}{text}{after}");
        let alone = decimal::at(Portable, text.as_bytes(), 0, text.len());
        for found in [
            decimal::at(Portable, all.as_bytes(), before.len(), before.len() + text.len()),
            decimal::at(Swar, all.as_bytes(), before.len(), before.len() + text.len()),
            decimal::at(Swar, text.as_bytes(), 0, text.len()),
        ] {
            prop_assert_eq!(found, alone);
        }
        let padded = format!("{text}{after}{}", " ".repeat(16));
        // The minus is counted here, and the end is looked for.
        let expected = if text.len() < 16 && !text.is_empty() { alone } else { None };
        let found = decimal::beginning(padded.as_bytes().first_chunk().unwrap());
        let found = found.map(|(is_negative, digits)| {
            let (mantissa, scale) = digits.value();
            (if is_negative { -(mantissa as i64) } else { mantissa as i64 }, scale)
        });
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_stack_is_a_stack(turns in prop::collection::vec(prop::bool::weighted(0.45), 0..40), bottom: Option<u32>) {
        let mut stack: Stack<9> = Stack::new(bottom);
        let mut plain = Vec::from_iter(bottom);
        for (number, closes) in (100..).zip(turns) {
            let expected = match (plain.len(), closes) {
                (0 | 9.., _) => None,
                (_, true) => plain.pop(),
                (_, false) => {
                    plain.push(number);
                    Some(number)
                }
            };
            prop_assert_eq!(stack.turn(number, closes), expected);
            prop_assert_eq!(stack.depth(), plain.len());
        }
    }

    #[test]
    fn text_is_what_is_utf8(bytes in prop_oneof![any::<Vec<u8>>(), any::<String>().prop_map(String::into_bytes)]) {
        let expected = str::from_utf8(&bytes);
        prop_assert_eq!(utf8::text(&bytes), expected.ok());
        prop_assert_eq!(utf8::first_fault(&bytes), expected.err().map(|error| error.valid_up_to()));
        prop_assert_eq!(utf8::ascii(&bytes), expected.ok().filter(|text| text.is_ascii()));
        prop_assert_eq!(utf8::into_text(bytes.clone()).map_err(|_| ()), expected.map(str::to_owned).map_err(|_| ()));
    }
}

const FULL: Marks = Marks { base: 0, structural: u64::MAX, delimiters: u64::MAX, brackets: u64::MAX };

/// The positions of so many full vectors, where there is room for two.
struct Positions(usize);

impl Task for Positions {
    type Output = Vec<u32>;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Vec<u32> {
        let mut list = Vec::new();
        let mut room = Room::for_bytes(&mut list, 2 * VECTOR);
        for _ in 0..self.0 {
            vector.put_positions(u64::MAX, 0, &mut room);
        }
        room.finish();
        list
    }
}

/// The brackets of so many full vectors, where there is room for a chunk.
struct FullVectors(usize);

impl Task for FullVectors {
    type Output = Vec<u16>;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Vec<u16> {
        let (mut list, mut memory) = (Vec::new(), Brackets::new());
        let mut sink = Sink::new(&mut list, &mut memory, CHUNK, 0);
        for _ in 0..self.0 {
            vector.emit(FULL, &mut sink);
        }
        sink.finish().1.to_vec()
    }
}

#[test]
fn there_is_room_for_so_many_vectors_and_no_more() {
    for isa in Isa::available() {
        assert_eq!(isa.run(Positions(2)).len(), 2 * VECTOR, "{}", isa.name());
        assert!(std::panic::catch_unwind(move || isa.run(Positions(3))).is_err(), "{}", isa.name());
        assert_eq!(
            isa.run(FullVectors(CHUNK / VECTOR)),
            (0..CHUNK as u16).collect::<Vec<_>>(),
            "{}",
            isa.name()
        );
        let full = CHUNK / VECTOR + 1;
        assert!(std::panic::catch_unwind(move || isa.run(FullVectors(full))).is_err(), "{}", isa.name());
    }
    let longer = || Sink::new(&mut Vec::new(), &mut Brackets::new(), CHUNK + 1, 0).finish().0;
    assert!(std::panic::catch_unwind(longer).is_err());
}

#[test]
fn a_whole_number_has_seven_digits_at_most() {
    assert!(Whole::new(9_999_999).is_some());
    assert!(Whole::new(10_000_000).is_none());
    assert!(Whole::new(u64::MAX).is_none());
}
