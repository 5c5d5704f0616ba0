//! A timeline as Chrome's trace-event JSON, which Perfetto opens.
//!
//! A run is two processes in the file. The threads of the first are the cores, with their activities. The threads of
//! the second are the threads of the program, with their sleeps and regions. Times are in microseconds of simulated
//! time. The format is "Trace Event Format" by the Chromium project: complete events (`X`) and metadata events (`M`).
//! The file has no `displayTimeUnit`, because old versions of Perfetto take this field for the unit of the times.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeSeq, Serializer};
use serde_json::json;

use super::spans::{Ended, Span};
use super::timeline::Missing;
use super::{Cycles, Names, Segment, Spans, Timeline};

/// A run's timeline: the activities of each core, and the sleeps and regions of each thread.
///
/// Empty unless [`Simulation::timeline`](crate::Simulation::timeline) was called.
///
/// ```
/// use manycore_chip::{Simulated, Simulation, Trace, config::Config};
/// use manycore_platform::Platform;
///
/// let machine = Config::preset("atac-64")?;
/// let run = |cycles| {
///     let program = move || Simulated::region("work", || Simulated::compute(cycles));
///     Simulation::new(&machine).timeline(1_000).run(program)
/// };
/// let (short, long) = (run(100)?, run(1_000)?);
/// let mut file = Vec::new();
/// Trace::write_all(&mut file, &[("short", &short.trace), ("long", &long.trace)])?;
/// assert!(String::from_utf8(file)?.contains("work"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trace {
    machine: String,
    ghz: f64,
    /// The texts of names, by number.
    names: Vec<String>,
    threads: Vec<String>,
    segments: Vec<Segment>,
    missing: Missing,
    spans: Vec<Ended>,
    missing_spans: u64,
    cores: usize,
}

/// The texts that a viewer shows in addition to the segments.
#[derive(Clone, Debug)]
pub(crate) struct Labels<'a> {
    pub(crate) chip: &'a str,
    pub(crate) ghz: f64,
    pub(crate) names: &'a Names,
    pub(crate) threads: Vec<String>,
}

impl Trace {
    pub(crate) fn new(
        timeline: Timeline,
        spans: Spans,
        end: Cycles,
        cores: usize,
        labels: Labels<'_>,
    ) -> Self {
        let (segments, missing) = timeline.finish();
        let (spans, missing_spans) = spans.finish(end);
        Self {
            machine: labels.chip.to_owned(),
            ghz: labels.ghz,
            names: labels.names.texts().map(str::to_owned).collect(),
            threads: labels.threads,
            segments,
            missing,
            spans,
            missing_spans,
            cores,
        }
    }

    /// The number of segments and spans that the trace lacks because they were beyond the limit.
    pub fn missing(&self) -> u64 {
        self.missing.segments + self.missing_spans
    }

    /// Writes the trace, one event at a time.
    ///
    /// # Errors
    ///
    /// Returns the errors of `to`.
    pub fn write(&self, to: impl Write) -> io::Result<()> {
        Self::write_all(to, &[(&self.machine, self)])
    }

    /// Writes the traces of several runs into one file, each with a name.
    ///
    /// # Errors
    ///
    /// Returns the errors of `to`.
    pub fn write_all(to: impl Write, traces: &[(&str, &Self)]) -> io::Result<()> {
        let summary = |(name, trace): &(&str, &Self)| {
            let from = trace.missing.from.map(|from| trace.microseconds(from));
            json!({
                "run": name,
                "machine": trace.machine,
                "ghz": trace.ghz,
                "segments": trace.segments.len(),
                "missing_segments": trace.missing.segments,
                "missing_cycles": trace.missing.cycles,
                // This time is in microseconds. No segment before it is missing.
                "missing_from": from,
                "spans": trace.spans.len(),
                "missing_spans": trace.missing_spans,
            })
        };
        let file = File {
            other_data: OtherData {
                runs: traces.iter().map(summary).collect(),
            },
            trace_events: Events(traces),
        };
        let mut to = io::BufWriter::new(to);
        serde_json::to_writer(&mut to, &file)?;
        to.flush()
    }

    /// The time at `cycles` in whole nanoseconds, as viewers keep it.
    fn nanoseconds(&self, cycles: Cycles) -> u64 {
        (cycles as f64 / self.ghz) as u64
    }

    fn microseconds(&self, cycles: Cycles) -> f64 {
        self.nanoseconds(cycles) as f64 / 1e3
    }

    /// The microseconds from one time to another. If a segment ends where another begins, their
    /// times in the file are equal too.
    fn duration(&self, from: Cycles, to: Cycles) -> f64 {
        (self.nanoseconds(to) - self.nanoseconds(from)) as f64 / 1e3
    }

    fn name(&self, name: super::Name) -> &str {
        &self.names[name.index()]
    }

