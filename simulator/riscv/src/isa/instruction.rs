//! A decoded instruction.

/// The kind of an instruction, named as in the RISC-V manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[rustfmt::skip]
pub(crate) enum Kind {
    // RV64I
    Lui, Auipc, Jal, Jalr, Beq, Bne, Blt, Bge, Bltu, Bgeu,
    Lb, Lh, Lw, Ld, Lbu, Lhu, Lwu, Sb, Sh, Sw, Sd,
    Addi, Slti, Sltiu, Xori, Ori, Andi, Slli, Srli, Srai,
    Add, Sub, Sll, Slt, Sltu, Xor, Srl, Sra, Or, And,
    Addiw, Slliw, Srliw, Sraiw, Addw, Subw, Sllw, Srlw, Sraw,
    Fence, FenceI, Ecall, Ebreak,
    // M
    Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu, Mulw, Divw, Divuw, Remw, Remuw,
    // A
    LrW, ScW, AmoswapW, AmoaddW, AmoxorW, AmoandW, AmoorW, AmominW, AmomaxW, AmominuW, AmomaxuW,
    LrD, ScD, AmoswapD, AmoaddD, AmoxorD, AmoandD, AmoorD, AmominD, AmomaxD, AmominuD, AmomaxuD,
    // Zicsr
    Csrrw, Csrrs, Csrrc, Csrrwi, Csrrsi, Csrrci,
    // F
    Flw, Fsw, FmaddS, FmsubS, FnmsubS, FnmaddS, FaddS, FsubS, FmulS, FdivS, FsqrtS,
    FsgnjS, FsgnjnS, FsgnjxS, FminS, FmaxS, FcvtWS, FcvtWuS, FcvtLS, FcvtLuS,
    FcvtSW, FcvtSWu, FcvtSL, FcvtSLu, FmvXW, FmvWX, FeqS, FltS, FleS, FclassS,
    // D
    Fld, Fsd, FmaddD, FmsubD, FnmsubD, FnmaddD, FaddD, FsubD, FmulD, FdivD, FsqrtD,
    FsgnjD, FsgnjnD, FsgnjxD, FminD, FmaxD, FcvtWD, FcvtWuD, FcvtLD, FcvtLuD,
    FcvtDW, FcvtDWu, FcvtDL, FcvtDLu, FmvXD, FmvDX, FeqD, FltD, FleD, FclassD, FcvtSD, FcvtDS,
    // Zba
    AddUw, Sh1add, Sh2add, Sh3add, Sh1addUw, Sh2addUw, Sh3addUw, SlliUw,
    // Zbb
    Andn, Orn, Xnor, Clz, Ctz, Cpop, Clzw, Ctzw, Cpopw, Max, Maxu, Min, Minu, SextB, SextH, ZextH,
    Rol, Ror, Rori, Rolw, Rorw, Roriw, OrcB, Rev8,
    // Zihintpause, Zawrs
    Pause, WrsNto, WrsSto,
    /// The custom-0 opcode: ATAC's channels, and marks of a region of interest.
    Custom0,
    /// gem5's pseudo-instructions, with the custom-3 opcode.
    M5,
    /// No instruction: control continues in the next block.
    Next,
}

/// The register for writes to `x0`. It is never read.
pub(crate) const SINK: u8 = 32;

/// A decoded instruction with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) kind: Kind,
    /// The destination: the index of an integer register ([`SINK`] for `x0`) or of a floating-point register.
    pub(crate) rd: u8,
    pub(crate) rs1: u8,
    pub(crate) rs2: u8,
    /// The third source of a multiply-add.
    pub(crate) rs3: u8,
    /// The rounding mode as encoded. 7 stands for the mode in `fcsr`.
    pub(crate) rounding: u8,
    /// The instruction's length in bytes: 2 or 4.
    pub(crate) length: u8,
    /// The immediate, the number of a CSR, or the function of a custom instruction.
    pub(crate) imm: i32,
}

impl Instruction {
    pub(crate) const fn new(kind: Kind, rd: u8, rs1: u8, rs2: u8, imm: i32) -> Self {
        Self {
            kind,
            rd,
            rs1,
            rs2,
            rs3: 0,
            rounding: 0,
            length: 4,
            imm,
        }
    }

    /// Whether a block ends with this instruction.
    pub(crate) fn ends_block(self) -> bool {
        use Kind::*;
        matches!(
            self.kind,
            Jal | Jalr | Ecall | Ebreak | FenceI | WrsNto | WrsSto | Custom0 | M5 | Next
        )
    }

    /// Whether the instruction changes nothing except registers, and has the same result again if the registers and the
    /// lines that it reads are the same.
    pub(crate) fn is_pure(self) -> bool {
        use Kind::*;
        let stores = matches!(self.kind, Sb | Sh | Sw | Sd | Fsw | Fsd);
        let amo = self.kind as u8 >= LrW as u8 && self.kind as u8 <= AmomaxuD as u8;
        let csr = self.kind as u8 >= Csrrw as u8 && self.kind as u8 <= Csrrci as u8;
        let float = self.kind as u8 >= Flw as u8 && self.kind as u8 <= FcvtDS as u8;
        let ends = matches!(self.kind, Jalr | Ecall | Ebreak | FenceI | Custom0 | M5);
        !(stores || amo || csr || float || ends)
    }

    /// Whether the instruction loads an integer register from memory.
    pub(crate) fn is_load(self) -> bool {
        self.kind as u8 >= Kind::Lb as u8 && self.kind as u8 <= Kind::Lwu as u8
    }
}
