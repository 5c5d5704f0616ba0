//! A loop's body without its type.

use std::cell::UnsafeCell;
use std::ops::Range;

/// The rank (number in the loop) of a thread that runs a loop, or the beginning of a loop, alone. The loop is not
/// posted yet, so it has no other participant, and any number would do.
pub(crate) const ALONE: usize = 0;

/// A loop's body with its type erased. So the launcher and the partitioners are compiled once, and not for each loop
/// in a program. The price is one indirect call for each block.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a> {
    data: *const (),
    /// This is one word, so that a body is passed in registers.
    code: &'static Code,
    lives: std::marker::PhantomData<&'a ()>,
}

// SAFETY: a `Body` is only made from a reference to a `Sync` closure or a `Gather`, which is `Sync`.
unsafe impl Sync for Body<'_> {}
// SAFETY: as above. A `Body` stands for that shared reference.
unsafe impl Send for Body<'_> {}

/// A participant's place: the address of its partial result, or its rank as an address if the loop has no partial
/// results.
#[derive(Clone, Copy)]
pub(crate) struct Place(*mut ());

impl Place {
    /// The place of a participant without a partial result.
    #[inline(always)]
    fn of_rank(rank: usize) -> Self {
        Self(std::ptr::without_provenance_mut(rank))
    }

    /// The place of the caller of a loop that gathers partial results.
    const CALLER: Self = Self(std::ptr::null_mut());
}

/// A body that gives each participant a partial result. The caller keeps its own partial result in the body.
pub(crate) trait Gather: Sync {
    /// A helper's partial result.
    type Partial;

    /// The partial result of a helper that has run nothing yet.
    fn begin(&self) -> Self::Partial;

    /// Runs a block. `partial` is the helper's partial result, or `None` for the caller. No other thread uses this
    /// partial result, but the thread may call this again during the block.
    fn run(&self, partial: Option<&UnsafeCell<Self::Partial>>, block: Range<usize>);

    /// A helper that is done calls this to leave its partial result in `slot`.
    ///
    /// # Safety
    ///
    /// `slot` is a `PartialSlot` of the body's platform, and only this loop uses it.
    unsafe fn leave(&self, partial: Self::Partial, slot: *const ());

    /// The caller calls this to take the partial results in `slot`, once no helper uses the slot any more.
    ///
    /// # Safety
    ///
    /// `slot` is as for [`leave`](Self::leave), and this thread is the loop's caller.
    unsafe fn take(&self, slot: *const ());
}

/// A body's functions.
struct Code {
    call: unsafe fn(*const (), Place, Range<usize>),
    /// The helpers' steps in addition to the body, if they have partial results.
    gathering: Option<Gathering>,
}

/// The steps of a [`Gather`] before and after its blocks.
struct Gathering {
    around: unsafe fn(*const (), *const (), &mut dyn FnMut(Place)),
    take: unsafe fn(*const (), *const ()),
}

impl<'a> Body<'a> {
    /// Creates a body without partial results. The closure `body` gets the rank of the participant and a block of
    /// iterations.
    #[inline(always)]
    pub(crate) fn new<F: Fn(usize, Range<usize>) + Sync>(body: &'a F) -> Self {
        unsafe fn call<F: Fn(usize, Range<usize>)>(
            data: *const (),
            place: Place,
            block: Range<usize>,
        ) {
            // SAFETY: `data` is the `&F` below. The `Body<'a>` cannot outlive the closure.
            unsafe { (*data.cast::<F>())(place.0.addr(), block) }
        }
        Self {
            data: std::ptr::from_ref(body).cast(),
            code: const {
                &Code {
                    call: call::<F>,
                    gathering: None,
                }
            },
            lives: std::marker::PhantomData,
        }
    }

    /// Creates a body that gives each participant a partial result.
    #[inline(always)]
    pub(crate) fn gathering<G: Gather>(body: &'a G) -> Self {
        unsafe fn call<G: Gather>(data: *const (), place: Place, block: Range<usize>) {
            // SAFETY: `data` is the `&G` below, which outlives the `Body<'a>`.
            let body = unsafe { &*data.cast::<G>() };
            // SAFETY: the place is null, or points to the partial result in `around` below.
            body.run(
                unsafe { place.0.cast::<UnsafeCell<G::Partial>>().as_ref() },
                block,
            );
        }
        unsafe fn around<G: Gather>(data: *const (), slot: *const (), work: &mut dyn FnMut(Place)) {
            // SAFETY: as above.
            let body = unsafe { &*data.cast::<G>() };
            let partial = UnsafeCell::new(body.begin());
            work(Place(std::ptr::from_ref(&partial).cast_mut().cast()));
            // SAFETY: the contract of `around`.
            unsafe { body.leave(partial.into_inner(), slot) };
        }
        unsafe fn take<G: Gather>(data: *const (), slot: *const ()) {
            // SAFETY: as above, and the contract of `take`.
            unsafe { (*data.cast::<G>()).take(slot) };
        }
        Self {
            data: std::ptr::from_ref(body).cast(),
            code: const {
                &Code {
                    call: call::<G>,
                    gathering: Some(Gathering {
                        around: around::<G>,
                        take: take::<G>,
                    }),
                }
            },
            lives: std::marker::PhantomData,
        }
    }

    /// Runs a block as participant `rank`, or [`ALONE`].
    #[inline(always)]
    pub(crate) fn run(&self, rank: usize, block: Range<usize>) {
        self.run_at(Place::of_rank(rank), block);
    }

    /// Runs a block at a place that [`inside`](Self::inside) or [`of_caller`](Self::of_caller) has given.
    #[inline(always)]
    pub(crate) fn run_at(&self, place: Place, block: Range<usize>) {
        // SAFETY: `call` and `data` belong together, and the value that `data` points to is alive.
        unsafe { (self.code.call)(self.data, place, block) }
    }

    /// Whether the participants have partial results.
    #[inline(always)]
    pub(crate) fn gathers(&self) -> bool {
        self.code.gathering.is_some()
    }

    /// Returns the place of a posted loop's caller, which has rank `rank`.
    #[inline(always)]
    pub(crate) fn of_caller(&self, rank: usize) -> Place {
        match &self.code.gathering {
            None => Place::of_rank(rank),
            Some(_) => Place::CALLER,
        }
    }

    /// Calls `work` with the place of the helper of rank `rank`. Afterwards leaves the helper's partial result in
    /// `slot`.
    ///
    /// # Safety
    ///
    /// As for [`Gather::leave`].
    #[inline(always)]
    pub(crate) unsafe fn inside(&self, rank: usize, slot: *const (), work: &mut impl FnMut(Place)) {
        match &self.code.gathering {
            None => work(Place::of_rank(rank)),
            // SAFETY: `around` and `data` belong together. The rest holds by contract.
            Some(gathering) => unsafe { (gathering.around)(self.data, slot, work) },
        }
    }

    /// The caller takes the partial results in `slot`.
    ///
    /// # Safety
    ///
    /// As for [`Gather::take`].
    pub(crate) unsafe fn take(&self, slot: *const ()) {
        if let Some(gathering) = &self.code.gathering {
            // SAFETY: as above.
            unsafe { (gathering.take)(self.data, slot) };
        }
    }

    /// Returns the address of the body's captured state, which is on the caller's stack. So the address differs
    /// between callers, and stays the same if a caller calls again at the same depth of its stack.
    #[inline(always)]
    pub(crate) fn caller(&self) -> usize {
        self.data as usize
    }

    /// Returns the address of the body's code, which differs between loops.
    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        self.code.call as usize
    }
}
