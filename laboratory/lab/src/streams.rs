//! The standard streams of compiled programs.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The output of a program.
#[derive(Clone, Default)]
pub(crate) struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    /// The bytes that the program has written since the last call.
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.0))
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An input stream. Each copy reads the stream from its beginning.
#[derive(Clone)]
pub(crate) struct SharedInput {
    source: Arc<Mutex<Source>>,
    at: usize,
}

struct Source {
    from: Box<dyn Read + Send>,
    /// The bytes that at least one copy has read.
    read: Vec<u8>,
}

impl SharedInput {
    pub(crate) fn new(from: impl Read + Send + 'static) -> Self {
        let source = Source {
            from: Box::new(from),
            read: Vec::new(),
        };
        Self {
            source: Arc::new(Mutex::new(source)),
            at: 0,
        }
    }
}

impl Read for SharedInput {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Source { from, read } = &mut *lock(&self.source);
        if self.at == read.len() && !to.is_empty() {
            let count = from.read(to)?;
            read.extend_from_slice(&to[..count]);
        }
        let count = to.len().min(read.len() - self.at);
        to[..count].copy_from_slice(&read[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_copy_reads_the_whole_stream() {
        let all: Vec<u8> = (0..100).collect();
        let first = SharedInput::new(io::Cursor::new(all.clone()));
        let mut copies: Vec<_> = (0..3).map(|_| (first.clone(), Vec::new())).collect();
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let (copy, read) = &mut copies[random.usize(..3)];
            let mut some = [0; 7];
            let count = copy.read(&mut some[..random.usize(..7)]).unwrap();
            read.extend_from_slice(&some[..count]);
        }
        for (copy, read) in &mut copies {
            copy.read_to_end(read).unwrap();
            assert_eq!(*read, all);
        }
    }
}
