//! The programs of the NAS parallel benchmarks find the right answers, the same bits in every way
//! of running them, in the declared phases.

use super::testing::{alone, looped, with_barriers};
use super::{Bt, BtPhases, Cg, CgPhases, Class, Declaration, Ft, FtPhases, Npb, Phase, Program};
use manycore_platform::Native;

/// Runs a program in several ways. All must find the same bits.
fn runs_the_same<Q: Program>(make: impl Fn() -> Q, answer: impl Fn(&Q) -> Vec<u64>) {
    let serial = make();
    alone(&serial);
    println!("{}", serial.verify().unwrap());
    let mut others = with_barriers(["futex", "dissemination"], 3, &make);
    others.push(looped(2, make));
    for program in others {
        assert_eq!(answer(&program), answer(&serial));
    }
}

fn bits(numbers: impl IntoIterator<Item = f64>) -> Vec<u64> {
    numbers.into_iter().map(f64::to_bits).collect()
}

fn bt(class: Class) {
    let answer = |bt: &Bt<Native>| {
        let norms = bt.norms();
        bits(norms.residual.into_iter().chain(norms.error))
    };
    runs_the_same(|| Bt::<Native>::new(class), answer);
}

fn cg(class: Class) {
    let answer = |cg: &Cg<Native>| bits(cg.zetas().into_iter().chain(cg.residuals()));
    runs_the_same(|| Cg::<Native>::new(class), answer);
}

fn ft(class: Class) {
    let answer = |ft: &Ft<Native>| bits(ft.checksums().into_iter().flat_map(|(re, im)| [re, im]));
    runs_the_same(|| Ft::<Native>::new(class), answer);
}

#[test]
fn bt_of_class_s_is_the_same_in_all_ways() {
    bt(Class::S);
}

#[test]
fn cg_of_class_s_is_the_same_in_all_ways() {
    cg(Class::S);
}

#[test]
fn cg_of_class_w_is_the_same_in_all_ways() {
    cg(Class::W);
}

#[test]
fn ft_of_class_s_is_the_same_in_all_ways() {
    ft(Class::S);
}

#[test]
fn ft_of_class_w_is_the_same_in_all_ways() {
    ft(Class::W);
}

/// The known zetas are printed by NPB's program.
#[test]
fn cg_finds_the_known_zeta_of_each_iteration() {
    let of_s = [
        9.9986441579140,
        8.5733279203222,
        8.5954510374058,
        8.5969972340737,
        8.5971549151767,
        8.5971744311608,
        8.5971770704913,
        8.5971774440630,
        8.5971774983942,
        8.5971775064409,
        8.5971775076486,
        8.5971775078318,
        8.5971775078598,
        8.5971775078641,
        8.5971775078648,
    ];
    let of_w = [
        11.999700372738,
        10.345727566406,
        10.361788013796,
        10.362541628497,
        10.362590585447,
        10.362594646709,
    ];
    for (class, known, digit) in [(Class::S, &of_s[..], 1e-13), (Class::W, &of_w[..], 1e-12)] {
        let cg = Cg::<Native>::new(class);
        alone(&cg);
        for (zeta, known) in cg.zetas().iter().zip(known) {
            assert!(
                (zeta - known).abs() < digit,
                "class {class}: {zeta}, not {known}"
            );
        }
        assert!(cg.residuals().iter().all(|&residual| residual < 1e-11));
    }
}

#[test]
fn programs_run_their_declared_phases() {
    let recorded = |npb: Npb, class| {
        let program = npb.on_this_machine(class);
        let phases = alone(&*program);
        program.verify().unwrap();
        phases
    };
    let steps = |declared: &dyn Declaration| declared.step().repeat(declared.steps());
    let bt = BtPhases::of(Class::S);
    assert_eq!(recorded(Npb::Bt, Class::S), steps(&bt));
    for class in [Class::S, Class::W] {
        assert_eq!(recorded(Npb::Cg, class), steps(&CgPhases::of(class)));
        let ft = FtPhases::of(class);
        let declared = [ft.before(), steps(&ft)].concat();
        assert_eq!(recorded(Npb::Ft, class), declared);
    }
}

#[test]
fn declarations_of_all_classes_are_plausible() {
    for npb in Npb::ALL {
        let mut last = 0.0;
        for class in Class::ALL {
            let declared = npb.declaration(class);
            let step = declared.step();
            let instructions: f64 = step.iter().map(Phase::instructions).sum();
            let all = instructions * declared.steps() as f64;
            assert!(all > last, "{npb} {class}: {all} instructions");
            last = all;
            let made = declared.preparation();
            assert!(
                made.instructions > 0.0 && made.instructions < all,
                "{npb} {class}"
            );
            for phase in step {
                assert!(
                    (1..phase.items).contains(&phase.grain),
                    "{npb} {class}: {phase:?}"
                );
                assert!(phase.bytes() > 0.0);
            }
        }
    }
}

#[test]
fn a_program_that_has_not_run_does_not_verify() {
    for npb in Npb::ALL {
        let error = npb.on_this_machine(Class::S).verify().unwrap_err();
        println!("{error}");
        assert!(error.to_string().contains("; expected "));
    }
}
