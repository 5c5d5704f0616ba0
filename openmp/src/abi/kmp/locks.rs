//! Locks, with the names of LLVM.

use super::super::locks::{
    NestLock, omp_destroy_nest_lock, omp_init_lock, omp_init_nest_lock, omp_set_lock,
    omp_set_nest_lock, omp_test_lock, omp_test_nest_lock, omp_unset_lock, omp_unset_nest_lock,
};
use super::{Place, export};
use crate::words::lock::WordLock;
use std::ffi::c_int;

export! {
    fn __kmpc_init_lock(_place: Place, _number: c_int, lock: *mut WordLock) {
        omp_init_lock(lock);
    }

    fn __kmpc_init_lock_with_hint(
        _place: Place, _number: c_int, lock: *mut WordLock, _hint: usize,
    ) {
        omp_init_lock(lock);
    }

    fn __kmpc_destroy_lock(_place: Place, _number: c_int, _lock: *mut WordLock) {}

    fn __kmpc_set_lock(_place: Place, _number: c_int, lock: *mut WordLock) {
        omp_set_lock(lock);
    }

    fn __kmpc_unset_lock(_place: Place, _number: c_int, lock: *mut WordLock) {
        omp_unset_lock(lock);
    }

    fn __kmpc_test_lock(_place: Place, _number: c_int, lock: *mut WordLock) -> c_int {
        omp_test_lock(lock)
    }

    fn __kmpc_init_nest_lock(_place: Place, _number: c_int, lock: *mut *mut NestLock) {
        omp_init_nest_lock(lock);
    }

    fn __kmpc_init_nest_lock_with_hint(
        _place: Place, _number: c_int, lock: *mut *mut NestLock, _hint: usize,
    ) {
        omp_init_nest_lock(lock);
    }

    fn __kmpc_destroy_nest_lock(_place: Place, _number: c_int, lock: *mut *mut NestLock) {
        omp_destroy_nest_lock(lock);
    }

    fn __kmpc_set_nest_lock(_place: Place, _number: c_int, lock: *mut *mut NestLock) {
        omp_set_nest_lock(lock);
    }

    fn __kmpc_unset_nest_lock(_place: Place, _number: c_int, lock: *mut *mut NestLock) {
        omp_unset_nest_lock(lock);
    }

    fn __kmpc_test_nest_lock(_place: Place, _number: c_int, lock: *mut *mut NestLock) -> c_int {
        omp_test_nest_lock(lock)
    }
}
