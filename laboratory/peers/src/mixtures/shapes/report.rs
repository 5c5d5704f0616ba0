//! Tables of the shapes' figures on both runtimes.

use super::Figure;
use crate::contest::Contest;
use crate::mixtures::Row;
use crate::mixtures::visit::Order;
use crate::output::Output;
use crate::stats::quantile;
use crate::table;
use anyhow::Result;

/// Runs the shapes `names` on both runtimes.
///
/// # Errors
///
/// If the figures cannot be written.
pub fn measure(names: &[&str], full: bool, contest: &mut Contest) -> Result<()> {
    for name in names {
        let order = Order::Shape {
            name: (*name).to_owned(),
            full,
        };
        let visits = order.on_both(contest)?;
        if let Some(visits) = visits {
            report(name, &visits, &mut contest.output)?;
        }
    }
    Ok(())
}

fn report(name: &str, visits: &[Vec<Vec<Figure>>; 2], output: &mut Output) -> Result<()> {
    let header = [name, "threads", "", "manycore", "rayon", "ratio"];
    let mut table = table::table(header.map(str::to_owned).into());
    for (i, figure) in visits[0][0].iter().enumerate() {
        let [own, rayon] = visits
            .each_ref()
            .map(|rounds| rounds.iter().map(|it| it[i].value).collect::<Vec<_>>());
        let ratios: Vec<_> = own.iter().zip(&rayon).map(|(a, b)| a / b).collect();
        let row = Row {
            mixture: name,
            case: &figure.case,
            threads: figure.threads,
            figure: &figure.name,
            unit: &figure.unit,
            manycore: quantile(&own, 0.5),
            rayon: quantile(&rayon, 0.5),
            ratio: Some(quantile(&ratios, 0.5)).filter(|ratio| ratio.is_finite()),
            rounds: own.len(),
        };
        table.add_row([
            row.case.to_owned(),
            row.threads.to_string(),
            format!("{}, {}", row.figure, row.unit),
            table::figure(row.manycore),
            table::figure(row.rayon),
            row.ratio.map_or("-".to_owned(), table::figure),
        ]);
        output.row(&row)?;
    }
    output.say(&format!("\n{table}"));
    Ok(())
}
