//! Whether what threads read from a word is possible in the order of simulated
//! time (linearizability).

/// One access to a word: what it read and what it wrote, and when it began and
/// was done. Its effect is in between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) thread: usize,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) read: Option<u32>,
    pub(crate) wrote: Option<u32>,
}

/// The life of a value in the word: from the first time at which it must have been there to the
/// last.
#[derive(Debug)]
struct Span {
    value: u32,
    first_end: u64,
    last_start: u64,
}

/// Checks the accesses to one word with the value `initial` at first. No value is written twice.
///
/// As Gibbons and Korach, "Testing shared memories" (1997): the accesses to one
/// value are neighbours in any legal order, so no value may be the word's at a
/// time at which another must be. A read-modify-write is a read and a write
/// here; that they are one step shows in no value being replaced twice.
pub(crate) fn check(initial: u32, accesses: &[Access]) -> Result<(), String> {
    let mut spans = Vec::new();
    let values = accesses.iter().filter_map(|access| access.wrote);
    for value in values.chain([initial]) {
        let write = accesses.iter().find(|access| access.wrote == Some(value));
        let (start, end) = write.map_or((0, 0), |write| (write.start, write.end));
        let mut span = Span {
            value,
            first_end: end,
            last_start: start,
        };
        let mut replaced = 0;
        for read in accesses.iter().filter(|access| access.read == Some(value)) {
            if read.end <= start {
                return Err(format!("{read:?} read what {write:?} had yet to write"));
            }
            span.first_end = span.first_end.min(read.end);
            span.last_start = span.last_start.max(read.start);
            replaced += u32::from(read.wrote.is_some());
        }
        if replaced > 1 {
            return Err(format!("{value} was replaced {replaced} times"));
        }
        spans.push(span);
    }
    if let Some(read) = accesses.iter().find(|access| {
        access
            .read
            .is_some_and(|value| !spans.iter().any(|span| span.value == value))
    }) {
        return Err(format!("{read:?} read what nobody wrote"));
    }
    // Values that were the word's for sure at some time, and those times.
    let mut held: Vec<&Span> = spans
        .iter()
        .filter(|span| span.first_end <= span.last_start)
        .collect();
    held.sort_by_key(|span| span.first_end);
    for pair in held.windows(2) {
        // The last access to the one begins when all of the first to the
        // other has been.
        if pair[1].first_end <= pair[0].last_start && pair[0].first_end <= pair[1].last_start {
            return Err(format!("{:?} and {:?} at one time", pair[0], pair[1]));
        }
    }
    for span in spans.iter().filter(|span| span.first_end > span.last_start) {
        if let Some(around) = held
            .iter()
            .find(|held| held.first_end <= span.last_start && span.first_end <= held.last_start)
        {
            return Err(format!("{span:?} within {around:?}"));
        }
    }
    Ok(())
}
