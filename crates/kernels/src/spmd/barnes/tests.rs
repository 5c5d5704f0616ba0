use super::*;
use crate::spmd::testing::{alone, looped, with_barriers};
use manycore_platform::Native;

#[test]
fn scratch() {
    for bodies in [512, 1024, 2048, 4096, 8192, 16384, 32768] {
        let problem = Problem::new(bodies).unwrap();
        let program = Barnes::<Native>::new(problem);
        alone(&program);
        let field = unsafe { program.field(problem.steps - 1) };
        let (mut wholes, mut bs, mut looks) = (0, 0, 0);
        for body in 0..bodies {
            let (_, count) = unsafe { field.pull_on(body as u32) };
            wholes += count.wholes;
            bs += count.bodies;
            looks += count.looks;
        }
        let n = bodies as f64;
        let cells = program.tree.cells() as f64;
        let order: Vec<u32> = unsafe { program.order.all() }.to_vec();
        let mut leaves = 0;
        let mut stack = vec![Node::Cell(ROOT)];
        while let Some(node) = stack.pop() {
            if let Node::Cell(cell) = node {
                stack.extend(program.tree.children(cell).map(|it| it.1));
            } else {
                leaves += 1;
            }
        }
        let mut levels = 0;
        unsafe {
            program.root();
            let region = program.region.get(0);
            for &body in &order {
                levels += program
                    .tree
                    .insert(&program.points[problem.steps % 2], region, body)
                    .unwrap();
            }
        }
        println!(
            "{bodies}: wholes {:.2} bodies {:.2} looks {:.2} cells/n {:.4} leaves/n {:.4} levels {:.3}",
            wholes as f64 / n,
            bs as f64 / n,
            looks as f64 / n,
            cells / n,
            leaves as f64 / n,
            levels as f64 / n
        );
        println!("   {:?}", program.errors());
        let e: Vec<f64> = program
            .logs
            .iter()
            .map(|l| f64::from_bits(l.energy.load(Relaxed)))
            .collect();
        println!("   {e:?}");
    }
}
