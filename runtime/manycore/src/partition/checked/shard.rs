//! Checks one shard (a range in one word): its owner claims from the lower end while thieves take from the upper end.

use super::HandedOut;
use crate::partition::shard::Shard;
use manycore_check::{
    Faulty, Loom, Shuttle, TornAdd, TornBits, TornCas, caught, loom_model, shuttle_pct, team,
};
use manycore_platform::Platform;
use std::ops::Range;

/// When the owner of the shard joins.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    /// Before the thieves. The owner has filled the shard itself.
    Early,
    /// At any time. The thieves may have taken all units by then.
    Late,
}

/// One owner claims `block` units at a time from a shard of `units` until the shard is empty. Each thief steals
/// once.
fn each_unit_once<P: Platform>(units: u64, thieves: usize, owner: Owner, block: u64) {
    let shard = Shard::<P>::new();
    shard.fill(0..units, owner == Owner::Early);
    let tally = HandedOut::default();
    let took = |units: Range<u64>| tally.add(units.start as usize..units.end as usize);
    team::<P>(1 + thieves, |rank| {
        if rank > 0 {
            if let Some(units) = shard.steal() {
                took(units);
            }
            return;
        }
        let mut left = match owner {
            Owner::Early => units,
            Owner::Late => shard.own(),
        };
        while left > 0 {
            left = shard.claim(block.min(left)).map_or(0, |claim| {
                took(claim.units);
                claim.left
            });
        }
        assert_eq!(shard.left().0, 0, "an owner leaves nothing");
    });
    tally.assert_each_once(units as usize);
}

#[test]
fn one_thief() {
    for units in 1..=4 {
        for owner in [Owner::Early, Owner::Late] {
            loom_model(None, move || each_unit_once::<Loom>(units, 1, owner, 1));
            loom_model(None, move || each_unit_once::<Loom>(units, 1, owner, 3));
        }
    }
}

#[test]
fn two_thieves() {
    for units in 1..=3 {
        for owner in [Owner::Early, Owner::Late] {
            loom_model(Some(3), move || each_unit_once::<Loom>(units, 2, owner, 1));
        }
    }
}

#[test]
fn many_units() {
    for owner in [Owner::Early, Owner::Late] {
        shuttle_pct(1_000, 4, move || {
            each_unit_once::<Shuttle>(100, 3, owner, 4)
        });
    }
}

/// The owner empties its shard, and refills it with the same units. So the word has its old value again, and a
/// thief that has read the first filling may take from the second.
fn refilled_as_it_was<P: Platform>() {
    let shard = Shard::<P>::new();
    shard.fill(0..2, true);
    let (first, second) = (HandedOut::default(), HandedOut::default());
    team::<P>(2, |rank| {
        let units = |units: Range<u64>| units.start as usize..units.end as usize;
        if rank > 0 {
            // The word does not say which filling it is. It need not, unless both fillings have the same units.
            if let Some(stolen) = shard.steal() {
                second.add(units(stolen));
            }
            return;
        }
        let mut stolen_of_first = 2;
        while let Some(claim) = shard.claim(1) {
            first.add(units(claim.units));
            stolen_of_first -= 1;
            if claim.left == 0 {
                break;
            }
        }
        if stolen_of_first == 0 {
            shard.refill(0..2);
            while let Some(claim) = shard.claim(1) {
                second.add(units(claim.units));
                if claim.left == 0 {
                    break;
                }
            }
            return;
        }
        for missing in 2 - stolen_of_first..2 {
            // The thief has these units. There was only one filling.
            first.add(missing..missing + 1);
            second.add(1 - missing..2 - missing);
        }
    });
    first.assert_each_once(2);
    second.assert_each_once(2);
}

#[test]
fn a_refill_with_the_same_units_confuses_no_thief() {
    loom_model(None, refilled_as_it_was::<Loom>);
}

#[test]
fn a_claim_or_a_steal_by_load_and_store_is_caught() {
    for owner in [Owner::Early, Owner::Late] {
        let claim = || {
            loom_model(None, move || {
                each_unit_once::<Faulty<Loom, TornAdd>>(2, 1, owner, 1);
            })
        };
        assert!(caught(claim).contains("handed out twice"));
        let steal = || {
            loom_model(None, move || {
                each_unit_once::<Faulty<Loom, TornCas>>(2, 1, owner, 1);
            })
        };
        assert!(caught(steal).contains("handed out twice"));
    }
    // Here the owner joins and puts back what a thief takes at the same time.
    let own = || {
        loom_model(None, || {
            each_unit_once::<Faulty<Loom, TornBits>>(2, 1, Owner::Late, 1);
        })
    };
    assert!(caught(own).contains("handed out twice"));
}
