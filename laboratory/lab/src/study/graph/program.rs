//! What is done with the graph, which stays as it is but for the triangles.

manycore_programs::by_name! {
    /// One of the searches of `manycore_programs::graph`.
    pub(super) enum GraphProgram: "unknown program", "expected some of" {
        BreadthFirst = "breadth-first",
        Components = "components",
        Triangles = "triangles",
    }
}
