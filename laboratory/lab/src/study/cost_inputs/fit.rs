//! The models: two forms and the measured prices, each with and without further inputs. They are fitted by least
//! squares to the logarithms of the preferred blocks.

use super::cell::InputsCell;
use crate::model::minimise;

manycore_programs::by_name! {
    /// How a model combines its inputs.
    pub(super) enum Form: "unknown form", "expected one of" {
        /// The formula of the document (Shuai's paper): a linear function of the core groups divided by a linear
        /// function of all other inputs.
        Document = "document's form",
        /// A product of powers of all inputs.
        Powers = "powers",
        /// The block that balances the machine's measured prices, times powers of an iteration's bytes and of further
        /// inputs.
        Prices = "measured prices",
    }
}

manycore_programs::by_name! {
    /// The inputs of a model in addition to the document's inputs, which are threads, core groups, and bytes read and
    /// written.
    pub(super) enum Further: "unknown inputs", "expected one of" {
        Nothing = "nothing",
        Frequency = "frequency",
        Latency = "cache latency",
        Both = "frequency and cache latency",
    }
}

impl Further {
    /// The logarithms of the further inputs, each relative to a middle value.
    fn of(self, cell: &InputsCell) -> Vec<f64> {
        let machine = &cell.machine;
        let frequency = (machine.ghz / 2.2).log2();
        let near = machine.llc_ns + machine.snoop_ns;
        let far = match cell.groups() > 1.0 {
            true => near + 2.0 * machine.crossing_ns,
            false => near,
        };
        let latency = [(machine.llc_ns, 15.0), (near, 40.0), (far, 80.0)];
        let latency = latency.map(|(ns, middle): (f64, f64)| (ns / middle).log2());
        match self {
            Self::Nothing => Vec::new(),
            Self::Frequency => vec![frequency],
            Self::Latency => latency.to_vec(),
            Self::Both => [&[frequency], &latency[..]].concat(),
        }
    }
}

/// A fitted model.
#[derive(Clone, Debug)]
pub(super) struct Model {
    form: Form,
    further: Further,
    weights: Vec<f64>,
}

impl Model {
    /// The model with the least squares over `cells` that the search finds.
    pub(super) fn fit(form: Form, further: Further, cells: &[&InputsCell]) -> Self {
        let known: Vec<Known> = cells
            .iter()
            .map(|cell| Known::new(form, further, cell))
            .collect();
        let preferred: Vec<f64> = cells.iter().map(|cell| cell.preferred()).collect();
        let mean = preferred.iter().sum::<f64>() / preferred.len().max(1) as f64;
        let weights = known.first().map_or(0, |known| known.inputs.len());
        let mut start = vec![0.0; weights];
        // The search begins at a constant block, or at the block that balances the prices.
        match form {
            Form::Document => start[0] = mean.exp2(),
            Form::Powers => start[0] = mean,
            Form::Prices => (),
        }
        let weights = minimise(&start, |weights| {
            let all = known.iter().zip(&preferred);
            all.map(|(known, preferred)| known.log2_block(form, weights) - preferred)
                .collect()
        });
        Self {
            form,
            further,
            weights,
        }
    }

    /// The block for a loop, from 1 to the loop's length, not rounded.
    pub(super) fn block(&self, cell: &InputsCell) -> f64 {
        let known = Known::new(self.form, self.further, cell);
        let block = known.log2_block(self.form, &self.weights).exp2();
        // Beyond a pole the document's form has no meaning. There the NaN becomes 1.
        block.max(1.0).min(cell.run.n as f64)
    }
}

/// The inputs of a form for one loop.
struct Known {
    /// One input for each weight.
    inputs: Vec<f64>,
    /// The binary logarithm of the block of the prices.
    balance: f64,
}

impl Known {
    fn new(form: Form, further: Further, cell: &InputsCell) -> Self {
        let log2 = |value: u64| (value as f64).log2();
        let (threads, groups) = (cell.run.threads as f64, cell.groups());
        let (read, write) = (log2(cell.run.read), log2(cell.run.write));
        let mut inputs = match form {
            Form::Document => vec![1.0, groups, threads, read, write],
            Form::Powers => vec![1.0, groups.log2(), threads.log2(), read, write],
            Form::Prices => vec![(1024.0 / cell.bytes()).log2()],
        };
        inputs.extend(further.of(cell));
        Self {
            inputs,
            balance: cell.balance.log2(),
        }
    }

    /// The binary logarithm of the block, or NaN beyond a pole of the document's form.
    fn log2_block(&self, form: Form, weights: &[f64]) -> f64 {
        let dot = |from: usize, to: usize| -> f64 {
            let inputs = self.inputs[from..to].iter().zip(&weights[from..to]);
            inputs.map(|(input, weight)| input * weight).sum()
        };
        let all = self.inputs.len();
        match form {
            // All weights may be scaled together, so the constant of the denominator can be 1.
            Form::Document => {
                let (above, below) = (dot(0, 2), 1.0 + dot(2, all));
                match above > 0.0 && below > 0.0 {
                    true => (above / below).log2(),
                    false => f64::NAN,
                }
            }
            Form::Powers => dot(0, all),
            Form::Prices => self.balance + dot(0, all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::cost_inputs::case::DrawnLoop;
    use crate::study::cost_inputs::virtual_machine::VirtualMachine;

    /// Loops of random machines. The best block of each loop is that of `rule`, and latencies grow with the distance
    /// from it.
    fn cells(rule: impl Fn(&InputsCell) -> f64) -> Vec<InputsCell> {
        let mut random = fastrand::Rng::with_seed(3);
        let one = |number| {
            let machine = VirtualMachine::draw(number, &mut random);
            let mut cell = InputsCell {
                run: DrawnLoop {
                    number: 0,
                    threads: machine.cores(),
                    read: 1 << random.u32(6..12),
                    write: 1 << random.u32(6..12),
                    n: 4096,
                },
                machine,
                measured: Vec::new(),
                balance: 8.0,
            };
            let best = rule(&cell).log2();
            let all = (0..100).map(|step| (f64::from(step) / 8.0).exp2());
            cell.measured = all
                .map(|block| (block as usize, 1.0 + (block.log2() - best).abs()))
                .collect();
            cell
        };
        (0..60).map(one).collect()
    }

    fn mean_regret(form: Form, further: Further, cells: &[InputsCell]) -> f64 {
        let model = Model::fit(form, further, &cells.iter().collect::<Vec<_>>());
        let regrets = cells.iter().map(|cell| cell.regret(model.block(cell)));
        regrets.sum::<f64>() / cells.len() as f64
    }

    #[test]
    fn an_input_helps_if_and_only_if_the_best_block_depends_on_it() {
        let by_clock = cells(|cell| cell.balance * cell.machine.ghz / 2.2);
        let by_threads = cells(|cell| 2.0 * cell.run.threads as f64);
        for form in [Form::Powers, Form::Prices] {
            let [without, with] = [Further::Latency, Further::Both]
                .map(|further| mean_regret(form, further, &by_clock));
            assert!(with < 0.5 * without, "{form}: {without} {with}");
        }
        let [without, with] = [Further::Nothing, Further::Both]
            .map(|further| mean_regret(Form::Powers, further, &by_threads));
        assert!((without - with).abs() < 0.02, "{without} {with}");
    }

    #[test]
    fn the_documents_form_is_fitted() {
        let rule = |cell: &InputsCell| 64.0 / (1.0 + 0.1 * cell.run.threads as f64);
        let loops = cells(rule);
        let regret = mean_regret(Form::Document, Further::Nothing, &loops);
        assert!(regret < 0.1, "{regret}");
    }
}
