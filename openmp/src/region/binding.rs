//! Binding the members of a team to places.

use crate::environment::icv::Bind;
use crate::environment::places::all;
use crate::environment::settings;
use crate::team::Team;
use crate::team::context::Context;

/// Binds the calling member as its region says.
pub(super) fn bind(context: &Context, team: &Team) {
    let region = team.region();
    if region.bind == Bind::False {
        return;
    }
    let places = all();
    if places.is_empty() {
        return;
    }
    let first = region.place.unwrap_or(0) as usize;
    let place = place_of(
        region.bind,
        context.id() as usize,
        team.size as usize,
        first,
        places.len(),
    );
    if context.place.replace(Some(place as u32)) == Some(place as u32) {
        return;
    }
    if context.is_carried() {
        return; // It moves between workers, which are the system's to place.
    }
    // SAFETY: an empty set, and CPUs within its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in places[place]
            .iter()
            .filter(|&&cpu| cpu < libc::CPU_SETSIZE as usize)
        {
            libc::CPU_SET(cpu, &mut set);
        }
        // A CPU may have been taken away: then the thread stays where it is.
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
    if settings().display_affinity {
        super::affinity::show("");
    }
}

/// The place of member `id` of `size`, if the leader is on place `first` of `places`.
fn place_of(bind: Bind, id: usize, size: usize, first: usize, places: usize) -> usize {
    let step = match bind {
        Bind::False | Bind::Primary => 0,
        _ if size > places => id * places / size,
        Bind::Spread => id * places / size,
        Bind::True | Bind::Close => id,
    };
    (first + step) % places
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
        assert_eq!(places(Bind::Spread, 2), [1, 3]);
        assert_eq!(places(Bind::Close, 8), [1, 1, 2, 2, 3, 3, 0, 0]);
    }
}
