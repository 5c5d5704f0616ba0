//! The matrix: a sum of products of sparse random vectors with themselves.

use super::size::CgSize;
use crate::spmd::randlc::Randlc;
use manycore_platform::Platform;
use std::ops::Range;

/// The reciprocal of the condition number.
const RCOND: f64 = 0.1;

/// The nonzero elements, row by row, in the order of columns.
pub(super) struct SparseMatrix {
    /// The beginning of each row, and the end of the last.
    starts: Vec<u32>,
    /// Each is less than the number of rows.
    columns: Vec<u32>,
    values: Vec<f64>,
    gathered: Gathered,
}

/// A random vector of few elements.
struct Sparse {
    places: Vec<u32>,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// The matrix of RNR-94-007: the sum of `w_i x_i x_i'` over all rows i, and `RCOND - shift` on the diagonal. The
    /// weights `w_i` fall geometrically from 1 to `RCOND`. [`multiply`](Self::multiply) handles a grain, `grain` rows,
    /// at a time.
    pub(super) fn new(size: &CgSize, grain: usize) -> Self {
        let n = size.rows;
        let vectors = vectors(size);
        let ratio = RCOND.powf(1.0 / n as f64);
        let weights = std::iter::successors(Some(1.0), |weight| Some(weight * ratio));
        let weights: Vec<f64> = weights.take(n).collect();

        // A row is a sum over the vectors that have an element there.
        let members = Transposed::of(&vectors, n);
        let mut starts = vec![0];
        let (mut all_columns, mut all_values) = (Vec::new(), Vec::new());
        let mut row_of = vec![0.0; n];
        let mut seen = vec![u32::MAX; n];
        let mut columns = Vec::new();
        for row in 0..n as u32 {
            columns.clear();
            for &(vector, at) in members.row(row as usize) {
                let Sparse { places, values } = &vectors[vector as usize];
                let scale = weights[vector as usize] * values[at as usize];
                for (&column, &value) in places.iter().zip(values) {
                    let mut value = value * scale;
                    if column == row && vector == row {
                        value = value + RCOND - size.shift;
                    }
                    if seen[column as usize] == row {
                        row_of[column as usize] += value;
                    } else {
                        seen[column as usize] = row;
                        row_of[column as usize] = value;
                        columns.push(column);
                    }
                }
            }
            columns.sort_unstable();
            all_columns.extend(&columns);
            all_values.extend(columns.iter().map(|&column| row_of[column as usize]));
            starts.push(all_columns.len() as u32);
        }
        Self {
            gathered: Gathered::new(grain, &starts, &all_columns),
            starts,
            columns: all_columns,
            values: all_values,
        }
    }

    /// The number of nonzero elements.
    pub(super) fn entries(&self) -> usize {
        self.values.len()
    }

    /// Calls `each` with the number of each row of a grain and the row's product with `vector`.
    #[inline]
    pub(super) fn multiply<P: Platform>(
        &self,
        rows: Range<usize>,
        vector: &[f64],
        mut each: impl FnMut(usize, f64),
    ) {
        assert!(vector.len() + 1 >= self.starts.len());
        let starts = &self.starts[rows.start..=rows.end];
        P::read(starts);
        let entries = starts[0] as usize..starts[starts.len() - 1] as usize;
        P::read(&self.columns[entries.clone()]);
        P::read(&self.values[entries]);
        self.gathered.announce::<P>(rows.start, vector);
        for (row, bounds) in rows.zip(starts.windows(2)) {
            let entries = bounds[0] as usize..bounds[1] as usize;
            let columns = &self.columns[entries.clone()];
            // SAFETY: `new` stores only columns less than the number of rows, and the vector has at least as many
            // elements, as asserted.
            each(row, unsafe { dot(columns, &self.values[entries], vector) });
        }
    }
}

/// The cache lines of a vector that each grain reads. The grain announces each line to the platform once, since later
/// reads hit the cache.
struct Gathered {
    grain: usize,
    /// The beginning of each grain's lines, and the end of the last grain's lines.
    starts: Vec<usize>,
    /// The first element of each line.
    elements: Vec<u32>,
}

impl Gathered {
    fn new(grain: usize, starts: &[u32], columns: &[u32]) -> Self {
        /// Numbers of 8 bytes in a line of 64.
        const IN_A_LINE: usize = 8;
        let rows = starts.len() - 1;
        let mut seen = vec![usize::MAX; rows.div_ceil(IN_A_LINE)];
        let mut gathered = Self {
            grain,
            starts: vec![0],
            elements: Vec::new(),
        };
        for first in (0..rows).step_by(grain) {
            let end = rows.min(first + grain);
            for &column in &columns[starts[first] as usize..starts[end] as usize] {
                let line = column as usize / IN_A_LINE;
                if seen[line] != first {
                    seen[line] = first;
                    gathered.elements.push((line * IN_A_LINE) as u32);
                }
            }
            gathered.starts.push(gathered.elements.len());
        }
        gathered
    }

