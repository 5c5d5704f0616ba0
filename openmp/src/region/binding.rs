//! Binds the members of a team to places.
//!
//! A *carried* member (one that the kernel threads of `carry`, the workers, execute) is bound as well: its own kernel
//! thread keeps the CPUs, as if the program had bound the member in the region. Workers are bound to places of their
//! own. `carry` plans for each worker the members of its place ([`position`]). If a member is divided between two
//! workers, both execute it.

use crate::environment::icv::Bind;
use crate::environment::places::{Partition, all};
use crate::environment::settings;
use crate::system::cpus::Cpus;
use crate::team::Team;
use crate::team::context::Context;

/// Binds the calling member to the place that its region gives it. With `OMP_DISPLAY_AFFINITY`, prints a line about the
/// member if the region's lines are printed.
pub(super) fn bind(context: &Context, team: &Team) {
    let region = team.region();
    let whole = region.partition;
    let (place, partition) = match region.bind {
        _ if all().is_empty() => (None, whole),
        Bind::False => (None, whole),
        bind => {
            let first = region.place.unwrap_or(0);
            let (place, part) = member(bind, context.id(), team.size, first, Partition::of(whole));
            (Some(place), Some(part))
        }
    };
    context.partition.set(partition);
    place.inspect(|&place| go_to(context, place as usize));
    if region.displayed {
        super::affinity::show("");
    }
}

/// Whether each member of a region prints a line. `context` begins the region, with `size` members, inside of `level`
/// regions.
pub(super) fn is_displayed(context: &Context, size: u32, level: u32, bind: Bind) -> bool {
    if !settings().display_affinity || size == 1 {
        return false;
    }
    // Like GCC's library: members of nested regions always print, others if their number or the place of one of them
    // has changed. For `Bind::True` that library leaves threads where they are.
    let place = context.place.get().filter(|_| bind != Bind::False);
    let places = |(size, bind, place): (u32, Bind, Option<u32>)| {
        let whole = Partition::of(None);
        (0..size).map(move |id| place.map(|place| member(bind, id, size, place, whole).0))
    };
    let now = (size, bind, place);
    level > 0
        || (context.displayed.replace(Some(now))).is_none_or(|last| {
            last.0 != size || (bind != Bind::True && !places(last).eq(places(now)))
        })
}

/// Whether the places of members depend on those of an outer region. Workers are placed for teams outside of regions,
/// so they carry no such team.
pub(super) fn is_placed_inside(context: &Context, bind: Bind) -> bool {
    bind != Bind::False && context.team().region().level > 0 && all().len() > 1
}

/// If threads are to be bound, binds a thread that is in no team yet to the first place.
///
/// GCC's library binds the first thread when the library is loaded. This library does not: the process may be a shell
/// that only starts the program, which would then inherit the single place of the shell.
#[inline]
pub(crate) fn settle(context: &Context) {
    if settings().icv.bind != Bind::False && context.place.get().is_none() && !all().is_empty() {
        go_to(context, 0);
    }
}

/// Binds the calling thread to a place, unless it is bound to that place already.
fn go_to(context: &Context, place: usize) {
    if context.place.replace(Some(place as u32)) == Some(place as u32) {
        return;
    }
    let cpus = Cpus::of(&all()[place]);
    // If the process may no longer use the CPUs of the place, the call fails, and the thread stays where it is.
    match context.carried.get() {
        Some(rank) => rank.bind(&cpus),
        None => _ = cpus.put_on(0),
    }
}

