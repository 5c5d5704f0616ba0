//! The preset as text. Each key has its value and a comment that names the measurement or the assumption.

use super::kernel;
use super::measured::{Measured, counts};
use super::{Shape, WRITTEN};
use crate::report::processor::cpu_model;
use std::fmt::Write as _;

/// All values of a preset. Times are in cycles.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) snoop: u64,
    pub(super) ways: Vec<u64>,
    pub(super) hold: u64,
    pub(super) lines: Vec<Line>,
    pub(super) classes: Vec<f64>,
    pub(super) distance: Vec<Vec<usize>>,
}

/// A line of the file: a table's header, or a key.
#[derive(Clone)]
pub(super) struct Line {
    key: &'static str,
    value: String,
    from: String,
}

impl Draft {
    pub(super) fn new(
        name: &str,
        shape: &Shape,
        measured: &Measured,
        group: usize,
        classes: &[f64],
        distance: Vec<Vec<usize>>,
    ) -> Self {
        let mut draft = Self {
            snoop: 1,
            ways: vec![1; classes.len()],
            hold: 0,
            lines: Vec::new(),
            classes: classes.to_vec(),
            distance,
        };
        draft.shape(name, shape, measured, group);
        draft.caches(measured);
        draft.memory(shape, measured);
        draft.system(measured);
        draft
    }

    fn table(&mut self, header: &'static str) {
        self.add(header, String::new(), String::new());
    }

    fn add(&mut self, key: &'static str, value: impl ToString, from: impl Into<String>) {
        let (value, from) = (value.to_string(), from.into());
        self.lines.push(Line { key, value, from });
    }

    fn shape(&mut self, name: &str, shape: &Shape, measured: &Measured, group: usize) {
        let cores = shape.places.len();
        let by_system = "as the system says";
        self.add("name", format!("{name:?}"), "the name of the file");
        self.add("title", format!("{:?}", cpu_model()), by_system);
        self.add("cores", cores, "usable CPUs");
        self.add("threads-per-core", shape.threads_per_core, by_system);
        let from = match group == shape.sharing {
            true => "the system names these CPUs as sharers of a last cache; handovers confirm it",
            false => {
                "by handovers: the cores do not share a last cache, although the system says so"
            }
        };
        self.add("group-cores", group, from);
        let addition = spread(measured, "addition", "ns per addition in a dependent chain");
        self.add("ghz", format!("{:.3}", ghz(measured)), addition);
        self.add("line", super::memory::LINE, "assumed");
        self.table("[core]");
        let cpi = (measured.median("byte") * ghz(measured) / 6.0).max(0.01);
        let what = "ns per byte of the unit task, which takes 6 instructions; an instruction of a \
             dependent chain takes a cycle";
        let from = spread(measured, "byte", what);
        self.add("cpi", format!("{cpi:.3}"), from);
        let pause = cycles(measured, measured.median("pause"));
        self.add(
            "spin-period",
            pause.max(1),
            spread(measured, "pause", "ns per pause instruction"),
        );
    }

    fn caches(&mut self, measured: &Measured) {
        let caches = &measured.caches;
        let source = if caches.are_known {
            "as the system says"
        } else {
            "assumed: the system does not say"
        };
        let mut above = 1;
        for (level, (name, header)) in [("l1", "[l1]"), ("l2", "[l2]"), ("llc", "[llc]")]
            .into_iter()
            .enumerate()
        {
            self.table(header);
            let set = caches.ways[level] * super::memory::LINE;
            let (bytes, from) = match level {
                2 if caches.reached < caches.bytes[2] => {
                    let from = "the largest pointer chase with at most twice the latency";
                    (
                        caches.reached,
                        format!("{from}; {} {source}", caches.bytes[2]),
                    )
                }
                _ => (caches.bytes[level], source.into()),
            };
            self.add("size", (bytes / set).max(1) * set, from);
            self.add("ways", caches.ways[level], source);
            let latency = cycles(measured, measured.median(name)).max(above);
            above = latency;
            self.add(
                "latency",
                latency,
                spread(measured, name, "ns per load in a pointer chase"),
            );
        }
        self.add("inclusive", false, "assumed");
        self.add(
            "snoop",
            SNOOP,
            "fitted: a simulated handover within a group takes the measured time",
        );
        self.add(
            "dirty",
            0,
            "contained in snoop, which was fitted to a line that was written to",
        );
        self.add("invalidate", 0, "contained in snoop");
        self.add("slices", "\"uniform\"", "assumed");
        self.table("[coherence]");
        let assumed = "assumed";
        self.add("protocol", "\"mesi\"", assumed);
        self.add("directory", "\"full-map\"", assumed);
        self.add("pointers", 0, "not used");
        self.add("latency", 0, "contained in the distances");
        self.add("occupancy", 4, assumed);
        self.add("home", "\"first-touch\"", assumed);
        self.add("clean-forward", true, assumed);
        self.add("data-path", "\"direct\"", assumed);
        self.add("writes", "\"back\"", assumed);
        self.table("[atomics]");
        self.add("kind", "\"near\"", assumed);
        let l1 = measured.median("l1");
        for name in ["cas", "faa", "swap", "tas"] {
            let own = cycles(measured, measured.median(name) - l1);
            self.add(
                name,
                own,
                spread(
                    measured,
                    name,
                    "ns per operation of one thread, minus a load",
                ),
            );
        }
        self.add(
            "fence",
            cycles(measured, measured.median("fence")),
            spread(measured, "fence", "ns per fence with a store before it"),
        );
        let time = spread(
            measured,
            "increments",
            "ns per increment, while 2 threads increment one counter",
        );
        let run = spread(measured, "run", "increments in a row on one core");
        let from = match measured.get("run") {
            Some(_) => format!("fitted so that a simulation comes near to both: {time}; {run}"),
            None => "not fitted: no two threads ran at the same time; 0 is the default".into(),
        };
        self.add("hold", HOLD, from);
    }

