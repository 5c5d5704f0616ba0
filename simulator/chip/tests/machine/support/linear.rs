//! Checks whether the values that threads read from a word are possible in the order of simulated time
//! (linearizability).

/// One access to a word: the values that it read and wrote, and when it began and ended. It takes effect in between.
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

/// Checks the accesses to one word that begins with the value `initial`. No value is written twice.
///
/// This is the method of Gibbons and Korach, "Testing shared memories" (1997). In any legal order, the accesses to one
/// value are neighbours. So while the word must hold one value, it cannot hold another. A read-modify-write counts as a
/// read and a write. Since both are one step, no value is replaced twice.
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
    // The values that the word must have held at some time, with those times.
    let mut held: Vec<&Span> = spans
        .iter()
        .filter(|span| span.first_end <= span.last_start)
        .collect();
    held.sort_by_key(|span| span.first_end);
    for pair in held.windows(2) {
        // The last access to one value begins after the first access to the other has ended.
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
