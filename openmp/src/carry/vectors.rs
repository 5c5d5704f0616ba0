//! Hashes the registers in the frame of a signal, other than the general registers, to one number.
//!
//! A loop may compute in these registers alone: for example it adds a time step until it reaches an end. Then the
//! general registers do not change, as in a loop that waits.
//!
//! On x86-64 the frame has the layout of the processor (`XSAVE`), with a word that marks the parts in use. The
//! processor says where each part is. So all parts count, even if this module does not know them. On Arm only the 32
//! vector registers of 128 bits count, and on RISC-V only the 32 registers for `double`. They follow one after another.

/// A hash like FNV, but of words. Two different frames have the same number only by chance.
fn fold(hash: u64, words: &[u64]) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    words.iter().fold(hash, |hash, &word| {
        (hash ^ word).wrapping_mul(PRIME).rotate_left(29)
    })
}

#[cfg(target_arch = "x86_64")]
mod layout {
    use super::fold;
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    use std::ops::Range;
    use std::sync::OnceLock;

    /// Offsets in words: the registers of the x87 unit and the SSE unit, and after these the kernel's description of
    /// the frame.
    const OLD: Range<usize> = 4..52;
    const KERNELS: usize = 58;
    const HEADER: usize = 64;
    /// The number by which the kernel marks a frame with more registers.
    const EXTENDED: u32 = 0x4650_5853;
    /// The leaf of `cpuid` that describes the components.
    const COMPONENTS: u32 = 13;

    /// For each component after the SSE unit (vector registers, mask registers, more general registers, and others),
    /// its bit and the range in words where the processor stores it.
    fn places() -> &'static [(u64, Range<usize>)] {
        static PLACES: OnceLock<Vec<(u64, Range<usize>)>> = OnceLock::new();
        PLACES.get_or_init(|| {
            if __cpuid(0).eax < COMPONENTS {
                return vec![];
            }
            let all = __cpuid_count(COMPONENTS, 0);
            let all = u64::from(all.edx) << 32 | u64::from(all.eax);
            let known = (2..63).filter(|&component| all >> component & 1 != 0);
            known
                .map(|component| {
                    let found = __cpuid_count(COMPONENTS, component);
                    let first = found.ebx as usize / 8;
                    (1 << component, first..first + found.eax as usize / 8)
                })
                .collect()
        })
    }

    /// Asks the processor for the ranges in advance: on a virtual machine the question would be slow in a handler.
    pub(in super::super) fn find() {
        places();
    }

    pub(in super::super) fn hash(frame: &libc::ucontext_t) -> u64 {
        let state = frame.uc_mcontext.fpregs.cast::<u64>();
        if state.is_null() {
            return 0;
        }
        // SAFETY: the kernel's state has at least 512 bytes. It has more if its description gives a greater size.
        let words = |range: Range<usize>| unsafe {
            std::slice::from_raw_parts(state.add(range.start), range.len())
        };
        let old = fold(0, words(OLD));
        let kernels = words(KERNELS..HEADER);
        if kernels[0] as u32 != EXTENDED {
            return old;
        }
        let size = kernels[2] as u32 as usize / 8;
        if size <= HEADER {
            return old;
        }
        let in_use = words(HEADER..HEADER + 1)[0];
        let used = places().iter();
        used.filter(|(component, place)| in_use & component != 0 && place.end <= size)
            .fold(old, |hash, (_, place)| fold(hash, words(place.clone())))
    }
}

#[cfg(target_arch = "aarch64")]
mod layout {
    use super::fold;

    /// The offset of the frame's records, in words: an address, 31 registers, 3 more words and a word of padding
    /// precede them.
    const RECORDS: usize = 36;
    /// The record of the 32 vector registers: its number, and the words of its head and of the registers.
    const NUMBER: u32 = 0x4650_8001;
    const HEAD: usize = 2;
    const REGISTERS: usize = 64;

