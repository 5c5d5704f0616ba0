//! The exact solution, which the forcing term makes steady, and the initial field.

/// The polynomials' coefficients, one column for each quantity (RNR-94-007, section 4). The first
/// row is the constant. Three rows follow for each power from 1 to 4, one for each coordinate.
const COEFFICIENTS: [[f64; 5]; 13] = [
    [2.0, 1.0, 2.0, 2.0, 5.0],
    [0.0, 0.0, 2.0, 2.0, 4.0],
    [0.0, 0.0, 0.0, 0.0, 3.0],
    [4.0, 0.0, 0.0, 0.0, 2.0],
    [5.0, 1.0, 0.0, 0.0, 0.1],
    [3.0, 2.0, 2.0, 2.0, 0.4],
    [0.5, 3.0, 3.0, 3.0, 0.3],
    [0.02, 0.01, 0.04, 0.03, 0.05],
    [0.01, 0.03, 0.03, 0.05, 0.04],
    [0.03, 0.02, 0.05, 0.04, 0.03],
    [0.5, 0.4, 0.3, 0.2, 0.1],
    [0.4, 0.3, 0.5, 0.1, 0.3],
    [0.3, 0.5, 0.4, 0.3, 0.2],
];

/// The exact solution at a point of the unit cube.
pub(super) fn exact(point: [f64; 3]) -> [f64; 5] {
    std::array::from_fn(|quantity| {
        let coefficient = |row: usize| COEFFICIENTS[row][quantity];
        let along = |axis: usize| {
            let powers = (0..4).rev().map(|power| coefficient(1 + 3 * power + axis));
            powers.fold(0.0, |sum, c| (sum + c) * point[axis])
        };
        coefficient(0) + along(0) + along(1) + along(2)
    })
}

/// The initial field at a point. On the cube's faces it is the exact solution. In the interior it is
/// 1 - (1 - x)(1 - y)(1 - z), where x, y and z are the linear interpolations between opposite faces.
/// The benchmark multiplies their values, where transfinite interpolation composes the
/// interpolations. So the field jumps at the faces.
pub(super) fn initial(point: [f64; 3]) -> [f64; 5] {
    let on_face = |&coordinate: &f64| coordinate == 0.0 || coordinate == 1.0;
    if point.iter().any(on_face) {
        return exact(point);
    }
    let between: [[f64; 5]; 3] = std::array::from_fn(|axis| {
        let face = |coordinate| {
            let mut there = point;
            there[axis] = coordinate;
            exact(there)
        };
        let (near, far) = (face(0.0), face(1.0));
        std::array::from_fn(|quantity| {
            point[axis] * far[quantity] + (1.0 - point[axis]) * near[quantity]
        })
    });
    std::array::from_fn(|quantity| {
        let [x, y, z] = between.map(|values| values[quantity]);
        x + y + z - x * y - x * z - y * z + x * y * z
    })
}
