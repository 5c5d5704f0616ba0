// Included by the examples in the documentation, and by tests of the command.

// A program that writes "hello" and exits with 7, as an ELF file: one segment, at 0x10000.
{
    const CODE: [u32; 9] = [
        0x0010_0513, // addi a0, zero, 1
        0x0000_0597, // auipc a1, 0
        0x0205_8593, // addi a1, a1, 32: behind the code
        0x0060_0613, // addi a2, zero, 6
        0x0400_0893, // addi a7, zero, 64: write
        0x0000_0073, // ecall
        0x0070_0513, // addi a0, zero, 7
        0x05E0_0893, // addi a7, zero, 94: exit_group
        0x0000_0073, // ecall
    ];
    const START: u64 = 64 + 56;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xf3\0\x01\0\0\0".to_vec();
    let text: Vec<u8> = CODE.iter().flat_map(|word| word.to_le_bytes()).collect();
    let length = START + text.len() as u64 + 6;
    for word in [0x1_0000 + START, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend(0u32.to_le_bytes());
    for half in [64u16, 56, 1, 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    file.extend([1u32, 5].iter().flat_map(|word| word.to_le_bytes()));
    for word in [0, 0x1_0000, 0x1_0000, length, length, 4096] {
        file.extend(word.to_le_bytes());
    }
    file.extend(text);
    file.extend(b"hello\n");
    file
}
