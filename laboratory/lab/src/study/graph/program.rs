//! The programs by name. Only `triangles` changes its graph.

manycore_programs::by_name! {
    /// A search of `manycore_programs::graph`.
    pub(super) enum GraphProgram: "unknown program", "expected some of" {
        BreadthFirst = "breadth-first",
        Components = "components",
        Triangles = "triangles",
    }
}
