//! Primes: multiples are crossed out, in chunks that fit the cache.

use crate::Program;
use rayon::prelude::*;

const LIMIT: usize = 1 << 21;
const CHUNK: usize = 1 << 15;

pub fn programs() -> Vec<Program> {
    let (small, all) = (primes(2_000).len(), primes(LIMIT).len());
    // Counted by others: 303 and 155,611.
    assert_eq!((small, all), (303, 155_611));
    vec![Program::giving("sieve", sieve, all)]
}

fn sieve() -> usize {
    let small = primes(LIMIT.isqrt() + 1);
    let mut composite = vec![false; LIMIT];
    let primes_in = |(chunk, marks): (usize, &mut [bool])| {
        let start = chunk * CHUNK;
        for &prime in &small {
            let first = (prime * prime).max(start.next_multiple_of(prime));
            marks
                .iter_mut()
                .skip(first - start)
                .step_by(prime)
                .for_each(|mark| *mark = true);
        }
        marks.iter().filter(|&&mark| !mark).count()
    };
    let chunks = composite.par_chunks_mut(CHUNK).enumerate();
    // 0 and 1 are not crossed out.
    chunks.map(primes_in).sum::<usize>() - 2
}

/// The primes below `limit`, found serially.
fn primes(limit: usize) -> Vec<usize> {
    let mut composite = vec![false; limit];
    let mut found = Vec::new();
    for number in 2..limit {
        if !composite[number] {
            found.push(number);
            (number * number..limit)
                .step_by(number)
                .for_each(|multiple| composite[multiple] = true);
        }
    }
    found
}
