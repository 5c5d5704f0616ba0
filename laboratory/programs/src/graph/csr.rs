/// A graph as rows of neighbours, one after the other (compressed sparse rows).
///
/// ```
/// use manycore_programs::graph::Graph;
///
/// let graph = Graph::undirected(4, &[(0, 1), (1, 2), (2, 2), (1, 0)]);
/// assert_eq!(graph.neighbours(1), [0, 2]);
/// assert_eq!(graph.neighbours(2), [1], "without loops and repetitions");
/// assert!(graph.neighbours(3).is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The beginning of each vertex's row, and the end of the last.
    rows: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Graph {
    /// The graph with these edges in both directions. Loops and repetitions are dropped.
    ///
    /// # Panics
    ///
    /// If an edge has a vertex that is not below `vertices`.
    pub fn undirected(vertices: u32, edges: &[(u32, u32)]) -> Self {
        let both = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        let mut arcs: Vec<_> = both.filter(|(from, to)| from != to).collect();
        arcs.sort_unstable();
        arcs.dedup();
        let mut rows = vec![0; vertices as usize + 1];
        for &(from, to) in &arcs {
            assert!(to < vertices, "vertex {to} of {vertices}");
            rows[from as usize + 1] += 1;
        }
        for vertex in 1..rows.len() {
            rows[vertex] += rows[vertex - 1];
        }
        let neighbours = arcs.into_iter().map(|(_, to)| to).collect();
        Self { rows, neighbours }
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        self.rows.len() as u32 - 1
    }

    /// The number of edges, each counted once.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// The neighbours of `vertex`, ascending.
    ///
    /// # Panics
    ///
    /// If the graph has no such vertex.
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.neighbours[self.rows[vertex] as usize..self.rows[vertex + 1] as usize]
    }

    /// The vertex with the most neighbours.
    pub fn hub(&self) -> u32 {
        let vertices = 0..self.vertices();
        let hub = vertices.max_by_key(|&vertex| (self.neighbours(vertex).len(), vertex));
        hub.unwrap_or(0)
    }
}