    fn memory(&mut self, shape: &Shape, measured: &Measured) {
        let latency = cycles(measured, measured.median("memory") - measured.median("llc"));
        self.table("[memory]");
        let from = spread(
            measured,
            "memory",
            "ns per load in a pointer chase, minus the last cache",
        );
        self.add("latency", latency.max(1), from);
        let all = shape.places.len();
        let name = format!("bandwidth {all}");
        let rate = measured.median(&name) / ghz(measured);
        let by_threads = counts(all).map(|threads| {
            let rate = measured.median(&format!("bandwidth {threads}"));
            format!("{rate:.1} by {threads}")
        });
        let by_threads = by_threads.collect::<Vec<_>>().join(", ");
        let from = format!(
            "{}; GB/s and threads: {by_threads}",
            spread(measured, &name, "GB/s of all threads")
        );
        self.add("bytes-per-cycle", format!("{:.3}", rate.max(0.01)), from);
        self.add(
            "nodes-per-controller",
            self.distance.len(),
            "assumed: one memory",
        );
        self.add("channels", 1, "contained in the bandwidth");
        // Little's law: a thread's bandwidth is the lines that it fetches at once, divided by the latency.
        let alone = measured.median("bandwidth 1") * measured.median("memory");
        let lines = (alone / super::memory::LINE as f64)
            .round()
            .clamp(1.0, 1024.0);
        let from = format!(
            "{:.1} GB/s of one thread times the latency, in lines; the next keys are not measured",
            measured.median("bandwidth 1")
        );
        self.table("[core.overlap]");
        self.add("lines", lines, from);
        self.add("store-buffer", lines, "assumed: the same as lines");
        self.add("streams", 32, "assumed");
        self.add("distance", lines, "assumed: the same as lines");
        self.add("whole-lines", true, "assumed");
    }

