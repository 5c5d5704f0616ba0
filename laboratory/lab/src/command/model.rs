//! `manycore model fit`, `predict` and `eval`.

use crate::cli::{ModelArgs, ModelCommand};
use crate::failure::bad_input;
use crate::machine;
use crate::measure::progress::Spinner;
use crate::model::{self, ModelError, ModelOptions};
use crate::world::World;

pub(crate) fn run(command: &ModelCommand) -> anyhow::Result<()> {
    match command {
        ModelCommand::Fit(args) => {
            let measured = match args.measure {
                true => {
                    let spinner = Spinner::new("prices");
                    Some(model::measure_presets(&mut |what| spinner.show(what))?)
                }
                false => None,
            };
            let options = options(&args.model);
            let report = model::fit(&options, measured).map_err(refused)?;
            super::output::show(&report, args.model.format)
        }
        ModelCommand::Predict(args) => {
            let mut options = options(&args.model);
            if let Some(on) = &args.on {
                let (world, _) = World::new(on, &[], &[])?;
                let spinner = Spinner::new("machine");
                let prices = machine::prices(&world, &mut |what| spinner.show(what))?;
                options.measured = Some((on.clone(), prices));
            }
            let report = model::predict(&options).map_err(refused)?;
            super::output::show(&report, args.model.format)
        }
        ModelCommand::Eval(args) => {
            let report = model::eval(&options(args)).map_err(refused)?;
            super::output::show(&report, args.format)
        }
    }
}

fn options(args: &ModelArgs) -> ModelOptions {
    ModelOptions {
        data: args.data.clone(),
        params: args.params.clone(),
        measured: None,
    }
}

/// Reports a model's error as bad input, since the cause is in a file that the user named.
fn refused(error: ModelError) -> anyhow::Error {
    bad_input(error.to_string())
}
