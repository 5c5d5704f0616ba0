use super::*;
use crate::barrier::ChannelBarrier;
use crate::stealing::GlobalQueue;
use manycore_platform::Native;
use manycore_team::barrier::Placement;
use std::sync::{Arc, Barrier, Mutex};

/// One set of tasks for all ranks (threads), emptied frontier by frontier.
struct Bag {
    tasks: Mutex<Vec<Task>>,
    meeting: Barrier,
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
            self.bag.meeting.wait();
            self.has_put = true;
        }
        let task = self.bag.tasks.lock().unwrap().pop();
        self.has_put = task.is_some();
        task
    }

    fn meet(&mut self) {
        self.bag.meeting.wait();
    }
}

impl Bag {
    fn new(ranks: usize) -> Self {
        Self {
            tasks: Mutex::default(),
            meeting: Barrier::new(ranks),
        }
    }

    fn hand(&self) -> Hand<'_> {
        Hand {
            bag: self,
            has_put: false,
        }
    }
}

fn team(ranks: usize, body: impl Fn(usize, &mut Hand<'_>) + Sync) {
    let bag = Bag::new(ranks);
    let (bag, body) = (&bag, &body);
    std::thread::scope(|scope| {
        for rank in 0..ranks {
            scope.spawn(move || body(rank, &mut bag.hand()));
        }
    });
}

fn graph() -> Arc<Graph> {
    let (scale, edge_factor, seed) = (9, 8, 3);
    Rmat {
        scale,
        edge_factor,
        seed,
    }
    .graph()
    .into()
}

#[test]
fn a_search_finds_a_valid_tree() {
    let graph = graph();
    for ranks in [1, 2, 3, 5] {
        let search = BreadthFirst::<Native>::new(Arc::clone(&graph), graph.hub());
        team(ranks, |rank, work| search.run(rank, work));
        let edges = search.verify().unwrap();
        assert!(edges > graph.edges() / 2, "{edges}");
    }
}

#[test]
fn labels_are_those_of_the_components() {
    // A graph in several pieces.
    let edges: Vec<_> = (0..400)
        .map(|at| (at, at + 1 + at % 3))
        .filter(|(from, _)| from % 7 != 0)
        .collect();
    let pieces = Graph::undirected(500, &edges);
    for (graph, least) in [(graph(), 1), (pieces.into(), 2)] {
        for ranks in [1, 2, 4] {
            let components = Components::<Native>::new(Arc::clone(&graph), ranks);
            team(ranks, |rank, work| components.run(rank, work));
            assert!(components.verify().unwrap() >= least);
        }
    }
}

/// Drops the tasks of vertex 2.
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

    fn meet(&mut self) {
        self.0.meet();
    }
}

#[test]
fn a_lost_task_is_noticed() {
    let graph = Arc::new(Graph::undirected(
        6,
        &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)],
    ));
    let search = BreadthFirst::<Native>::new(Arc::clone(&graph), 0);
    let components = Components::<Native>::new(Arc::clone(&graph), 1);
    let bag = Bag::new(1);
    search.run(0, &mut Forgetful(bag.hand()));
    assert!(matches!(
        search.verify(),
        Err(InvalidTree::Unreached { .. })
    ));
    components.run(0, &mut Forgetful(bag.hand()));
    assert!(components.verify().is_err());
}

#[test]
fn triangles_are_counted_as_edges_come_and_go() {
    let (scale, edge_factor, seed) = (7, 8, 3);
    let rmat = Rmat {
        scale,
        edge_factor,
        seed,
    };
    let evolving = Arc::new(Evolving::new(rmat, 5));
    assert!(evolving.graphs().windows(2).all(|pair| pair[0] != pair[1]));
    let mut counts = Vec::new();
    for ranks in [1, 2, 4] {
        let triangles = Triangles::<Native>::new(Arc::clone(&evolving), ranks);
        team(ranks, |rank, work| triangles.run(rank, work));
        counts.push(triangles.verify().unwrap());
    }
    assert!(counts[0] > 1_000 && counts.iter().all(|count| *count == counts[0]));
    // This run loses a task.
    let triangles = Triangles::<Native>::new(evolving, 1);
    triangles.run(0, &mut Forgetful(Bag::new(1).hand()));
    let wrong = triangles.verify().unwrap_err();
    assert_eq!(wrong.expected, counts[0] as i64);
}

#[test]
fn a_path_has_the_levels_it_should_have() {
    let graph = Graph::undirected(70, &(0..69).map(|at| (at, at + 1)).collect::<Vec<_>>());
    let graph = Arc::new(graph);
    let search = BreadthFirst::<Native>::new(Arc::clone(&graph), 30);
    team(2, |rank, work| search.run(rank, work));
    assert_eq!(search.verify(), Ok(69));
}

/// Every frontier has a new instance of the discipline (stealing algorithm).
#[test]
fn disciplines_share_frontiers() {
    let graph = graph();
    for ranks in [1, 2, 4] {
        let placement = Placement::flat(ranks);
        let search = BreadthFirst::<Native>::new(Arc::clone(&graph), graph.hub());
        let shares =
            Shares::<Native, GlobalQueue<Native>, ChannelBarrier<Native>>::new(placement, 1);
        let (search, shares) = (&search, &shares);
        std::thread::scope(|scope| {
            for rank in 0..ranks {
                scope.spawn(move || search.run(rank, &mut shares.take(rank)));
            }
        });
        assert!(search.verify().unwrap() > graph.edges() / 2);
    }
}
