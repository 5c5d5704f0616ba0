//! Regions: mapped ranges of pages with equal rights and one kind of content.

use super::object::Part;
use super::shared::Mapped;
use super::{END, PAGE};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The content of a page of a region before it is written to.
#[derive(Clone)]
pub(crate) enum Content {
    Zero,
    /// Zeros, in memory that was written and that `mremap` has moved by this distance. As under Linux, a neighbour that
    /// was not moved with it is another mapping.
    Moved(u64),
    /// Bytes of a file, and zeros after them. The first byte belongs at address `at`.
    File {
        bytes: Rc<[u8]>,
        at: u64,
    },
    /// A part of a file. A page gets the file's content when it is first touched.
    Mapped(Mapped),
    /// Anonymous memory that is shared with other processes.
    Shared(Part),
}

impl Content {
    /// Whether `next` continues this content. Then both come from one source, which begins at the same address for
    /// both.
    fn goes_on(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::Zero, Self::Zero) => true,
            (Self::Moved(one), Self::Moved(other)) => one == other,
            (
                Self::File { bytes, at },
                Self::File {
                    bytes: more,
                    at: start,
                },
            ) => Rc::ptr_eq(bytes, more) && at == start,
            (Self::Mapped(one), Self::Mapped(other)) => one.goes_on(other),
            (Self::Shared(one), Self::Shared(other)) => one.goes_on(other),
            _ => false,
        }
    }

    /// The same content, moved by `by` bytes.
    pub(crate) fn moved(self, by: u64) -> Self {
        match self {
            Self::Zero => Self::Zero,
            // Moved back to its first place, the memory is as before.
            Self::Moved(earlier) if earlier.wrapping_add(by) == 0 => Self::Zero,
            Self::Moved(earlier) => Self::Moved(earlier.wrapping_add(by)),
            Self::File { bytes, at } => Self::File {
                bytes,
                at: at.wrapping_add(by),
            },
            Self::Mapped(part) => Self::Mapped(part.moved(by)),
            Self::Shared(part) => Self::Shared(part.moved(by)),
        }
    }
}

/// A mapped range of pages, up to `end`.
#[derive(Clone)]
pub(crate) struct Region {
    pub(crate) end: u64,
    pub(crate) rights: u8,
    pub(crate) content: Content,
    /// The region's name in `/proc/self/maps`.
    pub(crate) name: Rc<str>,
    /// Whether a private page of the region, or of a part that is gone, was ever written.
    pub(crate) was_written: bool,
}

impl Region {
    /// Whether the region shares its memory with other mappings.
    pub(crate) fn is_shared(&self) -> bool {
        match &self.content {
            Content::Mapped(part) => part.is_shared(),
            Content::Shared(_) => true,
            Content::Zero | Content::Moved(_) | Content::File { .. } => false,
        }
    }

    /// The content at a place that is `by` bytes away, to which `mremap` moves the region.
    pub(crate) fn moved_content(&self, by: u64) -> Content {
        match &self.content {
            Content::Zero if self.was_written => Content::Moved(by),
            Content::Moved(_) if !self.was_written => Content::Zero,
            content => content.clone().moved(by),
        }
    }

    /// Whether this region and the region `upper`, which begins at this region's end, can be one region.
    fn is_like(&self, upper: &Self) -> bool {
        self.rights == upper.rights
            && self.name == upper.name
            && self.content.goes_on(&upper.content)
    }

    /// Fills the page at `address`, which holds zeros, if the content is neither shared nor a file of the host.
    pub(super) fn fill(&self, address: u64, page: &mut [u8]) {
        let (bytes, at) = match &self.content {
            Content::Zero | Content::Moved(_) | Content::Shared(_) | Content::Mapped(_) => return,
            Content::File { bytes, at } => (bytes, at),
        };
        // The file's first byte may belong in the middle of the page.
        let skipped = at.saturating_sub(address).min(PAGE) as usize;
        let from = address.saturating_sub(*at).min(bytes.len() as u64) as usize;
        let rest = &bytes[from..];
        let length = rest.len().min(page.len() - skipped);
        page[skipped..skipped + length].copy_from_slice(&rest[..length]);
    }
}

