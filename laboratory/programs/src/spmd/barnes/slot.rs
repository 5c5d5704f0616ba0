//! A slot of a cell (a divided cube), for one of the cell's eight children, and the slot's lock.

use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::time::Duration;

/// The content of an eighth of a cell: what a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Nothing,
    Leaf(u32),
    Cell(u32),
}

/// A thread holds the slot.
const HELD: u32 = 1;
/// A thread sleeps until the holder leaves.
const AWAITED: u32 = 2;
const IS_CELL: u32 = 4;
/// The bits above these hold the index plus one, where 0 stands for no node.
const INDEX_BITS: u32 = 3;
/// The greatest number of distinct nodes.
pub(super) const MOST_NODES: usize = 1 << 28;

impl Node {
    fn word(self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Leaf(index) => (index + 1) << INDEX_BITS,
            Self::Cell(index) => (index + 1) << INDEX_BITS | IS_CELL,
        }
    }

    #[inline]
    fn of(word: u32) -> Self {
        match (word >> INDEX_BITS, word & IS_CELL) {
            (0, _) => Self::Nothing,
            (index, 0) => Self::Leaf(index - 1),
            (index, _) => Self::Cell(index - 1),
        }
    }
}

/// How long a thread spins before it sleeps. A slot is held for 0.1 us, or for 1 us if a leaf is split.
const SPIN: Duration = Duration::from_micros(5);

/// A node and its lock. The lock also guards the memory of a leaf.
///
/// While the tree is built a cell stays in its slot, so a worker that finds a cell needs no lock to descend into the
/// cell. A worker that finds a leaf or nothing holds the slot while it changes the content.
///
/// # No thread waits for ever
///
/// A slot is held for one section of [`Tree::insert`](super::tree::Tree::insert), which has no safe point: a rank
/// (thread of the team) is interrupted only between grains, where it holds no slot. No thread holds two slots. So the
/// holder of an awaited slot runs, or the operating system can run it, and the holder leaves the slot.
///
/// No wake-up is lost. A sleeper has set `AWAITED` while the slot was held. The futex compares the word and puts the
/// thread to sleep in one step, so a sleeper sleeps only if the word is still the same. The holder leaves by a swap.
/// Either the swap sees the bit, or the swap came first, and then the attempt to set the bit failed.
pub(super) struct Slot<P: Platform>(P::Futex);

/// The result of entering a slot.
pub(super) enum Entered<'a, P: Platform> {
    /// The slot has a cell. The search continues inside the cell.
    Cell(u32),
    /// This thread holds the slot, which has nothing or a leaf. No other thread changes the slot until the holder
    /// leaves.
    Held(Held<'a, P>),
}

/// A slot that this thread holds. The thread must call [`leave`](Self::leave).
pub(super) struct Held<'a, P: Platform> {
    slot: &'a Slot<P>,
    pub(super) node: Node,
}

impl<P: Platform> Slot<P> {
    pub(super) fn new() -> Self {
        Self(Atomic::new(0))
    }

    /// The content, after the tree is built, when no thread changes it.
    #[inline]
    pub(super) fn get(&self) -> Node {
        // Relaxed: a barrier separates this load from all changes.
        Node::of(self.0.load(Ordering::Relaxed))
    }

    /// Puts a node into a slot that no other thread knows yet.
    pub(super) fn put(&self, node: Node) {
        // Relaxed: the thread that publishes the slot's cell does so with release.
        self.0.store(node.word(), Ordering::Relaxed);
    }

    /// Takes the slot for this thread, unless the slot has a cell.
    pub(super) fn enter(&self) -> Entered<'_, P> {
        loop {
            // Acquire: this thread sees the contents of the cell.
            let word = self.0.load(Ordering::Acquire);
            if word & IS_CELL != 0 {
                let Node::Cell(index) = Node::of(word) else {
                    unreachable!("`IS_CELL` is set");
                };
                return Entered::Cell(index);
            }
            if word & HELD != 0 {
                self.wait(word);
                continue;
            }
            // Acquire: this thread sees the last holder's changes of the leaf. Relaxed on failure:
            // the loop loads the word again.
            let taken =
                (self.0).compare_exchange(word, word | HELD, Ordering::Acquire, Ordering::Relaxed);
            if taken.is_ok() {
                return Entered::Held(Held {
                    slot: self,
                    node: Node::of(word),
                });
            }
        }
    }

    /// Waits while the slot's word is `word`. In `word` the slot is held.
    fn wait(&self, word: u32) {
        let until = P::now() + P::duration_to_ticks(SPIN);
        if P::spin_while(&self.0, word, until) != word {
            return;
        }
        // Relaxed: `enter` loads the word again in any case.
        let marked = word | AWAITED;
        let marks = (self.0).compare_exchange(word, marked, Ordering::Relaxed, Ordering::Relaxed);
        if marks.is_ok() {
            self.0.wait(marked, None);
        }
    }
}

