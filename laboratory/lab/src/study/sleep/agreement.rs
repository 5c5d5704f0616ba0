//! How well the measurements agree with those of the document (Fontena's experiment): the order of the policies on the
//! most threads, and the speedups on all numbers of threads.

use super::cell::Policy;
use super::config::SleepConfig;
use super::measured::MeasuredPolicies;
use super::published::Published;
use super::speedup::{self, Single};
use crate::measure::student::Mean;
use crate::report::table::{Cell, Table};
use crate::report::words::fixed;
use manycore_programs::fork::Algorithm;
use manycore_programs::sleep::Mode;

/// Kendall's tau-b of pairs of numbers: 1 if both orders are equal, -1 if they are opposite, near 0 if they are
/// independent. Two equal numbers count for neither order. Returns `None` if all numbers of a side are equal.
///
/// M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945).
fn kendall(pairs: &[(f64, f64)]) -> Option<f64> {
    let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
    for (at, a) in pairs.iter().enumerate() {
        for b in &pairs[..at] {
            let sign = |a: f64, b: f64| f64::from(i8::from(a > b) - i8::from(a < b));
            let (x, y) = (sign(a.0, b.0), sign(a.1, b.1));
            sum += x * y;
            first += x * x;
            second += y * y;
        }
    }
    (first > 0.0 && second > 0.0).then(|| sum / f64::sqrt(first * second))
}

/// The measured and the published speedup of each policy of the document on `threads` threads.
fn speedups(
    config: &SleepConfig,
    published: &Published,
    orders: &[Vec<MeasuredPolicies>],
    (algorithm, threads): (Algorithm, usize),
) -> Vec<(f64, f64)> {
    let of = |policy: &Policy| {
        Some((
            speedup::speedup(orders, algorithm, policy, threads, Single::Fastest)?.mean,
            published.speedup(algorithm, policy, threads)?,
        ))
    };
    let sound = config.policies.iter();
    sound
        .filter(|policy| policy.mode == Mode::Sound)
        .filter_map(of)
        .collect()
}

