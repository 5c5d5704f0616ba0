//! This run's numbers beside those of 2022, in sentences: computed, so that none outlives the build
//! that it was true of.

use super::cell::Policy;
use super::config::SleepConfig;
use super::measured::MeasuredPolicies;
use super::published::Published;
use super::speedup;
use super::tables::percent;
use crate::report::words::{count, list, more_or_less};
use manycore_programs::fork::Algorithm;
use manycore_programs::sleep::Mode;

/// Padded words, of which posts read only the sleepers.
const SLEEPERS: &str = "split-sleepers-padded";
/// The same words as `split`, each on a line of its own.
const PADDED: &str = "split-padded";

/// The preset of the machine on which the document measured.
const DOCUMENTS: &str = "dahu";

/// A gain that is less is none.
const GAIN: f64 = 0.02;

fn sound(name: &str) -> Policy {
    Policy {
        name: name.into(),
        mode: Mode::Sound,
    }
}

/// How the machine was judged by algorithms that it had not seen, and what it says of them now.
pub(super) fn judged(
    config: &SleepConfig,
    published: &Published,
    measured: &[MeasuredPolicies],
) -> Option<String> {
    if config.machine != DOCUMENTS {
        return None;
    }
    let mut text = String::from(
        "Nothing in the machine was fitted to these times. NBody-reduce and TSP were kept back from \
         this project until the machine had been judged by them. With padded words of which posts read \
         only the sleepers (split-sleepers-padded) it had NBody-reduce at -30.7% then, where 2022 had \
         -34%, and TSP at +0.6%, where 2022 had -3% to +2%. ",
    );
    let threads = config.most_threads();
    let now = |&algorithm: &Algorithm| {
        let here = speedup::delta(measured, algorithm, &sound(SLEEPERS), threads)?;
        let then = published.delta(algorithm, &sound(SLEEPERS), threads)?;
        Some(format!(
            "{algorithm} at {}, where 2022 had {}",
            percent(here.time),
            percent(then.time)
        ))
    };
    let kept_back = [Algorithm::NBodyReduce, Algorithm::Tsp];
    let now: Vec<String> = kept_back.iter().filter_map(now).collect();
    if config.is_documents() && !now.is_empty() {
        text += &format!("In this run, on {threads} threads, it has {}. ", list(&now));
    }
    text += "FrogJump and QuickSort were other programs than the document's then, with other \
            speedups; they have been the document's since its sources were read. What QuickSort's \
            pivots allow: counted in numbers, the longest way through the partitions of the \
            document's input is 5.84 times shorter than all of them. That counts no calls and no \
            waits for memory, and in time 2022 is above it. A core of the simulated machine waits \
            for each line that another core has written, where a real one has a store buffer: with \
            one (--set core.overlap) it comes near to 2022.";
    Some(text)
}

/// Why padding alone gains on Life, if it does where it did not in 2022.
pub(super) fn padding(
    config: &SleepConfig,
    published: &Published,
    measured: &[MeasuredPolicies],
) -> Option<String> {
    let threads = config.most_threads();
    let (life, padded, packed) = (Algorithm::Life, sound(PADDED), sound(Policy::BASE));
    let here = speedup::delta(measured, life, &padded, threads)?.time;
    let then = published.delta(life, &padded, threads)?.time;
    if !config.is_documents() || here > -GAIN || then <= -GAIN {
        return None;
    }
    let runs = speedup::cell(measured, life, threads)?.of(&packed)?;
    let times = || runs.runs.iter().map(|run| run.time);
    let (least, most) = (
        times().min_by(f64::total_cmp)?,
        times().max_by(f64::total_cmp)?,
    );
    Some(format!(
        "Padding alone (split-padded) takes {} time than packed on Life here, and took {} in 2022. \
         Then all 32 cores were busy all the time, so that hardly any thread slept. Here packed has \
         {} sleeps a run: sleepers and announcements write words that padding takes off the line that \
         every post reads. Threads that yield for longer before they sleep (--set os.syscall=4000) \
         sleep less often. The order in which threads steal decides how long Life takes, too: the runs \
         of packed lie up to {:.0}% apart.",
        more_or_less(here),
        more_or_less(then),
        count(runs.median(|run| run.sleeps as f64).round() as u64),
        100.0 * (most / least - 1.0)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;
    use crate::study::Request;
    use crate::study::settings::Settings;
    use crate::world::World;
    use manycore_chip::config::Config as Machine;

    fn config(machine: &str, size: &str) -> SleepConfig {
        let size = [format!("size={size}")];
        SleepConfig::new(&Request {
            world: World::Simulated(Box::new(Machine::preset(machine).unwrap())),
            settings: Settings::parse(&size, &super::super::keys::KEYS).unwrap(),
            threads: vec![32.try_into().unwrap()],
            cores: Vec::new(),
            only: Vec::new(),
            full: false,
            seed: 1,
            fresh: false,
        })
        .unwrap()
    }

    #[test]
    fn only_a_gain_that_2022_had_not_is_explained_and_only_with_its_inputs() {
        let published = Published::load().unwrap();
        let life = |padded: f64| {
            synthetic::measured(&[
                ("packed", 1, 1000.0),
                ("split-padded", 1, 1000.0),
                ("packed", 32, 100.0),
                ("split-padded", 32, padded),
            ])
        };
        let said = padding(&config("dahu", "document"), &published, &life(80.0)).unwrap();
        for part in ["20.0% less time", "3.0% more", "3 sleeps a run", "0% apart"] {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(
            padding(&config("dahu", "document"), &published, &life(99.0)),
            None
        );
        assert_eq!(
            padding(&config("dahu", "quick"), &published, &life(80.0)),
            None
        );
    }

    #[test]
    fn what_was_not_measured_is_not_said() {
        let published = Published::load().unwrap();
        let said = judged(&config("dahu", "document"), &published, &[]).unwrap();
        assert!(
            said.contains("-30.7%") && !said.contains("In this run"),
            "{said}"
        );
        let other = judged(&config("dahu-smt", "document"), &published, &[]);
        assert_eq!(other, None, "another machine was not judged");
    }
}
