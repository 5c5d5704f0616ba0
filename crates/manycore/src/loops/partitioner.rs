//! The partitioners by name, and the dispatch to them.

use super::factoring::Factoring;
use super::fixed_block::FixedBlock;
use super::guided::Guided;
use super::launch::{Body, Wake, run_alone};
use super::partition::Partition;
use super::sharded::{Ranges, Sharded};
use super::r#static::Static;
use super::{adaptive, auto, split};
use crate::World;
use crate::pool::{Context, Registry};
use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::str::FromStr;

/// How iterations are given to threads, and when that is decided.
///
/// By name: `static`, `fixed-block` or `fixed-block=16`, `guided`,
/// `factoring`, `sharded` or `sharded=16`, `split`, `adaptive`.
///
/// ```
/// use manycore::{Block, Partitioner};
///
/// assert_eq!("guided".parse(), Ok(Partitioner::Guided));
/// assert_eq!("fixed-block".parse(), Ok(Partitioner::FixedBlock(Block::Auto)));
/// let sixteen: Partitioner = "fixed-block=16".parse()?;
/// assert_eq!(sixteen.to_string(), "fixed-block=16");
/// # Ok::<(), manycore::ParsePartitionerError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Partitioner {
    /// One share of n/T iterations for each thread, fixed beforehand. Cheapest
    /// for equal iterations on equal cores; no balance.
    Static,
    /// Blocks of one size from a shared counter, by fetch-and-add: the
    /// `ParallelFor` of Shuai's paper (2021).
    FixedBlock(Block),
    /// Each claim takes 1/2T of what is left, by compare-and-swap; the rule
    /// that Shuai's paper (2021) ascribes to Taskflow.
    Guided,
    /// Rounds of T equal blocks, each round half of what is left, by
    /// fetch-and-add (Hummel, Schonberg, Flynn 1992).
    Factoring,
    /// Each thread claims blocks from a range of its own and takes half of
    /// another's when it is empty.
    Sharded(Block),
    /// Halved by `join` as often as there is demand: at first into a part for
    /// each thread, further where a part is stolen.
    Split,
    /// Sharded, with blocks sized by the time they take, and a loop too short
    /// to gain from a second thread run inline. Nothing to choose.
    #[default]
    Adaptive,
}

/// Iterations claimed at once.
///
/// ```
/// assert_eq!(manycore::Block::size(64).to_string(), "64");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Block {
    /// What the cost model ([`cost`](crate::cost)) says for this machine and
    /// the loop's measured time per iteration.
    #[default]
    Auto,
    /// This many.
    Size(NonZeroUsize),
}

impl Block {
    /// Blocks of `iterations`.
    ///
    /// # Panics
    ///
    /// If `iterations` is 0.
    ///
    /// ```
    /// use manycore::{Block, Partitioner};
    /// assert_eq!("sharded=8".parse(), Ok(Partitioner::Sharded(Block::size(8))));
    /// ```
    #[track_caller]
    pub fn size(iterations: usize) -> Self {
        Self::Size(NonZeroUsize::new(iterations).expect("a block has at least one iteration"))
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Size(size) => size.fmt(f),
        }
    }
}

/// A name that is no partitioner's.
///
/// ```
/// let error = "fixed-block=0".parse::<manycore::Partitioner>().unwrap_err();
/// assert!(error.to_string().contains("at least 1"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParsePartitionerError {
    /// No such name.
    Name(String),
    /// The block size is not a whole number from 1.
    Block {
        /// The partitioner.
        name: String,
        /// What was given for its block.
        size: String,
    },
    /// A block size for a partitioner that picks its own.
    NoBlock(String),
}

impl fmt::Display for ParsePartitionerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => {
                let names = Partitioner::NAMES.join(", ");
                write!(f, "unknown partitioner `{name}`; expected one of {names}")
            }
            Self::Block { name, size } => write!(
                f,
                "partitioner `{name}`: block size `{size}` is not a whole number of at least 1"
            ),
            Self::NoBlock(name) => write!(
                f,
                "partitioner `{name}` takes no block size; only fixed-block and sharded do"
            ),
        }
    }
}

impl Error for ParsePartitionerError {}

impl Partitioner {
    /// The names, without block sizes.
    pub const NAMES: [&'static str; 7] = [
        "static",
        "fixed-block",
        "guided",
        "factoring",
        "sharded",
        "split",
        "adaptive",
    ];

    /// The name without the block size.
    ///
    /// ```
    /// use manycore::Partitioner;
    /// assert_eq!(Partitioner::default().name(), "adaptive");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::FixedBlock(_) => "fixed-block",
            Self::Guided => "guided",
            Self::Factoring => "factoring",
            Self::Sharded(_) => "sharded",
            Self::Split => "split",
            Self::Adaptive => "adaptive",
        }
    }
}

