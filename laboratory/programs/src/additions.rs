//! A chain of additions that the compiler cannot shorten.

/// Adds one to `value`, `count` times. Each addition is a separate instruction that waits for the previous addition.
///
/// The addition is opaque to the compiler, which can neither fold the loop into one addition nor do several
/// at once. The loop's own instructions run in parallel. On a processor that adds in one cycle, `count`
/// additions take `count` cycles.
///
/// ```
/// assert_eq!(manycore_programs::opaque_additions(250, 10), 4);
/// ```
#[inline]
#[must_use]
pub fn opaque_additions(value: u8, count: u64) -> u8 {
    let mut sum = u32::from(value);
    let mut left = count;
    while left > 0 {
        sum = opaque_increment(sum);
        left -= 1;
    }
    sum as u8
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn opaque_increment(mut sum: u32) -> u32 {
    // SAFETY: the code is one addition in a register, which touches no memory and no stack.
    unsafe {
        core::arch::asm!("add {0:e}, 1", inout(reg) sum, options(nomem, nostack));
    }
    sum
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline(always)]
fn opaque_increment(mut sum: u32) -> u32 {
    // SAFETY: the code is one addition in a register, which touches no memory and no stack.
    unsafe {
        core::arch::asm!("add {0:w}, {0:w}, #1", inout(reg) sum, options(nomem, nostack));
    }
    sum
}

/// On other targets and under Miri the sum may pass through memory. This is slower, but is not folded either.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[inline(always)]
fn opaque_increment(sum: u32) -> u32 {
    std::hint::black_box(sum).wrapping_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts() {
        for (value, count) in [(0, 0), (0, 1), (255, 1), (17, 1024), (3, 1_000_003)] {
            assert_eq!(
                opaque_additions(value, count),
                value.wrapping_add(count as u8)
            );
        }
    }
}
