use std::alloc::Layout;

use corosensei::stack::Stack as _;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use proptest::prelude::*;

use super::header::Header;
use super::*;

const STACK: usize = 256 * 1024;

fn arena() -> Arena {
    Arena::new(STACK).unwrap()
}

fn allocate(arena: &Arena, layout: Layout) -> *mut u8 {
    // SAFETY: the arena is open, and the reference ends with the statement.
    unsafe { Header::local(arena.header) }
        .unwrap()
        .allocate(layout)
        .unwrap()
        .start
}

#[cfg(feature = "allocator")]
mod global {
    use super::*;
    use std::collections::BTreeMap;

    fn offset<T: ?Sized>(arena: &Arena, of: &T) -> usize {
        (ptr::from_ref(of).cast::<u8>() as usize).wrapping_sub(arena.base())
    }

    /// The addresses that a program sees.
    fn program(arena: &Arena) -> Vec<usize> {
        let mut seen = Vec::new();
        let mut kept = BTreeMap::new();
        let mut text = String::new();
        for i in 0_u64..500 {
            text.push_str(&i.to_string());
            let block = vec![i; 1 + (i * 37 % 600) as usize].into_boxed_slice();
            seen.push(offset(arena, text.as_str()));
            seen.push(offset(arena, &block[..]));
            kept.insert(i * 7919 % 101, block);
            // The simulator's own allocations must not change the addresses.
            let own = outside();
            let scratch = vec![0_u8; i as usize];
            assert!(scratch.is_empty() || offset(arena, &scratch[..]) >= CAPACITY);
            drop(own);
        }
        seen
    }

    fn run() -> Vec<usize> {
        let arena = arena();
        let inside = enter(&arena);
        let seen = program(&arena);
        drop(inside);
        seen.clone()
    }

    #[test]
    fn the_hosts_heap_does_not_matter() {
        let first = run();
        let mut ballast: Vec<_> = (0..1000).map(|i| vec![0_u8; i * 13 % 3000]).collect();
        ballast.retain(|block| block.len() % 2 == 0);
        assert!(run() == first);
        let elsewhere = std::thread::spawn(run).join().unwrap();
        assert!(elsewhere == first);
        assert!(first.iter().all(|offset| *offset < CAPACITY));
    }

    #[test]
    fn blocks_move_between_the_arena_and_the_host() {
        let arena = arena();
        let mut from_host: Vec<u32> = (0..10).collect();
        let inside = enter(&arena);
        from_host.extend(10..1000);
        assert!(offset(&arena, &from_host[..]) < CAPACITY);
        let mut from_inside: Vec<u32> = (0..10).collect();
        drop(inside);
        from_inside.extend(10..1000);
        assert!(offset(&arena, &from_inside[..]) >= CAPACITY);
        assert_eq!(from_host, from_inside);
        assert!(from_host.iter().copied().eq(0..1000));
    }

    #[test]
    fn freed_memory_is_zeroed_again() {
        let arena = arena();
        let _inside = enter(&arena);
        drop(vec![0xff_u8; 300]);
        assert!(vec![0_u8; 300].iter().all(|byte| *byte == 0));
    }

    /// Opens more arenas than there are slots, so all slots must be given back. Closes each arena before its last block
    /// is freed. Every second block is freed on another thread.
    #[test]
    fn an_arena_outlives_its_close_while_a_block_lives() {
        for round in 0..1100_u64 {
            let arena = Arena::new(STACK).unwrap();
            let base = arena.base();
            let inside = enter(&arena);
            let result: Vec<u64> = (round..round + 100).collect();
            drop(inside);
            drop(arena);
            assert_eq!(range::slot_of(result.as_ptr() as usize), Some(base));
            assert!(result.iter().copied().eq(round..round + 100));
            if round % 2 == 0 {
                drop(result);
            } else {
                std::thread::spawn(move || drop(result)).join().unwrap();
            }
        }
    }

    #[test]
    fn guards_dropped_in_any_order_leave_no_dangling_arena() {
        let arena = arena();
        let inside = enter(&arena);
        let own = outside();
        drop(inside);
        drop(arena);
        drop(own);
        let arena = super::arena();
        std::mem::forget(enter(&arena));
        drop(arena);
        assert!(range::slot_of(Box::into_raw(Box::new(1_u8)) as usize).is_none());
    }

    #[test]
    fn coroutines_allocate_in_the_arena_and_the_simulator_does_not() {
        let arena = arena();
        let mut threads: Vec<_> = (0..4_u64)
            .map(|id| {
                Coroutine::with_stack(arena.stack().unwrap(), move |yielder, ()| {
                    let mut results = Vec::new();
                    for step in 0..50 {
                        results.push(id * 100 + step);
                        yielder.suspend(());
                    }
                    results
                })
            })
            .collect();
        let mut results = Vec::new();
        while results.len() < 4 {
            for thread in &mut threads {
                if thread.done() {
                    continue;
                }
                let inside = enter(&arena);
                let state = thread.resume(());
                drop(inside);
                if let CoroutineResult::Return(result) = state {
                    results.push(result);
                }
            }
        }
        drop(threads);
        let base = arena.base();
        drop(arena);
        for (id, result) in results.iter().enumerate() {
            assert_eq!(range::slot_of(result.as_ptr() as usize), Some(base));
            assert!(
                result
                    .iter()
                    .copied()
                    .eq((0..50).map(|step| id as u64 * 100 + step))
            );
        }
        assert!(range::slot_of(results.as_ptr() as usize).is_none());
    }
}

