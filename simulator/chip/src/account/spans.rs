//! The spans of each simulated thread over time: sleeps and named regions.

use super::{Cycles, Name};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// The thread sleeps on a futex, which may have a name.
    Sleep(Option<Name>),
    /// The thread waits for another thread to end.
    Join,
    /// The program has named a region.
    Region(Name),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) thread: u32,
    pub(crate) span: Span,
    pub(crate) from: Cycles,
    pub(crate) to: Cycles,
}

/// The spans of a run, up to `cap` spans. The spans of a thread are nested.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    cap: usize,
    ended: Vec<Ended>,
    /// The open spans of each thread, the outermost first.
    open: Vec<Vec<(Span, Cycles)>>,
    /// Spans that did not fit.
    missing: u64,
}

impl Spans {
    pub(crate) fn new(cap: usize) -> Self {
        Self {
            cap,
            ..Self::default()
        }
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.cap > 0
    }

    pub(crate) fn begin(&mut self, thread: u32, span: Span, at: Cycles) {
        let thread = thread as usize;
        if self.open.len() <= thread {
            self.open.resize_with(thread + 1, Vec::new);
        }
        self.open[thread].push((span, at));
    }

    /// Ends the span that `thread` entered last.
    pub(crate) fn end(&mut self, thread: u32, at: Cycles) {
        let open = self.open.get_mut(thread as usize);
        if let Some((span, from)) = open.and_then(Vec::pop) {
            if self.ended.len() == self.cap {
                self.missing += 1;
                return;
            }
            self.ended.push(Ended {
                thread,
                span,
                from,
                to: at.max(from),
            });
        }
    }

    /// All spans of a run that ended at `end`, and the number of missing spans. The spans are sorted by start, and an
    /// outer span comes before its inner spans.
    pub(super) fn finish(mut self, end: Cycles) -> (Vec<Ended>, u64) {
        for thread in 0..self.open.len() {
            while !self.open[thread].is_empty() {
                self.end(thread as u32, end);
            }
        }
        let order = |one: &Ended| (one.from, std::cmp::Reverse(one.to), one.thread);
        // The sort is stable. If two spans have equal times, the inner span ended first, so it comes last.
        self.ended.reverse();
        self.ended.sort_by_key(order);
        (self.ended, self.missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Names;

    #[test]
    fn spans_nest_and_open_spans_end_with_the_run() {
        let mut names = Names::default();
        let (outer, inner) = (
            Span::Region(names.intern("a")),
            Span::Region(names.intern("b")),
        );
        let mut spans = Spans::new(10);
        spans.begin(3, outer, 5);
        spans.begin(3, inner, 5);
        spans.begin(1, Span::Join, 6);
        spans.end(3, 9);
        let ended = |thread, span, from, to| Ended {
            thread,
            span,
            from,
            to,
        };
        let expected = [
            ended(3, outer, 5, 20),
            ended(3, inner, 5, 9),
            ended(1, Span::Join, 6, 20),
        ];
        assert_eq!(spans.finish(20), (expected.to_vec(), 0));
    }

    #[test]
    fn spans_beyond_the_limit_are_counted() {
        let mut spans = Spans::new(2);
        for at in 0..5 {
            spans.begin(0, Span::Sleep(None), 2 * at);
            spans.end(0, 2 * at + 1);
        }
        let (ended, missing) = spans.finish(20);
        assert_eq!((ended.len(), missing), (2, 3));
    }
}
