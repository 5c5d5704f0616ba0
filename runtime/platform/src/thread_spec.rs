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
    /// The name that debuggers and `ps` show. The operating system may shorten it.
    pub name: String,
    /// The stack size in bytes. `None` means the platform's default.
    ///
    /// Natively, that is the standard library's default: 2 MiB, unless the environment variable `RUST_MIN_STACK` is
    /// set. The stack is address space. Only touched pages use memory. The system adds a guard page and some 20 KiB for
    /// the thread itself. If a limit (`ulimit -v`) allows it, the GNU C library also reserves 64 MiB of address space
    /// for a thread's allocations.
    pub stack_size: Option<usize>,
    /// The logical CPUs that the thread may run on. If the list is empty, the thread may run on any CPU.
    ///
    /// If the thread cannot be bound to them, [`Platform::spawn`](crate::Platform::spawn) fails.
    pub cpus: Vec<usize>,
}
