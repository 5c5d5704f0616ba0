//! Probe.
use std::time::Instant;
#[inline(never)]
fn fib_seq(n: u32) -> u64 {
    if n < 2 {
        n as u64
    } else {
        fib_seq(n - 1) + fib_seq(n - 2)
    }
}
fn fib(n: u32) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = manycore::join(|| fib(n - 1), || fib(n - 2));
    a + b
}
fn empty(d: u32) {
    if d > 0 {
        manycore::join(|| empty(d - 1), || empty(d - 1));
    }
}
fn main() {
    for t in [1usize, 2] {
        let pool = manycore::Pool::builder().threads(t).build().unwrap();
        let mut e = f64::MAX;
        let (mut s, mut f) = (vec![], vec![]);
        for _ in 0..30 {
            let t0 = Instant::now();
            assert_eq!(fib_seq(std::hint::black_box(32)), 2178309);
            s.push(t0.elapsed().as_secs_f64() * 1e3);
            let t0 = Instant::now();
            assert_eq!(pool.install(|| fib(std::hint::black_box(32))), 2178309);
            f.push(t0.elapsed().as_secs_f64() * 1e3);
            pool.install(|| {
                for _ in 0..20 {
                    let t0 = Instant::now();
                    empty(14);
                    e = e.min(t0.elapsed().as_nanos() as f64 / 16383.0);
                }
            });
        }
        s.sort_by(f64::total_cmp);
        f.sort_by(f64::total_cmp);
        println!(
            "threads {t}: seq {:.2} ms (min {:.2}); join {:.2} (min {:.2}); empty join min {e:.2} ns; {:?}",
            s[15],
            s[0],
            f[15],
            f[0],
            pool.sleep_tally()
        );
    }
}
