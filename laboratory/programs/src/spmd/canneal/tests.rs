use super::*;
use crate::spmd::testing::{alone, looped, with_barriers};
use crate::spmd::{Declaration, Phase};
use manycore_platform::Native;

fn program(elements: usize, schedule: (usize, f64, usize)) -> Canneal<Native> {
    let (swaps, temperature, steps) = schedule;
    let schedule = Schedule::new(swaps, temperature, steps).unwrap();
    Canneal::new(Netlist::generate(elements, 3).unwrap(), schedule, 3)
}

#[test]
fn annealing_shortens_the_wires_the_same_way_each_time() {
    let run = || {
        let program = program(400, (4_000, 50.0, 12));
        alone(&program);
        (program.verify().unwrap(), program.cost())
    };
    let program = program(400, (4_000, 50.0, 12));
    let (verified, cost) = run();
    println!("{verified}");
    assert!(2 * cost < program.cost_at_start(), "{verified}");
    assert_eq!((verified, cost), run());
}

#[test]
fn a_cold_chip_only_improves() {
    let program = program(300, (2_000, 1e-9, 3));
    let mut last = program.cost();
    for step in 0..3 {
        for start in (0..2_000).step_by(100) {
            program.moves(step, start..start + 100);
            // `change` underestimates the length of a wire between the two elements of a move, by
            // up to twice that length. This affects one move in fifty.
            assert!(
                program.cost() < last + 100,
                "{} after {last}",
                program.cost()
            );
            last = program.cost();
        }
    }
    assert!(last < program.cost_at_start());
    assert_eq!(program.check(), Ok(()));
}

#[test]
fn at_a_high_temperature_every_move_is_made() {
    let program = program(100, (1_000, 1e15, 1));
    assert_eq!(program.moves(0, 0..1_000).made, 1_000);
    assert_eq!(program.check(), Ok(()));
}

/// The declaration, which has no netlist, matches a run.
#[test]
fn the_ends_of_wires_are_as_many_as_declared() {
    for elements in [100, 1_000, 20_000] {
        let program = program(elements, (16_000, 100.0, 1));
        let declared = program.declaration();
        let ends = program.moves(0, 0..16_000).ends as f64 / 16_000.0;
        println!("{elements} elements: {ends} ends a move");
        // An element has from 1 to about 15 ends. The deviation is 2 for each of a move's two elements, and each drawn
        // element is in two moves.
        let deviation = 2.0 * 2.0 / 16_000.0_f64.sqrt();
        let off = (ends - declared.ends_a_move()).abs();
        assert!(off < 5.0 * deviation, "{ends}");
        assert_eq!(
            declared,
            CannealPhases::generated(elements, program.schedule).unwrap()
        );
    }
    for input in CannealInput::ALL {
        let schedule = input.schedule();
        assert_eq!(
            CannealPhases::generated(input.elements(), schedule),
            Ok(CannealPhases::of(input))
        );
    }
}

#[test]
fn a_run_has_the_phases_declared() {
    let program = program(100, (100, 300.0, 2));
    let declared = program.declaration();
    let phases: Vec<Phase> = alone(&program);
    let expected: Vec<Phase> = (0..declared.steps())
        .flat_map(|_| declared.step())
        .collect();
    assert_eq!(phases, expected);
    assert!(phases[0].items.div_ceil(phases[0].grain) <= program.grains());
}

#[test]
fn teams_and_loops_lose_no_element() {
    let sizes = [
        (10, (5, 100.0, 1)),
        (100, (100, 300.0, 2)),
        (500, (5_000, 200.0, 8)),
    ];
    for (elements, schedule) in sizes {
        with_barriers(["futex", "spin-sleep"], 3, || program(elements, schedule));
        looped(2, || program(elements, schedule));
    }
}

#[test]
fn a_lost_place_is_noticed() {
    let program = program(20, (10, 10.0, 1));
    alone(&program);
    program.verify().unwrap();
    let lost = Canneal::<Native> {
        start: program.start.clone(),
        locations: Locations::new((0..20).map(|element| program.start[element.max(1)])),
        netlist: program.netlist.clone(),
        made: Box::default(),
        ..program
    };
    let said = "the number of places that an element has lost is 1; expected 0, within 0";
    assert_eq!(lost.verify().unwrap_err().to_string(), said);
}

#[test]
fn wires_that_got_much_longer_are_noticed() {
    // A chain of elements. Sorting `start` makes its wires short, so the random places are much
    // worse.
    let mut text = String::from("900 30 30\na0 1 END\n");
    for element in 1..900 {
        text += &format!("a{element} 1 a{} END\n", element - 1);
    }
    let netlist = Netlist::read(text.as_bytes(), "chain").unwrap();
    let mut program = Canneal::<Native>::new(netlist, Schedule::new(1, 1.0, 1).unwrap(), 1);
    assert_eq!(program.check(), Ok(()));
    program.start.sort_by_key(|place| (place.y, place.x));
    let error = program.check().unwrap_err();
    assert_eq!(error.what, "the routing cost");
}
