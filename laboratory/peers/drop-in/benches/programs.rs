//! The programs under criterion: `cargo bench -- NAME`.

use criterion::{Criterion, criterion_group, criterion_main};
use std::cell::OnceCell;

fn programs(criterion: &mut Criterion) {
    for kind in manycore_drop_in::KINDS {
        for &name in kind.names {
            // Criterion calls the closure only for a selected benchmark, and then several times.
            let program = OnceCell::new();
            criterion.bench_function(name, |bencher| {
                let program = program.get_or_init(|| kind.program(name).expect("one of its own"));
                bencher.iter_custom(|runs| (0..runs).map(|_| program.run()).sum());
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = programs
}
criterion_main!(benches);
