//! Processors with unknown instructions: two looks at its registers show that a rank waits.

pub(in crate::carry) struct Machine;

impl Machine {
    pub(in crate::carry) fn of(_frame: &libc::ucontext_t) -> Self {
        Self
    }

    pub(in crate::carry) fn waits(&self) -> bool {
        false
    }
}
