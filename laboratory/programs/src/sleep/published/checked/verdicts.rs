//! One job and one sleeper. Tests which of twelve protocols, and of all policies in both modes, lose a wake-up.

use super::super::counters::Seen;
use super::super::discipline::{AsPublished, Discipline, Sound};
use super::super::three_words::ThreeWords;
use super::super::variants::{
    LazyInactive, NoInactive, NoJec, NoJecSleepers, Packed, Split, SplitSleepers, Variant,
};
use super::between::{Brief, FencedPoster, LooksUnfenced};
use super::wrapped::{Altered, As};
use super::{Pool, WithFault};
use manycore::seam::Latch;
use manycore::seam::Sleep;
use manycore_check::{Deaf, Loom, NoFence, NoHeavyFence, caught, loom_model, team};
use manycore_platform::{AtomicInteger, Ordering, Platform};

/// How the job arrives.
#[derive(Clone, Copy)]
enum Job {
    /// The job is on the poster's deque. The poster never takes it.
    Pushed,
    Injected,
}

/// Whether a thief fences before it looks.
const FENCED: bool = true;
const PLAIN: bool = false;

/// Thread 0 posts a job. Thread 1 looks until it has the job.
fn one_job<P: Platform, V: Variant, D: Discipline>(thieves_fence: bool, job: Job) -> usize {
    let interleavings = loom_model(None, move || {
        let pool = Pool::<P, V, Brief<D>>::new(2, thieves_fence);
        let never = Latch::new();
        team::<P>(2, |rank| match (rank, job) {
            (0, Job::Pushed) => pool.push(0),
            (0, Job::Injected) => pool.inject(),
            _ => assert!(pool.look(1, &never)),
        });
        assert_eq!(pool.policy.sleepers(), 0);
    });
    println!("  {}, {}", V::NAME, std::any::type_name::<D>());
    interleavings
}

fn is_sound<V: Variant, D: Discipline>(thieves_fence: bool) {
    one_job::<Loom, V, D>(thieves_fence, Job::Pushed);
}

fn loses_a_wake_up<P: Platform, V: Variant, D: Discipline>(thieves_fence: bool, job: Job) {
    let why = caught(|| one_job::<P, V, D>(thieves_fence, job));
    assert!(why.contains("deadlock"), "{}: {why}", V::NAME);
}

fn is_unsound<V: Variant, D: Discipline>(thieves_fence: bool) {
    loses_a_wake_up::<Loom, V, D>(thieves_fence, Job::Pushed);
}

// The twelve protocols.

#[test]
fn packed_needs_both_fences() {
    is_unsound::<Packed, AsPublished>(PLAIN);
    is_unsound::<Packed, FencedPoster>(PLAIN);
    is_unsound::<Packed, AsPublished>(FENCED);
    is_sound::<Packed, FencedPoster>(FENCED);
}

#[test]
fn split_needs_a_last_look_as_well() {
    is_unsound::<Split, AsPublished>(PLAIN);
    is_unsound::<Split, FencedPoster>(FENCED);
    is_sound::<Split, Sound>(PLAIN);
}

#[test]
fn nojec_needs_a_last_look_and_both_fences() {
    is_unsound::<NoJec, AsPublished>(PLAIN);
    is_unsound::<NoJec, FencedPoster>(FENCED);
    is_unsound::<NoJec, LooksUnfenced>(PLAIN);
    is_sound::<NoJec, Sound>(PLAIN);
}

#[test]
fn nojec_needs_no_fence_where_posts_write_the_count() {
    is_sound::<PostsWrite, LooksUnfenced>(PLAIN);
}

/// `nojec-sleepers`, but posts write the word that they read.
struct PostsWrite;

impl Variant for PostsWrite {
    const NAME: &'static str = "posts write";
    type Counters<P: Platform> = As<P, Self>;
}

impl<P: Platform> Altered<P> for PostsWrite {
    type Original = ThreeWords<P, NoJecSleepers>;

    fn post(original: &Self::Original) -> Seen {
        Seen {
            sleeping: original.sleeping.fetch_add(0, Ordering::SeqCst),
            inactive: 0,
        }
    }
}

// All policies.

/// A policy whose name ends in `-padded` has the same words as the policy without this ending, on other lines. Loom
/// knows no lines and would try the same interleavings again. `Split` and `NoJec` are among the twelve.
#[test]
fn every_sound_policy_loses_no_job() {
    is_sound::<Packed, Sound>(PLAIN);
    is_sound::<SplitSleepers, Sound>(PLAIN);
    is_sound::<NoJecSleepers, Sound>(PLAIN);
    is_sound::<LazyInactive, Sound>(PLAIN);
    is_sound::<NoInactive, Sound>(PLAIN);
}

#[test]
fn every_published_policy_loses_a_job() {
    is_unsound::<Packed, AsPublished>(FENCED);
    is_unsound::<Split, AsPublished>(FENCED);
    is_unsound::<SplitSleepers, AsPublished>(FENCED);
    is_unsound::<NoJec, AsPublished>(FENCED);
    is_unsound::<NoJecSleepers, AsPublished>(FENCED);
    is_unsound::<LazyInactive, AsPublished>(FENCED);
    is_unsound::<NoInactive, AsPublished>(FENCED);
}

/// The published argument covers injected jobs.
#[test]
fn no_injected_job_is_lost_in_either_mode() {
    fn both<V: Variant>() {
        one_job::<Loom, V, AsPublished>(PLAIN, Job::Injected);
        one_job::<Loom, V, Sound>(PLAIN, Job::Injected);
    }
    both::<Packed>();
    both::<Split>();
    both::<SplitSleepers>();
    both::<NoJec>();
    both::<NoJecSleepers>();
    both::<LazyInactive>();
    both::<NoInactive>();
}

#[test]
fn faults_of_the_platform_are_caught() {
    fn faults<V: Variant>() {
        for job in [Job::Pushed, Job::Injected] {
            loses_a_wake_up::<WithFault<NoFence>, V, Sound>(PLAIN, job);
            loses_a_wake_up::<WithFault<NoHeavyFence>, V, Sound>(PLAIN, job);
            loses_a_wake_up::<WithFault<Deaf>, V, Sound>(PLAIN, job);
        }
    }
    faults::<Packed>();
    faults::<Split>();
    faults::<NoJecSleepers>();
    faults::<NoInactive>();
}
