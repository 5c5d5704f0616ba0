//! `manycore model fit`, `predict` and `eval`.

use crate::cli::{ModelArgs, ModelCommand};
use crate::failure::bad_input;
use crate::model::{self, ModelError, ModelOptions};

pub(crate) fn run(command: &ModelCommand) -> anyhow::Result<()> {
    match command {
        ModelCommand::Fit(args) => {
            let report = model::fit(&options(args)).map_err(refused)?;
            super::show(&report, args.format)
        }
        ModelCommand::Predict(args) => {
            let report = model::predict(&options(args)).map_err(refused)?;
            super::show(&report, args.format)
        }
        ModelCommand::Eval(args) => {
            let report = model::eval(&options(args)).map_err(refused)?;
            super::show(&report, args.format)
        }
    }
}

fn options(args: &ModelArgs) -> ModelOptions {
    ModelOptions {
        data: args.data.clone(),
        params: args.params.clone(),
    }
}

/// Whatever a model refuses is a file that the user named.
fn refused(error: ModelError) -> anyhow::Error {
    bad_input(error.to_string())
}
