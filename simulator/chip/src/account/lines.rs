//! The counts of events and cycles for each cache line and each named object.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use rustc_hash::FxHashMap;

use super::{Cycles, HotLine, Name, NamedSpin, Names, Order};

/// The place that served a miss of the core's own caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Group,
    Remote,
    Memory,
}

/// The counts for all cache lines on which a core missed or spun.
#[derive(Debug)]
pub(crate) struct Lines {
    /// The shift from an address to its line.
    shift: u32,
    /// The order of the map does not matter, since reports are sorted.
    lines: FxHashMap<u64, Line>,
    /// Each line that has had a name sets the bit at its number modulo 1,024. So a write hit to
    /// most other lines needs no look-up.
    filter: [u64; 16],
    names: Names,
    /// Named ranges of addresses by their start. Ranges do not overlap.
    named: BTreeMap<u64, (u64, Name)>,
    spun: Vec<Cycles>,
    spun_unnamed: Cycles,
}

/// The effect of an access on other caches: the core that got the line, and how many other caches
/// dropped the line or may only read it now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) by: u32,
    pub(crate) copies: u32,
}

#[derive(Debug, Default)]
struct Line {
    transfers: u64,
    invalidations: u64,
    misses: [u64; 3],
    reads: u64,
    writes: u64,
    named: bool,
    spun: Cycles,
    waited: Cycles,
    /// Pairs of a core and the number of times that it took the line from another core, sorted by core. Most lines have
    /// no entry.
    takers: Vec<(u32, u64)>,
}

impl Line {
    #[inline]
    fn taken_by(&mut self, core: u32) {
        // If all cores have taken the line, each core's entry is at the core's own index, so no search is needed.
        if let Some((taker, times)) = self.takers.get_mut(core as usize)
            && *taker == core
        {
            *times += 1;
            return;
        }
        match self.takers.binary_search_by_key(&core, |(taker, _)| *taker) {
            Ok(at) => self.takers[at].1 += 1,
            Err(at) => self.takers.insert(at, (core, 1)),
        }
    }
}

impl Lines {
    /// An empty account of lines of `line` bytes, a power of two.
    pub(crate) fn new(line: u32) -> Self {
        debug_assert!(line.is_power_of_two());
        Self {
            shift: line.ilog2(),
            lines: FxHashMap::default(),
            filter: [0; 16],
            names: Names::default(),
            named: BTreeMap::new(),
            spun: Vec::new(),
            spun_unnamed: 0,
        }
    }

    fn line(&mut self, address: u64) -> &mut Line {
        self.lines.entry(address >> self.shift).or_default()
    }

    /// Counts that a request for the line at `address` has `waited` at its group. The request continues to the home of
    /// the line (the place that serialises the line's requests).
    pub(crate) fn waited(&mut self, address: u64, waited: Cycles) {
        if waited > 0 {
            self.line(address).waited += waited;
        }
    }

    /// Counts a core's miss on the line at `address`, which `source` served. Before that, the request `waited` at its
    /// last stage while earlier requests were served.
    #[inline]
    pub(crate) fn served(
        &mut self,
        address: u64,
        source: Source,
        waited: Cycles,
        taken: Taken,
        write: bool,
    ) {
        let line = self.line(address);
        match write {
            true => line.writes += 1,
            false => line.reads += 1,
        }
        line.misses[source as usize] += 1;
        line.waited += waited;
        if taken.copies > 0 {
            // A read lets the owner keep a copy for reading.
            if write {
                line.invalidations += u64::from(taken.copies);
            }
            line.transfers += 1;
            line.taken_by(taken.by);
        }
    }

    /// Counts a core's write hit on line number `line`.
    #[inline(always)]
    pub(crate) fn wrote(&mut self, line: u32) {
        let (word, bit) = Self::in_filter(line.into());
        if self.filter[word] & bit != 0 {
            self.wrote_perhaps_named(line.into());
        }
    }

    #[inline(never)]
    fn wrote_perhaps_named(&mut self, number: u64) {
        if let Some(line) = self.lines.get_mut(&number)
            && line.named
        {
            line.writes += 1;
        }
    }

