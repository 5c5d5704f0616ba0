//! What the numbers mean, in words.

use super::compare::{BASELINES, CHANNEL, Numbers, closed_form};
use crate::study::team::{Arrivals, Summary};

/// Under the figure.
pub(super) const FIGURE: &str = "One wait of a loop against cores, and from the last arrival to the last departure: medians, \
     with bars from the 10th to the 90th percentile over episodes (end to end: over runs, of which \
     a simulation needs one).";

/// What was measured and how.
pub(super) fn what(numbers: Numbers<'_>) -> String {
    let setup = &numbers.config.setup;
    let measures = "End to end is from when the last member has begun until the last has left the \
                    last wait; one wait before that is not counted. Each member notes its arrivals \
                    and departures in memory of its own.";
    match setup.chip() {
        Some(chip) => {
            let size = match chip.scales() {
                true => "The machine has as many cores as the team",
                false => "The team fills one core group after the other",
            };
            format!(
                "A team waits at a barrier in a loop, one member bound to each core of a simulated \
                 machine ({}); cycles are its clock's. {size}. Nothing in it is random: the seed \
                 changes nothing. {measures}",
                setup.machine
            )
        }
        None => format!(
            "A team waits at a barrier in a loop on this machine ({}); {}. Each round runs every \
             barrier at every size in shuffled order (seed {}). {measures}",
            setup.machine,
            match setup.effort.pinned {
                true => "threads are bound to CPUs, and share them where there are more of them",
                false => "the system places the threads",
            },
            setup.seed
        ),
    }
}

/// What is beyond the thesis's claim, before its table.
pub(super) fn remains(numbers: Numbers<'_>) -> Option<String> {
    let machines = &numbers.config.setup.machines;
    if machines.0.len() < 2 {
        return None;
    }
    let gain = |machine| {
        let cores = numbers.config.cores_of(machine);
        let channel = numbers.of(machine, cores, CHANNEL)?;
        let over = |other: &Summary| other.an_episode() / channel.an_episode();
        let software = numbers.software(machine, cores)?;
        let sense = numbers.of(machine, cores, BASELINES[0])?;
        Some((over(sense), over(software), software.point.barrier.clone()))
    };
    let mut text = String::from(
        "The thesis compared its barrier with two others on one machine, whose caches hand no \
         clean line to each other. Below, the same broadcast network, cycle by cycle, stands \
         beside the best barrier through memory, on better protocols and on machines that exist.",
    );
    for machine in 0..machines.0.len() {
        if let Some((sense, best, name)) = gain(machine) {
            text += &format!(
                " On {} it is {sense:.1} times as fast as the sense-reversing barrier, and {best:.1} \
                 times as fast as {name}.",
                machines.name(machine)
            );
        }
    }
    Some(text)
}

/// For a reader of nothing else.
pub(super) fn summary(numbers: Numbers<'_>) -> String {
    let config = numbers.config;
    let (at, unit) = (config.compared_at(), config.setup.unit());
    let mut text = String::new();
    let mut say = |line: String| text += &(line + "\n");
    let show = |summary: &Summary| unit.show(summary.an_episode());
    if let Some(best) = numbers.software(0, at) {
        say(format!(
            "{at} cores: {} is the fastest through memory, {} {} a wait",
            best.point.barrier,
            show(best),
            unit.name()
        ));
    }
    if numbers.optical().is_none() {
        return text;
    }
    if let Some(channel) = numbers.of(0, at, CHANNEL) {
        let others = BASELINES.iter().filter_map(|name| numbers.of(0, at, name));
        let others = others.chain(numbers.software(0, at));
        let others: Vec<String> = others
            .map(|other| {
                let times = other.an_episode() / channel.an_episode();
                format!(", {times:.1} times as fast as {}", other.point.barrier)
            })
            .collect();
        say(format!(
            "{at} cores: the thesis's barrier takes {} cycles a wait{}",
            show(channel),
            others.concat()
        ));
    }
    if let Some(beyond) = numbers.beyond(0, at) {
        say(format!(
            "{at} cores: {}, which also broadcasts, takes {}",
            beyond.point.barrier,
            show(beyond)
        ));
    }
    let beats = |cores| {
        let channel = numbers.of(0, cores, CHANNEL)?.an_episode();
        let mut all = BASELINES.iter();
        all.try_fold(true, |all, name| {
            Some(all && channel < numbers.of(0, cores, name)?.an_episode())
        })
    };
    if let Some(from) = numbers.holds_from(beats) {
        say(format!(
            "the thesis's barrier is faster than both it was compared with from {from} cores on"
        ));
    }
    let beaten = |cores| {
        let channel = numbers.of(0, cores, CHANNEL)?;
        Some(numbers.software(0, cores)?.an_episode() < channel.an_episode())
    };
    if let Some(from) = numbers.holds_from(beaten) {
        say(format!(
            "the best barrier through memory is faster than the thesis's from {from} cores on"
        ));
    }
    for &cores in &config.cores {
        let channel = numbers.isolated(cores, CHANNEL, Arrivals::Together);
        if let (Some(optical), Some(channel)) = (numbers.optical(), channel)
            && (cores == at || Some(&cores) == config.cores.last())
        {
            say(format!(
                "a single wait on {cores} cores: {} cycles, by the closed form {}",
                unit.show(channel.exit.median),
                closed_form(optical, cores)
            ));
        }
    }
    text
}