/// Regions by their starts. They do not overlap.
#[derive(Clone, Default)]
pub(super) struct Regions {
    by_start: BTreeMap<u64, Region>,
}

impl Regions {
    pub(super) fn find(&self, address: u64) -> Option<&Region> {
        self.around(address).map(|(_, region)| region)
    }

    pub(super) fn around(&self, address: u64) -> Option<(u64, &Region)> {
        let (&start, region) = self.by_start.range(..=address).next_back()?;
        (address < region.end).then_some((start, region))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Region)> {
        self.by_start.iter().map(|(&start, region)| (start, region))
    }

    /// If a region spans `address`, cuts it in two there.
    fn cut(&mut self, address: u64) {
        let Some((&start, region)) = self.by_start.range(..address).next_back() else {
            return;
        };
        if region.end > address {
            let upper = region.clone();
            self.by_start.insert(address, upper);
            if let Some(lower) = self.by_start.get_mut(&start) {
                lower.end = address;
            }
        }
    }

    /// Cuts the regions at the ends of a range. Returns the starts of the regions within the range.
    fn within(&mut self, start: u64, end: u64) -> Vec<u64> {
        self.cut(start);
        self.cut(end);
        self.by_start
            .range(start..end)
            .map(|(&start, _)| start)
            .collect()
    }

    pub(super) fn remove(&mut self, start: u64, end: u64) {
        for start in self.within(start, end) {
            self.by_start.remove(&start);
        }
    }

    /// Inserts a region into a free range.
    pub(super) fn insert(&mut self, start: u64, region: Region) {
        let end = region.end;
        self.by_start.insert(start, region);
        self.join(start);
        self.join(end);
    }

    /// Joins two regions that meet at `address`, if they can be one region: a mapping that has grown in place is one
    /// mapping.
    fn join(&mut self, address: u64) {
        let Some(upper) = self.by_start.get(&address) else {
            return;
        };
        let Some((&start, lower)) = self.by_start.range(..address).next_back() else {
            return;
        };
        if lower.end != address || !lower.is_like(upper) {
            return;
        }
        let (end, was_written) = (upper.end, upper.was_written);
        self.by_start.remove(&address);
        if let Some(lower) = self.by_start.get_mut(&start) {
            lower.end = end;
            lower.was_written |= was_written;
        }
    }

    /// Notes the first write to a page.
    pub(super) fn note_write(&mut self, address: u64) {
        if let Some((_, region)) = self.by_start.range_mut(..=address).next_back() {
            region.was_written = true;
        }
    }

    pub(super) fn protect(&mut self, start: u64, end: u64, rights: u8) {
        for start in self.within(start, end) {
            if let Some(region) = self.by_start.get_mut(&start) {
                region.rights = rights;
            }
        }
        let inside = self.by_start.range(start..=end);
        let starts: Vec<u64> = inside.map(|(&start, _)| start).collect();
        for start in starts {
            self.join(start);
        }
    }

    /// Whether each page of a range is mapped.
    pub(super) fn covers(&self, start: u64, end: u64) -> bool {
        self.first_hole(start, end) == end
    }

    /// The first address in a range that is not mapped, or the range's end.
    pub(super) fn first_hole(&self, start: u64, end: u64) -> u64 {
        let mut at = start;
        while at < end {
            match self.find(at) {
                Some(region) => at = region.end,
                None => return at,
            }
        }
        end
    }

    /// Whether a region that overlaps the range has the right `wanted`.
    pub(super) fn any(&self, start: u64, end: u64, wanted: u8) -> bool {
        let below = self.by_start.range(..end).rev();
        let mut inside = below.take_while(|(_, region)| region.end > start);
        inside.any(|(_, region)| region.rights & wanted != 0)
    }

    pub(super) fn is_free(&self, start: u64, end: u64) -> bool {
        let before = self.by_start.range(..end).next_back();
        end <= END && before.is_none_or(|(_, region)| region.end <= start)
    }

    pub(super) fn free_below(&self, below: u64, length: u64) -> Option<u64> {
        let mut end = below;
        for (&start, region) in self.by_start.range(..below).rev() {
            if end.checked_sub(length).is_some_and(|at| at >= region.end) {
                break;
            }
            end = end.min(start);
        }
        end.checked_sub(length).filter(|&at| at >= PAGE * 16)
    }
}
