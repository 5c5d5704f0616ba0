//! The machine as a picture in text.

use super::order::sort_by;
use super::{Cache, CoreGroup, Cpu, Topology, cpulist};
use std::fmt;

/// From so many CPUs on, cores are counted instead of drawn.
const MANY_CPUS: usize = 64;

/// Cores are drawn until a line is this long.
const LINE: usize = 72;

/// Lines of the picture and what hangs below them.
struct Branch {
    label: Vec<String>,
    children: Vec<Branch>,
}

impl fmt::Display for Topology {
    /// Two lines of totals, then the packages as trees. A CPU that is not
    /// usable stands in parentheses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_totals(f)?;
        for package in self.groups.chunk_by(|a, b| a.package == b.package) {
            writeln!(f, "package {}", package[0].package)?;
            let nodes: Vec<Branch> = package
                .chunk_by(|a, b| a.node == b.node)
                .map(|groups| self.node(groups))
                .collect();
            write_branches(f, &nodes, "")?;
        }
        Ok(())
    }
}

impl Topology {
    fn write_totals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distinct = |get: fn(&Cpu) -> usize| {
            let mut seen: Vec<usize> = self.cpus.iter().map(get).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.len()
        };
        writeln!(
            f,
            "{}, {}, {}, {}, {}{}",
            count(self.cpus.len(), "CPU"),
            count(distinct(|cpu| cpu.core), "core"),
            count(self.groups.len(), "core group"),
            count(distinct(|cpu| cpu.node), "NUMA node"),
            count(distinct(|cpu| cpu.package), "package"),
            if self.described {
                ""
            } else {
                " (assumed: the system does not describe them)"
            },
        )?;
        if self.usable.len() == self.cpus.len() {
            write!(f, "usable: all")?;
        } else {
            let ids: Vec<usize> = self.usable.iter().map(|cpu| cpu.id).collect();
            let list = cpulist::format(&ids);
            write!(f, "usable: {list} ({} of {})", ids.len(), self.cpus.len())?;
        }
        match self.quota {
            None => write!(f, "; CPU quota: none")?,
            Some(cpus) => write!(f, "; CPU quota: {cpus:.2} CPUs")?,
        }
        writeln!(f, "; default threads: {}", self.default_threads())
    }

    fn node(&self, groups: &[CoreGroup]) -> Branch {
        Branch {
            label: vec![format!("NUMA node {}", groups[0].node)],
            children: groups.iter().map(|group| self.group(group)).collect(),
        }
    }

    fn group(&self, group: &CoreGroup) -> Branch {
        let mut cpus: Vec<&Cpu> = group.cpus.iter().filter_map(|&id| self.cpu(id)).collect();
        sort_by(&mut cpus, |cpu| [cpu.core, cpu.smt, 0, 0, 0]);
        let cache = group.cache.map(describe_cache).unwrap_or_default();
        let title = format!("core group {}{cache}", cpus[0].group);
        let label = if self.cpus.len() >= MANY_CPUS {
            vec![format!("{title}: {}", self.count_cores(&cpus))]
        } else {
            std::iter::once(title)
                .chain(self.draw_cores(&cpus))
                .collect()
        };
        Branch {
            label,
            children: Vec::new(),
        }
    }

    fn draw_cores(&self, cpus: &[&Cpu]) -> Vec<String> {
        let mut lines = vec![String::new()];
        for core in cpus.chunk_by(|a, b| a.core == b.core) {
            let drawn = self.draw_core(core);
            let last = lines.len() - 1;
            if lines[last].is_empty() {
                lines[last] = drawn;
            } else if lines[last].len() + 1 + drawn.len() <= LINE {
                lines[last].push(' ');
                lines[last].push_str(&drawn);
            } else {
                lines.push(drawn);
            }
        }
        lines
    }

    fn draw_core(&self, core: &[&Cpu]) -> String {
        let threads: Vec<String> = core
            .iter()
            .map(|cpu| match self.is_usable(cpu.id) {
                true => cpu.id.to_string(),
                false => format!("({})", cpu.id),
            })
            .collect();
        format!("[{}]", threads.join(" "))
    }

    fn count_cores(&self, cpus: &[&Cpu]) -> String {
        let cores = cpus.chunk_by(|a, b| a.core == b.core).count();
        let mut ids: Vec<usize> = cpus.iter().map(|cpu| cpu.id).collect();
        ids.sort_unstable();
        let mut text = count(cores, "core");
        if cpus.len() > cores {
            text.push_str(&format!(", {} CPUs", cpus.len()));
        }
        text.push_str(&format!(": {}", cpulist::format(&ids)));
        ids.retain(|&id| !self.is_usable(id));
        if !ids.is_empty() {
            text.push_str(&format!(" (not usable: {})", cpulist::format(&ids)));
        }
        text
    }
}

fn write_branches(f: &mut fmt::Formatter<'_>, branches: &[Branch], indent: &str) -> fmt::Result {
    for (index, branch) in branches.iter().enumerate() {
        let (knot, below) = if index + 1 < branches.len() {
            ("├─ ", "│  ")
        } else {
            ("└─ ", "   ")
        };
        for (line, label) in branch.label.iter().enumerate() {
            let edge = if line == 0 { knot } else { below };
            writeln!(f, "{indent}{edge}{label}")?;
        }
        write_branches(f, &branch.children, &format!("{indent}{below}"))?;
    }
    Ok(())
}

fn describe_cache(cache: Cache) -> String {
    let Some(bytes) = cache.bytes else {
        return format!(" (L{})", cache.level);
    };
    match bytes >> 20 {
        0 => format!(" (L{}, {} KiB)", cache.level, bytes >> 10),
        mib => format!(" (L{}, {mib} MiB)", cache.level),
    }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
