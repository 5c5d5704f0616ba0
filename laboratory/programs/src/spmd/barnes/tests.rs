use super::*;
use crate::spmd::testing::{alone, looped, with_barriers};
use crate::spmd::{Declaration, Phase};
use manycore_platform::Native;
use walk::Interactions;

fn ran(problem: BarnesProblem) -> Barnes<Native> {
    let program = Barnes::new(problem);
    alone(&program);
    program
}

fn of(bodies: usize) -> BarnesProblem {
    BarnesProblem::new(bodies).unwrap()
}

/// Mean counts for a body in the last step: the fields of [`Interactions`], the cells on the body's way into the next
/// tree, the tree's cells, and its leaves.
fn counted(program: &Barnes<Native>) -> [f64; 6] {
    let problem = program.problem;
    // SAFETY: no other thread uses the program.
    let field = unsafe { program.field(problem.steps - 1) };
    let mut sum = Interactions::default();
    for body in 0..problem.bodies {
        // SAFETY: as above.
        let (_, count) = unsafe { field.pull_on(body as u32) };
        sum.wholes += count.wholes;
        sum.bodies += count.bodies;
        sum.looks += count.looks;
    }
    let mut nodes = vec![Node::Cell(ROOT)];
    let mut seen = 0;
    while seen < nodes.len() {
        if let Node::Cell(cell) = nodes[seen] {
            nodes.extend(program.tree.children(cell).map(|(_, node)| node));
        }
        seen += 1;
    }
    let is_leaf = |node: &&Node| matches!(node, Node::Leaf(_));
    let leaves = nodes.iter().filter(is_leaf).count();
    let mut levels = 0;
    // SAFETY: as above.
    unsafe {
        program.root();
        let points = &program.points[problem.steps % 2];
        for &body in program.order.all() {
            let region = program.region.get(0);
            levels += program.tree.insert(points, region, body).unwrap();
        }
    }
    let counts = [sum.wholes, sum.bodies, sum.looks, levels as u32];
    let cells = nodes.len() - leaves;
    let [wholes, bodies, looks, levels] = counts.map(f64::from);
    [wholes, bodies, looks, levels, cells as f64, leaves as f64]
        .map(|it| it / problem.bodies as f64)
}

/// The bits of all results of a run.
fn bits(program: &Barnes<Native>) -> Vec<u64> {
    // SAFETY: the run is over.
    let (points, motions) = unsafe { (program.points[0].all(), program.motions.all()) };
    let energies = program.logs.iter().map(|log| log.energy.load(Relaxed));
    let points = points.iter().flatten().map(|it| it.to_bits());
    let velocities = motions.iter().flat_map(|it| it.velocity).map(f64::to_bits);
    points.chain(velocities).chain(energies).collect()
}

#[test]
fn teams_and_loops_move_bodies_alike_to_the_bit() {
    for bodies in [2, 3, 40, 700] {
        let right = bits(&ran(of(bodies)));
        for program in with_barriers(["futex", "spin-sleep"], 3, || Barnes::new(of(bodies))) {
            assert!(bits(&program) == right, "{bodies} bodies, a team");
        }
        let looped = looped(2, || Barnes::new(of(bodies)));
        assert!(bits(&looped) == right, "{bodies} bodies, loops");
    }
}

#[test]
fn a_run_has_the_phases_declared() {
    for bodies in [2, 33, 500] {
        let program = Barnes::<Native>::new(of(bodies));
        let declared = program.declaration();
        let expected: Vec<Phase> = (0..declared.steps())
            .flat_map(|_| declared.step())
            .collect();
        assert_eq!(alone(&program), expected);
        let of_forces = expected[3].items.div_ceil(expected[3].grain);
        assert_eq!(program.grains(), of_forces);
    }
}

/// The declaration is a table, without bodies. Between its rows it matches runs with other seeds.
#[test]
fn interactions_are_as_many_as_declared() {
    for bodies in [48, 200, 700, 3_000, 12_000] {
        let seeds = 10_000_usize.div_ceil(bodies).min(10);
        let mut found = [0.0; 6];
        for seed in 0..seeds {
            let counts = counted(&ran(of(bodies).with_seed(1_000 + seed as u64)));
            (0..6).for_each(|it| found[it] += counts[it] / seeds as f64);
        }
        let declared = BarnesPhases::new(of(bodies));
        let [wholes, near, looks, levels, ..] = found;
        println!("{bodies} bodies: {found:.2?}");
        let near_enough = |found: f64, declared: f64, part: f64| {
            let off = found / declared - 1.0;
            assert!(off.abs() < part, "{bodies} bodies: {found}, not {declared}");
        };
        near_enough(wholes + near, declared.wholes() + declared.bodies(), 0.10);
        near_enough(looks, declared.looks(), 0.15);
        near_enough(levels, declared.levels(), 0.15);
    }
}

/// The octupole is the first neglected term, so half of theta gives at most an eighth of the error.
#[test]
fn errors_fall_with_the_third_power_of_theta() {
    let error = |theta: f64| {
        let program = ran(BarnesProblem { theta, ..of(1_500) });
        program.verify().unwrap();
        program.errors().root_mean_square
    };
    let errors = [1.0, 0.5, 0.25].map(error);
    println!("{errors:?}");
    assert!(
        errors[0] > 8.0 * errors[1] && errors[1] > 8.0 * errors[2],
        "{errors:?}"
    );
}

#[test]
fn wrong_results_are_noticed() {
    let wrong = |break_it: &dyn Fn(&mut Barnes<Native>)| {
        let mut program = ran(of(2_000));
        program.verify().unwrap();
        break_it(&mut program);
        program.verify().unwrap_err().what
    };
    let untouched = Barnes::<Native>::new(of(100)).verify().unwrap_err();
    let said = "the number of bodies in the tree of step 0 is 0; expected 100, within 0";
    assert_eq!(untouched.to_string(), said);
    let weaker = |program: &mut Barnes<Native>| {
        for motion in program.motions.get_mut() {
            motion.acceleration = motion.acceleration.map(|it| 0.95 * it);
        }
    };
    assert_eq!(wrong(&weaker), "the mean error of accelerations");
    let one = |program: &mut Barnes<Native>| program.motions.get_mut()[0].acceleration[1] += 0.2;
    assert_eq!(wrong(&one), "the greatest error of an acceleration");
    let pushed = |program: &mut Barnes<Native>| {
        for motion in program.motions.get_mut() {
            motion.velocity[2] += 1e-3;
        }
    };
    assert_eq!(wrong(&pushed), "the momentum along axis 2");
    let hotter = |program: &mut Barnes<Native>| {
        let energy = f64::from_bits(program.logs[3].energy.load(Relaxed));
        program.logs[3]
            .energy
            .store((energy + 1e-3).to_bits(), Relaxed);
    };
    assert_eq!(wrong(&hotter), "the energy");
    let no_number = |program: &mut Barnes<Native>| {
        program.logs[3].energy.store(f64::NAN.to_bits(), Relaxed);
    };
    assert_eq!(wrong(&no_number), "the energy");
}

/// If all bodies are at the same place, the run ends and verification fails.
#[test]
fn bodies_that_find_no_room_are_noticed() {
    let mut program = Barnes::<Native>::new(of(50));
    for points in &mut program.points {
        points.get_mut().fill([0.0, 0.0, 0.0, 0.02]);
    }
    alone(&program);
    let wrong = program.verify().unwrap_err();
    assert_eq!(wrong.what, "the number of bodies in the tree of step 0");
    assert!(wrong.found < 50.0);
}
