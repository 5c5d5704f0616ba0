//! Reads damaged tables and prices, for [`crate::fuzz`].

use super::data::Source;
use super::prices::PriceList;
use super::{EvalReport, FitReport, PredictReport, shipped};
use crate::fuzz::harness::{change, input};
use fastrand::Rng;

/// One in this many tables is also used for a fit. A fit takes longer than everything else.
const FITTED: u32 = 500;

/// Reads a part of the table of the document (Shuai's paper), with a few changes.
pub(crate) fn table(rng: &mut Rng) -> &'static str {
    let all = include_str!("../../data/faa_block_size_latency.csv");
    let (header, rows) = all.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let from = rng.usize(..rows.len());
    let to = rows.len().min(from + rng.usize(..30));
    let mut text = format!("{header}\n{}\n", rows[from..to].join("\n"));
    for _ in 0..rng.usize(1..=5) {
        change(rng, &mut text, all);
    }
    input(text.clone());
    let source = Source::shipped("f.csv", &text);
    if let Ok(configurations) = source.configurations() {
        let prices = PriceList::shipped();
        for at in &configurations {
            let block = prices.block(at);
            assert!((1..=at.n).contains(&block), "{at:?}: {block}");
            assert!(prices.latency(at, block) >= 0.0, "{at:?}");
        }
    }
    match source.cells() {
        Ok(cells) => {
            assert!(cells.iter().all(|cell| cell.best() > 0.0));
            if rng.u32(..FITTED) > 0 {
                return "tables read";
            }
            let prices = PriceList::shipped();
            let configurations = source.configurations().unwrap();
            FitReport::new(&cells, prices.clone()).unwrap().to_string();
            EvalReport::new(&cells, &prices, false, false)
                .unwrap()
                .to_string();
            PredictReport::new(configurations, &prices).to_string();
            "tables fitted to"
        }
        Err(error) => {
            assert!(error.to_string().starts_with("f.csv"), "{error}");
            "tables refused"
        }
    }
}

/// Reads the shipped prices, with a few changes.
pub(crate) fn parameters(rng: &mut Rng) -> &'static str {
    let mut text = shipped::PRICES.to_owned();
    for _ in 0..rng.usize(1..=4) {
        change(rng, &mut text, shipped::PRICES);
    }
    input(text.clone());
    match PriceList::parse(&text) {
        Ok(prices) => {
            for at in shipped::latency().configurations().unwrap().iter().take(5) {
                let block = prices.block(at);
                assert!((1..=at.n).contains(&block), "{at:?}: {block}");
            }
            "prices read"
        }
        Err(_) => "prices refused",
    }
}
