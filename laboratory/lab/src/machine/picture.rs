//! The machine as a picture in text.

use manycore::topology::{Affinity, Cache, CoreGroup, Cpu, Topology};
use std::fmt;

/// With this many CPUs or more, the picture counts the cores and does not draw them.
const MANY_CPUS: usize = 64;

/// Cores are drawn until a line has this length.
const LINE: usize = 72;

/// Lines of the picture, and the branches below them.
struct Branch {
    label: Vec<String>,
    children: Vec<Branch>,
}

/// Two lines of totals, then the packages as trees. A CPU that is not
/// usable stands in parentheses.
pub(crate) struct Picture<'a>(pub(crate) &'a Topology);

impl fmt::Display for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_totals(f)?;
        for package in self.0.core_groups().chunk_by(|a, b| a.package == b.package) {
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

impl Picture<'_> {
    fn write_totals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = self.0;
        let distinct = |get: fn(&Cpu) -> usize| {
            let mut seen: Vec<usize> = machine.cpus().iter().map(get).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.len()
        };
        writeln!(
            f,
            "{}, {}, {}, {}, {}{}",
            count(machine.cpus().len(), "CPU"),
            count(distinct(|cpu| cpu.core), "core"),
            count(machine.core_groups().len(), "core group"),
            count(distinct(|cpu| cpu.node), "NUMA node"),
            count(distinct(|cpu| cpu.package), "package"),
            if machine.is_described() {
                ""
            } else {
                " (assumed: the system does not describe them)"
            },
        )?;
        if machine.usable().len() == machine.cpus().len() {
            write!(f, "usable: all")?;
        } else {
            let ids: Vec<usize> = machine.usable().iter().map(|cpu| cpu.id).collect();
            let (usable, all) = (ids.len(), machine.cpus().len());
            write!(f, "usable: {} ({usable} of {all})", list(ids))?;
        }
        match machine.quota() {
            None => write!(f, "; CPU quota: none")?,
            Some(cpus) => write!(f, "; CPU quota: {cpus:.2} CPUs")?,
        }
        writeln!(f, "; default threads: {}", machine.default_threads())
    }

    fn node(&self, groups: &[CoreGroup]) -> Branch {
        Branch {
            label: vec![format!("NUMA node {}", groups[0].node)],
            children: groups.iter().map(|group| self.group(group)).collect(),
        }
    }

    fn group(&self, group: &CoreGroup) -> Branch {
        let mut cpus: Vec<&Cpu> = group.cpus.iter().filter_map(|&id| self.0.cpu(id)).collect();
        cpus.sort_by_key(|cpu| (cpu.core, cpu.smt));
        let cache = group.cache.map(describe_cache).unwrap_or_default();
        let title = format!("core group {}{cache}", cpus[0].group);
        let label = if self.0.cpus().len() >= MANY_CPUS {
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

    fn is_usable(&self, id: usize) -> bool {
        self.0.usable().iter().any(|cpu| cpu.id == id)
    }

    fn count_cores(&self, cpus: &[&Cpu]) -> String {
        let cores = cpus.chunk_by(|a, b| a.core == b.core).count();
        let mut ids: Vec<usize> = cpus.iter().map(|cpu| cpu.id).collect();
        ids.sort_unstable();
        let mut text = count(cores, "core");
        if cpus.len() > cores {
            text.push_str(&format!(", {} CPUs", cpus.len()));
        }
        text.push_str(&format!(": {}", list(ids.clone())));
        ids.retain(|&id| !self.is_usable(id));
        if !ids.is_empty() {
            text.push_str(&format!(" (not usable: {})", list(ids)));
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

/// CPUs as the kernel lists them: `0-3,8`.
fn list(cpus: Vec<usize>) -> String {
    Affinity::List(cpus).to_string()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::described::Files;

    fn picture(machine: &Files) -> String {
        Picture(&machine.topology()).to_string()
    }

    #[test]
    fn a_small_machine_is_drawn_core_by_core() {
        let laptop = Files::new([1, 1, 4], 2, "0-3");
        laptop.write("proc/self/cgroup", "0::/\n");
        let mounts = "1 2 3 / /cg rw - cgroup2 cgroup2 rw\n";
        laptop.write("proc/self/mountinfo", mounts);
        laptop.write("cg/cpu.max", "250000 100000\n");
        assert_eq!(
            picture(&laptop),
            "\
8 CPUs, 4 cores, 1 core group, 1 NUMA node, 1 package
usable: 0-3 (4 of 8); CPU quota: 2.50 CPUs; default threads: 2
package 0
└─ NUMA node 0
   └─ core group 0 (L3, 8 MiB)
      [0 (4)] [1 (5)] [2 (6)] [3 (7)]
"
        );
    }

    #[test]
    fn long_groups_wrap() {
        let picture = picture(&Files::new([2, 1, 24], 1, "0-47"));
        assert_eq!(
            picture,
            "\
48 CPUs, 48 cores, 2 core groups, 2 NUMA nodes, 2 packages
usable: all; CPU quota: none; default threads: 48
package 0
└─ NUMA node 0
   └─ core group 0 (L3, 8 MiB)
      [0] [1] [2] [3] [4] [5] [6] [7] [8] [9] [10] [11] [12] [13] [14] [15]
      [16] [17] [18] [19] [20] [21] [22] [23]
package 1
└─ NUMA node 1
   └─ core group 1 (L3, 8 MiB)
      [24] [25] [26] [27] [28] [29] [30] [31] [32] [33] [34] [35] [36] [37]
      [38] [39] [40] [41] [42] [43] [44] [45] [46] [47]
"
        );
    }

    #[test]
    fn a_large_machine_is_counted() {
        let large = Files::new([2, 2, 16], 2, "0-95,100");
        assert_eq!(
            picture(&large),
            "\
128 CPUs, 64 cores, 4 core groups, 2 NUMA nodes, 2 packages
usable: 0-95,100 (97 of 128); CPU quota: none; default threads: 97
package 0
└─ NUMA node 0
   ├─ core group 0 (L3, 8 MiB): 16 cores, 32 CPUs: 0-15,64-79
   └─ core group 1 (L3, 8 MiB): 16 cores, 32 CPUs: 16-31,80-95
package 1
└─ NUMA node 1
   ├─ core group 2 (L3, 8 MiB): 16 cores, 32 CPUs: 32-47,96-111 (not usable: 96-99,101-111)
   └─ core group 3 (L3, 8 MiB): 16 cores, 32 CPUs: 48-63,112-127 (not usable: 112-127)
"
        );
    }
}
