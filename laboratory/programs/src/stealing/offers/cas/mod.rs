//! A queue without a mutex. Its owner offers particular items, and a thief sets the word of the item that it takes to 0
//! (Park 2013, section 5.2.2).

#[cfg(test)]
mod checked;
mod list;
mod slots;

use super::super::Task;
use super::queue::OfferedQueue;
use list::List;
use manycore_platform::{Atomic, Ordering, Platform};
use slots::Slots;
use std::num::NonZeroU64;

/// The word of an item without a task.
const TAKEN: u64 = 0;

/// The owner's side.
///
/// All workers see the words of the items, but only the owner knows the order of the items. The owner puts and gets at
/// the bottom, and answers requests from the top. The *assigner* (a position in the queue) offers an item by its
/// address, and moves to the item below. The last item is reserved for the owner: before it the assigner returns to the
/// top. On its way it removes taken items. Offered items stay in the queue. The assigner may offer them again in its
/// next round, and the owner may get them. An offer reserves nothing, and the compare-and-swap decides.
///
/// One compare-and-swap, by the owner or a thief, changes an item's word from its task to 0, so each task is taken
/// once. If a late thief finds the item in use again for another task, the thief takes that task, or its
/// compare-and-swap fails. Items are reused, but their memory is freed only after all deques are gone, so their
/// addresses stay valid.
pub struct CasQueue<P: Platform> {
    items: List<P>,
    /// The next item to be offered, or `None` for the top.
    assigner: Option<u32>,
    /// How many items the assigner may still look at. For the pending requests it looks at each item once.
    round: usize,
}

impl<P: Platform> CasQueue<P> {
    /// Whether the item is the last item, which the assigner may not offer.
    fn is_reserved(&self, item: u32) -> bool {
        self.items.bottom() == Some(item)
    }

    fn remove(&mut self, item: u32) {
        if self.assigner == Some(item) {
            self.assigner = self.items.below(item);
        }
        self.items.remove(item);
    }

    /// Removes taken items at the bottom. So afterwards the queue is empty, or its bottom item has a task.
    fn trim(&mut self) {
        while let Some(bottom) = self.items.bottom() {
            // Acquire: an owner that sees the queue empty also sees that its thieves have roused (are counted as
            // awake).
            if self.items.word(bottom).load(Ordering::Acquire) != TAKEN {
                break;
            }
            self.remove(bottom);
        }
    }
}

impl<P: Platform> OfferedQueue<P> for CasQueue<P> {
    const NAME: &'static str = "offer-cas";
    type Shared = Slots<P>;

    fn shared() -> Slots<P> {
        Slots::new()
    }

    fn new(_: usize, _: &[Slots<P>]) -> Self {
        Self {
            items: List::new(),
            assigner: None,
            round: 0,
        }
    }

    fn put(&mut self, mine: &Slots<P>, task: Task) {
        let item = self.items.push(mine);
        // Release: the taker sees the work before the put. A store is enough although a late thief may look at this
        // word, since the word holds 0, and thieves replace only tasks.
        self.items.word(item).store(task.get(), Ordering::Release);
    }

    fn pop(&mut self, _: &Slots<P>) -> Option<Task> {
        while let Some(bottom) = self.items.bottom() {
            let word = self.items.word(bottom);
            // Relaxed: this thread wrote the word. If a thief has taken the item, `trim` looks again.
            let task = word.load(Ordering::Relaxed);
            let taken = NonZeroU64::new(task).filter(|_| {
                // Relaxed: this thread put the task, so it has the task's data. After a failure `trim`
                // looks again.
                word.compare_exchange(task, TAKEN, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok()
            });
            if taken.is_some() {
                self.remove(bottom);
            }
            self.trim();
            if taken.is_some() {
                return taken;
            }
        }
        None
    }

    fn length(&self, _: &Slots<P>) -> usize {
        self.items.len()
    }

    fn begin_offering(&mut self, _: &Slots<P>) {
        self.round = self.items.len();
    }

    fn offer(&mut self, _: &Slots<P>) -> Option<u64> {
        while self.round > 0 {
            self.round -= 1;
            let item = self.assigner.or(self.items.top())?;
            if self.is_reserved(item) {
                self.assigner = None;
                continue;
            }
            // There is an item below, because this item is not the bottom.
            self.assigner = self.items.below(item);
            let word = self.items.word(item);
            // Acquire: if the item is taken, removing it here may empty the queue.
            if word.load(Ordering::Acquire) != TAKEN {
                return Some(slots::address(word));
            }
            self.remove(item);
        }
        None
    }

    unsafe fn take(_: &[Slots<P>], offer: u64) -> Option<Task> {
        // SAFETY: by contract one of the queues made the offer, and the slice keeps the slots of that queue.
        let word = unsafe { slots::at::<P>(offer) };
        // Relaxed: only the compare-and-swap decides.
        let task = NonZeroU64::new(word.load(Ordering::Relaxed))?;
        // Acquire pairs with the put. Release: an owner that sees the item taken also sees that this thief has roused.
        word.compare_exchange(task.get(), TAKEN, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
            .then_some(task)
    }
}