impl fmt::Display for Partitioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::FixedBlock(Block::Size(size)) | Self::Sharded(Block::Size(size)) => {
                write!(f, "={size}")
            }
            _ => Ok(()),
        }
    }
}

impl FromStr for Partitioner {
    type Err = ParsePartitionerError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, size) = match text.split_once('=') {
            Some((name, size)) => (name, Some(size)),
            None => (text, None),
        };
        let block = || match size {
            None | Some("auto") => Ok(Block::Auto),
            Some(size) => size.parse().map(Block::Size).map_err(|_| Self::Err::Block {
                name: name.into(),
                size: size.into(),
            }),
        };
        let partitioner = match name {
            "static" => Self::Static,
            "fixed-block" => return block().map(Self::FixedBlock),
            "guided" => Self::Guided,
            "factoring" => Self::Factoring,
            "sharded" => return block().map(Self::Sharded),
            "split" => Self::Split,
            "adaptive" => Self::Adaptive,
            _ => return Err(Self::Err::Name(text.into())),
        };
        match size {
            None => Ok(partitioner),
            Some(_) => Err(Self::Err::NoBlock(name.into())),
        }
    }
}

/// Runs `body` over `range` as `partitioner` divides it.
///
/// Out of line, once for all loops: what is left in the caller is a call.
#[inline(never)]
pub(crate) fn drive<W: World>(
    pool: &Registry<W>,
    partitioner: Partitioner,
    range: Range<usize>,
    body: Body<'_>,
) {
    if !range.is_empty() {
        // As a worker of the pool, so that what the body asks of it is the same on all
        // threads.
        pool.inside(|| dispatch(pool, partitioner, range.start, range.len(), body));
    }
}

fn dispatch<W: World>(
    pool: &Registry<W>,
    partitioner: Partitioner,
    start: usize,
    n: usize,
    body: Body<'_>,
) {
    match partitioner {
        Partitioner::Adaptive => adaptive::run(pool, start, n, body),
        Partitioner::Static => {
            run(pool, start, n, body, None, |_| {
                Static::<W::Platform>::new(n, pool.shared.allowed())
            });
        }
        Partitioner::FixedBlock(Block::Size(block)) => {
            run(pool, start, n, body, Some(block), |_| {
                FixedBlock::<W::Platform>::new(n, block, pool.shared.threads())
            });
        }
        Partitioner::Guided => {
            run(pool, start, n, body, None, |_| {
                Guided::<W::Platform>::new(n, pool.shared.allowed())
            });
        }
        Partitioner::Factoring => {
            run(pool, start, n, body, None, |_| {
                Factoring::<W::Platform>::new(n, pool.shared.allowed())
            });
        }
        Partitioner::Sharded(Block::Size(block)) => {
            run(pool, start, n, body, Some(block), |place| Sharded {
                ranges: Ranges::new(
                    pool.shared
                        .board()
                        .slot(place.slot)
                        .shards(pool.shared.threads()),
                    n,
                    place.rank,
                    pool.shared.allowed(),
                ),
                block,
            });
        }
        Partitioner::Split => {
            split::run(pool, body, start..start + n);
        }
        Partitioner::FixedBlock(Block::Auto) => {
            auto::run(pool, start, n, body, Partitioner::FixedBlock);
        }
        Partitioner::Sharded(Block::Auto) => auto::run(pool, start, n, body, Partitioner::Sharded),
    }
}

/// Where a loop is posted, and by whom.
struct Place {
    slot: usize,
    rank: usize,
}

/// Posts a loop that is to be shared whatever it costs, waking who sleeps. No
/// block is longer than `block`.
fn run<W: World, S: Partition>(
    pool: &Registry<W>,
    start: usize,
    n: usize,
    body: Body<'_>,
    block: Option<NonZeroUsize>,
    partition: impl FnOnce(Place) -> S,
) {
    let context = Context::current(&pool.shared);
    let Some(slot) = pool.shared.board().take(context.rank) else {
        // More loops are open than anybody could share: this one runs alone.
        let block = block.map_or(n, NonZeroUsize::get);
        let mut done = 0;
        while done < n {
            let next = n.min(done.saturating_add(block));
            body.run(context.rank, start + done..start + next);
            done = next;
        }
        return;
    };
    let partition = partition(Place {
        slot: slot.index(),
        rank: context.rank,
    });
    if pool.shared.threads() == 1 {
        run_alone(body, start, context.rank, &partition);
    } else {
        pool.post(
            slot.index(),
            &context,
            body,
            start..start + n,
            partition,
            Wake::Always,
        );
    }
}
