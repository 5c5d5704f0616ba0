//! Checks that exactly one thread reads the mail (jobs for one permit) that is left when the pool ends.

use crate::clusters::Invited;
use crate::pool::job::Job;
use crate::pool::mailbox::Mailbox;
use crate::sleep::Announcements;
use manycore_check::{Faulty, Loom, NoFence, Plain, caught, loom_model, team};
use manycore_platform::{Atomic, Ordering, Platform};

/// A fault of a worker that ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum MailMistake {
    /// The worker leaves whatever its last look has found.
    NoLastLook,
    /// The worker takes its last look before it declares itself absent.
    LooksFirst,
}

/// Thread 1 ends the pool. Worker 0 sends a job to worker 2, and then searches once more, as `Registry::send_to_all`
/// and `Worker::find_left` do. Worker 2 ends as `Worker::work` does, or stays if it does not see the end.
fn mail_is_read<P: Platform>(mistake: Option<MailMistake>) {
    let (mailbox, events) = (Mailbox::<P>::new(), Announcements::<P>::new(1));
    let terminating = P::AtomicBool::new(false);
    let ran = Plain::new(0);
    let read = |job: Option<Job>| job.map(|job| job.run(true)).is_some();
    // The worker that stays, at the model's end.
    let stays = P::AtomicBool::new(true);
    team::<P>(3, |rank| match rank {
        0 => {
            let ran: *const Plain<u32> = &raw const ran;
            // SAFETY: `ran` outlives the team, and only its threads run the job. The body does not unwind, or
            // the model has failed.
            let job = unsafe { Job::new(move |_| (*ran).write((*ran).read() + 1)) };
            mailbox.push(job);
            events.post(Invited::only(0));
            if terminating.load(Ordering::Acquire) {
                read(mailbox.take_left());
            }
        }
        1 => terminating.store(true, Ordering::Release),
        _ => {
            while !read(mailbox.take_first()) {
                if !terminating.load(Ordering::Acquire) {
                    return;
                }
                let empty = mistake == Some(MailMistake::LooksFirst) && mailbox.is_empty();
                if mailbox.leave() || empty || mistake == Some(MailMistake::NoLastLook) {
                    return stays.store(false, Ordering::Relaxed);
                }
            }
        }
    });
    if stays.load(Ordering::Relaxed) {
        read(mailbox.take_first());
    }
    assert_eq!(ran.read(), 1, "mail that no worker reads");
}

#[test]
fn a_leaving_reader_or_the_sender_reads_it() {
    loom_model(Some(3), || mail_is_read::<Loom>(None));
}

#[test]
fn each_mistake_is_caught() {
    let fence = || loom_model(Some(3), || mail_is_read::<Faulty<Loom, NoFence>>(None));
    assert!(caught(fence).contains("no worker reads"));
    for mistake in [MailMistake::NoLastLook, MailMistake::LooksFirst] {
        let why = caught(|| loom_model(Some(3), move || mail_is_read::<Loom>(Some(mistake))));
        assert!(why.contains("no worker reads"), "{mistake:?}: {why}");
    }
}
