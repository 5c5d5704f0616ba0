//! Sets of cores or nodes in the two notations of the kernel.

use std::fmt::Write;
use std::ops::Range;

/// Writes a set as a list such as `0-3,8`. The numbers must be in ascending order.
pub(in crate::linux) fn list(cores: impl IntoIterator<Item = u32>) -> String {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for core in cores {
        match runs.last_mut() {
            Some(run) if run.end == core => run.end += 1,
            _ => runs.push(core..core + 1),
        }
    }
    let run = |run: &Range<u32>| match run.len() {
        1 => run.start.to_string(),
        _ => format!("{}-{}", run.start, run.end - 1),
    };
    runs.iter().map(run).collect::<Vec<_>>().join(",")
}

/// Writes a set as a mask of `bits` bits: hexadecimal words of 32 bits, the highest first, separated by commas.
pub(in crate::linux) fn mask(cores: impl IntoIterator<Item = u32>, bits: u32) -> String {
    let mut words = vec![0u32; bits.div_ceil(32).max(1) as usize];
    for core in cores {
        words[core as usize / 32] |= 1 << (core % 32);
    }
    // The first word has only the digits that its bits need.
    let mut digits = (bits.saturating_sub(1) % 32 / 4 + 1) as usize;
    let mut text = String::new();
    for word in words.iter().rev() {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{word:0digits$x}");
        digits = 8;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_masks_are_the_kernels() {
        assert_eq!(list(0..1), "0");
        assert_eq!(list(8..16), "8-15");
        assert_eq!(list([0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(list(0..0), "");
        assert_eq!(mask(0..1, 1), "1");
        assert_eq!(mask(0..4, 4), "f");
        assert_eq!(mask(4..5, 5), "10");
        assert_eq!(mask(0..8, 64), "00000000,000000ff");
        assert_eq!(mask(88..96, 96), "ff000000,00000000,00000000");
        assert_eq!(mask(32..36, 36), "f,00000000");
        assert_eq!(mask([1, 33], 40), "02,00000002");
    }
}
