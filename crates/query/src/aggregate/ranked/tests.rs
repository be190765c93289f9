//! Percentiles against those of all numbers.

use super::*;
use proptest::prelude::*;

const PERCENTILES: [f64; 14] =
    [0.0, 0.1, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0];
const ERRORS: [f64; 4] = [0.0001, 0.01, 0.1, 0.5];

fn ranked(error: f64, texts: &[String]) -> Ranked {
    let mut ranked = Ranked::default();
    for text in texts {
        ranked.add(Number::Stored(text), error);
    }
    // In another order, and together where they are of few digits.
    let (mut together, mut few) = (Ranked::default(), Vec::new());
    for text in texts.iter().rev() {
        match Number::Stored(text).few_digits() {
            Some((significand, scale)) => few.push(Packed::new(&FewDigits { significand, scale, at: 0 })),
            None => _ = together.add(Number::Stored(text), error),
        }
    }
    few.chunks(200).for_each(|few| _ = together.add_few(few, error));
    for p in PERCENTILES {
        assert_eq!(told(&ranked, p), told(&together, p), "{p}");
    }
    ranked
}

fn told(ranked: &Ranked, p: f64) -> Option<String> {
    Some(ranked.percentile(p)?.text().into_owned())
}

/// The exact percentile.
fn exact(texts: &[String], p: f64) -> Number<'_> {
    let mut sorted: Vec<Number<'_>> = texts.iter().map(|text| Number::Stored(text)).collect();
    sorted.sort_by(Number::compare);
    let at = ((p * sorted.len() as f64 / 100.0).ceil() as usize).clamp(1, sorted.len()) - 1;
    sorted[at].clone()
}

/// Every percentile is a number of the data, or of many within the error of the exact one.
fn check(name: &str, values: &[f64]) {
    let texts: Vec<String> = values.iter().map(|value| format!("{value}")).collect();
    let exact = PERCENTILES.map(|p| exact(&texts, p).into_static());
    for error in ERRORS {
        let ranked = ranked(error, &texts);
        for (p, exact) in PERCENTILES.iter().zip(&exact) {
            let told = ranked.percentile(*p).unwrap();
            if values.len() <= EXACT_MAX {
                assert!(told.compare(exact).is_eq(), "{name}: p{p} is {exact:?}, told {told:?}");
            }
            let (told, exact) = (told.to_f64(), exact.to_f64());
            assert!(
                (told - exact).abs() <= error * exact.abs(),
                "{name}: p{p} is {exact}, told {told}, error {error}"
            );
        }
    }
}

/// Numbers between 0 and 1, by splitmix64.
fn random(seed: u64) -> impl Iterator<Item = f64> {
    (1..).map(move |i: u64| {
        let mut z = seed.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    })
}

