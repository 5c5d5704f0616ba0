//! Binds the members of a team to places.
//!
//! A *carried* member (one that the kernel threads of `carry`, the workers, execute) is bound as well: its own kernel
//! thread keeps the CPUs, as if the program had bound the member in the region. Workers are bound to places of their
//! own. `carry` plans for each worker the members of its place ([`position`]). If a member is divided between two
//! workers, both execute it.

use crate::environment::icv::Bind;
use crate::environment::places::all;
use crate::environment::settings;
use crate::system::cpus::Cpus;
use crate::team::Team;
use crate::team::context::Context;

/// Binds the calling member to the place that its region gives it.
pub(super) fn bind(context: &Context, team: &Team) {
    let region = team.region();
    if region.bind == Bind::False || all().is_empty() {
        return;
    }
    let first = region.place.unwrap_or(0) as usize;
    let (id, size) = (context.id() as usize, team.size as usize);
    go_to(context, place_of(region.bind, id, size, first, all().len()));
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
    if settings().display_affinity {
        super::affinity::show("");
    }
}

/// The place of member `id` of `size`, if the leader is on place `first` of `places`. GCC's library chooses the same
/// place.
fn place_of(bind: Bind, id: usize, size: usize, first: usize, places: usize) -> usize {
    let (each, rest) = (size / places, size % places);
    let step = match bind {
        Bind::False | Bind::Primary => 0,
        // Each place has the same number of members. The remaining members begin at the leader's place again.
        _ if size > places && id < size - rest => id / each,
        _ if size > places => id - (size - rest),
        Bind::True | Bind::Close => id,
        Bind::Spread => return spread(id, size, first, places),
    };
    (first + step) % places
}

/// The place for `Bind::Spread`. Each member has a part of the places. The larger parts come first. Each member except
/// the leader is at the beginning of its part.
fn spread(id: usize, size: usize, first: usize, places: usize) -> usize {
    if id == 0 {
        return first;
    }
    let (each, larger) = (places / size, places % size);
    let edge = (each + 1) * larger;
    let own = if first < edge {
        first / (each + 1)
    } else {
        larger + (first - edge) / each
    };
    let part = (own + id) % size;
    part * each + part.min(larger)
}

/// The position of a carried member when members are divided among workers. Members of a place have successive
/// positions, and the leader's place comes first.
pub(super) fn position(id: u32, size: u32) -> u32 {
    let (bind, places) = (settings().icv.bind, all().len());
    if bind == Bind::False || places < 2 {
        return id;
    }
    let place = |id: u32| place_of(bind, id as usize, size as usize, 0, places);
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
        let places =
            |bind, size| -> Vec<_> { (0..size).map(|id| place_of(bind, id, size, 1, 4)).collect() };
        assert_eq!(places(Bind::Primary, 3), [1, 1, 1]);
        assert_eq!(places(Bind::Close, 3), [1, 2, 3]);
        assert_eq!(places(Bind::Spread, 2), [1, 2]);
        assert_eq!(places(Bind::Close, 8), [1, 1, 2, 2, 3, 3, 0, 0]);
        assert_eq!(places(Bind::Close, 6), [1, 2, 3, 0, 1, 2]);
        assert_eq!(places(Bind::Spread, 6), [1, 2, 3, 0, 1, 2]);
        assert_eq!(places(Bind::Spread, 3), [1, 2, 3]);
    }
}
