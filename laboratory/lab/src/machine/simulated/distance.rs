//! The distances of a simulated machine, each with the cores on which to measure it.

use manycore_chip::config::{Config, Network};

/// A distance, and cores that are this far apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Distance {
    pub(super) name: String,
    /// The core that accesses the line.
    pub(super) requester: usize,
    /// The core that has the line and is its home.
    pub(super) holder: usize,
    /// A third core, as near to the holder as possible. `None` if the machine has only two cores.
    pub(super) second: Option<usize>,
}

/// Every distance class of the machine, nearest first. The requester is core 0, or the first core
/// with that distance.
pub(super) fn classes(config: &Config) -> Vec<Distance> {
    let cores = config.cores as usize;
    let farthest = farthest(config);
    let mut found: Vec<(usize, Distance)> = Vec::new();
    for requester in 0..cores {
        for holder in (0..cores).filter(|&holder| holder != requester) {
            let Some((rank, name)) = between(config, requester, holder, farthest) else {
                continue;
            };
            if found.iter().all(|(known, _)| *known != rank) {
                let distance = Distance {
                    name,
                    requester,
                    holder,
                    second: beside(config, holder, requester),
                };
                found.push((rank, distance));
            }
        }
    }
    found.sort_by_key(|&(rank, _)| rank);
    found.into_iter().map(|(_, distance)| distance).collect()
}

/// Returns the name of the distance between two cores, and its rank. Returns `None` for distances on a mesh that are
/// not shown.
fn between(config: &Config, a: usize, b: usize, farthest: usize) -> Option<(usize, String)> {
    let threads = config.threads_per_core as usize;
    if a / threads == b / threads {
        return Some((0, "same core".into()));
    }
    match &config.network {
        Network::Mesh { sockets, .. } => {
            let group = |core| core / config.group_cores as usize;
            if sockets.is_some() && group(a) != group(b) {
                return Some((usize::MAX, "other socket".into()));
            }
            let hops = mesh_hops(config, a, b);
            let name = match hops {
                hops if hops == farthest => "max hops".into(),
                1 => "1 hop".into(),
                hops if hops == farthest / 2 => format!("{hops} hops"),
                _ => return None,
            };
            Some((hops, name))
        }
        Network::Groups {
            classes, distance, ..
        } => {
            let group = |core| core / config.group_cores as usize;
            let class = distance[group(a)][group(b)] as usize;
            let name = match class {
                0 => "same group".into(),
                class => classes[class - 1].name.clone(),
            };
            Some((class + 1, name))
        }
    }
}

/// The number of hops on the mesh, which has one core on each tile. Between two sockets, counts the hops from `a` to
/// the place that `b` has on its own mesh.
pub(super) fn mesh_hops(config: &Config, a: usize, b: usize) -> usize {
    let width = config.mesh_width().unwrap_or(1) as usize;
    let in_socket = |core: usize| match &config.network {
        Network::Mesh {
            sockets: Some(_), ..
        } => core % config.group_cores as usize,
        _ => core,
    };
    let (a, b) = (in_socket(a), in_socket(b));
    (a % width).abs_diff(b % width) + (a / width).abs_diff(b / width)
}

fn farthest(config: &Config) -> usize {
    (0..config.cores as usize)
        .map(|core| mesh_hops(config, 0, core))
        .max()
        .unwrap_or(0)
}

/// Returns another hardware thread of the holder's core, or else one of the holder's group, or else any. `Config`
/// counts hardware threads as cores.
fn beside(config: &Config, holder: usize, requester: usize) -> Option<usize> {
    let (threads, group) = (
        config.threads_per_core as usize,
        config.group_cores as usize,
    );
    let far = |core: &usize| {
        (
            core / threads != holder / threads,
            core / group != holder / group,
        )
    };
    let others = (0..config.cores as usize).filter(|&core| core != holder && core != requester);
    others.min_by_key(far)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(preset: &str) -> Vec<(String, usize, usize)> {
        classes(&Config::preset(preset).unwrap())
            .into_iter()
            .map(|one| (one.name, one.requester, one.holder))
            .collect()
    }

    #[test]
    fn groups_have_their_classes() {
        let expected = [("same group", 1), ("1 hop", 10), ("2 hops", 30)];
        assert_eq!(
            of("westmere-ex"),
            expected.map(|(name, holder)| (name.into(), 0, holder))
        );
        let expected = [("same core", 1), ("same group", 8)];
        assert_eq!(
            of("niagara-2"),
            expected.map(|(name, holder)| (name.into(), 0, holder))
        );
    }

    #[test]
    fn a_mesh_has_near_middle_and_far() {
        let expected = [("1 hop", 1), ("5 hops", 5), ("max hops", 35)];
        assert_eq!(
            of("tilegx-36"),
            expected.map(|(name, holder)| (name.into(), 0, holder))
        );
    }
}
