//! Loops that only wait. Such a loop costs no host work while no other thread writes to the words that it reads.
//!
//! A *lap* of a loop over pure instructions (no store, no atomic, no call) depends only on the registers and the line
//! that it reads. So if a lap would leave all registers unchanged, the hart (a thread's processor state) waits until
//! the line is taken away. One register may count laps, as in bounded spin loops, if only its own addition and branches
//! read it. After a wait, its laps are added to this register. The wait ends before the count would change the result
//! of a branch.

use super::integer;
use super::memory::{extend, width};
use super::{Hart, Machine};
use crate::isa::{Instruction, Kind, SINK};
use crate::memory::{Place, Space, right};

/// The number of laps before the first look at a loop, and the largest number between two looks.
const FIRST: u32 = 8;
const RAREST: u32 = 1 << 12;
/// The most cycles that `wrs.sto` waits.
pub(super) const SHORT: u64 = 1_000;

/// The laps of the loop that the hart is in.
#[derive(Default)]
pub(super) struct Laps {
    /// The loop's first instruction.
    head: u64,
    count: u32,
    look_at: u32,
    /// The clock at the first of these laps, and the number of instructions that the hart had executed.
    since: u64,
    retired: u64,
    /// `measured` is the pace of the last laps, if they had no break. `pace` is a pace that was measured twice.
    measured: Option<Pace>,
    pace: Option<Pace>,
    /// `Some` while the hart waits. The inner value is the count of the wait, if the loop counts laps.
    parked: Option<Option<Counted>>,
}

impl Laps {
    pub(super) fn is_parked(&self) -> bool {
        self.parked.is_some()
    }

    fn start(&mut self, now: u64, retired: u64) {
        (self.count, self.since, self.retired) = (0, now, retired);
    }

    /// Ends a series of laps of `length` instructions each, and begins the next series. Returns the pace if two series
    /// in a row, of at least [`FIRST`] laps each, had the same pace. Otherwise a line was late, or the hart was
    /// descheduled. The hart must also have executed nothing else: it may have left the loop and come back much later.
    /// The instructions give the number of laps, since `count` lacks laps in which the hart was suspended.
    fn measure(&mut self, now: u64, retired: u64, length: u64) -> Option<Pace> {
        let (cycles, executed) = (now - self.since, retired - self.retired);
        self.start(now, retired);
        let laps = executed / length;
        if executed % length != 0 {
            (self.measured, self.pace) = (None, None);
        } else if self.pace.is_none() && laps >= FIRST.into() {
            let new = Pace { cycles, laps };
            let before = self.measured.replace(new);
            self.pace = before.and_then(|before| before.with(new));
        }
        self.pace
    }
}

/// A wait in a loop that counts.
struct Counted {
    counter: Counter,
    pace: Pace,
    since: u64,
    /// The largest number of laps to add. The wait ends after them, but the hart may continue much later.
    free: u64,
}

/// The duration of some laps.
#[derive(Clone, Copy)]
struct Pace {
    cycles: u64,
    laps: u64,
}

impl Pace {
    /// The sum of both paces, if the times of a lap in them differ by at most a cycle.
    fn with(self, other: Self) -> Option<Self> {
        let difference = (self.cycles * other.laps).abs_diff(other.cycles * self.laps);
        (difference <= self.laps.max(other.laps)).then(|| Self {
            cycles: (self.cycles + other.cycles).max(1),
            laps: self.laps + other.laps,
        })
    }

    fn cycles_of(self, laps: u64) -> u64 {
        let cycles = u128::from(laps) * u128::from(self.cycles) / u128::from(self.laps);
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }

    fn laps_in(self, cycles: u64) -> u64 {
        let laps = u128::from(cycles) * u128::from(self.laps) / u128::from(self.cycles);
        u64::try_from(laps).unwrap_or(u64::MAX)
    }
}

/// A register that grows by `step` each lap, in 32 or 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counter {
    register: u8,
    step: i64,
    word: bool,
}

impl Counter {
    /// The count `value` after `laps` further laps.
    fn after(self, value: u64, laps: u64) -> u64 {
        let value = value.wrapping_add((self.step as u64).wrapping_mul(laps));
        if self.word {
            value as i32 as u64
        } else {
            value
        }
    }

    /// The number of laps before the count reaches or passes `point`.
    fn laps_to(self, value: u64, point: u64) -> u64 {
        let distance = if self.step > 0 {
            point.wrapping_sub(value)
        } else {
            value.wrapping_sub(point)
        };
        let distance = if self.word {
            distance & 0xFFFF_FFFF
        } else {
            distance
        };
        distance / self.step.unsigned_abs()
    }
}

