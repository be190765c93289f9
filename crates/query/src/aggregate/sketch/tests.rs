//! Percentiles of the sketch against those of all numbers.

use super::*;
use proptest::prelude::*;

const PERCENTILES: [f64; 14] =
    [0.0, 0.1, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0];
const ERRORS: [f64; 4] = [0.0001, 0.01, 0.1, 0.5];

fn sketch(error: f64, values: &[f64]) -> Sketch {
    let mut sketch = Sketch::new(error);
    let bytes: usize = values.iter().map(|value| sketch.add(*value)).sum();
    assert_eq!(bytes, sketch.heap_bytes());
    let mut together = Sketch::new(error);
    let bytes: usize = values.chunks(200).map(|values| together.add_all(values)).sum();
    assert_eq!(bytes, together.heap_bytes());
    assert_eq!(format!("{sketch:?}"), format!("{together:?}"));
    sketch
}

/// Every percentile is within the error of the exact one.
fn check(name: &str, values: &[f64]) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    for error in ERRORS {
        let sketch = sketch(error, values);
        for p in PERCENTILES {
            let at = ((p * sorted.len() as f64 / 100.0).ceil() as usize).clamp(1, sorted.len()) - 1;
            let (told, exact) = (sketch.percentile(p).unwrap(), sorted[at]);
            assert!(
                (told - exact).abs() <= error * exact.abs(),
                "{name}: p{p} is {exact}, told {told}, error {error}"
            );
            if values.len() <= EXACT_MAX {
                assert_eq!(told, exact, "{name}");
            }
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
        (
            "response times in ms, with pauses",
            |u, v| if v < 0.001 { 30_000.0 * u } else { 2.0 + u * u * 40.0 },
        ),
    ];
    for (name, draw) in distributions {
        for count in [1, 2, 3, 10, EXACT_MAX, EXACT_MAX + 1, 1000, 20_000] {
            let (us, vs) = (random(7), random(11));
            let values: Vec<f64> = us.zip(vs).map(|(u, v)| draw(u, v)).take(count).collect();
            check(name, &values);
        }
    }
}

#[test]
fn a_percentile_is_a_nearest_rank() {
    let few = sketch(0.01, &[4.0, 1.0, 3.0, 2.0]);
    assert_eq!(
        [25.0, 26.0, 50.0, 75.0, 76.0].map(|p| few.percentile(p)),
        [1.0, 2.0, 2.0, 3.0, 4.0].map(Some)
    );
    assert_eq!(rank(99.9, 1000), Some(999));
    assert_eq!(rank(7.0, 100), Some(7));
    assert_eq!(rank(0.0, 100), Some(1));
    assert_eq!(rank(33.4, 3), Some(2));
}

#[test]
fn no_values_have_no_percentile() {
    assert_eq!(sketch(0.01, &[]).percentile(50.0), None);
    assert_eq!(sketch(0.01, &[f64::NAN]).percentile(50.0), None);
}

#[test]
fn the_ends_are_exact_and_finite() {
    let mut values = vec![1.0; 100];
    values.extend([f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN]);
    let sketch = sketch(0.5, &values);
    assert_eq!(sketch.percentile(0.0), Some(f64::MIN));
    assert_eq!(sketch.percentile(100.0), Some(f64::MAX));
    assert!((0.5..=1.5).contains(&sketch.percentile(50.0).unwrap()));
}

#[test]
fn memory_is_bounded() {
    let values: Vec<f64> = random(3).map(|u| 10f64.powf(u * 615.0 - 307.0)).take(200_000).collect();
    assert!(sketch(0.01, &values).heap_bytes() < 700_000);
    let narrow: Vec<f64> = random(3).map(|u| 1.0 + 1000.0 * u).take(200_000).collect();
    assert!(sketch(0.01, &narrow).heap_bytes() < 6_000);
    assert!(sketch(0.01, &narrow[..EXACT_MAX]).heap_bytes() <= 512);
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<f64>().prop_filter("a normal number", |value| value.is_normal()),
        1 => Just(0.0),
        4 => -1000.0..1000.0f64,
        2 => (-20i32..20).prop_map(f64::from),
    ]
}

proptest! {
    #[test]
    fn any_values_are_told_within_the_error(values in prop::collection::vec(any_value(), 1..300)) {
        check("any", &values);
    }

    #[test]
    fn merged_sketches_tell_what_one_would(
        values in prop::collection::vec(any_value(), 0..300),
        cuts in prop::collection::vec(0..300usize, 0..4),
        error in prop::sample::select(&ERRORS[..]),
    ) {
        let one = sketch(error, &values);
        let mut merged = Sketch::new(error);
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|&cut| cut < values.len()).chain([0, values.len()]).collect();
        cuts.sort_unstable();
        for part in cuts.windows(2).rev() {
            merged.merge(&sketch(error, &values[part[0]..part[1]]));
        }
        for p in PERCENTILES {
            prop_assert_eq!(one.percentile(p), merged.percentile(p));
        }
        prop_assert_eq!(one.count, merged.count);
    }
}