#[test]
fn distributions_are_told_within_the_error() {
    type Draw = fn(f64, f64) -> f64;
    let distributions: [(&str, Draw); 12] = [
        ("uniform", |u, _| u),
        ("uniform far from zero", |u, _| 1e6 + u),
        ("exponential", |u, _| -(1.0 - u).ln() * 250.0),
        ("normal", |u, v| (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()),
        ("lognormal", |u, v| {
            ((-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos() * 2.0).exp()
        }),
        ("pareto", |u, _| (1.0 - u).powf(-1.0 / 1.1)),
        ("integers from -50 to 50", |u, _| (u * 101.0).floor() - 50.0),
        ("two peaks, one negative", |u, v| if v < 0.3 { -1000.0 - u } else { 3.0 + u }),
        ("mostly zeros", |u, v| if v < 0.9 { 0.0 } else { u - 0.5 }),
        ("all magnitudes", |u, v| (if v < 0.5 { -1.0 } else { 1.0 }) * 10f64.powf(u * 600.0 - 300.0)),
        ("one value", |_, _| 0.1),
        ("response times in ms, with pauses", |u, v| {
            ((if v < 0.001 { 30_000.0 * u } else { 2.0 + u * u * 40.0 }) * 1000.0).round() / 1000.0
        }),
    ];
    for (name, draw) in distributions {
        for count in [1, 3, EXACT_MAX, EXACT_MAX + 1, 10_000] {
            let (us, vs) = (random(7), random(11));
            let values: Vec<f64> = us.zip(vs).map(|(u, v)| draw(u, v)).take(count).collect();
            check(name, &values);
        }
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_percentile_is_a_nearest_rank() {
    let few = ranked(0.01, &texts(&["4", "1", "3", "2"]));
    assert_eq!([25.0, 26.0, 50.0, 75.0, 76.0].map(|p| told(&few, p).unwrap()), ["1", "2", "2", "3", "4"]);
    assert_eq!(rank(99.9, 1000), Some(999));
    assert_eq!(rank(7.0, 100), Some(7));
    assert_eq!(rank(0.0, 100), Some(1));
    assert_eq!(rank(33.4, 3), Some(2));
    assert_eq!(told(&Ranked::default(), 50.0), None);
}

#[test]
fn numbers_beyond_binary64_are_ranked_by_their_value() {
    let few = ranked(0.01, &texts(&["3", "1e400", "5"]));
    assert_eq!([0.0, 50.0, 100.0].map(|p| told(&few, p).unwrap()), ["3", "5", "1e400"]);
    for single in ["9007199254740993", "638525769611234567", "1.7976931348623157e308", "-1e-400"] {
        assert_eq!(told(&ranked(0.01, &texts(&[single])), 50.0).as_deref(), Some(single));
    }
    let close = ranked(0.01, &texts(&["9007199254740993", "9007199254740992", "9007199254740994.0"]));
    assert_eq!(
        [1.0, 50.0, 99.0].map(|p| told(&close, p).unwrap()),
        ["9007199254740992", "9007199254740993", "9007199254740994"]
    );
}

#[test]
fn of_many_numbers_both_ends_are_exact_and_others_have_few_digits() {
    let mut many: Vec<String> = (0..EXACT_MAX).map(|number| format!("{}.25", 1000 + number)).collect();
    many.extend(texts(&["9007199254740993", "9007199254740992", "-1e400", "-0.5e400"]));
    let many = ranked(0.01, &many);
    assert_eq!(told(&many, 0.0).unwrap(), "-1e400");
    assert_eq!(told(&many, 100.0).unwrap(), "9007199254740993");
    assert_eq!(told(&many, 0.03).unwrap(), "-5e399");
    let middle = told(&many, 50.0).unwrap();
    assert!((3018.0..3079.0).contains(&middle.parse().unwrap()), "{middle}");
    assert!(middle.ends_with('0'), "{middle} has more digits than hold");
}

#[test]
fn many_numbers_beyond_binary64_are_told_within_the_error() {
    let magnitudes =
        (0..3 * EXACT_MAX).map(|number| format!("{number}e{}", if number % 2 == 0 { 900 } else { -900 }));
    let magnitudes: Vec<String> = magnitudes.collect();
    for error in ERRORS {
        let many = ranked(error, &magnitudes);
        for p in PERCENTILES {
            let (told, exact) = (many.percentile(p).unwrap(), exact(&magnitudes, p));
            let scaled = |number: &Number<'_>| {
                let text = number.computed().text().into_owned();
                let (digits, power) = text
                    .split_once('e')
                    .map_or((&*text, 0), |(digits, power)| (digits, power.parse().unwrap()));
                let power: i32 = power;
                (digits.parse::<f64>().unwrap() * 10f64.powi(power % 300), power / 300)
            };
            let ((told, power), (exact, same)) = (scaled(&told), scaled(&exact));
            assert_eq!(power, same);
            assert!((told - exact).abs() <= error * exact, "p{p} is {exact}, told {told}, error {error}");
        }
    }
}

#[test]
fn memory_is_bounded() {
    let of = |values: &mut dyn Iterator<Item = f64>| {
        let texts: Vec<String> = values.map(|value| format!("{value:.3}")).collect();
        ranked(0.01, &texts).heap_bytes()
    };
    assert!(of(&mut random(3).map(|u| 1.0 + 1000.0 * u).take(20_000)) < 12_000);
    assert!(of(&mut random(3).map(|u| 1.0 + 1000.0 * u).take(EXACT_MAX)) <= 8 * EXACT_MAX);
    assert!(of(&mut random(3).map(|u| 10f64.powf(u * 11.0)).take(20_000)) < 40_000);
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<f64>().prop_filter("a finite number", |value| value.is_finite()),
        1 => Just(0.0),
        4 => -1000.0..1000.0f64,
        2 => (-20i32..20).prop_map(f64::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn numbers_that_are_told_by_estimates_are_ranked_as_they_are(
        few in prop::collection::vec((any::<i64>(), 0u32..64, 0u32..20, -2i32..3), 1..100),
        error in prop::sample::select(&ERRORS[..]),
    ) {
        let (mut one, mut near) = (Ranked::default(), Ranked::default());
        for (nth, (number, shift, scale, off)) in few.iter().cycle().take(2 * EXACT_MAX).enumerate() {
            let number = Number::Decimal(Decimal::new(number.wrapping_add(nth as i64) >> shift, *scale));
            let estimate = number.to_f64() * (1.0 + f64::from(*off) * NEAR / 5.0);
            near.add_near(estimate, || number.clone().into_static(), error);
            one.add(number, error);
        }
        for p in PERCENTILES {
            prop_assert_eq!(told(&one, p), told(&near, p));
        }
    }

    #[test]
    fn merged_states_tell_what_one_would(
        few in prop::collection::vec(any_value(), 1..100),
        repeated in prop::sample::select(&[1, 50, 100][..]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        error in prop::sample::select(&ERRORS[..]),
    ) {
        let values = few.iter().cycle().take(few.len() * repeated);
        let texts: Vec<String> = values.map(|value| format!("{value}")).collect();
        let one = ranked(error, &texts);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(texts.len())).chain([0, texts.len()]).collect();
        cuts.sort_unstable();
        let mut merged = Ranked::default();
        for part in cuts.windows(2).rev() {
            merged.merge(ranked(error, &texts[part[0]..part[1]]), error);
        }
        for p in PERCENTILES {
            prop_assert_eq!(told(&one, p), told(&merged, p));
        }
        prop_assert_eq!(one.count(), merged.count());
    }
}
