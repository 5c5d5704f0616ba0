//! The partitioners by name.

use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// How iterations are divided among threads, and when.
///
/// By name: `static`, `fixed-block` or `fixed-block=16`, `guided`,
/// `factoring`, `sharded` or `sharded=16`, `split`, `adaptive`.
///
/// ```
/// use manycore_programs::partition::{Block, Partitioner};
///
/// assert_eq!("guided".parse(), Ok(Partitioner::Guided));
/// assert_eq!("fixed-block".parse(), Ok(Partitioner::FixedBlock(Block::Auto)));
/// let sixteen: Partitioner = "fixed-block=16".parse()?;
/// assert_eq!(sixteen.to_string(), "fixed-block=16");
/// # Ok::<(), manycore_programs::partition::ParsePartitionerError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Partitioner {
    /// Each of T threads has one share of n/T iterations, fixed beforehand. This is cheapest for equal iterations on
    /// equal cores, but does not balance unequal ones.
    Static,
    /// Blocks of one size, claimed from a shared counter by fetch-and-add: the `ParallelFor` of Shuai's
    /// paper (2021).
    FixedBlock(Block),
    /// Each claim takes 1/(2T) of the remaining iterations, by compare-and-swap. Shuai's paper ascribes this rule to
    /// Taskflow.
    Guided,
    /// Rounds of T equal blocks, claimed by fetch-and-add. Each round takes half of the remaining iterations (Hummel,
    /// Schonberg, Flynn 1992).
    Factoring,
    /// Each thread claims blocks from its own range. When the range is empty, the thread takes half of another thread's
    /// range.
    Sharded(Block),
    /// `join` halves the loop: at first into a part for each thread. A stolen part is halved further.
    Split,
    /// As `Sharded`, but the measured time of blocks decides their size. A loop too short to gain from a second thread
    /// runs inline. Has no parameter.
    #[default]
    Adaptive,
}

/// The number of iterations of a claim.
///
/// ```
/// assert_eq!(manycore_programs::partition::Block::size(64).to_string(), "64");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Block {
    /// The block size of the cost model ([`cost`](crate::cost)) for this machine and the loop's measured time per
    /// iteration.
    #[default]
    Auto,
    /// This number of iterations.
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
    /// use manycore_programs::partition::{Block, Partitioner};
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

/// The text names no partitioner.
///
/// ```
/// let error = "fixed-block=0".parse::<manycore_programs::partition::Partitioner>().unwrap_err();
/// assert!(error.to_string().contains("at least 1"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParsePartitionerError {
    /// No partitioner has this name.
    Name(String),
    /// The block size is not a whole number of at least 1.
    Block {
        /// The partitioner.
        name: String,
        /// The text that was given for its block.
        size: String,
    },
    /// The partitioner with this name picks its own block size.
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
    /// use manycore_programs::partition::Partitioner;
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
