//! Compares the simulation of instructions with the processor, and tests that loops which wait are found.

use super::{Flags, Machine};
use std::arch::naked_asm;

/// The state before and after an instruction.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// `rax`, `rcx`, `rdx`, `rsi`, `r8`.
    general: [u64; 5],
    flags: u64,
    /// The addresses of the instruction's beginning and end.
    begin: usize,
    end: usize,
    memory: [u64; 4],
}

/// The numbers of the registers in [`State`], and of the register with the state's address.
const NUMBERS: [usize; 5] = [0, 1, 2, 6, 8];
const DI: usize = 7;
/// The flags that are simulated.
const FLAGS: u64 = 0x8c1;

type Snippet = unsafe extern "C" fn(*mut State);

/// Makes functions that execute some instructions on the registers of a [`State`]. Its memory begins at `rdi + 64`.
macro_rules! snippets {
    ($($text:literal)*) => {
        [$({
            #[unsafe(naked)]
            unsafe extern "C" fn snippet(_state: *mut State) {
                naked_asm!(
                    "push qword ptr [rdi + 40]",
                    "popfq",
                    "mov rax, [rdi]",
                    "mov rcx, [rdi + 8]",
                    "mov rdx, [rdi + 16]",
                    "mov rsi, [rdi + 24]",
                    "mov r8, [rdi + 32]",
                    "2:",
                    $text,
                    "3:",
                    "mov [rdi], rax",
                    "mov [rdi + 8], rcx",
                    "mov [rdi + 16], rdx",
                    "mov [rdi + 24], rsi",
                    "mov [rdi + 32], r8",
                    "pushfq",
                    "pop qword ptr [rdi + 40]",
                    "lea rax, [rip + 2b]",
                    "mov [rdi + 48], rax",
                    "lea rax, [rip + 3b]",
                    "mov [rdi + 56], rax",
                    "ret",
                )
            }
            ($text, snippet as Snippet)
        }),*]
    };
}

fn machine(state: &State, at: usize) -> Machine {
    let mut general = [0; 16];
    for (&number, &value) in NUMBERS.iter().zip(&state.general) {
        general[number] = value;
    }
    general[DI] = std::ptr::from_ref(state) as u64;
    Machine {
        general,
        flags: Flags::of_bits(state.flags),
        at,
    }
}

/// Returns one of a few values, so that equal values are frequent.
fn value(random: &mut u64) -> u64 {
    const VALUES: [u64; 12] = [
        0,
        1,
        5,
        0x7f,
        0x80,
        0xff,
        0x8000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        1 << 63,
        u64::MAX,
    ];
    *random = random
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    VALUES[(*random >> 40) as usize % VALUES.len()]
}

