//! Runs a point, on this host or on a simulated machine.

use super::log::Course;
use super::point::{TeamPoint, TeamSample};
use super::run::{TeamRan, run};
use crate::instrument;
use crate::study::trial::{Binding, Machines, Trial};
use anyhow::anyhow;
use manycore::Native;
use manycore::topology::Topology;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;

impl Trial for TeamPoint {
    type Sample = TeamSample;

    fn cores(&self) -> usize {
        self.cores
    }

    fn simulate(&self, machines: &Machines) -> anyhow::Result<(TeamSample, u64)> {
        simulate(machines, self)
    }

    fn run_here(&self, topology: &Topology, pinned: bool) -> anyhow::Result<TeamSample> {
        measure(topology, pinned, self)
    }
}

/// Runs a point on a simulated machine, with times in cycles.
fn simulate(machines: &Machines, point: &TeamPoint) -> anyhow::Result<(TeamSample, u64)> {
    let chip = machines.build(point.machine, point.cores, &point.settings)?;
    let binding = Binding::on_chip(&chip, point.cores);
    let cpi = chip.0.core.cpi;
    let program = || {
        let ran = run::<Simulated>(&point.barrier, &binding, point.program, cpi)?;
        Course::audit(&ran.logs)?;
        anyhow::Ok((Course::of(&ran.logs)?, ran.answer))
    };
    let ran = instrument::run(Simulation::new(&chip.0), point, program);
    let ran = ran.map_err(|error| anyhow!("{error}"))?;
    let (course, answer) = ran.value?;
    let messages = ran.statistics.messages.map_or(0, |messages| messages.moved);
    let sample = TeamSample {
        messages,
        // This is a copy, since the original would keep all of the simulated machine's memory.
        output: answer.as_deref().map(str::to_owned),
        ..sample(course)
    };
    Ok((sample, ran.statistics.hash))
}

/// Runs a point on this host, with times in ns.
fn measure(topology: &Topology, pinned: bool, point: &TeamPoint) -> anyhow::Result<TeamSample> {
    let binding = Binding::on_host(topology, point.cores, pinned);
    let TeamRan { logs, answer } = run::<Native>(&point.barrier, &binding, point.program, 1.0)?;
    let course = Course::of(&logs)?.scaled(1.0 / Native::ticks_per_ns());
    Ok(TeamSample {
        output: answer,
        ..sample(course)
    })
}

fn sample(course: Course) -> TeamSample {
    TeamSample {
        total: course.total,
        episodes: course.episodes,
        exit: course.exit,
        messages: 0,
        output: None,
    }
}
