//! Maps values to places along an axis, and chooses labels.

use super::data::Axis;
use super::font;

/// The size of the labels.
pub(super) const SIZE: f64 = 7.0;

/// An axis, laid out for its values.
#[derive(Clone, Debug)]
pub(super) struct Ruler {
    logarithmic: bool,
    most: Option<f64>,
    /// Both ends of the axis. On a logarithmic axis these are the logarithms.
    from: f64,
    to: f64,
    /// The place of 0 on a logarithmic axis.
    zero: Option<f64>,
    pub(super) ticks: Vec<Tick>,
    /// Quantity and unit.
    pub(super) label: String,
}

/// A mark on an axis. Its label is empty if there is no room.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// The place on the axis, from 0 at one end to 1 at the other.
    pub(super) place: f64,
    pub(super) label: String,
}

/// The direction and length of an axis.
#[derive(Clone, Copy, Debug)]
pub(super) enum Along {
    Width(f64),
    Height(f64),
}

/// The values that an axis must show.
#[derive(Clone, Debug)]
pub(super) struct Span<'a> {
    pub(super) axis: &'a Axis,
    pub(super) values: Vec<f64>,
    /// Whether a linear axis begins at 0.
    pub(super) from_zero: bool,
    /// Whether marks are at the values themselves.
    pub(super) at_values: bool,
    /// The power of ten that multiplies the unit.
    pub(super) power: i32,
}

/// With more values than this, marks are at round values.
const MOST_VALUES: usize = 20;

impl Ruler {
    pub(super) fn new(span: &Span<'_>, along: Along) -> Self {
        let axis = span.axis;
        let shown = |value: f64| value.min(axis.most.unwrap_or(f64::INFINITY));
        // A value that is not a finite number has no place.
        let numbers = span.values.iter().copied().filter(|value| !value.is_nan());
        let mut values: Vec<f64> = numbers
            .map(shown)
            .filter(|value| value.is_finite())
            .collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let mut ruler = Self {
            logarithmic: axis.logarithmic,
            most: axis.most,
            from: 0.0,
            to: 1.0,
            zero: None,
            ticks: Vec::new(),
            label: label(axis, span.power),
        };
        ruler.set_ends(&values, span.from_zero);
        let factor = 10_f64.powi(-span.power);
        let labelled = match span.at_values && values.len() <= MOST_VALUES {
            true => ruler.of_values(&values, factor, along),
            false => ruler.round_values(factor, along),
        };
        ruler.ticks = labelled;
        ruler
    }

    /// The place of a value, from 0 at one end of the axis to 1 at the other. A value beyond the axis's limit has the
    /// limit's place.
    pub(super) fn place(&self, value: f64) -> f64 {
        self.place_beyond(value.min(self.most.unwrap_or(f64::INFINITY)))
    }

    /// The place of a value, also beyond the axis's limit.
    pub(super) fn place_beyond(&self, value: f64) -> f64 {
        (self.transformed(value) - self.from) / (self.to - self.from)
    }

    /// Whether a value is beyond the axis's limit.
    pub(super) fn is_beyond(&self, value: f64) -> bool {
        self.most.is_some_and(|most| value > most)
    }

    /// Whether a value is on the axis.
    pub(super) fn shows(&self, value: f64) -> bool {
        !self.is_beyond(value) && (0.0..=1.0).contains(&self.place(value))
    }

    /// Whether a logarithmic axis has a separate 0.
    pub(super) fn is_broken(&self) -> bool {
        self.zero.is_some()
    }

    fn transformed(&self, value: f64) -> f64 {
        match (self.logarithmic, self.zero) {
            (false, _) => value,
            (true, Some(zero)) if value <= 0.0 => zero,
            (true, _) => value.max(f64::MIN_POSITIVE).log10(),
        }
    }

