//! What the two checkers' atomics have in common: a wrapper on which the
//! seam's traits can be implemented.

/// A checker's atomic type; the traits and the types it joins are both
/// foreign to this crate.
pub struct Cell<A>(pub(crate) A);

/// Implements the seam's traits for the wrapped types of the module `atomic`
/// at the place of use, which is a copy of `std::sync::atomic`.
macro_rules! impl_cells {
    () => {
        $crate::cells::impl_cells!(@atomic atomic::AtomicU32, u32);
        $crate::cells::impl_cells!(@atomic atomic::AtomicU64, u64);
        $crate::cells::impl_cells!(@atomic atomic::AtomicUsize, usize);
        $crate::cells::impl_cells!(@atomic atomic::AtomicBool, bool);
        $crate::cells::impl_cells!(@atomic atomic::AtomicPtr<T>, *mut T, T);
        $crate::cells::impl_cells!(@integer atomic::AtomicU32, u32);
        $crate::cells::impl_cells!(@integer atomic::AtomicU64, u64);
        $crate::cells::impl_cells!(@integer atomic::AtomicUsize, usize);
    };
    (@atomic $atomic:ty, $value:ty $(, $generic:ident)?) => {
        impl$(<$generic>)? Atomic<$value> for Cell<$atomic> {
            fn new(value: $value) -> Self {
                Self(<$atomic>::new(value))
            }

            fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }

            fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order);
            }

            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.swap(value, order)
            }

            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new, success, failure)
            }
        }
    };
    (@integer $atomic:ty, $value:ty) => {
        impl AtomicInteger<$value> for Cell<$atomic> {
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_add(value, order)
            }

            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_sub(value, order)
            }

            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_and(value, order)
            }

            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_or(value, order)
            }
        }
    };
}

pub(crate) use impl_cells;

/// Implements the word's part of a futex by its field `word`.
macro_rules! impl_word {
    ($futex:ty) => {
        impl Atomic<u32> for $futex {
            fn new(value: u32) -> Self {
                Self::holding(value)
            }

            fn load(&self, order: Ordering) -> u32 {
                self.word.load(order)
            }

            fn store(&self, value: u32, order: Ordering) {
                self.word.store(value, order);
            }

            fn swap(&self, value: u32, order: Ordering) -> u32 {
                self.word.swap(value, order)
            }

            fn compare_exchange(
                &self,
                current: u32,
                new: u32,
                success: Ordering,
                failure: Ordering,
            ) -> Result<u32, u32> {
                self.word.compare_exchange(current, new, success, failure)
            }
        }

        impl AtomicInteger<u32> for $futex {
            fn fetch_add(&self, value: u32, order: Ordering) -> u32 {
                self.word.fetch_add(value, order)
            }

            fn fetch_sub(&self, value: u32, order: Ordering) -> u32 {
                self.word.fetch_sub(value, order)
            }

            fn fetch_and(&self, value: u32, order: Ordering) -> u32 {
                self.word.fetch_and(value, order)
            }

            fn fetch_or(&self, value: u32, order: Ordering) -> u32 {
                self.word.fetch_or(value, order)
            }
        }
    };
}

pub(crate) use impl_word;