/// A simulated instruction has the same result as on the processor. The simulation stops only at an instruction that
/// changes memory.
#[test]
fn instructions_are_followed_as_the_processor_executes_them() {
    let all = snippets! {
        "mov eax, ecx" "mov rdx, [rdi + 64]" "mov al, [rdi + 65]" "mov r8w, [rdi + 66]" "mov cl, sil"
        "mov r8d, esi" "mov [rdi + 64], rax" "mov byte ptr [rdi + 72], 5" "mov dword ptr [rdi + 64], -1"
        "mov qword ptr [rdi + 64], 0" "mov eax, 7" "mov r8d, -1" "mov word ptr [rdi + 64], 255"
        "cmp eax, ecx" "cmp al, cl" "cmp rdx, r8" "cmp [rdi + 64], eax" "cmp rcx, [rdi + 72]" "cmp ax, dx"
        "cmp dword ptr [rdi + 64], 1" "cmp byte ptr [rdi + 64], 0" "cmp eax, 0x7fffffff" "cmp rcx, -1"
        "cmp al, 5" "cmp sil, 3" "cmp r8, 127" "cmp qword ptr [rdi + 64], 0x12345"
        "and eax, ecx" "and [rdi + 64], rcx" "or rdx, rsi" "or r8b, 1" "xor eax, eax" "xor rcx, rdx"
        "and eax, 255" "or al, 127" "xor rax, 1" "lock or qword ptr [rdi + 64], 0" "and dl, [rdi + 80]"
        "test eax, eax" "test cl, cl" "test rdx, rsi" "test [rdi + 64], al" "test byte ptr [rdi + 64], 1"
        "test eax, 0x80000000" "test al, 128" "test dword ptr [rdi + 72], 255" "test r8, -1"
        "xchg eax, [rdi + 64]" "xchg [rdi + 64], cl" "xchg rdx, rsi" "xchg ecx, r8d"
        "lock cmpxchg [rdi + 64], ecx" "lock cmpxchg [rdi + 72], rdx" "cmpxchg [rdi + 64], cl"
        "movzx eax, cl" "movzx ecx, byte ptr [rdi + 64]" "movsx rdx, word ptr [rdi + 64]"
        "movsx eax, sil" "movzx r8d, dx" "movsx cx, al" "movsxd rax, ecx" "movsxd rcx, dword ptr [rdi + 68]"
        "lea rax, [rcx + rdx * 4 + 3]" "lea ecx, [rax + rax + 1000]" "lea rdx, [rip + 2b]"
        "lea r8, [rsi * 8 - 5]" "pause" "nop" "nop dword ptr [rax + rax * 1]" "data16 nop" "mfence" "lfence" "sfence"
        "sete al" "setb cl" "setg dl" "setle sil" "seto r8b" "setns byte ptr [rdi + 64]" "seta al" "setge cl"
        "je 4f; mov eax, 1; 4:" "jl 4f; mov ecx, 2; 4:" "jbe 4f; mov edx, 3; 4:" "jns 4f; mov r8d, 4; 4:"
        "jo 4f; mov esi, 5; 4:" "jg 4f; jmp 5f; 4: mov eax, 6; 5:" "jae 4f; .skip 200, 0x90; 4:"
        "cmp ecx, eax; jne 4f; mov edx, [rdi + 64]; 4: test edx, edx; setg al"
        "mov eax, [rdi + 64]; cmp eax, ecx; jle 4f; xor eax, eax; 4:"
    };
    let mut random = 1;
    let (mut followed, mut stopped) = (0, 0);
    for (text, snippet) in all {
        for _ in 0..400 {
            let mut before = State {
                general: std::array::from_fn(|_| value(&mut random)),
                flags: value(&mut random) & FLAGS | 0x202,
                begin: 0,
                end: 0,
                memory: std::array::from_fn(|_| value(&mut random)),
            };
            let mut after = before;
            // SAFETY: the snippet changes only registers that a call may change, and writes only the state.
            unsafe { snippet(&raw mut after) };
            (before.begin, before.end) = (after.begin, after.end);
            let mut machine = machine(&before, before.begin);
            let mut goes_on = true;
            while goes_on && machine.at != before.end {
                goes_on = machine.step().is_some();
            }
            if !goes_on {
                assert_ne!(before.memory, after.memory, "{text}: {before:x?}");
                stopped += 1;
                continue;
            }
            followed += 1;
            assert_eq!(before.memory, after.memory, "{text}: {before:x?}");
            let general = NUMBERS.map(|number| machine.general[number]);
            assert_eq!(general, after.general, "{text}: {before:x?}");
            assert_eq!(
                machine.flags,
                Flags::of_bits(after.flags),
                "{text}: {before:x?}"
            );
        }
    }
    assert!(
        followed > 20_000 && stopped > 1_000,
        "{followed} followed, {stopped} not"
    );
}

/// Loops that wait while a word is 0 are found, at whichever instruction they are interrupted. Other loops are not
/// found.
#[test]
fn only_loops_that_wait_are_found() {
    let waiting = snippets! {
        "4: mov eax, [rdi + 64]; test eax, eax; je 4b"
        "4: cmp qword ptr [rdi + 64], 0; je 4b"
        "4: pause; movzx eax, byte ptr [rdi + 64]; cmp al, 1; jne 4b"
        "4: pause; mov rax, [rdi + 64]; test al, 1; je 4b"
        "4: lock or qword ptr [rdi + 72], 0; mov edx, [rdi + 64]; cmp edx, [rdi + 80]; je 4b"
        // Code that was compiled without optimization copies the word to a local variable.
        "4: mov eax, [rdi + 64]; mov [rdi + 88], eax; cmp dword ptr [rdi + 88], 0; sete al; test al, al; jne 4b"
        // The loop reads two words, and another thread writes one.
        "4: mov eax, [rdi + 64]; test eax, eax; jne 5f; mov ecx, [rdi + 72]; test ecx, ecx; je 4b; 5:"
    };
    let counting = snippets! {
        "4: add ecx, 1; mov eax, [rdi + 64]; test eax, eax; je 4b"
        "4: lea ecx, [rcx + 1]; cmp dword ptr [rdi + 64], 0; je 4b"
        "4: mov [rdi + 72], rdi; cmp dword ptr [rdi + 64], 0; je 4b"
        // A long loop: the simulation stops before the loop's end.
        "4: .skip 100, 0x90; cmp dword ptr [rdi + 64], 0; je 4b"
    };
    let zero = State {
        general: [0; 5],
        flags: 0x202,
        begin: 0,
        end: 0,
        memory: [0; 4],
    };
    for (loops, waits) in [(&waiting[..], true), (&counting[..], false)] {
        for &(text, snippet) in loops {
            let mut state = State {
                memory: [1, 0, 0, 0],
                ..zero
            };
            // SAFETY: the snippet touches only its `State`. It ends, since the word is not 0.
            unsafe { snippet(&raw mut state) };
            let mut state = State {
                begin: state.begin,
                end: state.end,
                ..zero
            };
            let mut machine = machine(&state, state.begin);
            for step in 0..20 {
                assert_eq!(machine.waits(), waits, "{text} after {step} instructions");
                state.memory[0] = 1;
                assert!(
                    !machine.waits(),
                    "{text} after {step} instructions, and a write"
                );
                state.memory[0] = 0;
                if machine.step().is_none() {
                    break;
                }
            }
        }
    }
}
