use manycore_cores::sync::Lock;
use manycore_platform::coroutine::StackPointer;
use manycore_platform::{Platform, Stack};
use std::fmt;
use std::io;

/// Stacks end at page boundaries.
const PAGE: usize = 4096;
/// The distance in bytes between two successive colours. A colour is a depth at which fibers begin.
/// At each switch, a waiting fiber touches the frame of its first function and a few later frames.
/// These frames fit into one step. A step is an odd number of cache lines, so that the colours use
/// all lines of a page in turn.
const STEP: usize = 5 * 64;
/// The number of colours, which is the number of cache lines of a page.
const COLOURS: usize = PAGE / 64;

/// A pool of stacks for a team's fibers. Taking a used stack takes some tens of nanoseconds. Making
/// a new stack takes some ten microseconds.
///
/// If a fiber has touched a page of a stack, the stack keeps that page until the pool is dropped.
///
/// # Colours
///
/// A stack ends at a page boundary. Near that end, a waiting fiber keeps the data that it needs to
/// continue. An L1 cache chooses a line's set by the line's address within the page. If all fibers
/// began exactly at the end, their lines would compete for a few sets. Then a few dozen fibers
/// would evict each other's lines, although the other sets have space. So fibers begin at different
/// depths, called *colours*. Each new stack of a pool begins five lines deeper than the stack
/// before, modulo a page.
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
    /// The stack that was put back last is taken first, because the caches have its lines.
    free: Vec<FiberStack<P>>,
    made: usize,
}

/// A stack and the depth at which fibers begin on it.
pub struct FiberStack<P: Platform> {
    stack: P::Stack,
    depth: usize,
}

impl<P: Platform> Stacks<P> {
    /// Makes a pool without stacks. Each stack will have at least `bytes` bytes. Only touched pages
    /// cost memory.
    ///
    /// Rust's own frames need some kilobytes, and the message of a panic needs some 16 KiB. The
    /// smallest size is 4 KiB.
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

    /// Like [`new`](Self::new) with 1 to 64 colours, to measure what colours gain.
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

    /// Takes the stack that was put back last, or makes a new one.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system (which may be a simulated system) if a new stack
    /// cannot be made.
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
        // The stack is made outside of the lock, because this takes long. If it fails, one colour
        // stays unused.
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
    /// Takes a stack, or returns the number of the stack that the caller must make.
    fn take(&mut self) -> Result<FiberStack<P>, usize> {
        self.free.pop().ok_or_else(|| {
            self.made += 1;
            self.made - 1
        })
    }
}

// SAFETY: `self.stack` owns the memory. By the platform's rule about stacks the memory is writable,
// nothing else refers to it, and an access below it faults. This type leaves out less than a page
// at the upper end, and `take` asked for a page more than the minimum. The base stays aligned:
// pages and depths are multiples of a cache line, and every alignment of a stack divides a line.
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
