//! What a reader shall know first.

use super::regret::Overall;
use crate::report::words::more_or_less;

/// The figure's title: how good the default is.
pub(super) fn message(overall: &[Overall]) -> String {
    let mut rows = overall.iter().filter(|row| row.class.is_none());
    match rows.find(|row| row.partitioner == "adaptive") {
        Some(row) => format!(
            "Told no block size, the default takes {} time than the best block in the mean of {} \
             cases, each a loop on some threads, and {} in the worst of them",
            more_or_less(row.geometric_mean_regret),
            row.cells,
            more_or_less(row.worst.regret)
        ),
        None => "Blocks of a parallel loop can be too small and too large".into(),
    }
}

/// The section's first sentences.
pub(super) const LEAD: &str = "A parallel loop gives its iterations to threads in blocks. Small blocks make threads claim \
     often; large ones leave threads without work at the end. Which size is best depends on loop \
     and machine. The default of manycore picks it without being told. The task that the loops run \
     is that of a paper by R. Shuai (2021), which is called the document below.";
