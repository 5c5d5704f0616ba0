//! The events that the feature `tracing` sends to a subscriber, with the target `rayon_core`. Pools send events when
//! they are made and when they end, and threads when they start and end. A call from outside sends its duration, and
//! the pool's queues at its end. Without the feature none of this is compiled.

use manycore::{Builder, Pool};

/// The thread number that a handler sees. As in rayon, it is less than the number of threads. A thread that runs in
/// place of a waiting thread has the number of another thread.
fn number(index: usize) -> usize {
    // The handler's thread belongs to a pool, even while it has no permit and so has no index in the pool.
    index % manycore::current_num_threads()
}

/// Sets the handlers of `builder`'s threads.
#[cfg(feature = "tracing")]
pub(crate) fn threads(
    builder: Builder,
    start: Option<crate::handlers::ThreadHandler>,
    exit: Option<crate::handlers::ThreadHandler>,
) -> Builder {
    let call = |handler: &Option<crate::handlers::ThreadHandler>, index| {
        if let Some(handler) = handler {
            handler(number(index));
        }
    };
    builder
        .on_thread_start(move |index| {
            tracing::debug!(target: "rayon_core", index, "thread starts");
            call(&start, index);
        })
        .on_thread_exit(move |index| {
            call(&exit, index);
            tracing::debug!(target: "rayon_core", index, "thread ends");
        })
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn threads(
    mut builder: Builder,
    start: Option<crate::handlers::ThreadHandler>,
    exit: Option<crate::handlers::ThreadHandler>,
) -> Builder {
    if let Some(start) = start {
        builder = builder.on_thread_start(move |index| start(number(index)));
    }
    match exit {
        Some(exit) => builder.on_thread_exit(move |index| exit(number(index))),
        None => builder,
    }
}

/// Sends the event that `pool` was made.
pub(crate) fn made(pool: &Pool) {
    #[cfg(feature = "tracing")]
    tracing::debug!(target: "rayon_core", threads = pool.threads(), "pool made");
    let _ = pool;
}

/// Sends the event that `pool` ends.
pub(crate) fn ends(pool: &Pool) {
    #[cfg(feature = "tracing")]
    tracing::debug!(target: "rayon_core", threads = pool.threads(), "pool ends");
    let _ = pool;
}

/// Runs `call`, a call of `pool` from outside or inside of it.
#[inline]
pub(crate) fn call<R>(pool: &Pool, name: &'static str, call: impl FnOnce() -> R) -> R {
    #[cfg(feature = "tracing")]
    {
        let begin = std::time::Instant::now();
        let result = call();
        if tracing::enabled!(target: "rayon_core", tracing::Level::TRACE) {
            let (us, probe) = (
                begin.elapsed().as_micros() as u64,
                manycore::seam::probe(pool),
            );
            tracing::trace!(
                target: "rayon_core",
                name, us, sleeping = probe.sleeping, injected = probe.injected,
                spawned = probe.spawned, joining = probe.joining, "call"
            );
        }
        result
    }
    #[cfg(not(feature = "tracing"))]
    {
        let _ = (pool, name);
        call()
    }
}
