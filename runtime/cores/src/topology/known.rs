//! The result of the last look at this machine. It is kept because a program may build a pool for each of its calls. If
//! other CPUs are online, the hierarchy of CPUs is read again. If this process is in another group, the control groups'
//! files are looked up again. The contents of these files, and the mask, are read each time.

use super::cgroup::Groups;
use super::sysfs::{self, Facts, Tree};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The result of a look at this machine.
#[derive(Clone)]
pub(super) struct Known {
    online: Option<String>,
    member: Option<String>,
    /// The facts of every online CPU.
    pub(super) facts: Option<Arc<Vec<(usize, Facts)>>>,
    pub(super) groups: Arc<Groups>,
}

static LAST: Mutex<Option<Known>> = Mutex::new(None);

/// This machine. Looks again only if other CPUs are online or this process is in another group.
pub(super) fn this_machine() -> Known {
    let tree = Tree(Path::new("/"));
    let (online, member) = (tree.text(sysfs::ONLINE), tree.text("proc/self/cgroup"));
    // This does not wait for the lock, since a child of `fork` may lack the thread that holds the lock.
    let mut last = LAST.try_lock().ok();
    let known = last.as_deref().and_then(Option::as_ref);
    let same = |known: &&Known| known.online == online && known.member == member;
    if let Some(known) = known.filter(same) {
        return known.clone();
    }
    let known = Known {
        online,
        member,
        facts: sysfs::read(tree).map(Arc::new),
        groups: Arc::new(Groups::find(tree)),
    };
    if let Some(last) = &mut last {
        **last = Some(known.clone());
    }
    known
}
