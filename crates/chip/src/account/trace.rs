//! A timeline as Chrome's trace-event JSON, which Perfetto opens.
//!
//! A chip is a process and a core a thread of it; times are microseconds of
//! simulated time. The format is "Trace Event Format" by the Chromium project:
//! complete events (`X`) and metadata events (`M`).

use std::io::{self, Write};

use serde::ser::{Serialize, Serializer};
use serde_json::json;

use super::timeline::Missing;
use super::{Cycles, Names, Segment, Timeline};

/// A finished timeline.
#[derive(Debug)]
pub(crate) struct Trace {
    segments: Vec<Segment>,
    missing: Missing,
    cores: usize,
}

/// What a viewer shows beside the segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Labels<'a> {
    /// The name of the machine.
    pub(crate) chip: &'a str,
    /// Distinguishes chips that one viewer shows together.
    pub(crate) pid: u32,
    /// Cycles in a nanosecond.
    pub(crate) ghz: f64,
    pub(crate) names: &'a Names,
}

impl Trace {
    pub(crate) fn new(timeline: Timeline, cores: usize) -> Self {
        let (segments, missing) = timeline.finish();
        Self {
            segments,
            missing,
            cores,
        }
    }

    /// Writes the trace, one event at a time.
    pub(crate) fn write(&self, to: impl Write, labels: Labels<'_>) -> io::Result<()> {
        let file = File {
            display_time_unit: "ns",
            other_data: Summary {
                machine: labels.chip,
                ghz: labels.ghz,
                segments: self.segments.len(),
                missing_segments: self.missing.segments,
                missing_cycles: self.missing.cycles,
                missing_from: self.missing.from.map(|from| microseconds(from, labels.ghz)),
            },
            trace_events: Events {
                trace: self,
                labels,
            },
        };
        let mut to = io::BufWriter::new(to);
        serde_json::to_writer(&mut to, &file)?;
        to.flush()
    }
}

fn microseconds(cycles: Cycles, ghz: f64) -> f64 {
    cycles as f64 / (ghz * 1000.0)
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    display_time_unit: &'static str,
    other_data: Summary<'a>,
    trace_events: Events<'a>,
}

/// How much of the run the file shows.
#[derive(serde::Serialize)]
struct Summary<'a> {
    machine: &'a str,
    ghz: f64,
    segments: usize,
    missing_segments: u64,
    missing_cycles: Cycles,
    /// Microseconds; before it, nothing is missing.
    missing_from: Option<f64>,
}

/// Serialises event by event.
struct Events<'a> {
    trace: &'a Trace,
    labels: Labels<'a>,
}

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Labels {
            chip,
            pid,
            ghz,
            names,
        } = self.labels;
        let process =
            json!({ "ph": "M", "name": "process_name", "pid": pid, "args": { "name": chip } });
        let threads = (0..self.trace.cores).map(|core| {
            let name = format!("core {core}");
            let args = json!({ "name": name });
            json!({ "ph": "M", "name": "thread_name", "pid": pid, "tid": core, "args": args })
        });
        let segments = self.trace.segments.iter().map(|segment| {
            let cycles = segment.to - segment.from;
            let label = segment.activity.label();
            let on = segment.name.map(|name| names.text(name));
            json!({
                "ph": "X",
                "name": on.map_or_else(|| label.to_owned(), |on| format!("{label} {on}")),
                "cat": label,
                "pid": pid,
                "tid": segment.core,
                "ts": microseconds(segment.from, ghz),
                "dur": microseconds(cycles, ghz),
                "args": { "thread": segment.thread, "cycles": cycles },
            })
        });
        serializer.collect_seq(std::iter::once(process).chain(threads).chain(segments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Activity;
    use serde_json::Value;

    fn json(cap: usize) -> Value {
        let mut names = Names::default();
        let lock = names.intern("lock");
        let mut timeline = Timeline::new(2, cap);
        let mut record = |core, activity, name, from, to| {
            timeline.record(Segment {
                core,
                thread: Some(7),
                activity,
                name,
                from,
                to,
            });
        };
        record(1, Activity::Compute, None, 0, 3000);
        record(0, Activity::Spin, Some(lock), 1000, 4000);
        record(1, Activity::L1, None, 3000, 3006);
        record(0, Activity::Idle, None, 4000, 6000);
        let mut bytes = Vec::new();
        let labels = Labels {
            chip: "atac-64",
            pid: 3,
            ghz: 2.0,
            names: &names,
        };
        Trace::new(timeline, 2).write(&mut bytes, labels).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn the_file_parses_back_sorted_and_in_microseconds() {
        let file = json(100);
        let events = file["traceEvents"].as_array().unwrap();
        assert_eq!(events.iter().filter(|event| event["ph"] == "M").count(), 3);
        let segments: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        let starts: Vec<_> = segments
            .iter()
            .map(|event| event["ts"].as_f64().unwrap())
            .collect();
        assert_eq!(starts, [0.0, 0.5, 1.5, 2.0]);
        let spin = segments[1];
        assert_eq!(
            (&spin["name"], &spin["cat"]),
            (&"spin lock".into(), &"spin".into())
        );
        assert_eq!((&spin["pid"], &spin["tid"]), (&3.into(), &0.into()));
        assert_eq!(
            (&spin["dur"], &spin["args"]["thread"]),
            (&1.5.into(), &7.into())
        );
        assert_eq!(file["otherData"]["missing_segments"], 0);
    }

    #[test]
    fn a_full_timeline_says_what_is_missing() {
        let other = json(2)["otherData"].clone();
        assert_eq!(other["segments"], 2);
        assert_eq!(other["missing_segments"], 2);
        assert_eq!(other["missing_cycles"], 2006);
        assert_eq!(other["missing_from"], 1.5);
    }
}
