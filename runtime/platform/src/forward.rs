/// Implements methods and types of [`Platform`](crate::Platform) by forwarding them to another platform, for a crate
/// that wraps that platform. Write the macro inside the `impl`. The arguments are the other platform and the names to
/// forward:
///
/// | name | what it forwards |
/// |---|---|
/// | `cells` | the atomic types, [`Futex`](crate::Platform::Futex) and [`spin_while`](crate::Platform::spin_while) |
/// | `fences` | the four fences, [`has_light_fences`](crate::Platform::has_light_fences) and [`fence_after_rmw`](crate::Platform::fence_after_rmw) |
/// | `threads` | [`Thread`](crate::Platform::Thread), [`spawn`](crate::Platform::spawn) and [`join`](crate::Platform::join) |
/// | `slot` | [`slot`](crate::Platform::slot) and [`set_slot`](crate::Platform::set_slot) |
/// | `announcements` | [`compute`](crate::Platform::compute), [`read`](crate::Platform::read), [`write`](crate::Platform::write) and [`name`](crate::Platform::name) |
/// | `rest` | everything else: the clock, the core, stacks, forks, and the hints |
///
/// The macro forwards each method, but the `impl` is still unsafe: its author promises that the other methods keep the
/// contract too.
///
/// ```
/// use manycore_platform::{Native, Platform, forward};
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// static INSTRUCTIONS: AtomicU64 = AtomicU64::new(0);
///
/// /// Counts what programs announce.
/// struct Counting;
///
/// // SAFETY: all methods on which memory safety depends are `Native`'s.
/// unsafe impl Platform for Counting {
///     forward!(Native: cells fences threads slot rest);
///
///     fn compute(instructions: u64) {
///         INSTRUCTIONS.fetch_add(instructions, Relaxed);
///     }
/// }
///
/// Counting::compute(12);
/// assert_eq!(INSTRUCTIONS.load(Relaxed), 12);
/// ```
#[macro_export]
macro_rules! forward {
    ($platform:ty: $($what:ident)*) => {
        $($crate::forward!(@$what $platform);)*
    };
    (@cells $platform:ty) => {
        type AtomicU32 = <$platform as $crate::Platform>::AtomicU32;
        type AtomicU64 = <$platform as $crate::Platform>::AtomicU64;
        type AtomicUsize = <$platform as $crate::Platform>::AtomicUsize;
        type AtomicBool = <$platform as $crate::Platform>::AtomicBool;
        type AtomicPtr<T> = <$platform as $crate::Platform>::AtomicPtr<T>;
        type Futex = <$platform as $crate::Platform>::Futex;
        $crate::forward! { @methods $platform:
            fn spin_while(word: &Self::Futex, value: u32, until: u64) -> u32;
        }
    };
    (@fences $platform:ty) => {
        $crate::forward! { @methods $platform:
            fn fence(order: $crate::Ordering);
            fn fence_after_rmw();
            fn light_fence();
            fn has_light_fences() -> bool;
            fn untested_light_fence();
            fn heavy_fence();
        }
    };
    (@threads $platform:ty) => {
        type Thread = <$platform as $crate::Platform>::Thread;
        $crate::forward! { @methods $platform:
            fn spawn(
                spec: $crate::ThreadSpec,
                body: ::std::boxed::Box<dyn FnOnce() + Send>,
            ) -> ::std::io::Result<Self::Thread>;
            fn join(thread: Self::Thread);
        }
    };
    (@slot $platform:ty) => {
        $crate::forward! { @methods $platform:
            fn slot() -> *const ();
        }

        #[inline(always)]
        unsafe fn set_slot(value: *const ()) {
            // SAFETY: the caller keeps `set_slot`'s promise.
            unsafe { <$platform as $crate::Platform>::set_slot(value) };
        }
    };
    (@announcements $platform:ty) => {
        $crate::forward! { @methods $platform:
            fn compute(instructions: u64);
            fn read<T>(data: &[T]);
            fn write<T>(data: &mut [T]);
        }

        #[inline(always)]
        fn name<T: ?Sized>(object: &T, name: &'static str) {
            <$platform as $crate::Platform>::name(object, name);
        }
    };
    (@rest $platform:ty) => {
        type Stack = <$platform as $crate::Platform>::Stack;
        $crate::forward! { @methods $platform:
            fn relax();
            fn prefetch(address: *const ());
            fn prefetch_write(address: *const ());
            fn yield_now();
            fn now() -> u64;
            fn ticks_per_ns() -> f64;
            fn ticks_to_ns(ticks: u64) -> f64;
            fn duration_to_ticks(duration: ::std::time::Duration) -> u64;
            fn core() -> usize;
            fn leave_core(core: usize);
            fn begin_on(cpus: &[usize]);
            fn bind(cpus: &[usize]);
            fn preemptions() -> u64;
            fn thread_number() -> u64;
            fn thread_id() -> u64;
            fn is_blocked(thread: u64) -> bool;
            fn code_number(code: usize) -> usize;
            fn wake_elsewhere(thread: u64, is_taken: &dyn Fn(usize) -> bool, wake: &mut dyn FnMut());
            fn forks() -> u32;
            fn watch_forks() -> ::std::io::Result<()>;
            fn stack(bytes: usize) -> ::std::io::Result<Self::Stack>;
        }
    };
    (@methods $platform:ty: $(
        fn $name:ident $(<$T:ident>)? ($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;
    )*) => {
        $(
            #[inline(always)]
            fn $name $(<$T>)? ($($argument: $type),*) $(-> $result)? {
                <$platform as $crate::Platform>::$name($($argument),*)
            }
        )*
    };
}
