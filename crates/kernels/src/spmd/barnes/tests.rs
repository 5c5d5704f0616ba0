use super::*;
use crate::spmd::testing::{alone, looped, with_barriers};
use crate::spmd::{Declaration, Phase};
use manycore_platform::Native;
use walk::Interactions;

fn ran(problem: Problem) -> Barnes<Native> {
    let program = Barnes::new(problem);
    alone(&program);
    program
}

fn of(bodies: usize) -> Problem {
    Problem::new(bodies).unwrap()
}

/// Means for a body of the last step: cells and leaves as wholes, bodies, looks; cells
/// passed when the next tree is built; cells and leaves there are.
fn counted(program: &Barnes<Native>) -> [f64; 6] {
    let problem = program.problem;
    // SAFETY: here, and below, nobody else has the program.
    let field = unsafe { program.field(problem.steps - 1) };
    let mut sum = Interactions::default();
    for body in 0..problem.bodies {
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

#[test]
fn scratch_small() {
    for bodies in [2, 16, 32, 64, 128, 256, 512] {
        let mut sum = [0.0; 6];
        for seed in 0..20 {
            let program = ran(of(bodies).with_seed(seed));
            println!("{bodies} {seed}: {:?}", program.errors());
            if let Err(error) = program.verify() {
                println!("{error}");
            }
            let counts = counted(&program);
            (0..6).for_each(|it| sum[it] += counts[it] / 20.0);
        }
        println!("{bodies}: {sum:.3?}");
    }
}