/// A row for each algorithm, and one row for all. Returns `None` if nothing can be compared with the document.
pub(super) fn table(
    config: &SleepConfig,
    published: &Published,
    all_orders: &[Vec<MeasuredPolicies>],
) -> Option<Table> {
    let most = config.most_threads();
    let orders = match all_orders {
        [_] => &[],
        several => several,
    };
    let (mut rows, mut taus, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    // The mean tau of each order.
    let mut by_order: Vec<Vec<f64>> = vec![Vec::new(); orders.len()];
    for &algorithm in &config.algorithms {
        let pairs =
            |&threads: &usize| speedups(config, published, all_orders, (algorithm, threads));
        let tau = kendall(&pairs(&most));
        let mut of_orders = Vec::new();
        for (order, all) in orders.chunks(1).zip(&mut by_order) {
            let tau = kendall(&speedups(config, published, order, (algorithm, most)));
            of_orders.extend(tau);
            all.extend(tau);
        }
        let several = config.threads.iter().filter(|&&threads| threads > 1);
        let wrong = |(here, there): (f64, f64)| (here / there - 1.0).abs();
        let of_all: Vec<f64> = several.flat_map(pairs).map(wrong).collect();
        let error = Mean::of(&of_all).map(|error| error.mean);
        if tau.is_none() && error.is_none() {
            continue;
        }
        let shown = mean_tau(&of_orders).or(tau.map(|tau| (tau, None)));
        rows.push(row(algorithm.name(), shown, error));
        taus.extend(tau);
        errors.extend(error);
    }
    if rows.is_empty() {
        return None;
    }
    let means: Vec<f64> = by_order
        .iter()
        .filter_map(|taus| Some(Mean::of(taus)?.mean))
        .collect();
    let tau = mean_tau(if orders.is_empty() { &taus } else { &means });
    let error = Mean::of(&errors).map(|error| error.mean);
    rows.push(row("mean", tau, error));
    Some(Table {
        caption: format!(
            "Agreement with the document. Kendall's tau of the policies' speedups on {most} \
             threads is 1 if the speedups have the same order in both, and 0 if the orders are \
             unrelated; it has the 95% interval {}, cut at -1 and 1. The error is the mean error of the speedups \
             on several threads",
            match config.orders.len() {
                1 => "of its mean over the algorithms".to_owned(),
                count => format!("of its mean over {count} orders of events"),
            }
        ),
        header: ["algorithm", "Kendall's tau", "error of speedups"]
            .map(str::to_owned)
            .into(),
        rows,
    })
}

/// A tau, and the ends of its interval.
type Tau = (f64, Option<[f64; 2]>);

/// The mean of taus. No tau is beyond -1 and 1, so the interval is cut there.
fn mean_tau(taus: &[f64]) -> Option<Tau> {
    let mean = Mean::of(taus)?;
    let cut = |ends: [f64; 2]| ends.map(|end| end.clamp(-1.0, 1.0));
    Some((mean.mean, mean.interval().map(cut)))
}

fn row(name: &str, tau: Option<Tau>, error: Option<f64>) -> Vec<Cell> {
    let tau = tau.map(|(tau, interval)| match interval {
        Some([low, high]) => {
            let [tau, low, high] = [tau, low, high].map(|number| fixed(number, 2));
            format!("{tau} ({low} to {high})")
        }
        None => fixed(tau, 2),
    });
    let error = error.map(|error| format!("{:.0}%", 100.0 * error));
    vec![Cell::new(name), Cell::or_dash(tau), Cell::or_dash(error)]
}

#[cfg(test)]
mod tests {
    use super::super::measured::by_order;
    use super::super::synthetic;
    use super::*;

    #[test]
    fn tau_counts_the_pairs_in_order() {
        let of = |second: [f64; 4]| {
            kendall(&[1.0, 2.0, 3.0, 4.0].map(|at| (at, second[at as usize - 1])))
        };
        assert_eq!(of([5.0, 6.0, 7.0, 8.0]), Some(1.0));
        assert_eq!(of([8.0, 7.0, 6.0, 5.0]), Some(-1.0));
        // One of six pairs is in the other order.
        assert_eq!(of([5.0, 6.0, 8.0, 7.0]), Some(4.0 / 6.0));
        // With a tie, five pairs are in the same order, of six pairs on one side and of five on the other.
        assert_eq!(of([5.0, 6.0, 7.0, 7.0]), Some(5.0 / f64::sqrt(30.0)));
        assert_eq!(of([5.0; 4]), None);
    }

    #[test]
    fn an_interval_of_taus_ends_where_taus_end() {
        let (mean, interval) = mean_tau(&[1.0, 0.6, 0.9]).unwrap();
        assert!((mean - 2.5 / 3.0).abs() < 1e-9);
        let [low, high] = interval.unwrap();
        assert!(low < 0.6 && high == 1.0, "{low} {high}");
        assert_eq!(mean_tau(&[0.5]), Some((0.5, None)));
    }

    #[test]
    fn a_table_without_errors_of_speedups_has_taus() {
        let config = SleepConfig::on_dahu(&["life"], &["size=document"], &[1]).unwrap();
        let measured = synthetic::measured(&[
            ("packed", 1, 1000.0),
            ("split", 1, 1100.0),
            ("split-padded", 1, 900.0),
        ]);
        let published = Published::load().unwrap();
        let table = table(&config, &published, &by_order(&measured, &[0])).unwrap();
        let cells = |row: usize| table.rows[row].iter().map(|cell| &*cell.text);
        let tau = cells(0).nth(1).unwrap();
        assert!(tau.parse::<f64>().is_ok(), "{tau}");
        assert_eq!(cells(0).collect::<Vec<_>>(), ["life", tau, "-"]);
        assert_eq!(cells(1).collect::<Vec<_>>(), ["mean", tau, "-"]);
        // Nothing was measured.
        assert!(super::table(&config, &published, &by_order(&[], &[0])).is_none());
    }
}
