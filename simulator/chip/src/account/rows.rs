//! Counters as rows of a tidy table, and as text for a terminal.

use super::{CacheCounters, CoreCounters, Counters, HotLine};
use serde::Serialize;
use std::fmt;

/// A row of a tidy table: one number of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CounterRow {
    /// The kind of part: `machine`, `core`, `llc`, `link`, `optical`, `controller`, `latency`,
    /// `line`.
    pub part: &'static str,
    /// The identity of the part among the parts of its kind: a number, two numbers, or a name.
    pub which: String,
    /// The counted quantity.
    pub quantity: String,
    /// The value of the quantity.
    pub value: f64,
    /// The unit of the value.
    pub unit: &'static str,
}

struct Rows {
    rows: Vec<CounterRow>,
    part: &'static str,
    which: String,
}

impl Rows {
    fn of(&mut self, part: &'static str, which: impl fmt::Display) {
        self.part = part;
        self.which = which.to_string();
    }

    fn add(&mut self, quantity: impl Into<String>, value: f64, unit: &'static str) {
        self.rows.push(CounterRow {
            part: self.part,
            which: self.which.clone(),
            quantity: quantity.into(),
            value,
            unit,
        });
    }

    fn core(&mut self, core: &CoreCounters) {
        for (what, cycles) in core.stack() {
            self.add(format!("cycles-{what}"), cycles as f64, "cycles");
        }
        self.add("instructions", core.instructions as f64, "instructions");
        for (name, cache) in [("l1", core.l1), ("l2", core.l2)] {
            self.cache(name, cache);
            self.add(
                format!("{name}-mpki"),
                core.mpki(cache),
                "misses a thousand instructions",
            );
        }
        for (name, answers) in [
            ("group", core.group),
            ("remote", core.remote),
            ("memory", core.memory),
        ] {
            self.add(format!("served-{name}"), answers as f64, "accesses");
        }
    }

    fn cache(&mut self, name: &str, cache: CacheCounters) {
        self.add(format!("{name}-hits"), cache.hits as f64, "accesses");
        self.add(format!("{name}-misses"), cache.misses as f64, "accesses");
    }
}

impl Counters {
    /// All counters as rows: of the machine, of each core that worked, of each used cache, link and
    /// controller, of each bucket of the histograms, and of `lines` (such as
    /// [`Report::lines`](crate::Report)).
    ///
    /// ```
    /// use manycore_chip::{Simulated, Simulation, config::Config};
    /// use manycore_platform::Platform;
    ///
    /// let run = Simulation::new(&Config::preset("dahu")?)
    ///     .counters()
    ///     .run(|| Simulated::compute(1_000))?;
    /// let counters = run.statistics.counters.expect("they were asked for");
    /// let rows = counters.rows(&run.statistics.report.lines);
    /// let row = rows.iter().find(|row| row.quantity == "instructions").unwrap();
    /// assert_eq!((row.part, row.value), ("machine", 1_000.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rows(&self, lines: &[HotLine]) -> Vec<CounterRow> {
        let mut rows = Rows {
            rows: Vec::new(),
            part: "machine",
            which: "all".into(),
        };
        let time = self.cycles.max(1) as f64;
        rows.add("length", self.cycles as f64, "cycles");
        rows.core(&self.total());
        for (number, core) in self.cores.iter().enumerate() {
            if core.cycles[super::Activity::Idle] < core.cycles.sum() {
                rows.of("core", number);
                rows.core(core);
            }
        }
        for (group, cache) in self.shared.iter().enumerate() {
            if cache.hits + cache.misses > 0 {
                rows.of("llc", group);
                rows.cache("llc", *cache);
            }
        }
        for link in &self.links {
            rows.of("link", format!("{}-{}", link.from, link.to));
            rows.add("busy", link.busy as f64, "cycles");
            rows.add("use", link.busy as f64 / time, "share of time");
        }
        if self.optical.sent > 0 {
            rows.of("optical", "all");
            rows.add("sent", self.optical.sent as f64, "words");
            rows.add("received", self.optical.received as f64, "words");
        }
        for (number, controller) in self.controllers.iter().enumerate() {
            if controller.lines > 0 {
                rows.of("controller", number);
                rows.add("lines", controller.lines as f64, "lines");
                rows.add("use", controller.busy as f64 / time, "share of time");
                rows.add("queue", controller.waited as f64 / time, "requests");
            }
        }
        for (name, unit, histogram) in self.latencies.named() {
            for (least, last, count) in histogram.buckets() {
                rows.of("latency", name);
                rows.add(format!("{least}..{last} {unit}"), count as f64, "times");
            }
        }
        for line in lines {
            let names = match line.names.is_empty() {
                true => String::new(),
                false => format!(" {}", line.names.join(", ")),
            };
            rows.of("line", format!("{:#x}{names}", line.address));
            rows.add("transfers", line.transfers as f64, "times");
            rows.add("invalidations", line.invalidations as f64, "copies");
            rows.add("waited", line.waited as f64, "cycles");
            rows.add("spun", line.spun as f64, "cycles");
        }
        rows.rows
    }
}

/// Prints a few lines for a terminal: the machine's cycle stack, its caches, the busiest link and
/// controller, and latencies.
impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let all = total.cycles.sum().max(1) as f64;
        writeln!(f, "cycle stack of {} cores", self.cores.len())?;
        for (what, cycles) in total.stack() {
            if cycles > 0 {
                let share = 100.0 * cycles as f64 / all;
                let bar = "#".repeat((share / 2.0).round() as usize);
                writeln!(f, "{what:<12} {cycles:>15} cycles {share:>5.1}%  {bar}")?;
            }
        }
        writeln!(f, "\n{:<12} {:>15}", "instructions", total.instructions)?;
        let shared = self
            .shared
            .iter()
            .fold(CacheCounters::default(), |a, b| CacheCounters {
                hits: a.hits + b.hits,
                misses: a.misses + b.misses,
            });
        for (name, cache) in [("l1", total.l1), ("l2", total.l2), ("llc", shared)] {
            if cache.hits + cache.misses > 0 {
                let (hits, misses, mpki) = (cache.hits, cache.misses, total.mpki(cache));
                writeln!(
                    f,
                    "{name:<12} {hits:>15} hits {misses:>12} misses {mpki:>9.2} MPKI"
                )?;
            }
        }
        let time = self.cycles.max(1) as f64;
        if let Some(link) = self.links.iter().max_by_key(|link| link.busy) {
            writeln!(
                f,
                "{} links used; the most, {} to {}, {:.1}% of the time",
                self.links.len(),
                link.from,
                link.to,
                100.0 * link.busy as f64 / time
            )?;
        }
        let controllers = self.controllers.iter().enumerate();
        if let Some((number, one)) = controllers.max_by_key(|(_, one)| one.busy)
            && one.lines > 0
        {
            writeln!(
                f,
                "memory controller {number}, the busiest: {} lines, {:.1}% of the time, {:.2} \
                 requests waiting in the mean",
                one.lines,
                100.0 * one.busy as f64 / time,
                one.waited as f64 / time
            )?;
        }
        for (name, unit, histogram) in self.latencies.named() {
            if histogram.count() > 0 {
                writeln!(
                    f,
                    "{name:<16} {:>12} times; mean {:.1} {unit}, half within {}, 99% within {}, \
                     most {}",
                    histogram.count(),
                    histogram.mean(),
                    histogram.quantile(0.5),
                    histogram.quantile(0.99),
                    histogram.most()
                )?;
            }
        }
        Ok(())
    }
}
