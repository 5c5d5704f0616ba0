//! Places labels near the ends of their lines, without overlaps.

/// Returns places near the `wanted` places of labels, in the same order. Places are at least
/// `apart` from each other, and between `top` and `bottom` if all fit.
///
/// Labels that would touch form a block, centred at the mean of the wanted places. This minimises the sum of the
/// squares of the labels' moves.
pub(super) fn spread(wanted: &[f64], apart: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let highest = |labels: usize| (bottom - apart * (labels - 1) as f64).max(top);
    // A block is the number of its labels, the sum of the heights that they want for its first
    // label, and the height of that label.
    let mut blocks: Vec<(usize, f64, f64)> = Vec::new();
    for &label in &order {
        let mut block = (1, wanted[label], wanted[label].clamp(top, highest(1)));
        while let Some(&(count, sum, first)) = blocks.last() {
            if first + apart * count as f64 <= block.2 {
                break;
            }
            let labels = count + block.0;
            let sum = sum + block.1 - apart * (count * block.0) as f64;
            let first = (sum / labels as f64).clamp(top, highest(labels));
            block = (labels, sum, first);
            blocks.pop();
        }
        blocks.push(block);
    }
    let mut places = vec![0.0; wanted.len()];
    let along = blocks.iter().flat_map(|&(count, _, first)| {
        let place = move |at| first + apart * at as f64;
        (0..count).map(place)
    });
    for (&label, place) in order.iter().zip(along) {
        places[label] = place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_room_stay_at_the_ends_of_their_lines() {
        assert_eq!(
            spread(&[50.0, 10.0, 30.0], 8.0, 0.0, 100.0),
            [50.0, 10.0, 30.0]
        );
    }

    #[test]
    fn labels_that_would_touch_move_equally() {
        assert_eq!(spread(&[50.0, 50.0], 8.0, 0.0, 100.0), [46.0, 54.0]);
        // The third label joins the block of the first two.
        assert_eq!(
            spread(&[50.0, 50.0, 56.0], 8.0, 0.0, 100.0),
            [44.0, 52.0, 60.0]
        );
    }

    #[test]
    fn labels_stay_inside() {
        let places = spread(&[-5.0, 0.0, 99.0, 120.0], 8.0, 0.0, 100.0);
        assert_eq!(places, [0.0, 8.0, 92.0, 100.0]);
    }

    #[test]
    fn labels_at_random_places_do_not_touch() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200 {
            let wanted: Vec<f64> = (0..12).map(|_| random.f64() * 100.0).collect();
            let mut places = spread(&wanted, 9.0, 0.0, 100.0);
            places.sort_by(f64::total_cmp);
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] > 8.999));
            assert!(places[0] >= 0.0 && places[11] <= 100.001, "{places:?}");
        }
    }
}
