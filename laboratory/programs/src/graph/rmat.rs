//! Random graphs in which a few vertices have very many edges.

use super::Graph;

/// Graph500's probabilities, in percent, that an edge falls into the first three quadrants of the adjacency
/// matrix: 57, 19, 19. The last quadrant has 5.
const QUADRANTS: [u8; 3] = [57, 57 + 19, 57 + 19 + 19];

/// A recursive-matrix graph (Chakrabarti, Zhan, Faloutsos, SDM 2004) with the parameters of Graph500: 2^`scale`
/// vertices, `edge_factor` edges for each vertex, and randomly renumbered vertices.
///
/// ```
/// use manycore_programs::graph::Rmat;
///
/// let edges = Rmat { scale: 6, edge_factor: 16, seed: 1 }.edges();
/// assert_eq!(edges.len(), 16 << 6);
/// assert!(edges.iter().all(|&(a, b)| a < 64 && b < 64));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rmat {
    /// The logarithm of the number of vertices, at most 26.
    pub scale: u32,
    /// The number of edges that are drawn for each vertex. Graph500 has 16.
    pub edge_factor: u32,
    /// Decides the edges and the numbers of the vertices.
    pub seed: u64,
}

impl Rmat {
    /// The drawn edges, with loops and repetitions.
    ///
    /// # Panics
    ///
    /// If the scale is more than 26.
    pub fn edges(self) -> Vec<(u32, u32)> {
        self.draw((self.edge_factor as usize) << self.scale)
    }

    /// Draws `edges` edges. A greater number adds edges and keeps the first ones.
    ///
    /// # Panics
    ///
    /// If the scale is more than 26.
    pub(super) fn draw(self, edges: usize) -> Vec<(u32, u32)> {
        assert!(
            self.scale <= 26,
            "a scale of {} is more than 26",
            self.scale
        );
        let vertices = 1_u32 << self.scale;
        let mut random = fastrand::Rng::with_seed(self.seed);
        let mut number: Vec<u32> = (0..vertices).collect();
        random.shuffle(&mut number);
        let mut draw = || {
            let (mut row, mut column) = (0, 0);
            for _ in 0..self.scale {
                let chance = random.u8(..100);
                let quadrant = QUADRANTS.iter().take_while(|&&below| chance >= below);
                let quadrant = quadrant.count();
                row = row << 1 | quadrant >> 1;
                column = column << 1 | quadrant & 1;
            }
            (number[row], number[column])
        };
        (0..edges).map(|_| draw()).collect()
    }

    /// The undirected graph of these edges.
    ///
    /// ```
    /// use manycore_programs::graph::Rmat;
    ///
    /// let graph = Rmat { scale: 8, edge_factor: 16, seed: 1 }.graph();
    /// assert_eq!(graph.vertices(), 256);
    /// // There are hubs.
    /// let most = (0..256).map(|vertex| graph.neighbours(vertex).len()).max();
    /// assert!(most > Some(100));
    /// ```
    ///
    /// # Panics
    ///
    /// If the scale is more than 26.
    pub fn graph(self) -> Graph {
        Graph::undirected(1 << self.scale, &self.edges())
    }
}
