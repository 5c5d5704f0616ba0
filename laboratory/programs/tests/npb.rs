//! The programs of the NAS parallel benchmarks: right answers, the same bits whoever runs
//! them, and the phases that were declared.

use manycore::Pool;
use manycore_platform::Native;
use manycore_programs::barrier::{Barrier, BarrierVisitor, with_barrier};
use manycore_programs::spmd::{
    Alone, Bt, BtPhases, Cg, CgPhases, Class, Declaration, Ft, FtPhases, Looped, Member, Npb,
    Phase, Program, Ranked, Sums, Worksharing,
};
use manycore_team::barrier::Placement;
use std::ops::Range;

fn alone(program: &dyn Program) {
    let (mut alone, sums) = (Alone, Sums::new(program.grains()));
    // SAFETY: a team of one, whose sums nobody else has.
    unsafe { program.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
}

/// A team that meets at a barrier.
struct Team<'a> {
    program: &'a dyn Program,
    ranks: usize,
}

impl BarrierVisitor<Native> for Team<'_> {
    type Output = ();

    fn visit<B: Barrier<Native>>(self) {
        let Self { program, ranks } = self;
        let barrier = B::new(&Placement::flat(ranks).on_cores(2));
        let sums = Sums::new(program.grains());
        std::thread::scope(|scope| {
            for rank in 0..ranks {
                let (barrier, sums) = (&barrier, &sums);
                scope.spawn(move || {
                    // SAFETY: the barrier is for so many, and each is made once.
                    let mut member = unsafe { Member::new(barrier, rank, ranks) };
                    // SAFETY: all are given these sums, and run this program.
                    unsafe { program.run(&mut Ranked::<Native>::new(&mut member, sums)) };
                });
            }
        });
    }
}

/// Runs a program in many ways, which must all find the very same.
fn runs_the_same<Q: Program>(make: impl Fn() -> Q, answer: impl Fn(&Q) -> Vec<u64>) {
    let serial = make();
    alone(&serial);
    println!("{}", serial.verify().unwrap());

    let in_teams = ["futex", "dissemination"].map(|barrier| {
        let program = make();
        let (team, ranks) = (&program, 3);
        with_barrier(
            barrier,
            Team {
                program: team,
                ranks,
            },
        )
        .unwrap();
        program
    });
    for program in in_teams {
        program.verify().unwrap();
        assert_eq!(answer(&program), answer(&serial));
    }

    let pool = Pool::builder().threads(2).build().unwrap();
    let program = make();
    let mut loops = Looped::on(&pool);
    // SAFETY: run once, by this thread, which looks at it when that is over.
    unsafe { program.run(&mut loops) };
    program.verify().unwrap();
    assert_eq!(answer(&program), answer(&serial));
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
fn bt_of_class_s_whoever_runs_it() {
    bt(Class::S);
}

#[test]
fn cg_of_class_s_whoever_runs_it() {
    cg(Class::S);
}

#[test]
fn cg_of_class_w_whoever_runs_it() {
    cg(Class::W);
}

#[test]
fn ft_of_class_s_whoever_runs_it() {
    ft(Class::S);
}

#[test]
fn ft_of_class_w_whoever_runs_it() {
    ft(Class::W);
}

/// Those that NPB's program prints.
#[test]
fn cg_finds_the_known_zetas_on_its_way() {
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

/// Runs phases and keeps them.
struct Recorder(Vec<Phase>);

impl Recorder {
    fn ranges(&mut self, phase: &Phase) -> impl Iterator<Item = Range<usize>> {
        self.0.push(*phase);
        let (items, grain) = (phase.items, phase.grain);
        (0..items)
            .step_by(grain)
            .map(move |start| start..items.min(start + grain))
    }
}

// SAFETY: one thread calls the bodies with every item once.
unsafe impl Worksharing for Recorder {
    fn share(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) + Sync)) {
        self.ranges(phase).for_each(body);
    }

    fn sum(&mut self, phase: &Phase, body: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
        self.ranges(phase).map(body).sum()
    }
}

#[test]
fn what_is_run_is_what_was_declared() {
    let recorded = |npb: Npb, class| {
        let mut recorder = Recorder(Vec::new());
        let program = npb.on_this_machine(class);
        // SAFETY: run once, by this thread, which looks at it when that is over.
        unsafe { program.run(&mut recorder) };
        program.verify().unwrap();
        recorder.0
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
fn declarations_of_all_classes() {
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
