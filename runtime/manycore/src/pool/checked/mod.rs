//! The pool under the model checkers: the gate, the board and the wait for the
//! last helper exhaustively (loom), whole pools at random (shuttle).
//!
//! Every check has broken variants beside it that it must catch: the same code
//! on a platform with one fault (`manycore_check::Faulty`), or a sketch of it
//! with one step wrong.

mod adopted;
mod board;
mod buffered;
mod call_back;
mod following;
mod fork;
mod gate;
mod locks;
mod lost_permits;
mod mailbox;
mod partial_slot;
mod permit_holders;
mod several_pools;
mod thread_set;
mod wait;
mod watch;
mod whole;
