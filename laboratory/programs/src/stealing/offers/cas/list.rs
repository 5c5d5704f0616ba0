use super::slots::Slots;
use manycore_platform::Platform;
use std::sync::Arc;

/// The owner's private order of its items, from top to bottom. It is a doubly linked list, so that taken
/// items can be removed anywhere.
pub(super) struct List<P: Platform> {
    segments: Vec<Arc<[P::AtomicU64]>>,
    nodes: Vec<ListItem>,
    /// Items without a place in the order, for reuse. The last freed is the first to be reused.
    free: Vec<u32>,
    top: Option<u32>,
    bottom: Option<u32>,
    length: usize,
}

/// An item's word, by segment and place, and its neighbours.
#[derive(Clone, Copy)]
struct ListItem {
    segment: u32,
    place: u32,
    above: Option<u32>,
    below: Option<u32>,
}

impl<P: Platform> List<P> {
    pub(super) fn new() -> Self {
        Self {
            segments: Vec::new(),
            nodes: Vec::new(),
            free: Vec::new(),
            top: None,
            bottom: None,
            length: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn top(&self) -> Option<u32> {
        self.top
    }

    pub(super) fn bottom(&self) -> Option<u32> {
        self.bottom
    }

    pub(super) fn below(&self, item: u32) -> Option<u32> {
        self.nodes[item as usize].below
    }

    pub(super) fn word(&self, item: u32) -> &P::AtomicU64 {
        let node = self.nodes[item as usize];
        &self.segments[node.segment as usize][node.place as usize]
    }

    /// Adds an item at the bottom. Its word is 0.
    pub(super) fn push(&mut self, slots: &Slots<P>) -> u32 {
        if self.free.is_empty() {
            self.grow(slots);
        }
        let item = self.free.pop().expect("grown if it was empty");
        let node = &mut self.nodes[item as usize];
        (node.above, node.below) = (self.bottom, None);
        *self.end_below(self.bottom) = Some(item);
        self.bottom = Some(item);
        self.length += 1;
        item
    }

    /// Removes an item. Its word is 0.
    pub(super) fn remove(&mut self, item: u32) {
        let ListItem { above, below, .. } = self.nodes[item as usize];
        *self.end_below(above) = below;
        *self.end_above(below) = above;
        self.free.push(item);
        self.length -= 1;
    }

    /// The link to the item below this item, or the top.
    fn end_below(&mut self, item: Option<u32>) -> &mut Option<u32> {
        match item {
            Some(item) => &mut self.nodes[item as usize].below,
            None => &mut self.top,
        }
    }

    /// The link to the item above this item, or the bottom.
    fn end_above(&mut self, item: Option<u32>) -> &mut Option<u32> {
        match item {
            Some(item) => &mut self.nodes[item as usize].above,
            None => &mut self.bottom,
        }
    }

    fn grow(&mut self, slots: &Slots<P>) {
        let segment = self.segments.len() as u32;
        let words = slots.grow();
        let first = self.nodes.len() as u32;
        let places = 0..words.len() as u32;
        self.nodes.extend(places.clone().map(|place| ListItem {
            segment,
            place,
            above: None,
            below: None,
        }));
        // Reversed, because the last of the free items is used first.
        self.free.extend(places.rev().map(|place| first + place));
        self.segments.push(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    fn order(list: &List<Native>) -> Vec<u32> {
        let mut down: Vec<_> = list.top().into_iter().collect();
        while let Some(next) = down.last().and_then(|item| list.below(*item)) {
            down.push(next);
        }
        assert_eq!(down.len(), list.len());
        assert_eq!(down.last().copied(), list.bottom());
        down
    }

    #[test]
    fn it_keeps_the_order_whatever_is_removed() {
        let slots = Slots::new();
        let mut list = List::new();
        let mut expected = Vec::new();
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2_000 {
            if expected.is_empty() || random.u8(..5) < 3 {
                expected.push(list.push(&slots));
            } else {
                let gone = expected.remove(random.usize(..expected.len()));
                list.remove(gone);
            }
            assert_eq!(order(&list), expected);
        }
        let words: std::collections::HashSet<_> = (expected.iter())
            .map(|item| std::ptr::from_ref(list.word(*item)))
            .collect();
        assert_eq!(words.len(), expected.len(), "each has a word of its own");
    }
}
