//! The equations of a viscous gas along one direction.
//!
//! If the momentum along the direction comes first, all three directions have the same equations. The conserved
//! quantities are U = (density, momentum along, two momenta across, energy). The benchmark solves
//!
//! dU/dt = sum over the directions of - dE(U)/dx + d2V(U)/dx2, and a forcing term,
//!
//! where `E` is the convective flux ([`flux`]) and `V` is the flux by viscosity, conduction and
//! diffusion ([`spread`]), without mixed derivatives (Bailey et al., "The NAS Parallel Benchmarks",
//! RNR-94-007, section 4).

use super::lanes::Real;

/// The conserved quantities, at one point.
pub(super) type State<T> = [T; 5];

/// The ratio of specific heats.
const GAMMA: f64 = 1.4;
/// Viscosity, in the units of the benchmark (k3 k4).
const VISCOSITY: f64 = 0.1;
/// Conduction over viscosity (k1 k5).
const CONDUCTION: f64 = 1.96;

/// Constants that depend on the grid and the direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weights {
    /// The weight of a central difference: half the inverse of the distance between points.
    pub(super) first: f64,
    /// The weight of a second difference: the square of the inverse of the distance.
    pub(super) second: f64,
    /// The artificial diffusion of every quantity.
    pub(super) diffusion: f64,
}

/// Velocities, and energies for a unit of mass.
pub(super) struct GasMotion<T> {
    /// The volume of a unit of mass.
    volume: T,
    velocity: [T; 3],
    kinetic: T,
    energy: T,
}

impl<T: Real> GasMotion<T> {
    #[inline(always)]
    pub(super) fn of(state: &State<T>) -> Self {
        let [density, along, across, other, energy] = *state;
        let volume = T::of(1.0) / density;
        let velocity = [along * volume, across * volume, other * volume];
        let [u, v, w] = velocity;
        Self {
            volume,
            velocity,
            kinetic: (u * u + v * v + w * w) * 0.5,
            energy: energy * volume,
        }
    }
}

/// The convective flux, E(U).
#[inline(always)]
pub(super) fn flux<T: Real>(state: &State<T>, motion: &GasMotion<T>) -> State<T> {
    let [density, along, across, other, energy] = *state;
    let u = motion.velocity[0];
    let pressure = (energy - density * motion.kinetic) * (GAMMA - 1.0);
    [
        along,
        along * u + pressure,
        across * u,
        other * u,
        (energy + pressure) * u,
    ]
}

/// The viscous flux, V(U).
#[inline(always)]
pub(super) fn spread<T: Real>(state: &State<T>, motion: &GasMotion<T>, diffusion: f64) -> State<T> {
    let [u, v, w] = motion.velocity;
    let GasMotion {
        kinetic, energy, ..
    } = *motion;
    let heat = kinetic * (1.0 - CONDUCTION) + u * u * (1.0 / 6.0) + energy * CONDUCTION;
    [
        state[0] * diffusion,
        state[1] * diffusion + u * (VISCOSITY * 4.0 / 3.0),
        state[2] * diffusion + v * VISCOSITY,
        state[3] * diffusion + w * VISCOSITY,
        state[4] * diffusion + heat * VISCOSITY,
    ]
}

/// The Jacobians: dE/dU times the first weight, and dV/dU times the second. Calls `entry` with row, column and both
/// values, for each place at which a value can differ from zero.
#[inline(always)]
pub(super) fn jacobians<T: Real>(
    state: &State<T>,
    weights: &Weights,
    mut entry: impl FnMut(usize, usize, T, T),
) {
    let GasMotion {
        volume,
        velocity: [u, v, w],
        kinetic,
        energy,
    } = GasMotion::of(state);
    let zero = T::of(0.0);
    let own = T::of(weights.diffusion * weights.second);
    let first = T::of(weights.first);
    let [fu, fv, fw] = [u * first, v * first, w * first];
    let gas = GAMMA - 1.0;
    let enthalpy = energy * GAMMA - kinetic * gas;
    let g = volume * (VISCOSITY * weights.second);
    let [gu, gv, gw] = [u * g, v * g, w * g];

    entry(0, 0, zero, own);
    entry(0, 1, first, zero);

    entry(1, 0, kinetic * first * gas - u * fu, gu * (-4.0 / 3.0));
    entry(1, 1, fu * (2.0 - gas), g * (4.0 / 3.0) + own);
    entry(1, 2, fv * -gas, zero);
    entry(1, 3, fw * -gas, zero);
    entry(1, 4, T::of(weights.first * gas), zero);

    entry(2, 0, -(v * fu), -gv);
    entry(2, 1, fv, zero);
    entry(2, 2, fu, g + own);

    entry(3, 0, -(w * fu), -gw);
    entry(3, 1, fw, zero);
    entry(3, 3, fu, g + own);

    let heat = kinetic * (2.0 * (CONDUCTION - 1.0)) - u * u * (1.0 / 3.0) - energy * CONDUCTION;
    entry(4, 0, fu * (kinetic * gas - enthalpy), g * heat);
    entry(
        4,
        1,
        (enthalpy - u * u * gas) * first,
        gu * (4.0 / 3.0 - CONDUCTION),
    );
    entry(4, 2, v * fu * -gas, gv * (1.0 - CONDUCTION));
    entry(4, 3, w * fu * -gas, gw * (1.0 - CONDUCTION));
    entry(4, 4, fu * GAMMA, g * CONDUCTION + own);
}