    fn system(&mut self, measured: &Measured) {
        self.table("[os]");
        let ns = |ns: f64| cycles(measured, ns);
        let of = |name: &str, what: &str| spread(measured, name, what);
        let [syscall, shared] = ["syscall", "yield"].map(|name| measured.median(name));
        self.add(
            "tick",
            ns(kernel::tick()),
            "the resolution of the system's coarse clock",
        );
        let (cost, from) = match measured.get("tick cost") {
            Some(cost) => (
                cost.median,
                of("tick cost", "ns per interruption of a spinning thread"),
            ),
            None => (2_000.0, "assumed: 2 us; no interruption was seen".into()),
        };
        self.add("tick-cost", ns(cost), from);
        let (slice, from) = match measured.get("slice") {
            Some(slice) => (
                slice.median,
                of(
                    "slice",
                    "ns until one of two threads on a CPU takes its turn",
                ),
            ),
            None => (4e6, "assumed: 4 ms; no turn was seen".into()),
        };
        self.add("latency", 2 * ns(slice), format!("two slices: {from}"));
        self.add(
            "min-granularity",
            ns(slice),
            "a slice, measured as for latency",
        );
        self.add("wakeup-granularity", ns(slice), "assumed: one slice");
        let switch = (shared - syscall).max(0.0);
        self.add(
            "switch",
            ns(switch),
            of("yield", "ns per yield to another thread, minus syscall"),
        );
        self.add("migration", ns(2_000.0), "assumed: 2 us");
        self.add(
            "syscall",
            ns(syscall),
            of("syscall", "ns per call of getppid"),
        );
        let fence = measured.median("heavy fence");
        let from = of(
            "heavy fence",
            "ns per membarrier while another core is busy",
        );
        self.add("ipi", ns(fence / 2.0), format!("half of {from}"));
        self.add("interrupt", ns(fence / 2.0), "the same as ipi");
        let refused = measured.median("refused wait") - syscall;
        self.add(
            "futex-wait",
            ns(refused),
            of(
                "refused wait",
                "ns per wait that does not sleep, minus syscall",
            ),
        );
        let waker = measured.median("wake waker") - syscall;
        self.add(
            "futex-wake",
            ns(waker),
            of("wake waker", "ns that the waker needs, minus syscall"),
        );
        let latency = measured.median("wake latency");
        let wake = latency - measured.median("wake waker") - switch;
        self.add(
            "wake-latency",
            ns(wake),
            of(
                "wake latency",
                "ns until the woken thread runs, minus futex-wake and switch",
            ),
        );
        let deep = measured.median("deep wake latency") - latency;
        self.add(
            "deep-latency",
            ns(deep),
            of(
                "deep wake latency",
                "ns until the woken thread runs after 10 ms of sleep, minus the time after 0.1 ms",
            ),
        );
        self.add(
            "deep-after",
            ns(1e6),
            "assumed: 1 ms, which is between these two lengths of sleep",
        );
        self.add(
            "spawn",
            ns(measured.median("spawn")),
            of("spawn", "ns that the spawning thread needs"),
        );
        self.add(
            "balance",
            ns(1e6),
            "Linux: balance_interval starts at 1 ms for each core",
        );
        self.add("balance-busy", 16, "Linux: busy_factor");
        self.add(
            "hot",
            ns(5e5),
            "Linux: sysctl_sched_migration_cost is 0.5 ms",
        );
        let (slack, from) = match kernel::timer_slack() {
            Some(slack) => (slack, "as the system says"),
            None => (50_000.0, "prctl(2), PR_SET_TIMERSLACK: 50 us"),
        };
        self.add("timer-slack", ns(slack), from);
    }

    /// The preset without comments, for a simulation.
    pub(super) fn plain(&self) -> String {
        self.write(false)
    }

    /// The text of the file.
    pub(super) fn text(&self) -> String {
        self.write(true)
    }

    fn write(&self, comments: bool) -> String {
        let mut text = String::new();
        for Line { key, value, from } in &self.lines {
            let value = match value.as_str() {
                SNOOP => self.snoop.to_string(),
                HOLD => self.hold.to_string(),
                value => value.to_owned(),
            };
            let _ = match (value.is_empty(), comments) {
                (true, _) => writeln!(text, "\n{key}"),
                (false, true) => writeln!(text, "{key} = {value} # {from}"),
                (false, false) => writeln!(text, "{key} = {value}"),
            };
        }
        text += "\n[network.groups]\nclasses = [\n";
        for (at, (ns, way)) in self.classes.iter().zip(&self.ways).enumerate() {
            let number = at + 1;
            let comment =
                format!("fitted so that a simulated handover takes {ns:.1} ns, the measured time");
            let _ = writeln!(
                text,
                "    {{ name = \"distance {number}\", cycles = {way} }}, # {comment}"
            );
        }
        let _ = writeln!(
            text,
            "]\ndistance = {:?} # handovers of all pairs, within 25%",
            self.distance
        );
        text += "occupancy = 2 # assumed: 64 bytes, at 32 bytes per cycle\n\n[sources]\n";
        for key in [
            "core",
            "l1",
            "l2",
            "llc",
            "coherence",
            "atomics",
            "memory",
            "network",
            "os",
        ] {
            let _ = writeln!(
                text,
                "{key} = \"{WRITTEN} see the comment beside each key\""
            );
        }
        text
    }
}

/// Placeholders for the two values that are fitted last.
const SNOOP: &str = "fitted snoop";
const HOLD: &str = "fitted hold";

pub(super) fn ghz(measured: &Measured) -> f64 {
    (1.0 / measured.median("addition").max(0.1)).clamp(0.1, 10.0)
}

fn cycles(measured: &Measured, ns: f64) -> u64 {
    (ns.max(0.0) * ghz(measured)).round() as u64
}

/// A comment with a measurement's median, its quartiles, and `what` was measured.
fn spread(measured: &Measured, name: &str, what: &str) -> String {
    let Some(found) = measured.get(name) else {
        return format!("not measured: {what}");
    };
    let number = |value: f64| format!("{value:.*}", if value < 1_000.0 { 2 } else { 0 });
    let [median, low, high] = [found.median, found.p25, found.p75].map(number);
    format!("{median} ({low}..{high}, {} samples) {what}", found.samples)
}
