use super::*;
use crate::spmd::{Alone, Ranked, Sums};
use manycore_platform::Native;

fn alone(program: &Bt<Native>) {
    let (mut alone, sums) = (Alone, Sums::new(0));
    // SAFETY: a team of one, whose sums nobody else has.
    program.run(&mut unsafe { Ranked::<Native>::new(&mut alone, &sums) });
}

#[test]
fn class_s_has_the_published_norms() {
    let program = Bt::<Native>::new(Class::S);
    alone(&program);
    println!("{:?}", program.norms());
    program.verify().unwrap();
}
