//! Runs programs of the NAS parallel benchmarks, as a team of ranks at a barrier and as
//! loops of a pool: how long each takes, whether it is right, and how long it is from
//! one wait to the next.
//!
//! ```sh
//! cargo run --release -p manycore-programs --example npb -- cg A --ranks 2
//! ```

use manycore::Pool;
use manycore_platform::Native;
use manycore_programs::barrier::{Barrier, BarrierVisitor, with_barrier};
use manycore_programs::spmd::{Class, Looped, Member, Npb, Part, Program, Ranked, Sums};
use manycore_team::barrier::Placement;
use std::error::Error;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: npb PROGRAM CLASS [--ranks N] [--barrier NAME]";

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments {
        npb,
        class,
        ranks,
        barrier,
    } = Arguments::read(std::env::args().skip(1).collect())?;

    let start = Instant::now();
    let program = npb.on_this_machine(class);
    println!(
        "{npb} {class}: data in {:.3} s",
        start.elapsed().as_secs_f64()
    );
    let team = Team {
        program: &*program,
        ranks,
    };
    let (time, waits) = with_barrier(&barrier, team)?;
    let ways = format!("{ranks} ranks at `{barrier}`");
    report(&*program, &ways, time, waits)?;
    drop(program);

    let program = npb.on_this_machine(class);
    let pool = Pool::builder().threads(ranks).build()?;
    let mut loops = Looped::on(&pool);
    let start = Instant::now();
    // SAFETY: run once, by this thread, which looks at it when that is over.
    unsafe { program.run(&mut loops) };
    let time = start.elapsed();
    let ways = format!("loops on {ranks} threads");
    report(&*program, &ways, time, loops.phases())
}

fn report(
    program: &dyn Program,
    ways: &str,
    time: Duration,
    waits: u64,
) -> Result<(), Box<dyn Error>> {
    let answer = program.verify()?;
    let interval = time.as_secs_f64() / waits as f64 * 1e6;
    println!(
        "{ways}: {:.3} s, {waits} waits, one in {interval:.1} us; {answer}, verified",
        time.as_secs_f64()
    );
    Ok(())
}

struct Arguments {
    npb: Npb,
    class: Class,
    ranks: usize,
    barrier: String,
}

impl Arguments {
    fn read(arguments: Vec<String>) -> Result<Self, Box<dyn Error>> {
        let [npb, class, options @ ..] = &arguments[..] else {
            return Err(USAGE.into());
        };
        let mut read = Self {
            npb: npb.parse()?,
            class: class.parse()?,
            ranks: 1,
            barrier: "default".into(),
        };
        for option in options.chunks(2) {
            match option {
                [name, value] if name == "--ranks" => {
                    let ranks = value
                        .parse()
                        .ok()
                        .filter(|ranks| (1..=1_024).contains(ranks));
                    let wrong = || format!("--ranks `{value}`: expected 1 to 1024");
                    read.ranks = ranks.ok_or_else(wrong)?;
                }
                [name, value] if name == "--barrier" => read.barrier.clone_from(value),
                _ => return Err(USAGE.into()),
            }
        }
        Ok(read)
    }
}

/// A team to run a program: how long it takes, and how often each rank waits.
struct Team<'a> {
    program: &'a dyn Program,
    ranks: usize,
}

/// A member that counts.
struct Counting<'a, B: Barrier<Native>> {
    member: Member<'a, Native, B>,
    waits: u64,
}

// SAFETY: as of the member.
unsafe impl<B: Barrier<Native>> Part for Counting<'_, B> {
    fn rank(&self) -> usize {
        self.member.rank()
    }

    fn size(&self) -> usize {
        self.member.size()
    }

    fn meet(&mut self, site: &'static str) {
        self.waits += 1;
        self.member.meet(site);
    }
}

impl BarrierVisitor<Native> for Team<'_> {
    type Output = (Duration, u64);

    fn visit<B: Barrier<Native>>(self) -> (Duration, u64) {
        let Self { program, ranks } = self;
        let barrier = B::new(&Placement::flat(ranks));
        let sums = Sums::new(program.grains());
        let (barrier, sums) = (&barrier, &sums);
        let run = move |rank| {
            let mut part = Counting {
                // SAFETY: the barrier is for `ranks` members, and each is made once.
                member: unsafe { Member::new(barrier, rank, ranks) },
                waits: 0,
            };
            // All have come when the clock starts.
            part.member.meet("start");
            let start = Instant::now();
            // SAFETY: all are given these sums, and run this program.
            unsafe { program.run(&mut Ranked::<Native>::new(&mut part, sums)) };
            (start.elapsed(), part.waits)
        };
        std::thread::scope(|scope| {
            (1..ranks).for_each(|rank| {
                scope.spawn(move || run(rank));
            });
            run(0)
        })
    }
}
