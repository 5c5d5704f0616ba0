//! The barriers in Rust, on `std` threads.

use super::contestant::{Body, Member};
use anyhow::Result;
use manycore_team::barrier::{TeamBarrier, TeamMember};
use std::hint::spin_loop;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// Calls `body` on `threads` threads, each with its own result of `member`.
fn run<M: Member>(threads: usize, member: impl Fn() -> M + Sync, body: Body<'_>) -> Result<()> {
    let one = |rank| body(rank, &mut member());
    thread::scope(|scope| {
        let one = &one;
        for rank in 1..threads {
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, move || one(rank)) {
                // The other threads would wait for the missing thread.
                eprintln!("cannot make {threads} threads: {error}");
                std::process::exit(1);
            }
        }
        one(0);
    });
    Ok(())
}

pub fn manycore(threads: usize, body: Body<'_>) -> Result<()> {
    let barrier = TeamBarrier::new(threads);
    run(threads, || barrier.member(), body)
}

impl Member for TeamMember {
    fn wait(&mut self, episodes: u32) {
        for _ in 0..episodes {
            // This calls the inherent method, which takes precedence over this trait method.
            TeamMember::wait(self);
        }
    }
}

pub fn standard(threads: usize, body: Body<'_>) -> Result<()> {
    let barrier = Barrier::new(threads);
    run(threads, || &barrier, body)
}

impl Member for &Barrier {
    fn wait(&mut self, episodes: u32) {
        for _ in 0..episodes {
            Barrier::wait(self);
        }
    }
}

/// A sense-reversing barrier. Count and sense share a cache line, so the last member to decrement
/// the count owns both. With `YIELDS`, a member that has looked 200 times yields between looks.
pub fn hand_spun<const YIELDS: bool>(threads: usize, body: Body<'_>) -> Result<()> {
    let members = u32::try_from(threads)?;
    let barrier = HandSpun::<YIELDS> {
        missing: AtomicU32::new(members),
        sense: AtomicU32::new(0),
        members,
    };
    let member = || HandSpunMember {
        barrier: &barrier,
        sense: 0,
    };
    run(threads, member, body)
}

/// Alone on its cache line and on the line that processors prefetch with it.
#[repr(align(128))]
struct HandSpun<const YIELDS: bool> {
    missing: AtomicU32,
    sense: AtomicU32,
    members: u32,
}

struct HandSpunMember<'a, const YIELDS: bool> {
    barrier: &'a HandSpun<YIELDS>,
    sense: u32,
}

impl<const YIELDS: bool> Member for HandSpunMember<'_, YIELDS> {
    fn wait(&mut self, episodes: u32) {
        for _ in 0..episodes {
            self.sense = 1 - self.sense;
            self.barrier.wait(self.sense);
        }
    }
}

impl<const YIELDS: bool> HandSpun<YIELDS> {
    #[inline]
    fn wait(&self, sense: u32) {
        // Release: the count publishes this member's work. Acquire: the last member sees the work
        // of all members, and publishes it with the sense.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Relaxed: no member decrements again before it has seen the sense, which is stored
            // next.
            self.missing.store(self.members, Ordering::Relaxed);
            // Release: publishes the work of all members, and the count.
            self.sense.store(sense, Ordering::Release);
            return;
        }
        let mut looks = 0_u32;
        // Acquire: pairs with the release above.
        while self.sense.load(Ordering::Acquire) != sense {
            if YIELDS && looks >= 200 {
                thread::yield_now();
            } else {
                looks += 1;
                spin_loop();
            }
        }
    }
}