    #[inline(always)]
    fn in_filter(number: u64) -> (usize, u64) {
        (number as usize / 64 % 16, 1 << (number % 64))
    }

    /// Counts cycles that a core spun on the word at `address`. The cycles count for the current name of the word.
    pub(crate) fn spin(&mut self, address: u64, cycles: Cycles) {
        self.line(address).spun += cycles;
        match self.name_at(address) {
            Some(name) => self.spun[name.index()] += cycles,
            None => self.spun_unnamed += cycles,
        }
    }

    /// Names the object at `addresses`. Removes earlier names of objects there. Objects of one name
    /// are reported together.
    pub(crate) fn name(&mut self, addresses: Range<u64>, name: &str) -> Name {
        self.unname(&addresses);
        let name = self.intern(name);
        for number in self.numbers(&addresses) {
            let (word, bit) = Self::in_filter(number);
            self.filter[word] |= bit;
            self.lines.entry(number).or_default().named = true;
        }
        self.named.insert(addresses.start, (addresses.end, name));
        name
    }

    fn numbers(&self, addresses: &Range<u64>) -> RangeInclusive<u64> {
        addresses.start >> self.shift..=(addresses.end - 1) >> self.shift
    }

    pub(crate) fn unname(&mut self, addresses: &Range<u64>) {
        let ended: Vec<_> = self
            .overlapping(addresses)
            .map(|(start, _)| start)
            .collect();
        for start in ended {
            self.named.remove(&start);
        }
    }

    pub(crate) fn name_at(&self, address: u64) -> Option<Name> {
        self.overlapping(&(address..address + 1))
            .next()
            .map(|(_, name)| name)
    }

