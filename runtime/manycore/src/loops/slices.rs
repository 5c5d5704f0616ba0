//! Loops over slices.

use super::Loop;
use super::parts::Parts;
use manycore_platform::Platform;

impl<P: Platform> Loop<'_, P> {
    /// Like [`Pool::for_each`](crate::Pool::for_each).
    pub fn for_each<T: Sync>(&self, items: &[T], body: impl Fn(&T) + Sync) {
        self.parallel_for_blocks(0..items.len(), |block| items[block].iter().for_each(&body));
    }

    /// Like [`Pool::for_each_mut`](crate::Pool::for_each_mut).
    pub fn for_each_mut<T: Send>(&self, items: &mut [T], body: impl Fn(&mut T) + Sync) {
        let parts = Parts::of(items);
        self.parallel_for_blocks(0..parts.len(), |block| {
            // SAFETY: the blocks of a loop are disjoint, and `items` is
            // borrowed until the loop has returned.
            unsafe { parts.part(block) }.iter_mut().for_each(&body);
        });
    }

    /// Like [`Pool::chunks_mut`](crate::Pool::chunks_mut).
    ///
    /// # Panics
    ///
    /// Like [`Pool::chunks_mut`](crate::Pool::chunks_mut).
    #[track_caller]
    pub fn chunks_mut<T: Send>(
        &self,
        items: &mut [T],
        chunk: usize,
        body: impl Fn(usize, &mut [T]) + Sync,
    ) {
        assert!(chunk > 0, "chunks_mut: a chunk has at least one item");
        let parts = Parts::of(items);
        self.parallel_for(0..parts.len().div_ceil(chunk), |index| {
            let start = index * chunk;
            let end = parts.len().min(start.saturating_add(chunk));
            // SAFETY: chunks with different indices are disjoint, each index
            // runs once, and `items` is borrowed until the loop has returned.
            body(index, unsafe { parts.part(start..end) });
        });
    }
}