/// Looks at the loop `body` after a lap, at the loop's start. Returns whether the hart waits from now on.
pub(super) fn lap<M: Machine>(
    hart: &mut Hart,
    space: &mut Space,
    body: &[Instruction],
    machine: &mut M,
) -> bool {
    let laps = &mut hart.laps;
    if laps.head != hart.pc {
        *laps = Laps {
            head: hart.pc,
            look_at: FIRST,
            ..Laps::default()
        };
        laps.start(machine.cycles(), hart.retired);
        return false;
    }
    laps.count += 1;
    if laps.count < laps.look_at {
        return false;
    }
    let now = machine.cycles();
    let pace = laps.measure(now, hart.retired, body.len() as u64);
    laps.look_at = (laps.look_at * 2).min(RAREST);
    let Some((place, counter)) = fixed(hart, space, body, machine.line()) else {
        return false;
    };
    let counted = match counter {
        None => None,
        Some(counter) => {
            let Some(pace) = pace else {
                hart.laps.look_at = FIRST;
                return false;
            };
            let free = free_laps(hart, body, counter).filter(|free| *free >= u64::from(FIRST));
            let Some(free) = free else {
                return false;
            };
            Some(Counted {
                counter,
                pace,
                since: now,
                free: free - 1,
            })
        }
    };
    let cycles = counted
        .as_ref()
        .map(|counted| counted.pace.cycles_of(counted.free));
    if !watch(hart, machine, place, cycles) {
        return false;
    }
    hart.laps.look_at = 1;
    hart.laps.parked = Some(counted);
    true
}

/// Ends a wait of the hart: adds the laps that the hart did not execute to the count.
pub(super) fn resume<M: Machine>(hart: &mut Hart, machine: &M) {
    let Some(parked) = hart.laps.parked.take() else {
        return;
    };
    let now = machine.cycles();
    hart.laps.start(now, hart.retired);
    if let Some(counted) = parked {
        let laps = counted.pace.laps_in(now - counted.since).min(counted.free);
        let counter = counted.counter;
        let value = counter.after(hart.get(counter.register), laps);
        hart.set(counter.register, value);
    }
}

/// Begins a wait until the reserved line is taken away.
pub(super) fn wait_on_reservation<M: Machine>(
    hart: &mut Hart,
    machine: &mut M,
    cycles: Option<u64>,
) -> bool {
    match hart.reservation.take() {
        Some(reservation) => watch(hart, machine, reservation.place, cycles),
        None => false,
    }
}

/// Begins a wait for the line of `place`, for at most `cycles` and at most until the hart's alarm.
fn watch<M: Machine>(hart: &Hart, machine: &mut M, place: Place, cycles: Option<u64>) -> bool {
    let left = hart.alarm.saturating_sub(machine.cycles());
    let cycles = match hart.alarm {
        u64::MAX => cycles,
        _ => Some(cycles.map_or(left, |cycles| cycles.min(left))),
    };
    left > 0 && machine.watch(place, cycles)
}

/// If a lap reads one line and changes no register except a counter, returns the place in the line, and the counter.
fn fixed(
    hart: &mut Hart,
    space: &mut Space,
    body: &[Instruction],
    line: u64,
) -> Option<(Place, Option<Counter>)> {
    let before = hart.x;
    let mut x = hart.x;
    let place = lap_on_trial(hart, space, body, line, &mut x)?;
    let mut changed = (1..32).filter(|&register| before[register] != x[register]);
    let Some(register) = changed.next() else {
        return Some((place, None));
    };
    if changed.next().is_some() {
        return None;
    }
    Some((place, Some(counter(body, register as u8)?)))
}

/// Executes a lap on the copy `x` of the registers. If the lap reads only one line, of `size` bytes, returns a place in
/// the line.
fn lap_on_trial(
    hart: &mut Hart,
    space: &mut Space,
    body: &[Instruction],
    size: u64,
    x: &mut [u64; 64],
) -> Option<Place> {
    use Kind::{Auipc, Beq, Bgeu, Fence, Jal, Lui, Pause, WrsNto, WrsSto};
    let mut line: Option<Place> = None;
    for (at, i) in body.iter().enumerate() {
        let a = x[i.rs1 as usize & 63];
        let value = if i.is_load() {
            let address = a.wrapping_add(i.imm as u64);
            let place = hart.translations.place(space, address, right::READ).ok()?;
            let length = width(i.kind).bytes() as usize;
            let last = place.physical + length as u64 - 1;
            let first = line.map_or(place.physical, |line| line.physical);
            if [first, last].map(|it| it / size) != [place.physical / size; 2] {
                return None;
            }
            line = Some(place);
            let mut bytes = [0; 8];
            space.read(address, &mut bytes[..length]).ok()?;
            extend(i.kind, u64::from_le_bytes(bytes))
        } else {
            match i.kind {
                Lui => i.imm as u64,
                // The last instruction must lead back to the start. Branches before it must not be taken.
                kind if kind as u8 >= Beq as u8 && kind as u8 <= Bgeu as u8 => {
                    let taken = integer::is_taken(kind, a, x[i.rs2 as usize & 63]);
                    if taken != (at + 1 == body.len()) {
                        return None;
                    }
                    continue;
                }
                Jal | Fence | Pause if i.rd == SINK || i.kind != Jal => continue,
                Auipc | Jal | WrsNto | WrsSto => return None,
                kind => {
                    let b = match has_immediate(kind) {
                        true => i.imm as u64,
                        false => x[i.rs2 as usize & 63],
                    };
                    integer::compute(kind, a, b)?
                }
            }
        };
        x[i.rd as usize & 63] = value;
    }
    line
}

