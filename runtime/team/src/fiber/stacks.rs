//! Stacks that are used again, and where in them fibers begin.

use manycore_cores::sync::Lock;
use manycore_platform::coroutine::StackPointer;
use manycore_platform::{Platform, Stack};
use std::fmt;
use std::io;

/// The least distance between stacks' ends: they lie on pages.
const PAGE: usize = 4096;
/// Bytes from where one colour begins to where the next does: what a fiber that
/// waits touches at each switch, the root's frame and the few above it, and an odd number
/// of lines, so that the colours come to lie on all lines of a page in turn.
const STEP: usize = 5 * 64;
/// As many as there are lines on a page.
const COLOURS: usize = PAGE / 64;

/// The stacks of a team's fibers. A used stack is handed out in some tens of nanoseconds, a new one
/// takes some ten microseconds.
///
/// A stack keeps the memory that it ever touched until the pool is dropped.
///
/// # Colours
///
/// Stacks end on pages, and a fiber that waits has what it needs to go on near the end of its
/// stack. Were that the end itself, these lines would all be in the same few sets of a
/// cache, which chooses them by the address within the page, and a few dozen
/// fibers would push each other out of a cache with room for a thousand. So fibers begin
/// at different depths: the `i`th stack of a pool five lines below the one before,
/// modulo a page.
///
/// ```
/// use manycore_platform::Native;
/// use manycore_team::fiber::Stacks;
/// use manycore_platform::Stack;
///
/// let stacks = Stacks::<Native>::new(64 << 10);
/// let (first, second) = (stacks.take()?, stacks.take()?);
/// let in_page = |stack: &dyn Stack| stack.base().get() % 4096;
/// assert_ne!(in_page(&first), in_page(&second));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Stacks<P: Platform> {
    bytes: usize,
    colours: usize,
    free_list: Lock<P, FreeStacks<P>>,
}

struct FreeStacks<P: Platform> {
    /// The last is taken first: it is what the caches have.
    free: Vec<FiberStack<P>>,
    made: usize,
}

/// A stack with the depth at which fibers begin on it.
pub struct FiberStack<P: Platform> {
    stack: P::Stack,
    depth: usize,
}

impl<P: Platform> Stacks<P> {
    /// No stacks yet. Each will have at least `bytes`; only touched pages cost memory.
    ///
    /// Rust's own frames want some kilobytes, a panic's message some 16 KiB; less than 4 KiB
    /// is taken to mean that.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::fiber::Stacks;
    /// use manycore_platform::Stack;
    ///
    /// let stack = Stacks::<Native>::new(64 << 10).take()?;
    /// assert!(stack.base().get() - stack.limit().get() >= 64 << 10);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new(bytes: usize) -> Self {
        Self::with_colours(bytes, COLOURS)
    }

    /// The same with 1 to 64 colours, for measurements of what colours gain.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::fiber::Stacks;
    /// use manycore_platform::Stack;
    ///
    /// let stacks = Stacks::<Native>::with_colours(64 << 10, 1);
    /// let (first, second) = (stacks.take()?, stacks.take()?);
    /// assert_eq!(first.base().get() % 4096, second.base().get() % 4096);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn with_colours(bytes: usize, colours: usize) -> Self {
        Self {
            bytes: bytes.max(PAGE),
            colours: colours.clamp(1, COLOURS),
            free_list: Lock::new(FreeStacks {
                free: vec![],
                made: 0,
            }),
        }
    }

    /// The stack that was put back last, or a new one.
    ///
    /// # Errors
    ///
    /// The error of the operating system, or of the simulated one, if there is no room for a new
    /// stack.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::fiber::Stacks;
    ///
    /// // More than any machine has.
    /// assert!(Stacks::<Native>::new(usize::MAX).take().is_err());
    /// ```
    pub fn take(&self) -> io::Result<FiberStack<P>> {
        let index = match self.free_list.with(FreeStacks::take) {
            Ok(stack) => return Ok(stack),
            Err(index) => index,
        };
        // Outside of the lock: it takes long, and may fail. A colour is then left out.
        Ok(FiberStack {
            stack: P::stack(self.bytes.saturating_add(PAGE))?,
            depth: index % self.colours * STEP % PAGE,
        })
    }

    /// Keeps a stack for the next fiber.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::fiber::Stacks;
    /// use manycore_platform::Stack;
    ///
    /// let stacks = Stacks::<Native>::new(64 << 10);
    /// let stack = stacks.take()?;
    /// let base = stack.base();
    /// stacks.put(stack);
    /// assert_eq!(stacks.take()?.base(), base);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn put(&self, stack: FiberStack<P>) {
        self.free_list.with(|free_list| free_list.free.push(stack));
    }
}

impl<P: Platform> FreeStacks<P> {
    /// A stack, or the number of a stack that must be made.
    fn take(&mut self) -> Result<FiberStack<P>, usize> {
        self.free.pop().ok_or_else(|| {
            self.made += 1;
            self.made - 1
        })
    }
}

// SAFETY: the memory is a stack's. Its trait promises that it is ours, writable, and guarded below.
// Less than a page is left out at its end, and a page more than the minimum was asked for. Pages
// and colours are multiples of a line, which is a multiple of every alignment that a stack must
// have.
unsafe impl<P: Platform> Stack for FiberStack<P> {
    #[inline]
    fn base(&self) -> StackPointer {
        StackPointer::new(self.stack.base().get() - self.depth).expect("above the limit")
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> manycore_platform::coroutine::StackTebFields {
        self.stack.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.stack
            .update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

impl<P: Platform> fmt::Debug for Stacks<P> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Stacks")
            .field("bytes", &self.bytes)
            .field("colours", &self.colours)
            .finish_non_exhaustive()
    }
}

impl<P: Platform> fmt::Debug for FiberStack<P> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("FiberStack")
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}
