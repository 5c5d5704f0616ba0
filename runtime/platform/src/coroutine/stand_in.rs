//! Types without values, for platforms without coroutines.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;
use std::num::NonZeroUsize;

/// An address in a stack.
pub type StackPointer = NonZeroUsize;

/// Memory for a coroutine to run on.
///
/// # Safety
///
/// There are no requirements, since no coroutine runs on these stacks.
pub unsafe trait Stack {
    /// The highest address.
    fn base(&self) -> StackPointer;

    /// The lowest address.
    fn limit(&self) -> StackPointer;

    /// The fields of a stack that Windows needs.
    #[cfg(windows)]
    fn teb_fields(&self) -> StackTebFields;

    /// Takes over the fields that Windows has changed.
    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize);
}

/// The fields of a stack that Windows needs.
#[cfg(windows)]
#[derive(Clone, Copy, Debug)]
pub struct StackTebFields(Infallible);

/// A stack that cannot be made.
#[derive(Debug)]
pub struct NativeStack(Infallible);

// SAFETY: there is no value of the type.
unsafe impl Stack for NativeStack {
    fn base(&self) -> StackPointer {
        match self.0 {}
    }

    fn limit(&self) -> StackPointer {
        match self.0 {}
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> StackTebFields {
        match self.0 {}
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, _: usize, _: usize) {
        match self.0 {}
    }
}

pub(crate) fn native_stack(_bytes: usize) -> io::Result<NativeStack> {
    let what = "there are no coroutines on this processor";
    Err(io::Error::new(io::ErrorKind::Unsupported, what))
}

/// Why a coroutine has returned to its caller.
#[derive(Clone, Copy, Debug)]
pub enum CoroutineResult<Yield, Return> {
    /// The coroutine has suspended itself with this value.
    Yield(Yield),
    /// The coroutine has ended with this value.
    Return(Return),
}

/// A coroutine that cannot be made.
pub struct Coroutine<Input, Yield, Return, S> {
    never: Infallible,
    types: PhantomData<(Resume<Input, Yield, Return>, S)>,
}

/// The type of a function that resumes a coroutine.
type Resume<Input, Yield, Return> = fn(Input) -> CoroutineResult<Yield, Return>;

impl<Input, Yield, Return, S: Stack> Coroutine<Input, Yield, Return, S> {
    /// Would make a coroutine.
    ///
    /// # Panics
    ///
    /// Always panics.
    pub fn with_stack(
        _stack: S,
        _body: impl FnOnce(&Yielder<Input, Yield>, Input) -> Return + 'static,
    ) -> Self {
        panic!("there are no coroutines on this processor")
    }

    /// Would make a coroutine.
    ///
    /// # Safety
    ///
    /// No requirements.
    ///
    /// # Panics
    ///
    /// Always panics.
    pub unsafe fn with_stack_unchecked(
        _stack: S,
        _body: impl FnOnce(&Yielder<Input, Yield>, Input) -> Return,
    ) -> Self {
        panic!("there are no coroutines on this processor")
    }

    /// Resumes the coroutine.
    pub fn resume(&mut self, _input: Input) -> CoroutineResult<Yield, Return> {
        match self.never {}
    }

    /// Whether the coroutine has ended.
    pub fn done(&self) -> bool {
        match self.never {}
    }

    /// Drops the values on the coroutine's stack.
    pub fn force_unwind(&mut self) {
        match self.never {}
    }

    /// The coroutine's stack.
    pub fn into_stack(self) -> S {
        match self.never {}
    }
}

/// The handle with which a coroutine suspends itself.
pub struct Yielder<Input, Yield> {
    never: Infallible,
    types: PhantomData<fn(Yield) -> Input>,
}

impl<Input, Yield> Yielder<Input, Yield> {
    /// Suspends the coroutine.
    pub fn suspend(&self, _value: Yield) -> Input {
        match self.never {}
    }
}