#[test]
fn stacks_are_guarded_aligned_and_reused() {
    let arena = arena();
    let first = arena.stack().unwrap();
    let second = arena.stack().unwrap();
    let base = first.base().get();
    assert_eq!(base % 65536, 0);
    assert_eq!(base - first.limit().get(), STACK + 65536);
    assert_eq!(second.limit().get(), base);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    if !maps.is_empty() {
        let guard = format!("{:x}-{:x} ---p", first.limit(), first.limit().get() + 65536);
        assert!(maps.contains(&guard), "no line {guard} in {maps}");
    }
    drop(first);
    assert_eq!(arena.stack().unwrap().base().get(), base);
}

#[test]
fn a_stack_outlives_its_arena() {
    let arena = arena();
    let mut thread = Coroutine::with_stack(arena.stack().unwrap(), |_: &Yielder<(), ()>, ()| {
        [7_u8; 1000]
    });
    drop(arena);
    assert!(matches!(
        thread.resume(()),
        CoroutineResult::Return([7, ..])
    ));
}

/// The bytes that are mapped without a gap from the start of the arena.
#[cfg(target_os = "linux")]
fn mapped(arena: &Arena) -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut end = arena.base();
    for line in maps.lines() {
        let (from, rest) = line.split_once('-').unwrap();
        let to = rest.split(' ').next().unwrap();
        let [from, to] = [from, to].map(|hex| usize::from_str_radix(hex, 16).unwrap());
        if (from..to).contains(&end) {
            end = to;
        }
    }
    end - arena.base()
}

#[test]
#[cfg(target_os = "linux")]
fn the_host_is_asked_for_what_is_needed_and_no_more() {
    let arena = arena();
    assert!(mapped(&arena) <= 1 << 20);
    let mut last = arena.base();
    for _ in 0..400 {
        let block = allocate(&arena, Layout::new::<[u8; 1 << 20]>()) as usize;
        assert!(block > last && range::slot_of(block + (1 << 20) - 1) == Some(arena.base()));
        last = block;
    }
    let used = last + (1 << 20) - arena.base();
    assert!(
        (used..used + (65 << 20)).contains(&mapped(&arena)),
        "{used}"
    );
    assert_eq!(range::slot_of(arena.base() + mapped(&arena)), None);
}

/// An arena does not grow into memory that the host maps in the window, and addresses there belong
/// to no arena.
#[test]
#[cfg(target_os = "linux")]
fn an_arena_stops_where_the_hosts_memory_begins() {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    let arena = arena();
    let in_the_way = arena.base() + (2 << 20);
    let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
    // SAFETY: the mapping replaces no other mapping, and is unmapped below without a use.
    let host =
        unsafe { mmap_anonymous(in_the_way as *mut _, 4096, ProtFlags::empty(), flags).unwrap() };
    // SAFETY: the arena is open, and this reference ends before the next reference begins.
    let local = unsafe { Header::local(arena.header) }.unwrap();
    let mut blocks = 0;
    while local.allocate(Layout::new::<[u8; 64 << 10]>()).is_some() {
        blocks += 1;
    }
    assert_eq!(
        blocks,
        (2 << 20) / (64 << 10) - 1,
        "the first page is the header's"
    );
    assert_eq!(range::slot_of(in_the_way), None);
    let error = arena.stack().unwrap_err().to_string();
    assert!(
        error.contains("refuses") && error.contains("ulimit -v"),
        "{error}"
    );
    // SAFETY: this is the mapping made above, and it has no other user.
    unsafe { munmap(host, 4096).unwrap() };
    assert!(arena.stack().is_ok());
}

#[test]
fn no_room_is_an_error() {
    let arena = Arena::new(usize::MAX).unwrap();
    assert!(matches!(arena.stack(), Err(ArenaError::Full)));
    let half = Layout::from_size_align(CAPACITY / 2, 1).unwrap();
    // SAFETY: the arena is open, and this reference ends before the next reference begins.
    let local = unsafe { Header::local(arena.header) }.unwrap();
    assert!(local.allocate(half).is_some());
    assert!(local.allocate(half).is_none());
    assert!(
        local
            .allocate(Layout::new::<[u8; CAPACITY + 1]>())
            .is_none()
    );
}

proptest! {
    #[test]
    fn blocks_do_not_overlap_and_are_reused(
        steps in prop::collection::vec((any::<bool>(), 1_usize..20_000, 0_u32..14), 1..300),
    ) {
        let arena = arena();
        let mut live: Vec<(*mut u8, Layout)> = Vec::new();
        let mut freed: Option<(*mut u8, Layout)> = None;
        for (allocates, size, align) in steps {
            if allocates || live.is_empty() {
                let layout = Layout::from_size_align(size, 1 << align).unwrap();
                let start = allocate(&arena, layout);
                prop_assert_eq!(start as usize % layout.align(), 0);
                for (other, held) in &live {
                    let (start, other) = (start as usize, *other as usize);
                    prop_assert!(start + size <= other || other + held.size() <= start);
                }
                if let Some((block, held)) = freed.take()
                    && super::classes::Class::of(held) == super::classes::Class::of(layout)
                {
                    prop_assert_eq!(start, block, "the block freed last is the first reused");
                }
                // SAFETY: this test owns the block.
                unsafe { start.write_bytes(0xa5, size) };
                live.push((start, layout));
            } else {
                let (start, layout) = live.swap_remove(size % live.len());
                // SAFETY: this is a live block of this arena, with its layout.
                unsafe { Header::free(arena.header, start, layout) };
                freed = Some((start, layout));
            }
        }
        // A live block keeps its arena's slot, and slots are few.
        for (start, layout) in live {
            // SAFETY: as above.
            unsafe { Header::free(arena.header, start, layout) };
        }
    }
}