impl<P: Platform> Held<'_, P> {
    /// Puts `node` into the slot and releases it.
    pub(super) fn leave(self, node: Node) {
        // Release: a thread that enters sees the changes of the leaf, or the new cell.
        let before = self.slot.0.swap(node.word(), Ordering::Release);
        if before & AWAITED != 0 {
            self.slot.0.wake(u32::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_check::{Deaf, Faulty, Loom, Plain, Relaxed, TornCas, caught};
    use manycore_check::{loom_model, shuttle_pct, shuttle_random, team};
    use std::sync::Mutex;

    #[test]
    fn a_word_says_which_node() {
        for index in [0, 1, MOST_NODES as u32 - 2] {
            for node in [Node::Nothing, Node::Leaf(index), Node::Cell(index)] {
                assert_eq!(Node::of(node.word()), node);
                assert_eq!(Node::of(node.word() | HELD | AWAITED), node);
            }
        }
    }

    /// Each thread adds 1 to the leaf. The thread that finds nothing makes the leaf. The thread
    /// that finds a full leaf replaces it by a cell, which later threads find.
    fn one_at_a_time<P: Platform>(threads: usize, full: u32) {
        let slot = Slot::<P>::new();
        let (leaf, cell) = (Plain::new(0_u32), Plain::new(0_u32));
        let went_on = P::AtomicU32::new(0);
        team::<P>(threads, |_| match slot.enter() {
            Entered::Cell(index) => {
                assert_eq!((index, cell.read()), (7, full), "a cell half made");
                let before = went_on.swap(1, Ordering::Relaxed);
                assert!(before == 0 || threads > full as usize + 2);
            }
            Entered::Held(held) => {
                let count = leaf.read();
                assert_eq!(held.node == Node::Nothing, count == 0);
                if count == full {
                    cell.write(count);
                    held.leave(Node::Cell(7));
                } else {
                    leaf.write(count + 1);
                    held.leave(Node::Leaf(3));
                }
            }
        });
        assert_eq!(leaf.read(), full.min(threads as u32), "one is lost");
    }

    #[test]
    fn two_threads_in_every_interleaving() {
        loom_model(None, || one_at_a_time::<Loom>(2, 2));
        loom_model(None, || one_at_a_time::<Loom>(2, 1));
    }

    #[test]
    fn three_threads_in_most_interleavings() {
        loom_model(Some(2), || one_at_a_time::<Loom>(3, 3));
        loom_model(Some(2), || one_at_a_time::<Loom>(3, 1));
    }

    #[test]
    fn faults_of_the_platform_are_caught() {
        let relaxed = || one_at_a_time::<Faulty<Loom, Relaxed>>(2, 2);
        assert!(caught(|| loom_model(None, relaxed)).contains("Causality violation"));
        let deaf = || one_at_a_time::<Faulty<Loom, Deaf>>(2, 2);
        assert!(caught(|| loom_model(None, deaf)).contains("deadlock"));
        let torn = || one_at_a_time::<Faulty<Loom, TornCas>>(2, 2);
        caught(|| loom_model(None, torn));
    }

    #[test]
    fn four_threads_in_random_schedules() {
        use manycore_check::Shuttle;
        let model = || {
            let slot = Slot::<Shuttle>::new();
            let inside = Mutex::new(0);
            team::<Shuttle>(4, |_| {
                for _ in 0..3 {
                    let Entered::Held(held) = slot.enter() else {
                        panic!("no rank makes a cell");
                    };
                    let count = *inside.lock().unwrap();
                    Shuttle::yield_now();
                    *inside.lock().unwrap() = count + 1;
                    held.leave(Node::Leaf(count));
                }
            });
            assert_eq!(slot.get(), Node::Leaf(11));
        };
        shuttle_random(500, model);
        shuttle_pct(500, 3, model);
    }
}