    /// Adds all events. The processes are `pid` and `pid + 1`, and the numbers of their threads
    /// begin with `tid`.
    fn events<S: SerializeSeq>(
        &self,
        to: &mut S,
        run: &str,
        pid: usize,
        tid: usize,
    ) -> Result<(), S::Error> {
        let name = |what: &str, pid: usize, tid: Option<usize>, name: &str| json!({ "ph": "M", "name": what, "pid": pid, "tid": tid, "args": { "name": name } });
        to.serialize_element(&name("process_name", pid, None, &format!("{run}: cores")))?;
        for core in 0..self.cores {
            let core_name = format!("core {core}");
            to.serialize_element(&name("thread_name", pid, Some(tid + core), &core_name))?;
        }
        for segment in &self.segments {
            let cycles = segment.to - segment.from;
            let label = segment.activity.label();
            let on = segment.name.map(|name| self.name(name));
            let thread = segment.thread.map(|thread| self.thread(thread));
            to.serialize_element(&json!({
                "ph": "X",
                "name": on.map_or_else(|| label.to_owned(), |on| format!("{label} {on}")),
                "cat": label,
                "pid": pid,
                "tid": tid + segment.core as usize,
                "ts": self.microseconds(segment.from),
                "dur": self.duration(segment.from, segment.to),
                "args": { "thread": thread, "cycles": cycles },
            }))?;
        }
        if self.spans.is_empty() {
            return Ok(());
        }
        let (pid, tid) = (pid + 1, tid + self.cores);
        to.serialize_element(&name("process_name", pid, None, &format!("{run}: threads")))?;
        for (thread, thread_name) in self.threads.iter().enumerate() {
            to.serialize_element(&name("thread_name", pid, Some(tid + thread), thread_name))?;
        }
        for span in &self.spans {
            let (category, text) = match span.span {
                Span::Sleep(None) => ("sleep", "sleep".to_owned()),
                Span::Sleep(Some(on)) => ("sleep", format!("sleep on {}", self.name(on))),
                Span::Join => ("sleep", "wait for a thread's end".to_owned()),
                Span::Region(name) => ("region", self.name(name).to_owned()),
            };
            let cycles = span.to - span.from;
            to.serialize_element(&json!({
                "ph": "X",
                "name": text,
                "cat": category,
                "pid": pid,
                "tid": tid + span.thread as usize,
                "ts": self.microseconds(span.from),
                "dur": self.duration(span.from, span.to),
                "args": { "cycles": cycles },
            }))?;
        }
        Ok(())
    }

    fn thread(&self, thread: u32) -> String {
        let name = self.threads.get(thread as usize).cloned();
        name.unwrap_or_else(|| thread.to_string())
    }
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    other_data: OtherData,
    trace_events: Events<'a>,
}

/// An object, as the format demands: old versions of Perfetto reject anything else.
#[derive(serde::Serialize)]
struct OtherData {
    /// A summary of each run. It says how much of the run the file contains.
    runs: Vec<serde_json::Value>,
}

struct Events<'a>(&'a [(&'a str, &'a Trace)]);

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut events = serializer.serialize_seq(None)?;
        // All numbers are unique and not 0, because Perfetto finds a thread's name only by its
        // number.
        let (mut pid, mut tid) = (1, 1);
        for (run, trace) in self.0 {
            trace.events(&mut events, run, pid, tid)?;
            pid += 2;
            tid += trace.cores + trace.threads.len();
        }
        events.end()
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
            ghz: 2.0,
            names: &names,
            threads: (0..8).map(|thread| thread.to_string()).collect(),
        };
        let mut spans = Spans::new(cap);
        spans.begin(7, Span::Region(lock), 1000);
        let trace = Trace::new(timeline, spans, 6000, 2, labels);
        trace.write(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn the_file_parses_back_sorted_and_in_microseconds() {
        let file = json(100);
        let events = file["traceEvents"].as_array().unwrap();
        let of_cores = |event: &&Value| event["pid"] == 1;
        let named = events.iter().filter(of_cores);
        assert_eq!(named.filter(|event| event["ph"] == "M").count(), 3);
        let segments: Vec<_> = events
            .iter()
            .filter(of_cores)
            .filter(|event| event["ph"] == "X")
            .collect();
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
        // The cores have the numbers 1 and 2. Threads begin with 3.
        assert_eq!((&spin["pid"], &spin["tid"]), (&1.into(), &1.into()));
        assert_eq!(
            (&spin["dur"], &spin["args"]["thread"]),
            (&1.5.into(), &"7".into())
        );
        assert_eq!(file["otherData"]["runs"][0]["missing_segments"], 0);
        let region = events.iter().rfind(|event| event["pid"] == 2).unwrap();
        assert_eq!(
            (&region["name"], &region["tid"]),
            (&"lock".into(), &10.into())
        );
        // The region was open when the run ended.
        assert_eq!((&region["ts"], &region["dur"]), (&0.5.into(), &2.5.into()));
    }

    #[test]
    fn a_full_timeline_says_what_is_missing() {
        let other = json(2)["otherData"]["runs"][0].clone();
        assert_eq!(other["segments"], 2);
        assert_eq!(other["missing_segments"], 2);
        assert_eq!(other["missing_cycles"], 2006);
        assert_eq!(other["missing_from"], 1.5);
    }
}