fn has_immediate(kind: Kind) -> bool {
    use Kind::*;
    let of_rv64i = kind as u8 >= Addi as u8 && kind as u8 <= Srai as u8;
    of_rv64i || matches!(kind, Addiw | Slliw | Srliw | Sraiw | SlliUw | Rori | Roriw)
}

/// Returns the register as a counter, if one instruction adds a constant to it and all its other readers are branches.
fn counter(body: &[Instruction], register: u8) -> Option<Counter> {
    let mut found = None;
    for i in body {
        let branch = i.kind as u8 >= Kind::Beq as u8 && i.kind as u8 <= Kind::Bgeu as u8;
        let reads = i.rs1 == register || i.rs2 == register && !has_immediate(i.kind);
        if i.rd == register && !branch {
            let adds = matches!(i.kind, Kind::Addi | Kind::Addiw) && i.rs1 == register;
            if !adds || i.imm == 0 || found.is_some() {
                return None;
            }
            let word = i.kind == Kind::Addiw;
            found = Some(Counter {
                register,
                step: i.imm.into(),
                word,
            });
        } else if reads && !branch && i.kind != Kind::Lui && i.kind != Kind::Jal {
            return None;
        }
    }
    found
}

/// The number of laps that take the same branches. The laps end where the count reaches a value that a branch compares
/// it with, or where it wraps as a signed or unsigned number. Returns `None` if the loop changes the other operand of
/// such a branch.
fn free_laps(hart: &Hart, body: &[Instruction], counter: Counter) -> Option<u64> {
    let value = hart.get(counter.register);
    let sign = if counter.word { 1 << 31 } else { 1 << 63 };
    let mut free = counter.laps_to(value, 0).min(counter.laps_to(value, sign));
    for i in body {
        if i.kind as u8 >= Kind::Beq as u8 && i.kind as u8 <= Kind::Bgeu as u8 {
            for (mine, other) in [(i.rs1, i.rs2), (i.rs2, i.rs1)] {
                if mine == counter.register {
                    if is_written(body, other) {
                        return None;
                    }
                    free = free.min(counter.laps_to(value, hart.get(other)));
                }
            }
        }
    }
    Some(free)
}

/// Whether an instruction of a loop writes a register. Branches write none.
fn is_written(body: &[Instruction], register: u8) -> bool {
    let mut body = body.iter();
    let is_branch =
        |i: &Instruction| i.kind as u8 >= Kind::Beq as u8 && i.kind as u8 <= Kind::Bgeu as u8;
    register != 0 && body.any(|i| i.rd == register && !is_branch(i))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_never_skips_a_value_that_a_branch_compares_it_with() {
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..20_000 {
            let step = rng.i64(1..9) * if rng.bool() { 1 } else { -1 };
            let word = rng.bool();
            let near = rng.u64(..1_000);
            let value = [
                near,
                near.wrapping_neg(),
                (1 << 31) - near,
                (1 << 63) - near,
            ];
            let value = value[rng.usize(..4)];
            let value = if word { value as i32 as u64 } else { value };
            let counter = Counter {
                register: 5,
                step,
                word,
            };
            let point = counter
                .after(value, 0)
                .wrapping_add(rng.u64(..2_000))
                .wrapping_sub(1_000);
            let point = if word { point as i32 as u64 } else { point };
            let points = [point, 0, if word { 1 << 31 } else { 1 << 63 }];
            let free = points.map(|point| counter.laps_to(value, point));
            let free = free.into_iter().min().unwrap();
            for laps in 1..free.min(500) {
                let now = counter.after(value, laps);
                for other in [point, 0] {
                    let same = |f: fn(u64, u64) -> bool| f(now, other) == f(value, other);
                    assert!(same(|a, b| a == b) && same(|a, b| a < b));
                    assert!(
                        same(|a, b| (a as i64) < b as i64),
                        "{value:x} {step} {laps}"
                    );
                }
            }
        }
    }
}
