//! blake3: a tree of hashes by joins.

use manycore_drop_in::Program;

pub fn programs() -> Vec<Program> {
    [("blake3_64k", 1 << 16), ("blake3_8m", 1 << 23)]
        .map(|(name, length)| {
            let bytes: Vec<u8> = (0..length).map(|i: u32| (i % 251) as u8).collect();
            let expected = blake3::hash(&bytes);
            let run = move || blake3::Hasher::new().update_rayon(&bytes).finalize();
            Program::giving(name, run, expected)
        })
        .into()
}
