//! Elements, and the wires between them.

use super::locations::{MOST_X, MOST_Y};

/// Elements, the wires between them, and the size of the chip.
///
/// ```
/// use manycore_programs::spmd::canneal::Netlist;
///
/// let netlist = Netlist::generate(100, 1)?;
/// assert_eq!((netlist.elements(), netlist.wires()), (100, 300));
/// assert_eq!((netlist.size(), netlist.name(3)), ((10, 10), "e3"));
/// assert_eq!(netlist.fanin(3).len(), 4);
/// # Ok::<(), manycore_programs::spmd::canneal::InvalidNetlist>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Netlist {
    pub(super) columns: u32,
    pub(super) rows: u32,
    pub(super) names: Names,
    pub(super) kinds: Vec<u32>,
    /// The elements that send signals to an element.
    pub(super) fanin: Lists,
    /// The elements of `fanin`, and the receivers of the element's signal. A move of the element changes the wires to
    /// all of these.
    pub(super) neighbours: Lists,
}

/// A netlist that cannot be placed.
///
/// ```
/// use manycore_programs::spmd::canneal::{InvalidNetlist, Netlist};
/// assert_eq!(Netlist::generate(1, 1), Err(InvalidNetlist::Elements(1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidNetlist {
    /// Fewer than 2 elements, or too many.
    #[error("there must be at least 2 elements and at most 2^28, not {0}")]
    Elements(usize),
    /// Too many wires.
    #[error("there must be at most 2^31 wires, not {0}")]
    Wires(usize),
    /// No columns or rows, or more than the bits of a place can hold.
    #[error(
        "there must be at least 1 column and row, at most {MOST_X} columns and {MOST_Y} rows, not {0} and {1}"
    )]
    Size(usize, usize),
    /// The chip has fewer places than elements.
    #[error("{elements} elements have no room in {columns} columns and {rows} rows")]
    Room {
        /// The number of elements.
        elements: usize,
        /// Columns of the chip.
        columns: usize,
        /// Rows of the chip.
        rows: usize,
    },
}

/// The first generated element receives the signal of one other, the next the signals of two, and so on. After this
/// number, the count begins at one again.
const MOST_FANIN: usize = 5;
/// The greatest length of a local wire in columns, and in rows, on the hidden chip of `generate`.
const NEAR: i64 = 4;
/// One in this many wires comes from an element anywhere on the chip.
const FAR: u32 = 8;

impl Netlist {
    /// Generates a netlist of `elements` elements, different for each seed. Elements receive from 1, 2, 3, 4 and 5
    /// others in rotation, so on average an element has three wires.
    ///
    /// Wires are local, as in designed netlists. Elements have places on a hidden chip. Seven in eight wires come from
    /// less than five columns and rows away. The other wires come from anywhere. Elements are numbered in random order.
    /// The chip is nearly square and has a place for each element.
    ///
    /// # Errors
    ///
    /// If there are less than 2 elements, or more than 2^28.
    pub fn generate(elements: usize, seed: u64) -> Result<Self, InvalidNetlist> {
        Self::counts(elements)?;
        let columns = (elements as f64).sqrt().ceil() as usize;
        let rows = elements.div_ceil(columns);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut at: Vec<u32> = (0..elements as u32).collect();
        random.shuffle(&mut at);
        let mut place = vec![0; elements];
        for (hidden, &element) in at.iter().enumerate() {
            place[element as usize] = hidden;
        }
        let mut other = |element: usize| {
            let own = place[element];
            loop {
                let hidden = if random.u32(..FAR) == 0 {
                    random.usize(..elements)
                } else {
                    let x = (own % columns) as i64 + random.i64(-NEAR..=NEAR);
                    let y = (own / columns) as i64 + random.i64(-NEAR..=NEAR);
                    if !(0..columns as i64).contains(&x) || y < 0 {
                        continue;
                    }
                    y as usize * columns + x as usize
                };
                if hidden != own && hidden < elements {
                    return at[hidden];
                }
            }
        };
        let mut fanin = Lists::default();
        for element in 0..elements {
            let takes = 1 + element % MOST_FANIN;
            fanin.push((0..takes).map(|_| other(element)));
        }
        let mut names = Names::default();
        for element in 0..elements {
            names.push(&format!("e{element}"));
        }
        let kinds = (0..elements as u32)
            .map(|element| 1 + element % 2)
            .collect();
        Self::new((columns, rows), names, kinds, fanin)
    }

    /// Makes a netlist from its parts.
    pub(super) fn new(
        (columns, rows): (usize, usize),
        names: Names,
        kinds: Vec<u32>,
        fanin: Lists,
    ) -> Result<Self, InvalidNetlist> {
        let elements = kinds.len();
        Self::fits(elements, columns, rows)?;
        // The two ends of each wire are counted in 32 bits.
        if fanin.items.len() > 1 << 31 {
            return Err(InvalidNetlist::Wires(fanin.items.len()));
        }
        let neighbours = fanin.with_reverse(elements);
        Ok(Self {
            columns: columns as u32,
            rows: rows as u32,
            names,
            kinds,
            fanin,
            neighbours,
        })
    }

