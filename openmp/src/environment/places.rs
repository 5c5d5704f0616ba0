//! Places: sets of CPUs.

use super::icv::Bind;
use super::settings;
use manycore_cores::topology::Topology;
use std::collections::BTreeMap;
use std::fmt;

/// The places of `OMP_PLACES`, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    places: Vec<Vec<usize>>,
}

impl Places {
    /// From a name or a list.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let places =
            if text.starts_with(['{', '!']) || text.starts_with(|c: char| c.is_ascii_digit()) {
                list(text)?
            } else {
                named(text)?
            };
        let allowed = mask();
        let places = places
            .into_iter()
            .map(|place| {
                place
                    .into_iter()
                    .filter(|cpu| allowed.contains(cpu))
                    .collect()
            })
            .filter(|place: &Vec<usize>| !place.is_empty());
        let places: Vec<_> = places.collect();
        (!places.is_empty()).then_some(Self { places })
    }

    /// Without `OMP_PLACES` each CPU is one, where threads are to be bound.
    fn all(&self) -> Vec<Vec<usize>> {
        if self.places.is_empty() && settings().icv.bind != Bind::False {
            return mask().into_iter().map(|cpu| vec![cpu]).collect();
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

/// `cores`, `threads(4)` and so on.
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

/// `{0:4:2}:3:8,{1,2},5`.
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

/// CPUs of a place: numbers, and `first:count:stride`.
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

/// `count:stride`, each of which may be missing.
fn counts(text: &str) -> Option<(usize, i64)> {
    if text.is_empty() {
        return Some((1, 1));
    }
    let (count, stride) = text.split_once(':').unwrap_or((text, "1"));
    let count: usize = count.trim().parse().ok()?;
    let count = (1..=65_536).contains(&count).then_some(count)?;
    Some((count, stride.trim().parse().ok()?))
}

/// CPUs that this thread may use.
pub(crate) fn mask() -> Vec<usize> {
    // SAFETY: all zeros is an empty set, which the call fills.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set);
        set
    };
    // SAFETY: reads the set, within its size.
    let has = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &set) };
    (0..libc::CPU_SETSIZE as usize).filter(has).collect()
}

/// The places there are.
pub(crate) fn all() -> &'static [Vec<usize>] {
    static ALL: std::sync::OnceLock<Vec<Vec<usize>>> = std::sync::OnceLock::new();
    ALL.get_or_init(|| settings().places.all())
}

#[cfg(test)]
mod tests {
    use super::*;

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
