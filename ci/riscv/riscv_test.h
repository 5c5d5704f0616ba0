/* The environment of riscv-tests for user mode: a test is a Linux program that exits with 0, or
 * with the number of the case that failed. The names are those that the tests ask for. */
#ifndef MANYCORE_RISCV_TEST_H
#define MANYCORE_RISCV_TEST_H

#define TESTNUM gp
#define RVTEST_RV64U
#define RVTEST_RV64UF
#define RVTEST_RV64UV

#define RVTEST_CODE_BEGIN \
    .text;                \
    .global _start;       \
    _start:               \
    li TESTNUM, 0;

#define RVTEST_CODE_END unimp;

#define RVTEST_EXIT \
    li a7, 93;      \
    ecall;

#define RVTEST_PASS \
    li a0, 0;       \
    RVTEST_EXIT
/* A test that fails before its first case has no number. */
#define RVTEST_FAIL   \
    bnez TESTNUM, 1f; \
    li TESTNUM, 255;  \
    1 : mv a0, TESTNUM; \
    RVTEST_EXIT

#define EXTRA_DATA
#define RVTEST_DATA_BEGIN EXTRA_DATA .balign 16;
#define RVTEST_DATA_END
#endif