    fn set_ends(&mut self, values: &[f64], from_zero: bool) {
        let (Some(&least), Some(&greatest)) = (values.first(), values.last()) else {
            return;
        };
        if !self.logarithmic {
            let near = from_zero || (least >= 0.0 && least < 0.2 * greatest);
            let from = if near { least.min(0.0) } else { least };
            let span = if greatest > from {
                greatest - from
            } else {
                1.0
            };
            (self.from, self.to) = (from, greatest.max(from + span));
            if !near {
                self.from -= 0.04 * span;
            }
            self.to += 0.04 * span;
            return;
        }
        let positive = values.iter().copied().find(|&value| value > 0.0);
        let low = positive.unwrap_or(1.0).log10();
        let high = greatest.max(f64::MIN_POSITIVE).log10().max(low);
        // A narrow axis shows at least a doubling.
        let spare = ((2.0_f64.log10() - (high - low)) / 2.0).max(0.0);
        let margin = 0.04 * (high - low).max(0.3);
        (self.from, self.to) = (low - spare - margin, high + spare + margin);
        if least <= 0.0 {
            let gap = 0.15 * (high - low).max(0.3);
            self.zero = Some(low - spare - gap);
            self.from = low - spare - gap - margin;
        }
    }

    /// Marks at all values, with as many labels as fit. The last value always has a label.
    fn of_values(&self, values: &[f64], factor: f64, along: Along) -> Vec<Tick> {
        let decimals = decimals(values.iter().map(|value| value * factor));
        let tick = |&value: &f64| Tick {
            place: self.place(value),
            label: number(value * factor, decimals),
        };
        let all: Vec<Tick> = values.iter().map(tick).collect();
        let steps: Vec<f64> = all
            .windows(2)
            .map(|pair| pair[1].place - pair[0].place)
            .collect();
        let even = steps
            .iter()
            .all(|step| (step / steps[0] - 1.0).abs() < 0.01);
        match even {
            true => every(&all, along),
            false => as_they_fit(all, along),
        }
    }

    /// Marks at the finest round values with labels that fit.
    fn round_values(&self, factor: f64, along: Along) -> Vec<Tick> {
        let (from, to) = match self.logarithmic {
            true => (10_f64.powf(self.from), 10_f64.powf(self.to)),
            false => (self.from, self.to),
        };
        let (from, to) = (from * factor, to * factor);
        let mut found = Vec::new();
        let candidates = match self.logarithmic {
            true => by_factors(from, to),
            false => by_steps(from, to),
        };
        for mut values in candidates {
            // The gap before a separate 0 has no marks.
            let shown = |value: f64| self.zero.is_none_or(|_| value.log10() > self.from + 0.2);
            values.retain(|&value| !self.logarithmic || shown(value / factor));
            // On a logarithmic axis each label has only the decimals that it needs.
            let together = decimals(values.iter().copied());
            let tick = |&value: &f64| Tick {
                place: self.place(value / factor),
                label: match self.logarithmic {
                    true => number(value, decimals([value].into_iter())),
                    false => number(value, together),
                },
            };
            let mut ticks: Vec<Tick> = values.iter().map(tick).collect();
            if self.zero.is_some() {
                let place = self.place(0.0);
                let label = "0".into();
                ticks.insert(0, Tick { place, label });
            }
            if ticks.len() >= 2 && (found.is_empty() || along.fits(&ticks)) {
                found = ticks;
            }
        }
        found
    }
}

/// Keeps every label, every second label, and so on: the first choice that fits.
fn every(all: &[Tick], along: Along) -> Vec<Tick> {
    let thinned = |step: usize| {
        let mut ticks = all.to_vec();
        for (at, tick) in ticks.iter_mut().rev().enumerate() {
            if at % step != 0 {
                tick.label.clear();
            }
        }
        ticks
    };
    let mut found = (1..=all.len()).map(thinned);
    found
        .find(|ticks| along.fits(ticks))
        .unwrap_or_else(|| all.to_vec())
}

/// Keeps each label that fits, beginning with the last.
fn as_they_fit(mut ticks: Vec<Tick>, along: Along) -> Vec<Tick> {
    for at in (0..ticks.len()).rev() {
        if !along.fits(&ticks[at..]) {
            ticks[at].label.clear();
        }
    }
    ticks
}

impl Along {
    /// Whether all labels have enough distance.
    fn fits(self, ticks: &[Tick]) -> bool {
        let shown: Vec<&Tick> = ticks.iter().filter(|tick| !tick.label.is_empty()).collect();
        shown.windows(2).all(|pair| {
            let between = (pair[1].place - pair[0].place).abs();
            match self {
                Self::Height(length) => between * length >= 2.2 * SIZE,
                Self::Width(length) => {
                    let wide = |tick: &Tick| font::width(&tick.label, SIZE, false);
                    between * length >= (wide(pair[0]) + wide(pair[1])) / 2.0 + 0.8 * SIZE
                }
            }
        })
    }
}