    /// Checks the number of elements.
    pub(super) fn counts(elements: usize) -> Result<(), InvalidNetlist> {
        if (2..=1 << 28).contains(&elements) {
            Ok(())
        } else {
            Err(InvalidNetlist::Elements(elements))
        }
    }

    /// Checks that a chip of this size has room for `elements`.
    pub(super) fn fits(elements: usize, columns: usize, rows: usize) -> Result<(), InvalidNetlist> {
        Self::counts(elements)?;
        if !(1..=MOST_X as usize).contains(&columns) || !(1..=MOST_Y as usize).contains(&rows) {
            return Err(InvalidNetlist::Size(columns, rows));
        }
        if columns * rows < elements {
            return Err(InvalidNetlist::Room {
                elements,
                columns,
                rows,
            });
        }
        Ok(())
    }

    /// The number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.kinds.len()
    }

    /// The number of wires. A wire goes from one element to one other.
    #[must_use]
    pub fn wires(&self) -> usize {
        self.fanin.items.len()
    }

    /// The numbers of columns and rows of the chip.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.columns as usize, self.rows as usize)
    }

    /// The name of an element.
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[must_use]
    pub fn name(&self, element: usize) -> &str {
        self.names.get(element)
    }

    /// The senders of the element's wires.
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[must_use]
    pub fn fanin(&self, element: usize) -> &[u32] {
        self.fanin.get(element)
    }
}

/// The number of wires of a generated netlist.
pub(super) fn generated_wires(elements: usize) -> usize {
    let turns = elements % MOST_FANIN;
    let turn = MOST_FANIN * (MOST_FANIN + 1) / 2;
    elements / MOST_FANIN * turn + turns * (turns + 1) / 2
}

/// Lists of numbers, in one vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lists {
    /// The beginning of each list, and the end of the last.
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            starts: vec![0],
            items: vec![],
        }
    }
}

impl Lists {
    pub(super) fn push(&mut self, items: impl Iterator<Item = u32>) {
        self.items.extend(items);
        self.starts.push(self.items.len() as u32);
    }

    #[inline]
    pub(super) fn get(&self, list: usize) -> &[u32] {
        &self.items[self.starts[list] as usize..self.starts[list + 1] as usize]
    }

    /// The bounds of a list, as they are in memory. A reader announces them to the platform as read.
    #[inline]
    pub(super) fn bounds(&self, list: usize) -> &[u32] {
        &self.starts[list..list + 2]
    }

    /// For each `a`, its list, followed by every `b` with `a` in its list.
    fn with_reverse(&self, lists: usize) -> Self {
        let mut lengths = vec![0_u32; lists + 1];
        for list in 0..lists {
            lengths[list + 1] += self.get(list).len() as u32;
            for &item in self.get(list) {
                lengths[item as usize + 1] += 1;
            }
        }
        for list in 0..lists {
            lengths[list + 1] += lengths[list];
        }
        let starts = lengths;
        let mut next = starts.clone();
        let mut items = vec![0; starts[lists] as usize];
        let mut append = |list: usize, item: u32| {
            items[next[list] as usize] = item;
            next[list] += 1;
        };
        for list in 0..lists {
            for &item in self.get(list) {
                append(list, item);
            }
        }
        for list in 0..lists {
            for &item in self.get(list) {
                append(item as usize, list as u32);
            }
        }
        Self { starts, items }
    }
}

/// Many short names in one string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    pub(super) fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    fn get(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[index]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_netlist_is_local_and_as_large_as_declared() {
        for elements in [2, 3, 10, 11, 13, 100, 10_000] {
            let netlist = Netlist::generate(elements, 3).unwrap();
            assert_eq!(netlist.elements(), elements);
            assert_eq!(netlist.wires(), generated_wires(elements));
            let (columns, rows) = netlist.size();
            assert!((elements..elements + columns).contains(&(columns * rows)));
            for element in 0..elements {
                let fanin = netlist.fanin(element);
                assert!(!fanin.contains(&(element as u32)));
                assert!(fanin.iter().all(|&other| (other as usize) < elements));
            }
        }
        assert_ne!(Netlist::generate(100, 1), Netlist::generate(100, 2));
    }

    #[test]
    fn neighbours_are_both_ends_of_each_wire() {
        let netlist = Netlist::generate(50, 3).unwrap();
        let mut ends = 0;
        for element in 0..50 {
            for &other in netlist.neighbours.get(element) {
                let both = [(element, other as usize), (other as usize, element)];
                let wires = both.map(|(to, from)| {
                    let is_from = |&&it: &&u32| it as usize == from;
                    netlist.fanin(to).iter().filter(is_from).count()
                });
                let there = netlist.neighbours.get(element).iter();
                let there = there.filter(|&&it| it == other).count();
                assert_eq!(there, wires[0] + wires[1]);
                ends += 1;
            }
        }
        assert_eq!(ends, 2 * netlist.wires());
    }
}
