//! Places: sets of CPUs for binding threads.

use super::icv::Bind;
use super::settings;
use crate::system::cpus::Cpus;
use manycore_cores::topology::Topology;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// The largest number of CPUs or places that a range or a count in a variable may have.
const MOST: usize = 65_536;

/// The places of `OMP_PLACES`, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    places: Vec<Vec<usize>>,
}

impl Places {
    /// Reads `OMP_PLACES`: a name or a list.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let places =
            if text.starts_with(['{', '!']) || text.starts_with(|c: char| c.is_ascii_digit()) {
                list(text)?
            } else {
                named(text)?
            };
        Self::of_usable(places)
    }

    /// Reads `GOMP_CPU_AFFINITY`: CPUs such as `0 3 1-2 4-15:2`. Each CPU is a place.
    pub(crate) fn parse_list(text: &str) -> Option<Self> {
        let mut places = vec![];
        let parts = text.split(|c: char| c == ',' || c.is_ascii_whitespace());
        for part in parts.filter(|part| !part.is_empty()) {
            let (range, stride) = part.split_once(':').unwrap_or((part, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            let stride: usize = stride.parse().ok()?;
            if last < first || last - first > MOST || stride == 0 {
                return None;
            }
            places.extend((first..=last).step_by(stride).map(|cpu| vec![cpu]));
        }
        Self::of_usable(places)
    }

    /// These places without CPUs that the process may not use. `None` if no place is left.
    fn of_usable(mut places: Vec<Vec<usize>>) -> Option<Self> {
        for place in &mut places {
            place.retain(|cpu| at_first().contains(cpu));
        }
        places.retain(|place| !place.is_empty());
        (!places.is_empty()).then_some(Self { places })
    }

    /// The places, if threads are to be bound. Without `OMP_PLACES` each CPU is a place.
    fn all(&self) -> Vec<Vec<usize>> {
        if settings().icv.bind == Bind::False {
            return vec![];
        }
        if self.places.is_empty() {
            return at_first().iter().map(|&cpu| vec![cpu]).collect();
        }
        self.places.clone()
    }
}

impl fmt::Display for Places {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, place) in self.places.iter().enumerate() {
            let cpus: Vec<_> = place.iter().map(usize::to_string).collect();
            let comma = if at > 0 { "," } else { "" };
            write!(to, "{comma}{{{}}}", cpus.join(","))?;
        }
        Ok(())
    }
}

/// Reads a name such as `cores` or `threads(4)`.
fn named(text: &str) -> Option<Vec<Vec<usize>>> {
    let (name, count) = match text.split_once('(') {
        Some((name, rest)) => {
            let count: usize = rest.trim().strip_suffix(')')?.trim().parse().ok()?;
            (name.trim(), Some(count).filter(|&count| count > 0)?)
        }
        None => (text, usize::MAX),
    };
    let machine = Topology::detect();
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for cpu in machine.usable() {
        let key = match name {
            "threads" => cpu.id,
            "cores" => cpu.core,
            "sockets" => cpu.package,
            "ll_caches" => cpu.group,
            "numa_domains" => cpu.node,
            _ => return None,
        };
        groups.entry(key).or_default().push(cpu.id);
    }
    Some(groups.into_values().take(count).collect())
}

/// Reads a list such as `{0:4:2}:3:8,{1,2},5`.
fn list(text: &str) -> Option<Vec<Vec<usize>>> {
    let mut places: Vec<Vec<usize>> = vec![];
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let excluded = rest.strip_prefix('!');
        rest = excluded.unwrap_or(rest);
        let place;
        if let Some(inner) = rest.strip_prefix('{') {
            let (cpus, after) = inner.split_once('}')?;
            place = set(cpus)?;
            rest = after;
        } else {
            let end = rest.find([',', ':']).unwrap_or(rest.len());
            place = vec![rest[..end].trim().parse().ok()?];
            rest = &rest[end..];
        }
        let (interval, after) = match rest.find(',') {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        let (count, stride) = counts(interval.trim().strip_prefix(':').unwrap_or(""))?;
        if excluded.is_some() {
            places.retain(|other| *other != place);
        } else {
            for step in 0..count {
                let moved = |&cpu: &usize| usize::try_from(cpu as i64 + step as i64 * stride).ok();
                places.push(place.iter().map(moved).collect::<Option<_>>()?);
            }
        }
        match after {
            Some(after) => rest = after,
            None => return Some(places),
        }
    }
}

