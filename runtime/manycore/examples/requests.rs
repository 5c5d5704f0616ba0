//! A thread that takes requests in order, and computes the answers in its own pool.
//!
//! It shows [`Pool::builder`] with a name, threads bound to CPUs and a panic handler, and [`Pool::spawn`] for
//! jobs without a waiting caller. A channel returns the answers. A job that panics does no harm to other
//! requests.
//!
//! ```sh
//! cargo run --release -p manycore --example requests
//! ```

use manycore::{Affinity, BuildError, Pool};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

struct Request {
    number: u64,
    answer: Sender<(u64, Vec<u64>)>,
}

/// The prime factors of a number.
fn factors(mut number: u64) -> Vec<u64> {
    assert!(number > 0, "zero has no prime factors");
    let mut found = vec![];
    let mut divisor = 2;
    while divisor * divisor <= number {
        while number % divisor == 0 {
            found.push(divisor);
            number /= divisor;
        }
        divisor += 1;
    }
    if number > 1 {
        found.push(number);
    }
    found
}

/// Serves until all clients have gone. The drop of the pool waits for the remaining jobs.
fn serve(pool: Pool, requests: Receiver<Request>) {
    for request in requests {
        pool.spawn(move || {
            let answer = (request.number, factors(request.number));
            // The client may have gone away.
            let _ = request.answer.send(answer);
        });
    }
}

fn main() -> Result<(), BuildError> {
    let (tell, panics) = channel();
    let pool = Pool::builder()
        .threads(2)
        .name("factors")
        .affinity(Affinity::Compact)
        .panic_handler(move |payload| {
            let why = payload.downcast_ref::<&str>().copied();
            let _ = tell.send(why.unwrap_or("something else"));
        })
        .build()?;

    let (ask, requests) = channel();
    let server = thread::spawn(move || serve(pool, requests));
    let (answer, answers) = channel();
    let numbers = (0..40).chain([2 * 3 * 5 * 7 * 11 * 13 * 17, 1_000_003 * 1_000_033]);
    for number in numbers.clone() {
        let answer = answer.clone();
        ask.send(Request { number, answer })
            .expect("the server receives");
    }
    drop((ask, answer)); // Without senders the server ends; then the answers end.

    let mut answers: Vec<_> = answers.into_iter().collect();
    server.join().expect("the server does not panic");
    answers.sort(); // Answers arrive in any order.
    for (number, factors) in answers.iter().rev().take(3) {
        println!("{number} is the product of {factors:?}");
    }
    let expected: Vec<_> = numbers.skip(1).map(|n| (n, factors(n))).collect();
    assert_eq!(answers, expected);
    let panics: Vec<&str> = panics.into_iter().collect();
    println!("a job has panicked, and the pool went on: {panics:?}");
    assert_eq!(panics, ["zero has no prime factors"]);
    Ok(())
}
