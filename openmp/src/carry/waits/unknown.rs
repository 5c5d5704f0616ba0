//! Processors whose instructions are not known here: what waits is found by two looks at its registers.

pub(in crate::carry) struct Machine;

impl Machine {
    pub(in crate::carry) fn of(_frame: &libc::ucontext_t) -> Self {
        Self
    }

    pub(in crate::carry) fn waits(&self) -> bool {
        false
    }
}
