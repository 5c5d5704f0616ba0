//! A square matrix, stored quadrant by quadrant.

/// The quadrants follow each other in memory: upper left, upper right, lower left, lower right. Each consists of its
/// own quadrants in the same order, down to blocks, which are stored row by row. So a quadrant is a slice, and a thread
/// may borrow it.
#[derive(Clone, Debug)]
pub(super) struct DenseMatrix {
    levels: u32,
    pub(super) block: usize,
    pub(super) elements: Vec<f32>,
}

impl DenseMatrix {
    /// A matrix of the values that `element` returns, in the order of the memory.
    pub(super) fn from_fn(levels: u32, block: usize, mut element: impl FnMut() -> f32) -> Self {
        let side = block << levels;
        Self {
            levels,
            block,
            elements: (0..side * side).map(|_| element()).collect(),
        }
    }

    fn side(&self) -> usize {
        self.block << self.levels
    }

    fn index(&self, mut row: usize, mut column: usize) -> usize {
        let mut half = self.side();
        let mut start = 0;
        for _ in 0..self.levels {
            half /= 2;
            let quadrant = row / half * 2 + column / half;
            start += quadrant * half * half;
            (row, column) = (row % half, column % half);
        }
        start + row * self.block + column
    }

    pub(super) fn rows(&self) -> Vec<Vec<f32>> {
        let row = |row| (0..self.side()).map(move |column| self.elements[self.index(row, column)]);
        (0..self.side()).map(|at| row(at).collect()).collect()
    }
}

/// The product by its definition.
pub(super) fn product(a: &[Vec<f32>], b: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let row = |a: &Vec<f32>| {
        let mut sums = vec![0.0; a.len()];
        for (a, b) in a.iter().zip(b) {
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
        sums
    };
    a.iter().map(row).collect()
}

pub(super) fn quarters(matrix: &[f32]) -> [&[f32]; 4] {
    let (upper, lower) = matrix.split_at(matrix.len() / 2);
    let ((a, b), (c, d)) = (
        upper.split_at(upper.len() / 2),
        lower.split_at(lower.len() / 2),
    );
    [a, b, c, d]
}

pub(super) fn quarters_mut(matrix: &mut [f32]) -> [&mut [f32]; 4] {
    let (upper, lower) = matrix.split_at_mut(matrix.len() / 2);
    let half = upper.len() / 2;
    let ((a, b), (c, d)) = (upper.split_at_mut(half), lower.split_at_mut(half));
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quadrants_lie_one_behind_the_other() {
        let mut next = 0.0;
        let matrix = DenseMatrix::from_fn(1, 2, || {
            next += 1.0;
            next
        });
        let rows = [
            [1.0, 2.0, 5.0, 6.0],
            [3.0, 4.0, 7.0, 8.0],
            [9.0, 10.0, 13.0, 14.0],
            [11.0, 12.0, 15.0, 16.0],
        ];
        assert_eq!(matrix.rows(), rows.map(Vec::from));
    }

    #[test]
    fn the_product_of_two_by_two() {
        let matrix = |rows: [[f32; 2]; 2]| Vec::from(rows.map(Vec::from));
        let (a, b) = (
            matrix([[1.0, 2.0], [3.0, 4.0]]),
            matrix([[5.0, 6.0], [7.0, 8.0]]),
        );
        assert_eq!(product(&a, &b), matrix([[19.0, 22.0], [43.0, 50.0]]));
    }
}
