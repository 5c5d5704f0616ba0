/// The name, the stack and the CPUs of a new thread.
///
/// ```
/// use manycore_platform::{Native, Platform, ThreadSpec};
///
/// let spec = ThreadSpec { name: "worker-0".into(), ..ThreadSpec::default() };
/// let thread = Native::spawn(spec, Box::new(|| ())).unwrap();
/// Native::join(thread);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ThreadSpec {
    /// The name shown by debuggers and `ps`; the operating system may cut it.
    pub name: String,
    /// Stack size in bytes; `None` leaves the platform's default.
    ///
    /// Natively that is the standard library's, 2 MiB unless the environment variable
    /// `RUST_MIN_STACK` says otherwise. It is address space: of memory it takes the pages that
    /// were touched, and the system adds a guard page and some 20 KiB for the thread itself.
    /// The GNU C library also reserves 64 MiB of address space for a thread's allocations, if
    /// that much can be had; under a tight limit (`ulimit -v`) it does without.
    pub stack_size: Option<usize>,
    /// The logical CPUs the thread may run on; empty leaves it free.
    ///
    /// [`Platform::spawn`](crate::Platform::spawn) fails if the thread cannot be bound to them.
    pub cpus: Vec<usize>,
}