    pub(in super::super) fn find() {}

    pub(in super::super) fn hash(frame: &libc::ucontext_t) -> u64 {
        let saved = std::ptr::from_ref(&frame.uc_mcontext).cast::<u64>();
        // SAFETY: the frame has 4096 bytes for records. The record of the vector registers is the first, if the frame
        // has one.
        unsafe {
            let record = saved.add(RECORDS);
            if *record as u32 != NUMBER {
                return 0;
            }
            fold(0, std::slice::from_raw_parts(record.add(HEAD), REGISTERS))
        }
    }
}

#[cfg(target_arch = "riscv64")]
mod layout {
    use super::fold;

    /// In words: an address and 31 registers come first, then the 32 registers of the unit for `double`.
    const GENERAL: usize = 32;
    const REGISTERS: usize = 32;

    pub(in super::super) fn find() {}

    pub(in super::super) fn hash(frame: &libc::ucontext_t) -> u64 {
        let saved = std::ptr::from_ref(&frame.uc_mcontext).cast::<u64>();
        // SAFETY: the kernel's structure has these registers there.
        fold(0, unsafe {
            std::slice::from_raw_parts(saved.add(GENERAL), REGISTERS)
        })
    }
}

pub(super) use layout::{find, hash};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_counts() {
        let words = [1, 2, 3];
        let same = fold(7, &words);
        assert_eq!(fold(7, &[1, 2, 3]), same);
        for at in 0..words.len() {
            let mut other = words;
            other[at] ^= 1 << 63;
            assert_ne!(fold(7, &other), same);
        }
        assert_ne!(fold(7, &[2, 1, 3]), same);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn registers_in_use_are_seen() {
        // SAFETY: all zeros are a valid `ucontext_t`.
        let mut frame: libc::ucontext_t = unsafe { std::mem::zeroed() };
        assert_eq!(hash(&frame), 0);
        let mut state = [0_u64; 512];
        let mut of = |change: &dyn Fn(&mut [u64; 512])| {
            change(&mut state);
            frame.uc_mcontext.fpregs = state.as_mut_ptr().cast();
            hash(&frame)
        };
        let before = of(&|_| ());
        // Changes a register of the SSE unit, then an upper half that is not in use, then an upper half that is in use.
        let one = of(&|state| state[20] = 5);
        assert_ne!(before, one);
        assert_eq!(of(&|state| state[72] = 5), one);
        let in_use = of(&|state| {
            state[58] = 0x4650_5853;
            state[60] = 4096;
            state[64] = 7;
        });
        let more = of(&|state| state[72] = 6);
        // A processor without these registers has no range for them.
        assert!(in_use != more || !std::is_x86_feature_detected!("avx"));
    }

    /// Each component that the processor has, other than the legacy ones, counts when it is in use.
    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn every_component_counts() {
        use std::arch::x86_64::__cpuid_count;
        // SAFETY: all zeros are a valid `ucontext_t`.
        let mut frame: libc::ucontext_t = unsafe { std::mem::zeroed() };
        let ask = |leaf, part| __cpuid_count(leaf, part);
        if ask(0, 0).eax < 13 {
            return;
        }
        let known = u64::from(ask(13, 0).eax) | u64::from(ask(13, 0).edx) << 32;
        for component in 2..63 {
            let mut state = vec![0_u64; 4096];
            let found = ask(13, component);
            let is_in_frame = found.ecx & 1 == 0 && found.ebx >= 576;
            if known >> component & 1 == 0 || !is_in_frame {
                continue;
            }
            state[58] = 0x4650_5853;
            state[60] = 32_768;
            state[64] = 1 << component;
            frame.uc_mcontext.fpregs = state.as_mut_ptr().cast();
            let before = hash(&frame);
            state[found.ebx as usize / 8] = 1;
            assert_ne!(hash(&frame), before, "{component}");
        }
    }
}