/// Lists of round values at equal distances, the widest distance first.
fn by_steps(from: f64, to: f64) -> Vec<Vec<f64>> {
    let top = (to - from).max(f64::MIN_POSITIVE).log10().ceil() as i32;
    let steps = (0..3).flat_map(|down| [5.0, 2.0, 1.0].map(|m| (m, top - 1 - down)));
    let values = steps.map(|(mantissa, power)| {
        let step = mantissa * 10_f64.powi(power);
        let first = (from / step - 1e-9).ceil() as i64;
        let last = (to / step + 1e-9).floor() as i64;
        (first..=last).map(|at| at as f64 * step).collect()
    });
    values.collect()
}

/// Lists of round values at equal factors, the greatest factor first. For a short axis, lists at equal distances
/// follow.
fn by_factors(from: f64, to: f64) -> Vec<Vec<f64>> {
    // The ends of a wide axis can be below or above all numbers: 0, or infinity.
    let power = |value: f64| value.log10().clamp(-308.0, 308.0);
    let (low, high) = (power(from).floor() as i32, power(to).ceil() as i32);
    let inside = |value: &f64| (from * 0.999..=to * 1.001).contains(value);
    let decades = |every: i32, mantissas: &[f64]| -> Vec<f64> {
        let powers = (low..=high).filter(|power| power.rem_euclid(every) == 0);
        let all = powers.flat_map(|power| mantissas.iter().map(move |m| m * 10_f64.powi(power)));
        all.filter(inside).collect()
    };
    let mut found = Vec::new();
    for every in [6, 4, 3, 2, 1] {
        found.push(decades(every, &[1.0]));
    }
    found.push(decades(1, &[1.0, 3.0]));
    found.push(decades(1, &[1.0, 2.0, 5.0]));
    if to / from < 5.0 {
        found.extend(by_steps(from, to));
    }
    found
}

/// The power of ten for the unit, a multiple of 3, that keeps labels short.
pub(super) fn power(greatest: f64) -> i32 {
    match greatest {
        ..1e6 => 0,
        ..1e9 => 3,
        ..1e12 => 6,
        _ => 9,
    }
}

fn label(axis: &Axis, power: i32) -> String {
    let at = (power / 3) as usize;
    let times = ["", "ns", "us", "ms", "s"];
    let unit = match times.iter().position(|&unit| unit == axis.unit) {
        Some(unit) if unit > 0 && unit + at < times.len() => times[unit + at].to_owned(),
        _ => {
            let many = ["", "thousand", "million", "billion"][at];
            format!("{many} {}", axis.unit).trim().to_owned()
        }
    };
    match unit.is_empty() {
        true => axis.quantity.clone(),
        false => format!("{} ({unit})", axis.quantity),
    }
}

/// The number of decimals that all values need, at most three.
fn decimals(values: impl Iterator<Item = f64>) -> usize {
    let of = |value: f64| {
        let exact = |places: &usize| {
            let shifted = value * 10_f64.powi(*places as i32);
            (shifted - shifted.round()).abs() < 1e-6 * shifted.abs().max(1.0)
        };
        (0..3).find(exact).unwrap_or(3)
    };
    values.map(of).max().unwrap_or(0)
}

/// A number with commas between thousands: the notation of all axes.
pub(super) fn number(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let grouped = whole.parse().map_or_else(|_| whole.to_owned(), count);
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{grouped}{rest}")
}