    /// The number of `name`, even if no object has that name.
    pub(crate) fn intern(&mut self, name: &str) -> Name {
        let name = self.names.intern(name);
        self.spun.resize(self.spun.len().max(name.index() + 1), 0);
        name
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// The starts and names of the objects that overlap `addresses`, in descending order.
    fn overlapping(&self, addresses: &Range<u64>) -> impl Iterator<Item = (u64, Name)> {
        let first = addresses.start;
        self.named
            .range(..addresses.end)
            .rev()
            .take_while(move |(_, (end, _))| *end > first)
            .map(|(start, (_, name))| (*start, *name))
    }

    /// The first `count` lines by `order`, without lines whose count is zero. Lines with equal counts are sorted by
    /// address.
    pub(super) fn hottest(&self, count: usize, order: Order) -> Vec<HotLine> {
        let key = |line: &Line| match order {
            Order::Transfers => line.transfers,
            Order::Waiting => line.waited,
        };
        let mut hot: Vec<_> = self
            .lines
            .iter()
            .filter(|(_, line)| key(line) > 0)
            .collect();
        hot.sort_unstable_by_key(|(number, line)| (std::cmp::Reverse(key(line)), **number));
        hot.into_iter()
            .take(count)
            .map(|(number, line)| self.report(*number, line))
            .collect()
    }

    /// All lines that hold named objects, by address.
    pub(crate) fn named(&self) -> Vec<HotLine> {
        let ranges = self.named.iter();
        let ranges = ranges.map(|(start, (end, _))| self.numbers(&(*start..*end)));
        let mut numbers: Vec<u64> = ranges.flatten().collect();
        numbers.dedup();
        let line = |number| Some(self.report(number, self.lines.get(&number)?));
        numbers.into_iter().filter_map(line).collect()
    }

    fn report(&self, number: u64, line: &Line) -> HotLine {
        let address = number << self.shift;
        let mut names: Vec<_> = self
            .overlapping(&(address..address + (1 << self.shift)))
            .map(|(_, name)| self.names.text(name).to_owned())
            .collect();
        names.reverse();
        names.dedup();
        let [group, remote, memory] = line.misses;
        HotLine {
            address,
            names,
            transfers: line.transfers,
            invalidations: line.invalidations,
            group,
            remote,
            memory,
            reads: line.reads,
            writes: line.writes,
            spun: line.spun,
            waited: line.waited,
            takers: line.takers.clone(),
        }
    }

    /// Cycles spun by name, sorted by descending cycles. The last entry has the cycles on words
    /// without a name.
    pub(super) fn spins(&self) -> Vec<NamedSpin> {
        let mut spins: Vec<_> = self
            .names
            .texts()
            .zip(&self.spun)
            .filter(|(_, cycles)| **cycles > 0)
            .map(|(name, cycles)| NamedSpin {
                name: Some(name.into()),
                cycles: *cycles,
            })
            .collect();
        // A stable sort: equal entries keep the order in which the names were first used.
        spins.sort_by_key(|spin| std::cmp::Reverse(spin.cycles));
        if self.spun_unnamed > 0 {
            spins.push(NamedSpin {
                name: None,
                cycles: self.spun_unnamed,
            });
        }
        spins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_their_contenders_and_are_ordered() {
        let mut lines = Lines::new(64);
        let taken = |by, copies| Taken { by, copies };
        for core in [5, 2, 5, 9, 2, 5] {
            lines.served(130, Source::Remote, 0, taken(core, 1), true);
        }
        lines.served(64, Source::Group, 0, taken(1, 3), true);
        lines.served(4096, Source::Group, 70, taken(1, 1), true);
        lines.served(128, Source::Memory, 0, taken(1, 0), false);
        lines.served(700, Source::Memory, 0, taken(1, 0), true);

        let hot = lines.hottest(2, Order::Transfers);
        assert_eq!(
            hot.iter().map(|line| line.address).collect::<Vec<_>>(),
            [128, 64]
        );
        assert_eq!(hot[0].takers, [(2, 2), (5, 3), (9, 1)]);
        assert_eq!((hot[0].transfers, hot[0].invalidations), (6, 6));
        assert_eq!((hot[0].group, hot[0].remote, hot[0].memory), (0, 6, 1));
        assert_eq!((hot[0].reads, hot[0].writes), (1, 6));
        let waiting = lines.hottest(5, Order::Waiting);
        assert_eq!(waiting.len(), 1);
        assert_eq!((waiting[0].address, waiting[0].waited), (4096, 70));
    }

    #[test]
    fn spinning_goes_to_the_name_of_its_time() {
        let mut lines = Lines::new(64);
        lines.spin(1000, 1);
        lines.name(1000..1008, "lock");
        lines.name(1008..1016, "barrier");
        lines.spin(1000, 10);
        lines.spin(1007, 10);
        lines.spin(1008, 500);
        lines.name(1004..1012, "lock");
        lines.spin(1000, 100);
        lines.spin(1008, 1000);
        let spins: Vec<_> = lines
            .spins()
            .into_iter()
            .map(|spin| (spin.name, spin.cycles))
            .collect();
        let expected = [
            (Some("lock".into()), 1020),
            (Some("barrier".into()), 500),
            (None, 101),
        ];
        assert_eq!(spins, expected);
    }

    #[test]
    fn named_lines_count_writes_in_their_writers_caches() {
        let mut lines = Lines::new(64);
        lines.served(
            1024 * 64,
            Source::Memory,
            0,
            Taken { by: 0, copies: 0 },
            true,
        );
        lines.name(60..68, "head");
        lines.name(100..108, "tail");
        // These are the lines of both objects, another line, and a line that has the same bit in the filter as the
        // first.
        for line in [0, 1, 1, 2, 1024] {
            lines.wrote(line);
        }
        let named: Vec<_> = lines
            .named()
            .into_iter()
            .map(|line| (line.address, line.names.join("+"), line.writes))
            .collect();
        let expected = [(0, "head".into(), 1), (64, "head+tail".into(), 2)];
        assert_eq!(named, expected);
        assert_eq!(lines.lines[&1024].writes, 1);
    }

    #[test]
    fn a_line_has_the_names_of_all_that_share_it() {
        let mut lines = Lines::new(64);
        lines.name(60..68, "head");
        lines.name(80..88, "tail");
        lines.name(128..136, "next line");
        lines.served(64, Source::Group, 0, Taken { by: 0, copies: 1 }, true);
        assert_eq!(
            lines.hottest(1, Order::Transfers)[0].names,
            ["head", "tail"]
        );
        lines.unname(&(0..70));
        assert_eq!(lines.hottest(1, Order::Transfers)[0].names, ["tail"]);
    }
}