/// Reads the CPUs of a place: numbers, and `first:count:stride`.
fn set(text: &str) -> Option<Vec<usize>> {
    let mut cpus: Vec<usize> = vec![];
    for part in text.split(',') {
        let part = part.trim();
        if let Some(excluded) = part.strip_prefix('!') {
            let excluded: usize = excluded.parse().ok()?;
            cpus.retain(|&cpu| cpu != excluded);
            continue;
        }
        let (first, interval) = part.split_once(':').unwrap_or((part, ""));
        let first: i64 = first.trim().parse().ok()?;
        let (count, stride) = counts(interval)?;
        for step in 0..count as i64 {
            cpus.push(usize::try_from(first + step * stride).ok()?);
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// Reads `count:stride`. Each part may be missing.
fn counts(text: &str) -> Option<(usize, i64)> {
    if text.is_empty() {
        return Some((1, 1));
    }
    let (count, stride) = text.split_once(':').unwrap_or((text, "1"));
    let count: usize = count.trim().parse().ok()?;
    let count = (1..=MOST).contains(&count).then_some(count)?;
    Some((count, stride.trim().parse().ok()?))
}

/// The CPUs that this thread may use.
pub(crate) fn mask() -> Vec<usize> {
    Cpus::of_caller().numbers()
}

/// The places within which a thread and its nested regions are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Partition {
    /// A thread's partition. A thread without one has all places.
    pub(crate) fn of(partition: Option<Self>) -> Self {
        partition.unwrap_or(Self {
            first: 0,
            count: all().len() as u32,
        })
    }
}

/// The CPUs that the process had when the settings were read, before any thread was bound.
pub(super) fn at_first() -> &'static [usize] {
    static AT_FIRST: OnceLock<Vec<usize>> = OnceLock::new();
    AT_FIRST.get_or_init(mask)
}

/// The number of CPUs of the program. If threads are bound, these are the CPUs that the program had before.
pub(crate) fn processors() -> usize {
    if all().is_empty() {
        Cpus::of_caller().count().max(1)
    } else {
        at_first().len()
    }
}

/// The CPUs of new threads that are not bound. `None` stands for the CPUs of the calling thread.
pub(crate) fn unbound() -> Option<Cpus> {
    (!all().is_empty()).then(|| Cpus::of(at_first()))
}

/// All places. The list is empty if threads are not bound.
pub(crate) fn all() -> &'static [Vec<usize>] {
    static ALL: OnceLock<Vec<Vec<usize>>> = OnceLock::new();
    ALL.get_or_init(|| settings().places.all())
}

/// Each CPU that is in a place, with the first place that contains it, in the order of the places.
fn cpus_with_places(places: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = vec![];
    for (at, place) in places.iter().enumerate() {
        for &cpu in place {
            if found.iter().all(|&(known, _)| known != cpu) {
                found.push((cpu, at));
            }
        }
    }
    found
}

/// The number of CPUs in all places, if threads are bound.
pub(crate) fn bound_cpus() -> Option<NonZeroUsize> {
    NonZeroUsize::new(cpus_with_places(all()).len())
}

/// The place of worker number `index`, if threads are bound. Each CPU that is in a place has a worker.
#[allow(
    dead_code,
    reason = "where ranks cannot be carried there are no workers"
)]
pub(crate) fn of_worker(index: usize) -> Option<Cpus> {
    let places = all();
    let &(_, place) = cpus_with_places(places).get(index)?;
    Some(Cpus::of(&places[place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_have_all_cpus() {
        let places = [vec![1], vec![1], vec![0, 1], vec![2]];
        assert_eq!(cpus_with_places(&places), [(1, 0), (0, 2), (2, 3)]);
    }

    #[test]
    fn lists_of_cpus_are_read() {
        let cpu = at_first()[0];
        let read = |text: String| Places::parse_list(&text).map(|it| it.places);
        let again = vec![vec![cpu]; 3];
        assert_eq!(
            read(format!("{cpu} {cpu}-{cpu},{cpu}-{cpu}:2")),
            Some(again)
        );
        for wrong in ["", "a", "3-1", "0-1:0", "1-", "-1", "0;1"] {
            assert!(read(wrong.into()).is_none(), "{wrong}");
        }
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(list("{0:4}").unwrap(), [[0, 1, 2, 3]]);
        assert_eq!(list("{0:2:4}:2:1").unwrap(), [[0, 4], [1, 5]]);
        assert_eq!(list("{0},{3,1}").unwrap(), [vec![0], vec![1, 3]]);
        assert_eq!(list("0:3").unwrap(), [[0], [1], [2]]);
        assert_eq!(list("{4}:3:-2").unwrap(), [[4], [2], [0]]);
        for wrong in ["{0", "{a}", "{0}:0", "{0}:2:-1", "{}", "{0},"] {
            assert!(list(wrong).is_none(), "{wrong}");
        }
    }
}