/// A number with commas between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruler(axis: &Axis, values: &[f64], along: Along, at_values: bool) -> Ruler {
        let span = Span {
            axis,
            values: values.to_vec(),
            from_zero: true,
            at_values,
            power: power(values.iter().copied().fold(0.0, f64::max)),
        };
        Ruler::new(&span, along)
    }

    fn labels(ruler: &Ruler) -> Vec<&str> {
        let all = ruler.ticks.iter().map(|tick| &*tick.label);
        all.filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn labels_are_round_and_in_one_notation() {
        let time = Axis::linear("time", "cycles");
        let ruler = ruler(&time, &[0.0, 7_430.0], Along::Height(100.0), false);
        assert_eq!(labels(&ruler), ["0", "2,000", "4,000", "6,000"]);
        assert_eq!(ruler.label, "time (cycles)");
        assert_eq!(number(-1234567.25, 1), "-1,234,567.2");
    }

    #[test]
    fn large_values_have_larger_units() {
        for (unit, expected) in [
            ("cycles", "t (thousand cycles)"),
            ("ns", "t (us)"),
            ("", "t (thousand)"),
        ] {
            let axis = Axis::logarithmic("t", unit);
            let ruler = ruler(&axis, &[1e4, 1e7], Along::Height(100.0), false);
            assert_eq!(labels(&ruler), ["10", "100", "1,000", "10,000"]);
            assert_eq!(ruler.label, expected);
        }
    }

    #[test]
    fn labels_that_do_not_fit_are_left_out_evenly() {
        let cores: Vec<f64> = (0..11).map(|power| f64::from(1 << power)).collect();
        let axis = Axis::logarithmic("cores", "");
        let wide = ruler(&axis, &cores, Along::Width(400.0), true);
        assert_eq!(labels(&wide).len(), 11);
        let narrow = ruler(&axis, &cores, Along::Width(110.0), true);
        assert_eq!(labels(&narrow), ["1", "4", "16", "64", "256", "1,024"]);
        assert_eq!(narrow.ticks.len(), 11);
    }

    #[test]
    fn labels_at_uneven_distances_are_kept_where_they_fit() {
        let axis = Axis::logarithmic("transport", "cycles");
        let values = [5.0, 50.0, 200.0, 1_000.0, 5_000.0, 20_000.0];
        let ruler = ruler(&axis, &values, Along::Width(110.0), true);
        assert_eq!(labels(&ruler), ["5", "50", "1,000", "20,000"]);
    }

    #[test]
    fn zero_has_a_place_on_a_logarithmic_axis() {
        let axis = Axis::logarithmic("transport", "cycles");
        let ruler = ruler(
            &axis,
            &[0.0, 5.0, 200.0, 20_000.0],
            Along::Width(200.0),
            true,
        );
        assert_eq!(labels(&ruler), ["0", "5", "200", "20,000"]);
        assert!(ruler.is_broken());
        let places = [0.0, 5.0, 200.0, 20_000.0].map(|value| ruler.place(value));
        assert!(places.is_sorted() && places[0] > 0.0 && places[3] < 1.0);
    }

    #[test]
    fn a_short_logarithmic_axis_has_labels_too() {
        let axis = Axis::logarithmic("time over the ideal", "");
        let ruler = ruler(&axis, &[1.04, 1.21], Along::Height(120.0), false);
        assert!(labels(&ruler).len() >= 2, "{ruler:?}");
    }

    #[test]
    fn values_beyond_the_axis_are_at_its_edge() {
        let axis = Axis::linear("time", "us").up_to(10.0);
        let ruler = ruler(&axis, &[1.0, 50.0], Along::Height(100.0), false);
        assert!(ruler.is_beyond(50.0) && !ruler.is_beyond(10.0));
        assert_eq!(ruler.place(50.0), ruler.place(10.0));
    }

    #[test]
    fn values_without_a_place_and_wide_axes_have_few_marks() {
        let logarithmic = Axis::logarithmic("ratio", "");
        for values in [
            &[1.0, f64::NAN][..],
            &[1.0, f64::INFINITY],
            &[0.0, 1e-300, 1e300],
            &[f64::NAN],
        ] {
            let ruler = ruler(&logarithmic, values, Along::Height(100.0), false);
            assert!(ruler.ticks.len() < 1_000, "{values:?}");
            assert!((0.0..=1.0).contains(&ruler.place(1.0)), "{values:?}");
        }
        let linear = Axis::linear("time", "s");
        let ruler = ruler(&linear, &[2.0, 4.0, f64::NAN], Along::Height(100.0), false);
        assert!(ruler.place(2.0) < ruler.place(4.0));
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(
            [7, 1_024, 1_000_000].map(count),
            ["7", "1,024", "1,000,000"]
        );
    }
}
