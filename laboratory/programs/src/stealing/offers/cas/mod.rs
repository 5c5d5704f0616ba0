//! A queue without a mutex: its owner offers particular items, and the thief that takes one
//! resets it (Park 2013, section 5.2.2).

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

/// The value of an item without its task.
const TAKEN: u64 = 0;

/// The owner's side.
///
/// The items are words that all may see; their order is the owner's own. It puts and gets at the
/// bottom. Requests are answered from the top: the *assigner* offers an item by its address, and
/// next time continues with the item below. Above the last item, which is the owner's critical
/// region, it turns back to the top. On its way it removes items that it finds taken. Offered items
/// stay in the queue, and may be offered again on its next round, or got by the owner: an offer
/// reserves nothing, and the compare-and-swap decides.
///
/// An item leaves the queue by one compare-and-swap from its task to 0, its owner's or
/// a thief's, so each task is got once. Thieves may come late to an item that is in use
/// again for another task: then they take that one, or their compare-and-swap fails. Items
/// are reused, but their memory is not freed before all deques are gone, so their
/// addresses stay good.
pub struct CasQueue<P: Platform> {
    items: List<P>,
    /// The next item to be offered; the top if there is none.
    assigner: Option<u32>,
    /// Items that it may still look at: all once, for the requests at hand.
    round: usize,
}

impl<P: Platform> CasQueue<P> {
    /// Whether the assigner may not offer it: it is the last.
    fn is_reserved(&self, item: u32) -> bool {
        self.items.bottom() == Some(item)
    }

    fn remove(&mut self, item: u32) {
        if self.assigner == Some(item) {
            self.assigner = self.items.below(item);
        }
        self.items.remove(item);
    }

    /// Removes what thieves have left at the bottom, so that there is something if there
    /// are items.
    fn trim(&mut self) {
        while let Some(bottom) = self.items.bottom() {
            // Acquire: a queue that is seen empty is so after its thieves' rousing.
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
        // Release: the taker sees the work before the put. A store is enough, although thieves may
        // come late to this word: it holds 0, and they only replace tasks.
        self.items.word(item).store(task.get(), Ordering::Release);
    }

    fn pop(&mut self, _: &Slots<P>) -> Option<Task> {
        while let Some(bottom) = self.items.bottom() {
            let word = self.items.word(bottom);
            // Relaxed: this thread wrote it; or it is taken, and the trim looks again.
            let task = word.load(Ordering::Relaxed);
            let taken = NonZeroU64::new(task).filter(|_| {
                // Relaxed: what the task's data hang on is this thread's own put; a
                // failure is looked at again by the trim.
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
            // The one below exists: only the bottom has none.
            self.assigner = self.items.below(item);
            let word = self.items.word(item);
            // Acquire: to remove it here may be what empties the queue.
            if word.load(Ordering::Acquire) != TAKEN {
                return Some(slots::address(word));
            }
            self.remove(item);
        }
        None
    }

    unsafe fn take(_: &[Slots<P>], offer: u64) -> Option<Task> {
        // SAFETY: the caller has it from a queue, and the slice keeps that queue's slots.
        let word = unsafe { slots::at::<P>(offer) };
        // Relaxed: only the exchange counts.
        let task = NonZeroU64::new(word.load(Ordering::Relaxed))?;
        // Acquire pairs with the put. Release: an owner that finds it taken comes after this
        // thief's rousing.
        word.compare_exchange(task.get(), TAKEN, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
            .then_some(task)
    }
}
