//! For processors whose instructions are not simulated. There, repeated looks at the registers of a rank show that the
//! rank waits.

pub(in crate::carry) struct Machine;

impl Machine {
    pub(in crate::carry) fn of(_frame: &libc::ucontext_t) -> Self {
        Self
    }

    pub(in crate::carry) fn waits(&self) -> bool {
        false
    }
}