/// The place and the partition of member `id` of `size`, if the leader is on `place`, in the partition `whole`. GCC's
/// library chooses the same.
fn member(bind: Bind, id: u32, size: u32, place: u32, whole: Partition) -> (u32, Partition) {
    let Partition { first, count } = whole;
    // The leader has no place of its partition if that place has changed since.
    let at = place.checked_sub(first).filter(|&at| at < count);
    let at = at.unwrap_or(0);
    let (each, rest) = (size / count, size % count);
    let step = match size > count {
        // Each place has the same number of members. The remaining members begin at the leader's place again.
        true if id < size - rest => id / each,
        true => id - (size - rest),
        false => id,
    };
    let close = first + (at + step) % count;
    match bind {
        Bind::False | Bind::Primary => (place, whole),
        Bind::True | Bind::Close => (close, whole),
        Bind::Spread if size > count => {
            let alone = Partition {
                first: close,
                count: 1,
            };
            (close, alone)
        }
        Bind::Spread => {
            let part = spread(id, size, at, count);
            let part = Partition {
                first: first + part.first,
                ..part
            };
            (if id == 0 { place } else { part.first }, part)
        }
    }
}

/// The part of member `id` of `size` for `Bind::Spread`, if the leader is at `at` of `count` places. The larger parts
/// come first. Each member except the leader is at the beginning of its part.
fn spread(id: u32, size: u32, at: u32, count: u32) -> Partition {
    let (each, larger) = (count / size, count % size);
    let edge = (each + 1) * larger;
    let own = if at < edge {
        at / (each + 1)
    } else {
        larger + (at - edge) / each
    };
    let part = (own + id) % size;
    Partition {
        first: part * each + part.min(larger),
        count: each + u32::from(part < larger),
    }
}

/// The position of a carried member when members are divided among workers. Members of a place have successive
/// positions, and the leader's place comes first.
pub(super) fn position(id: u32, size: u32) -> u32 {
    let (bind, places) = (settings().icv.bind, all().len());
    if bind == Bind::False || places < 2 {
        return id;
    }
    let place = |id: u32| member(bind, id, size, 0, Partition::of(None)).0;
    let key = (place(id), id);
    (0..size)
        .filter(|&other| (place(other), other) < key)
        .count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_placed() {
        let whole = Partition { first: 0, count: 4 };
        let places = |bind, size| -> Vec<_> {
            (0..size)
                .map(|id| member(bind, id, size, 1, whole).0)
                .collect()
        };
        assert_eq!(places(Bind::Primary, 3), [1, 1, 1]);
        assert_eq!(places(Bind::Close, 3), [1, 2, 3]);
        assert_eq!(places(Bind::Spread, 2), [1, 2]);
        assert_eq!(places(Bind::Close, 8), [1, 1, 2, 2, 3, 3, 0, 0]);
        assert_eq!(places(Bind::Close, 6), [1, 2, 3, 0, 1, 2]);
        assert_eq!(places(Bind::Spread, 6), [1, 2, 3, 0, 1, 2]);
        assert_eq!(places(Bind::Spread, 3), [1, 2, 3]);
    }

    #[test]
    fn nested_members_stay_in_the_parts_of_their_leaders() {
        let whole = Partition { first: 0, count: 4 };
        let outer = [0, 1].map(|id| member(Bind::Spread, id, 2, 0, whole));
        let inner = |bind, size| {
            outer.map(|(place, part)| -> Vec<_> {
                (0..size)
                    .map(|id| member(bind, id, size, place, part).0)
                    .collect()
            })
        };
        assert_eq!(inner(Bind::Spread, 2), [[0, 1], [2, 3]]);
        assert_eq!(inner(Bind::Close, 3), [[0, 1, 0], [2, 3, 2]]);
        assert_eq!(inner(Bind::Spread, 4), [[0, 0, 1, 1], [2, 2, 3, 3]]);
        let alone = Partition { first: 3, count: 1 };
        assert_eq!(member(Bind::Spread, 1, 2, 2, outer[1].1), (3, alone));
        // The first parts are larger, and the leader need not be at the beginning of its part.
        let five = Partition { first: 2, count: 5 };
        let parts = [0, 1].map(|id| member(Bind::Spread, id, 2, 6, five));
        let part = |first, count| Partition { first, count };
        assert_eq!(parts, [(6, part(5, 2)), (2, part(2, 3))]);
    }
}
