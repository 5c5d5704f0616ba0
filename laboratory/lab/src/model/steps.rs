//! Finds from the tables of the document (Shuai's paper) how many iterations and participants its loops had.
//!
//! If there are few blocks, the latency grows in steps, in proportion to the share of the busiest participant. List
//! scheduling gives this share for N iterations and P participants: each block goes to the first free participant. The
//! time of an iteration is fitted. The remaining difference is the error of the choice of N and P.

use super::data::PublishedCell;
use super::shipped;

/// Smaller blocks are left out, since their latency shows the cost of claims.
const FEWEST: usize = 32;

/// The number of iterations of the busiest participant.
fn busiest(n: usize, block: usize, participants: usize) -> f64 {
    let mut busy = vec![0; participants];
    let mut left = n;
    while left > 0 {
        let next = block.min(left);
        left -= next;
        let first = busy.iter_mut().min().unwrap();
        *first += next;
    }
    busy.into_iter().max().unwrap() as f64
}

/// The root mean square of the logarithms of measured divided by expected latencies.
fn off(cell: &PublishedCell, n: usize, participants: usize) -> f64 {
    let large = cell.measured.iter().filter(|(block, _)| *block >= FEWEST);
    let logs = large.map(|&(block, latency)| (latency / busiest(n, block, participants)).ln());
    let logs: Vec<f64> = logs.collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
    (squares / logs.len() as f64).sqrt()
}

fn cell(machine: &str, threads: usize, write: u64) -> PublishedCell {
    let cells = shipped::latency().cells().unwrap();
    let mut found = cells.into_iter().filter(|cell| {
        let at = &cell.at;
        at.machine == machine && at.threads == threads && at.unit_write == write
    });
    found.next().unwrap()
}

#[test]
fn two_threads_and_their_caller_share_4096_iterations() {
    let cell = cell("W-3225R", 2, 1024);
    assert!(off(&cell, 4096, 3) < 0.01);
    for (n, participants) in [(8192, 3), (4096, 2), (4096, 4)] {
        assert!(off(&cell, n, participants) > 0.05, "{n} {participants}");
    }
}

#[test]
fn the_table_of_1024_to_the_4th_on_the_3970x_had_8192() {
    for threads in [8, 16, 32] {
        let cell = cell("AMD 3970X", threads, 1024);
        assert_eq!(cell.at.n, 8192);
        let [long, short] = [8192, 4096].map(|n| off(&cell, n, threads + 1));
        assert!(
            long < 0.1 && 1.5 * long < short,
            "{threads}: {long} {short}"
        );
    }
}

#[test]
fn the_other_tables_of_the_3970x_had_4096() {
    for threads in [8, 16] {
        // In all these tables 8 threads fit 5 participants, to half a percent.
        let participants = if threads == 8 { 5 } else { 17 };
        let cell = cell("AMD 3970X", threads, 4096);
        assert_eq!(cell.at.n, 4096);
        let [short, long] = [4096, 8192].map(|n| off(&cell, n, participants));
        assert!(
            short < 0.05 && 2.0 * short < long,
            "{threads}: {short} {long}"
        );
    }
}
