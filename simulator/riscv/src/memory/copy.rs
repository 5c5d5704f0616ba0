//! Reads and writes of the guest's memory by the simulated kernel. They check rights, and bypass the simulated caches.

use super::{END, Fault, PAGE, Place, Space, Why, right};

impl Space {
    /// Reads bytes into `to`.
    pub(crate) fn read(&mut self, address: u64, to: &mut [u8]) -> Result<(), Fault> {
        self.each_page(address, to.len(), right::READ, |place, range| {
            // SAFETY: `range.len()` bytes from `place` on are in one page, and no slice of a frame exists during the
            // copy.
            unsafe {
                (place.host).copy_to_nonoverlapping(to[range.clone()].as_mut_ptr(), range.len())
            };
        })
    }

    /// Writes the bytes of `from`.
    pub(crate) fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Fault> {
        let physical = self.physical.clone();
        self.each_page(address, from.len(), right::WRITE, |place, range| {
            physical.wrote(place.physical..place.physical + range.len() as u64);
            let (host, from) = (place.host, &from[range]);
            // SAFETY: as in `read`.
            unsafe { host.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
        })
    }

    /// Reads bytes of instructions into `to`.
    pub(crate) fn read_code(&mut self, address: u64, to: &mut [u8]) -> Result<(), Fault> {
        self.each_page(address, to.len(), right::EXECUTE, |place, range| {
            // SAFETY: as in `read`.
            unsafe {
                (place.host).copy_to_nonoverlapping(to[range.clone()].as_mut_ptr(), range.len())
            };
        })
    }

    fn each_page(
        &mut self,
        address: u64,
        length: usize,
        wanted: u8,
        mut each: impl FnMut(Place, std::ops::Range<usize>),
    ) -> Result<(), Fault> {
        let mut done = 0;
        while done < length {
            let at = address.wrapping_add(done as u64);
            if at >= END {
                return Err(Fault {
                    address: at,
                    wanted,
                    why: Why::Unmapped,
                });
            }
            let (place, _) = self.page(at, wanted)?;
            let offset = (at % PAGE) as usize;
            let part = (length - done).min(PAGE as usize - offset);
            let first = Place {
                physical: place.physical + offset as u64,
                host: place.host.wrapping_add(offset),
            };
            each(first, done..done + part);
            done += part;
        }
        Ok(())
    }

    pub(crate) fn read_u32(&mut self, address: u64) -> Result<u32, Fault> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub(crate) fn read_u64(&mut self, address: u64) -> Result<u64, Fault> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(crate) fn write_u32(&mut self, address: u64, value: u32) -> Result<(), Fault> {
        self.write(address, &value.to_le_bytes())
    }

    pub(crate) fn write_u64(&mut self, address: u64, value: u64) -> Result<(), Fault> {
        self.write(address, &value.to_le_bytes())
    }

    /// Reads text up to a zero. Returns `None` if the first `limit` bytes have no zero.
    pub(crate) fn read_text(&mut self, address: u64, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        let mut text = Vec::new();
        for at in 0..limit {
            let mut byte = [0];
            self.read(address.wrapping_add(at), &mut byte)?;
            if byte[0] == 0 {
                return Ok(Some(text));
            }
            text.push(byte[0]);
        }
        Ok(None)
    }
}
