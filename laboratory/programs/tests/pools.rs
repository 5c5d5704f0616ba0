//! Every program on real pools: its answer is right, wherever its parts run.

use manycore::Pool;
use manycore_programs::fork::{Algorithm, Kernel, Size};

#[test]
fn every_program_is_right_on_every_pool() {
    for threads in [1, 2, 3, 8] {
        let pool = Pool::builder().threads(threads).build().unwrap();
        for algorithm in Algorithm::ALL {
            let mut kernel = algorithm.prepare(7, Size::Quick);
            for round in 0..3 {
                kernel.reset();
                if round == 0 {
                    kernel.run(&pool); // joins from outside
                } else {
                    pool.install(|| kernel.run(&pool));
                }
                let verdict = kernel.verify();
                assert!(verdict.is_ok(), "{algorithm} on {threads}: {verdict:?}");
            }
        }
    }
}
