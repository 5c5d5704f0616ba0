use super::*;
use manycore_platform::Native;
use std::sync::{Barrier, Mutex};

/// One bag for all, emptied frontier by frontier.
#[derive(Default)]
struct Bag {
    tasks: Mutex<Vec<Task>>,
    full: Option<Barrier>,
}

struct Hand<'b> {
    bag: &'b Bag,
    has_put: bool,
}

impl Work for Hand<'_> {
    fn put(&mut self, task: Task) {
        self.bag.tasks.lock().unwrap().push(task);
    }

    fn get(&mut self) -> Option<Task> {
        if !self.has_put {
            self.bag.full.as_ref().unwrap().wait();
            self.has_put = true;
        }
        let task = self.bag.tasks.lock().unwrap().pop();
        self.has_put = task.is_some();
        task
    }
}

/// Runs `body` as a team.
fn team(ranks: usize, body: impl Fn(usize, &mut Hand<'_>, &mut dyn FnMut()) + Sync) {
    let bag = Bag {
        full: Some(Barrier::new(ranks)),
        ..Bag::default()
    };
    let meeting = Barrier::new(ranks);
    let (bag, meeting, body) = (&bag, &meeting, &body);
    std::thread::scope(|scope| {
        for rank in 0..ranks {
            scope.spawn(move || {
                let has_put = false;
                let mut meet = || {
                    meeting.wait();
                };
                body(rank, &mut Hand { bag, has_put }, &mut meet);
            });
        }
    });
}

fn graph() -> Graph {
    let (scale, edge_factor, seed) = (9, 8, 3);
    Rmat {
        scale,
        edge_factor,
        seed,
    }
    .graph()
}

#[test]
fn a_search_finds_a_valid_tree() {
    let graph = graph();
    for ranks in [1, 2, 3, 5] {
        let search = BreadthFirst::<Native>::new(&graph, graph.hub());
        team(ranks, |rank, work, meet| search.run(rank, work, meet));
        let edges = search.verify().unwrap();
        assert!(edges > graph.edges() / 2, "{edges}");
    }
}

#[test]
fn labels_are_those_of_the_components() {
    // A graph in pieces.
    let edges: Vec<_> = (0..400)
        .map(|at| (at, at + 1 + at % 3))
        .filter(|(from, _)| from % 7 != 0)
        .collect();
    let pieces = Graph::undirected(500, &edges);
    for (graph, least) in [(graph(), 1), (pieces, 2)] {
        for ranks in [1, 2, 4] {
            let components = Components::<Native>::new(&graph, ranks);
            team(ranks, |rank, work, meet| components.run(rank, work, meet));
            assert!(components.verify().unwrap() >= least);
        }
    }
}

/// A rank that leaves the tasks of vertex 2 out is found out.
struct Forgetful<'b>(Hand<'b>);

impl Work for Forgetful<'_> {
    fn put(&mut self, task: Task) {
        if task.get() as u32 != 2 + 1 {
            self.0.put(task);
        }
    }

    fn get(&mut self) -> Option<Task> {
        self.0.get()
    }
}

#[test]
fn a_lost_task_is_noticed() {
    let graph = Graph::undirected(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
    let search = BreadthFirst::<Native>::new(&graph, 0);
    let components = Components::<Native>::new(&graph, 1);
    let bag = Bag {
        full: Some(Barrier::new(1)),
        ..Bag::default()
    };
    let hand = || {
        let has_put = false;
        Hand { bag: &bag, has_put }
    };
    search.run(0, &mut Forgetful(hand()), &mut || ());
    assert!(matches!(
        search.verify(),
        Err(InvalidTree::Unreached { .. })
    ));
    components.run(0, &mut Forgetful(hand()), &mut || ());
    assert!(components.verify().is_err());
}

#[test]
fn a_path_has_the_levels_it_should_have() {
    let graph = Graph::undirected(70, &(0..69).map(|at| (at, at + 1)).collect::<Vec<_>>());
    let search = BreadthFirst::<Native>::new(&graph, 30);
    team(2, |rank, work, meet| search.run(rank, work, meet));
    assert_eq!(search.verify(), Ok(69));
}
