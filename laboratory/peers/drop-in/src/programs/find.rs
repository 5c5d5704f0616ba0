//! Searches that can end early, for a number at the start, in the middle, at the end and nowhere.

use super::random_numbers;
use crate::Program;
use rayon::prelude::*;
use std::sync::Arc;

const COUNT: usize = 1 << 20;

pub fn programs() -> Vec<Program> {
    let numbers = Arc::new(random_numbers(COUNT));
    let places = [("start", 10), ("middle", COUNT / 2 + 1), ("end", COUNT - 2)];
    let mut programs = Vec::new();
    for (place, at) in places {
        let wanted = numbers[at];
        let shared = numbers.clone();
        programs.push(Program::giving(
            format!("find_any_{place}"),
            move || shared.par_iter().find_any(|&&x| x == wanted).copied(),
            Some(wanted),
        ));
        let shared = numbers.clone();
        programs.push(Program::giving(
            format!("find_first_{place}"),
            move || shared.par_iter().position_first(|&x| x == wanted),
            Some(at),
        ));
    }
    // `x | 1` is odd, so no number is found.
    programs.push(Program::giving(
        "any_nowhere",
        move || numbers.par_iter().any(|&x| (x | 1) % 2 == 0),
        false,
    ));
    programs
}