    /// Announces the lines of the grain that begins with row `first`.
    #[inline]
    fn announce<P: Platform>(&self, first: usize, vector: &[f64]) {
        let grain = first / self.grain;
        for &element in &self.elements[self.starts[grain]..self.starts[grain + 1]] {
            let element = element as usize;
            // The compiler removes this loop where `P::read` is empty.
            P::read(vector.get(element..element + 1).unwrap_or_default());
        }
    }
}

/// The product of a row with the vector. Four sums overlap. In a single sum each addition would wait for the one
/// before.
///
/// # Safety
///
/// All columns are less than the vector's length.
#[inline]
unsafe fn dot(columns: &[u32], values: &[f64], vector: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (columns, last_columns) = columns.as_chunks::<4>();
    let (values, last_values) = values.as_chunks::<4>();
    // SAFETY: by contract the column is less than the vector's length.
    let at = |column: u32| unsafe { *vector.get_unchecked(column as usize) };
    for (columns, values) in columns.iter().zip(values) {
        for lane in 0..4 {
            sums[lane] += values[lane] * at(columns[lane]);
        }
    }
    for (&column, value) in last_columns.iter().zip(last_values) {
        sums[0] += value * at(column);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// For each row, the vectors that have an element there, in order, and the element's index in the vector.
struct Transposed {
    starts: Vec<usize>,
    members: Vec<(u32, u32)>,
}

impl Transposed {
    fn of(vectors: &[Sparse], rows: usize) -> Self {
        let mut starts = vec![0; rows + 1];
        let places = || vectors.iter().flat_map(|vector| &vector.places);
        places().for_each(|&place| starts[place as usize + 1] += 1);
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut members = vec![(0, 0); starts[rows]];
        for (number, vector) in vectors.iter().enumerate() {
            for (at, &place) in vector.places.iter().enumerate() {
                let next = &mut next[place as usize];
                members[*next] = (number as u32, at as u32);
                *next += 1;
            }
        }
        Self { starts, members }
    }

    fn row(&self, row: usize) -> &[(u32, u32)] {
        &self.members[self.starts[row]..self.starts[row + 1]]
    }
}

/// Makes one vector for each row: `nonzeros` random elements at random places, and 0.5 at the place of the row.
fn vectors(size: &CgSize) -> Vec<Sparse> {
    let mut random = Randlc::new();
    // NPB's program draws one number before it makes the matrix.
    random.draw();
    let places = size.rows.next_power_of_two() as f64;
    let vector = |row: usize| {
        let mut vector = Sparse {
            places: Vec::with_capacity(size.nonzeros + 1),
            values: Vec::with_capacity(size.nonzeros + 1),
        };
        while vector.places.len() < size.nonzeros {
            let value = random.draw();
            let place = (random.draw() * places) as u32;
            if (place as usize) < size.rows && !vector.places.contains(&place) {
                vector.places.push(place);
                vector.values.push(value);
            }
        }
        match vector
            .places
            .iter()
            .position(|&place| place as usize == row)
        {
            Some(at) => vector.values[at] = 0.5,
            None => {
                vector.places.push(row as u32);
                vector.values.push(0.5);
            }
        }
        vector
    };
    (0..size.rows).map(vector).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spmd::Class;
    use manycore_platform::Native;

    #[test]
    fn the_matrix_is_symmetric_and_its_rows_are_in_order() {
        let size = CgSize::of(Class::S);
        let matrix = SparseMatrix::new(&size, 40);
        let mut dense = vec![0.0; size.rows * size.rows];
        for row in 0..size.rows {
            let entries = matrix.starts[row] as usize..matrix.starts[row + 1] as usize;
            assert!(matrix.columns[entries.clone()].is_sorted_by(|a, b| a < b));
            for entry in entries {
                dense[row * size.rows + matrix.columns[entry] as usize] = matrix.values[entry];
            }
        }
        for row in 0..size.rows {
            for column in 0..row {
                let (here, there) = (row * size.rows + column, column * size.rows + row);
                let difference: f64 = dense[here] - dense[there];
                assert!(difference.abs() <= 1e-15, "({row}, {column})");
            }
        }
        let vector: Vec<f64> = (0..size.rows).map(|i| 1.0 / (1.0 + i as f64)).collect();
        let mut rows = 0;
        for first in (0..size.rows).step_by(40) {
            matrix.multiply::<Native>(first..first + 40, &vector, |row, product| {
                let elements = &dense[row * size.rows..(row + 1) * size.rows];
                let expected: f64 = elements.iter().zip(&vector).map(|(a, b)| a * b).sum();
                assert!((product - expected).abs() < 1e-12);
                assert_eq!(row, rows);
                rows += 1;
            });
        }
        assert_eq!(rows, size.rows);
    }

    #[test]
    fn the_matrix_has_the_declared_number_of_elements() {
        for class in [Class::S, Class::W] {
            let size = CgSize::of(class);
            assert_eq!(SparseMatrix::new(&size, 1).entries(), size.entries);
        }
    }
}
