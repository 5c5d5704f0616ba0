//! The programs under criterion: `cargo bench -- NAME`.

use criterion::{Criterion, criterion_group, criterion_main};

fn programs(criterion: &mut Criterion) {
    for program in manycore_drop_in::all() {
        criterion.bench_function(&program.name, |bencher| {
            bencher.iter_custom(|runs| (0..runs).map(|_| program.run()).sum());
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = programs
}
criterion_main!(benches);
