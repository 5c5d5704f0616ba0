//! The regret (slowdown relative to the best block) of each model on machines that its fit has not seen, and the effect
//! of further inputs.

use super::cell::InputsCell;
use super::fit::{Form, Further, Model};
use crate::measure::student::Mean;
use manycore_programs::cost::published::{Features, Weights};
use std::collections::BTreeMap;

/// The machines are divided into this many parts. Each is left out once.
const PARTS: usize = 10;
/// The additions of an iteration in the formula of the document (Shuai's paper). A compiler folds them.
const COMP: u64 = 1024;

/// A model and its blocks, one for each loop. Its fit has not seen the loop's machine.
pub(super) struct Judged {
    pub(super) name: String,
    /// The form and inputs of a fitted model, or `None` for a model that is not fitted.
    pub(super) fitted: Option<(Form, Further)>,
    pub(super) blocks: Vec<f64>,
    pub(super) regrets: Vec<f64>,
    /// The mean regret of each machine's loops.
    by_machine: Vec<f64>,
}

impl Judged {
    fn new(
        name: String,
        fitted: Option<(Form, Further)>,
        cells: &[InputsCell],
        blocks: Vec<f64>,
    ) -> Self {
        let regret = |(cell, &block): (&InputsCell, &f64)| cell.regret(block);
        let regrets: Vec<f64> = cells.iter().zip(&blocks).map(regret).collect();
        let mut machines: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (cell, &regret) in cells.iter().zip(&regrets) {
            machines
                .entry(cell.machine.number)
                .or_default()
                .push(regret);
        }
        let mean = |regrets: &Vec<f64>| regrets.iter().sum::<f64>() / regrets.len() as f64;
        Self {
            name,
            fitted,
            blocks,
            by_machine: machines.values().map(mean).collect(),
            regrets,
        }
    }

    /// The mean over machines, which are independent of each other. `None` if there are no loops.
    pub(super) fn mean(&self) -> Option<Mean> {
        Mean::of(&self.by_machine)
    }

    /// How much more regret this model has than `other`, paired by machine.
    pub(super) fn more_than(&self, other: &Self) -> Option<Mean> {
        let pairs = self.by_machine.iter().zip(&other.by_machine);
        Mean::of(&pairs.map(|(a, b)| a - b).collect::<Vec<_>>())
    }
}

/// All models. Empty if there are fewer than two machines, since then no machine can be left out.
pub(super) struct InputsResults {
    pub(super) cells: Vec<InputsCell>,
    pub(super) judged: Vec<Judged>,
}

impl InputsResults {
    pub(super) fn new(cells: Vec<InputsCell>) -> Self {
        let mut judged = Vec::new();
        let machines: std::collections::BTreeSet<usize> =
            cells.iter().map(|cell| cell.machine.number).collect();
        if machines.len() > 1 {
            let of = |block: &dyn Fn(&InputsCell) -> f64| cells.iter().map(block).collect();
            let published = of(&|cell| {
                let run = &cell.run;
                let groups = cell.groups() as usize;
                let features = Features::new(groups, run.threads, run.read, run.write, COMP);
                Weights::PUBLISHED
                    .value(&features)
                    .max(1.0)
                    .min(run.n as f64)
            });
            let priced = of(&|cell| cell.balance);
            judged.push(Judged::new(
                "published formula".into(),
                None,
                &cells,
                published,
            ));
            judged.push(Judged::new(
                "prices, nothing fitted".into(),
                None,
                &cells,
                priced,
            ));
            for form in Form::ALL {
                for further in Further::ALL {
                    let blocks = left_out(&cells, PARTS.min(machines.len()), form, further);
                    let name = form.name().to_owned();
                    judged.push(Judged::new(name, Some((form, further)), &cells, blocks));
                }
            }
        }
        Self { cells, judged }
    }

    pub(super) fn of(&self, form: Form, further: Further) -> Option<&Judged> {
        let mut all = self.judged.iter();
        all.find(|judged| judged.fitted == Some((form, further)))
    }
}

/// The block for each loop of a model that is fitted to the machines of all other parts.
fn left_out(cells: &[InputsCell], parts: usize, form: Form, further: Further) -> Vec<f64> {
    let mut blocks = vec![f64::NAN; cells.len()];
    for part in 0..parts {
        let is_left_out = |cell: &InputsCell| cell.machine.number % parts == part;
        let others: Vec<&InputsCell> = cells.iter().filter(|cell| !is_left_out(cell)).collect();
        let model = Model::fit(form, further, &others);
        for (block, cell) in blocks.iter_mut().zip(cells) {
            if is_left_out(cell) {
                *block = model.block(cell);
            }
        }
    }
    blocks
}
