//! The scanner by set and kernel, under criterion: for comparing one state of the code with another.
//! The comparison with the peers is `scanner_table`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tamias_benches::{last_key, sets};
use tamias_json::{Isa, Offsets};

fn lists(criterion: &mut Criterion) {
    for set in sets() {
        let mut group = criterion.benchmark_group(format!("list/{}", set.name));
        group.throughput(Throughput::Bytes(set.bytes.len() as u64)).sample_size(20);
        for isa in Isa::available() {
            let mut offsets = Offsets::new();
            for document in set.documents() {
                let root = offsets.scan_trusted_with(document, isa).expect("scans");
                assert_eq!(root.raw(), document);
            }
            group.bench_function(BenchmarkId::from_parameter(isa.name()), |bencher| {
                bencher.iter(|| {
                    set.documents()
                        .map(|document| {
                            offsets.scan_trusted_with(document, isa).map_or(0, |root| root.raw().len())
                        })
                        .sum::<usize>()
                });
            });
        }
        group.finish();
    }
}

fn lookups(criterion: &mut Criterion) {
    for set in sets() {
        let mut group = criterion.benchmark_group(format!("get/{}", set.name));
        group.throughput(Throughput::Bytes(set.bytes.len() as u64)).sample_size(20);
        let mut offsets = Offsets::new();
        let Some(first) = set.documents().next() else { continue };
        let key = last_key(offsets.scan_trusted(first).expect("scans"));
        group.bench_function("last key of the first", |bencher| {
            bencher.iter(|| {
                set.documents()
                    .filter(|document| {
                        offsets.scan_trusted(document).is_ok_and(|root| root.get(&key).is_some())
                    })
                    .count()
            });
        });
        group.finish();
    }
}

criterion_group!(benches, lists, lookups);
criterion_main!(benches);
