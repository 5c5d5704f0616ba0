//! A network of core groups with given distances.

use super::queue::{HistoryList, QueueModel};
use super::{Broadcast, Cycles, Invalid};
use crate::account::{Counters, GroupTraffic};
use crate::config::Distance;

/// Messages inside a group take no time. Between two groups, a message takes the cycles of the pair's distance class.
/// It occupies the link from the first group to the second for `occupancy` cycles.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    group: Box<[u32]>,
    groups: usize,
    /// Cycles by ordered pair of groups.
    pairs: Box<[Cycles]>,
    links: Box<[HistoryList]>,
    occupancy: Cycles,
    /// The traffic of the links, if it is counted.
    traffic: Option<Box<GroupTraffic>>,
}

impl Groups {
    pub(super) fn new(
        cores: u32,
        group_cores: u32,
        classes: &[Distance],
        distance: &[Vec<u32>],
        occupancy: Cycles,
    ) -> Result<Self, Invalid> {
        if group_cores == 0 {
            return Err(Invalid::Zero("group-cores"));
        }
        let groups = cores.div_ceil(group_cores) as usize;
        if distance.len() != groups || distance.iter().any(|row| row.len() != groups) {
            return Err(Invalid::Shape { groups });
        }
        let mut pairs = Vec::with_capacity(groups * groups);
        for (from, row) in distance.iter().enumerate() {
            for (to, &found) in row.iter().enumerate() {
                let class = (found as usize).checked_sub(1);
                let cycles = match (from == to, class) {
                    (true, None) => Some(0),
                    (false, Some(class)) => classes.get(class).map(|class| class.cycles),
                    _ => None,
                };
                let classes = classes.len();
                let cycles = cycles.ok_or(Invalid::Class {
                    from,
                    to,
                    found,
                    classes,
                })?;
                pairs.push(cycles);
            }
        }
        Ok(Self {
            group: (0..cores).map(|core| core / group_cores).collect(),
            groups,
            links: vec![HistoryList::new(occupancy); pairs.len()].into(),
            pairs: pairs.into(),
            occupancy,
            traffic: None,
        })
    }

    pub(super) fn count(&mut self) {
        self.traffic = Some(Box::new(GroupTraffic::new(self.groups)));
    }

    pub(super) fn add_to(&self, counters: &mut Counters) {
        if let Some(traffic) = &self.traffic {
            counters.links = traffic.links(self.occupancy);
            counters.latencies.network_wait = traffic.waits();
        }
    }

    #[inline]
    fn pair(&self, from: u32, to: u32) -> usize {
        self.group[from as usize] as usize * self.groups + self.group[to as usize] as usize
    }

    #[inline]
    pub(super) fn latency(&self, from: u32, to: u32) -> Cycles {
        self.pairs[self.pair(from, to)]
    }

    #[inline]
    pub(super) fn send(&mut self, from: u32, to: u32, at: Cycles) -> Cycles {
        self.cross(self.pair(from, to), at)
    }

    fn cross(&mut self, pair: usize, at: Cycles) -> Cycles {
        let wait = match pair.is_multiple_of(self.groups + 1) {
            // The diagonal: the way from a group to itself.
            true => 0,
            false => self.links[pair].delay(at, self.occupancy),
        };
        if let Some(traffic) = &mut self.traffic {
            traffic.message(pair, wait);
        }
        at + wait + self.pairs[pair]
    }

    /// Sends one message to each group. All cores of a group get their message at once.
    pub(super) fn broadcast(&mut self, from: u32, at: Cycles) -> Broadcast {
        let row = self.group[from as usize] as usize * self.groups;
        let at_group: Vec<_> = (0..self.groups)
            .map(|to| self.cross(row + to, at))
            .collect();
        Broadcast {
            arrivals: self
                .group
                .iter()
                .map(|&group| at_group[group as usize])
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Electrical;
    use super::*;
    use crate::config::Network;

    fn three_groups(distance: Vec<Vec<u32>>) -> Result<Electrical, Invalid> {
        let class = |name: &str, cycles| Distance {
            name: name.to_owned(),
            cycles,
        };
        let classes = vec![class("near", 50), class("far", 80)];
        Electrical::new(
            &Network::Groups {
                classes,
                distance,
                occupancy: 6,
            },
            10,
            4,
        )
    }

    fn line() -> Vec<Vec<u32>> {
        vec![vec![0, 1, 2], vec![1, 0, 1], vec![2, 1, 0]]
    }

    #[test]
    fn classes_cost_and_links_are_kept() {
        let mut net = three_groups(line()).unwrap();
        assert_eq!(net.latency(0, 3, 64), 0);
        assert_eq!(net.latency(0, 4, 64), 50);
        assert_eq!(net.latency(9, 0, 64), 80);
        assert_eq!(net.send(0, 5, 64, 100), 150);
        assert_eq!(net.send(1, 4, 64, 100), 156, "behind the first");
        assert_eq!(net.send(4, 1, 64, 100), 150, "the way back is another link");
        assert_eq!(net.send(1, 4, 64, 94), 144, "fits before");
        assert_eq!(net.send(2, 3, 64, 100), 100);
    }

    #[test]
    fn a_broadcast_crosses_each_link_once() {
        let mut net = three_groups(line()).unwrap();
        let told = net.broadcast(5, 64, 10);
        let arrivals: Vec<_> = (0..10).map(|core| told.arrival(core)).collect();
        assert_eq!(arrivals, [60, 60, 60, 60, 10, 10, 10, 10, 60, 60]);
        assert_eq!(net.send(4, 0, 64, 10), 66);
    }

    #[test]
    fn wrong_distances_are_errors() {
        let wrong = |distance| three_groups(distance).unwrap_err();
        assert_eq!(
            wrong(vec![vec![0, 1], vec![1, 0]]),
            Invalid::Shape { groups: 3 }
        );
        let class = |from, to, found| Invalid::Class {
            from,
            to,
            found,
            classes: 2,
        };
        let mut distance = line();
        distance[0][2] = 3;
        assert_eq!(wrong(distance), class(0, 2, 3));
        let mut distance = line();
        distance[1][1] = 1;
        assert_eq!(wrong(distance), class(1, 1, 1));
        let mut distance = line();
        distance[2][1] = 0;
        assert_eq!(wrong(distance), class(2, 1, 0));
    }
}
