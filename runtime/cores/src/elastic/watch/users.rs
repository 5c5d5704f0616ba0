//! Tests that functions which a watch calls may use the watch.

use super::Watch;
use crate::elastic::Follower;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

/// Owns the watch that it follows.
struct App<F: Fn(&Watch) + Send + Sync> {
    watch: Watch,
    called: Mutex<Sender<()>>,
    on_growth: F,
    /// Dropped after the watch.
    _last: Last,
}

struct Last(Mutex<Sender<()>>);

impl Drop for Last {
    fn drop(&mut self) {
        let _ = self.0.lock().unwrap().send(());
    }
}

impl<F: Fn(&Watch) + Send + Sync> Follower for App<F> {
    fn may_run(&self, _workers: Range<usize>) {
        (self.on_growth)(&self.watch);
        let _ = self.called.lock().unwrap().send(());
    }
}

/// Returns the app, and two receivers: of a message for each call of the app, and of one for its end.
fn app<F: Fn(&Watch) + Send + Sync + 'static>(
    on_growth: F,
) -> (Arc<App<F>>, Receiver<()>, Receiver<()>) {
    let ((called, calls), (ended, end)) = (channel(), channel());
    let app = Arc::new(App {
        watch: Watch::start().unwrap(),
        called: Mutex::new(called),
        on_growth,
        _last: Last(Mutex::new(ended)),
    });
    let follower: Weak<dyn Follower> = Arc::<App<F>>::downgrade(&app);
    app.watch.allotment().add_follower(follower);
    (app, calls, end)
}

/// Makes the watch's own thread publish that the cap is gone. Returns whether the allotment grows.
fn grows(watch: &Watch) -> bool {
    let all = watch.allotment().cores();
    watch.cap(NonZeroUsize::new(1));
    watch.shared.lock().cap = None;
    all > 1
}

#[test]
fn a_follower_uses_its_watch() {
    let (app, calls, end) = app(|watch| {
        assert_eq!(watch.limits().cap, None);
        assert!(format!("{watch:?}").contains("allotment"));
        watch.wake();
        watch.heed_neighbours(false);
        watch.cap(NonZeroUsize::new(2));
    });
    if grows(&app.watch) {
        calls.recv().unwrap();
        assert_eq!(app.watch.limits().cap, NonZeroUsize::new(2));
    }
    drop(app);
    end.recv().unwrap();
}

#[test]
fn the_watch_of_a_follower_ends_on_its_own_thread() {
    let (go, gone) = channel::<()>();
    let gone = Mutex::new(gone);
    let (began, begins) = channel();
    let began = Mutex::new(began);
    let (app, _, end) = app(move |_| {
        let _ = began.lock().unwrap().send(());
        let _ = gone.lock().unwrap().recv();
    });
    if grows(&app.watch) {
        begins.recv().unwrap();
    }
    // The watch's thread has the last reference.
    drop(app);
    drop(go);
    end.recv().unwrap();
}

#[test]
fn the_question_for_need_uses_the_watch() {
    static WATCH: OnceLock<Watch> = OnceLock::new();
    static QUESTIONS: AtomicU32 = AtomicU32::new(0);
    let watch = WATCH.get_or_init(|| Watch::start().unwrap());
    watch.rest_when(|rests| {
        let watch = WATCH.get().unwrap();
        watch.wake();
        let _ = watch.limits();
        if rests {
            QUESTIONS.fetch_add(1, Ordering::Relaxed);
        }
        true
    });
    // The question comes twice, so the thread goes on although it was woken while it asked.
    while QUESTIONS.load(Ordering::Relaxed) < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    watch.rest_when(|_| false);
}
