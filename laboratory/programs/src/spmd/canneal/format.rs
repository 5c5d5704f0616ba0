//! Netlists as text, in PARSEC's format.
//!
//! ```text
//! 3 2 2
//! a 1 b c END
//! b 2 END
//! c 1 a END
//! ```
//!
//! The first line has the numbers of elements, columns and rows. Then each element has a line: its name, its type, the
//! names of the elements that send signals to it, and `END`. A line can name elements of later lines.

use super::netlist::{InvalidNetlist, Lists, Names, Netlist};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

/// The reason why a netlist cannot be read.
///
/// ```
/// use manycore_programs::spmd::canneal::Netlist;
///
/// let error = Netlist::read(&b"2 2 1\na 1 b END\nb one END\n"[..], "two.nets").unwrap_err();
/// let said = "two.nets:3: expected the type of `b`, a whole number; found `one`";
/// assert_eq!(error.to_string(), said);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file's name.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// A line is wrong.
    #[error("{file}:{line}: expected {expected}; found {found}")]
    Line {
        /// The file's name.
        file: String,
        /// The line's number, from 1.
        line: usize,
        /// The expected content.
        expected: String,
        /// The line's content.
        found: String,
    },
    /// The file is not a netlist.
    #[error("{file}:1: {invalid}")]
    Invalid {
        /// The file's name.
        file: String,
        /// The reason.
        invalid: InvalidNetlist,
    },
}

impl Netlist {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The system's error, or the first wrong line and the expected content.
    ///
    /// ```
    /// use manycore_programs::spmd::canneal::Netlist;
    ///
    /// let error = Netlist::open("no/such.nets").unwrap_err();
    /// assert!(error.to_string().starts_with("no/such.nets: "));
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::read(BufReader::new(file), &name),
            Err(source) => Err(ReadError::Io { file: name, source }),
        }
    }

    /// Reads a text. Errors name the text as `file`.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    ///
    /// ```
    /// use manycore_programs::spmd::canneal::Netlist;
    ///
    /// let netlist = Netlist::read(&b"2 2 1\na 1 b END\nb 2 END\n"[..], "two.nets")?;
    /// assert_eq!((netlist.name(1), netlist.fanin(0)), ("b", &[1][..]));
    /// # Ok::<(), manycore_programs::spmd::canneal::ReadError>(())
    /// ```
    pub fn read(text: impl BufRead, file: &str) -> Result<Self, ReadError> {
        let mut lines = Lines {
            text,
            file,
            line: 0,
            buffer: String::new(),
        };
        let (elements, size) = lines.first()?;
        let mut read = Elements::default();
        for element in 0..elements {
            lines.element(element, elements, &mut read)?;
        }
        lines.nothing_more(elements)?;
        let Elements {
            names,
            kinds,
            numbers,
            wires,
        } = read;
        let mut fanin = Lists::default();
        let mut wires = wires.into_iter().peekable();
        for element in 0..elements {
            let mut takes = vec![];
            while let Some((_, line, from)) = wires.next_if(|wire| wire.0 == element) {
                let Some(&number) = numbers.get(&from) else {
                    let expected = "only elements that have a line of their own";
                    return Err(lines.wrong(line, expected, format!("`{from}`")));
                };
                takes.push(number);
            }
            fanin.push(takes.into_iter());
        }
        let invalid = |invalid| ReadError::Invalid {
            file: file.to_owned(),
            invalid,
        };
        Self::new(size, names, kinds, fanin).map_err(invalid)
    }

    /// Writes the netlist in the format that [`read`](Self::read) reads.
    ///
    /// # Errors
    ///
    /// The writer's errors.
    ///
    /// ```
    /// use manycore_programs::spmd::canneal::Netlist;
    ///
    /// let text = "2 2 1\na 1 b END\nb 2 END\n";
    /// let netlist = Netlist::read(text.as_bytes(), "two.nets")?;
    /// let mut written = vec![];
    /// netlist.write(&mut written)?;
    /// assert_eq!(written, text.as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        writeln!(to, "{} {} {}", self.elements(), self.columns, self.rows)?;
        for element in 0..self.elements() {
            write!(to, "{} {}", self.name(element), self.kinds[element])?;
            for &from in self.fanin(element) {
                write!(to, " {}", self.name(from as usize))?;
            }
            writeln!(to, " END")?;
        }
        to.flush()
    }
}

/// The elements read so far.
#[derive(Default)]
struct Elements {
    names: Names,
    kinds: Vec<u32>,
    numbers: HashMap<String, u32>,
    /// The receiving element, the line that names the wire, and the sender.
    wires: Vec<(usize, usize, String)>,
}

struct Lines<'a, R> {
    text: R,
    file: &'a str,
    line: usize,
    buffer: String,
}

impl<R: BufRead> Lines<'_, R> {
    /// Reads a line. Returns whether there was another line.
    fn next(&mut self) -> Result<bool, ReadError> {
        self.buffer.clear();
        self.line += 1;
        let file = || self.file.to_owned();
        let read = self.text.read_line(&mut self.buffer);
        let read = read.map_err(|source| ReadError::Io {
            file: file(),
            source,
        })?;
        Ok(read > 0)
    }

    fn wrong(&self, line: usize, expected: impl Into<String>, found: String) -> ReadError {
        ReadError::Line {
            file: self.file.to_owned(),
            line,
            expected: expected.into(),
            found,
        }
    }

    /// Reads the first line: the number of elements, and the size of the chip.
    fn first(&mut self) -> Result<(usize, (usize, usize)), ReadError> {
        let there = self.next()?;
        let numbers: Option<Vec<usize>> = (self.buffer.split_whitespace())
            .map(|word| word.parse().ok())
            .collect();
        if let (true, Some(&[elements, columns, rows])) = (there, numbers.as_deref()) {
            let invalid = |invalid| ReadError::Invalid {
                file: self.file.to_owned(),
                invalid,
            };
            // The check comes before memory for the elements is allocated.
            Netlist::fits(elements, columns, rows).map_err(invalid)?;
            return Ok((elements, (columns, rows)));
        }
        let expected = "the numbers of elements, columns and rows";
        Err(self.wrong(1, expected, self.found(there)))
    }

    fn found(&self, there: bool) -> String {
        if there {
            format!("`{}`", self.buffer.trim())
        } else {
            "the end of the file".to_owned()
        }
    }

    fn element(
        &mut self,
        element: usize,
        elements: usize,
        read: &mut Elements,
    ) -> Result<(), ReadError> {
        let there = self.next()?;
        let mut words = self.buffer.split_whitespace();
        let Some(name) = words.next() else {
            let expected = format!("element {} of {elements}", element + 1);
            return Err(self.wrong(self.line, expected, self.found(there)));
        };
        let found =
            |word: Option<&str>| word.map_or("the line's end".into(), |it| format!("`{it}`"));
        let kind = words.next();
        let Some(number) = kind.and_then(|kind| kind.parse().ok()) else {
            let expected = format!("the type of `{name}`, a whole number");
            return Err(self.wrong(self.line, expected, found(kind)));
        };
        if read
            .numbers
            .insert(name.to_owned(), element as u32)
            .is_some()
        {
            let expected = "each element once";
            return Err(self.wrong(self.line, expected, format!("`{name}` again")));
        }
        read.names.push(name);
        read.kinds.push(number);
        loop {
            match words.next() {
                Some("END") => break,
                Some(from) => read.wires.push((element, self.line, from.to_owned())),
                None => {
                    let expected = format!("`END` after what `{name}` takes");
                    return Err(self.wrong(self.line, expected, found(None)));
                }
            }
        }
        match words.next() {
            None => Ok(()),
            more => Err(self.wrong(self.line, "nothing after `END`", found(more))),
        }
    }

    fn nothing_more(&mut self, elements: usize) -> Result<(), ReadError> {
        while self.next()? {
            if !self.buffer.trim().is_empty() {
                let expected = format!("no more than {elements} elements");
                return Err(self.wrong(self.line, expected, self.found(true)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_netlist_is_read_again() {
        for elements in [2, 10, 1_000] {
            let netlist = Netlist::generate(elements, 5).unwrap();
            let mut text = vec![];
            netlist.write(&mut text).unwrap();
            assert_eq!(Netlist::read(&text[..], "written").unwrap(), netlist);
        }
    }

    #[test]
    fn errors_name_the_line_and_the_expected_content() {
        let said = |text: &str| {
            let error = Netlist::read(text.as_bytes(), "it").unwrap_err();
            error.to_string()
        };
        for (text, error) in [
            (
                "",
                "it:1: expected the numbers of elements, columns and rows; found the end of the file",
            ),
            (
                "2 2\n",
                "it:1: expected the numbers of elements, columns and rows; found `2 2`",
            ),
            (
                "-2 2 2\n",
                "it:1: expected the numbers of elements, columns and rows; found `-2 2 2`",
            ),
            (
                "5 2 2\n",
                "it:1: 5 elements have no room in 2 columns and 2 rows",
            ),
            (
                "1 2 2\n",
                "it:1: there must be at least 2 elements and at most 2^28, not 1",
            ),
            (
                "2 2 2\na 1 END\n",
                "it:3: expected element 2 of 2; found the end of the file",
            ),
            ("2 2 2\n\n", "it:2: expected element 1 of 2; found ``"),
            (
                "2 2 2\na\n",
                "it:2: expected the type of `a`, a whole number; found the line's end",
            ),
            (
                "2 2 2\na 1 b\nb 1 END\n",
                "it:2: expected `END` after what `a` takes; found the line's end",
            ),
            (
                "2 2 2\na 1 END b\n",
                "it:2: expected nothing after `END`; found `b`",
            ),
            (
                "2 2 2\na 1 END\na 1 END\n",
                "it:3: expected each element once; found `a` again",
            ),
            (
                "2 2 2\na 1 c END\nb 1 END\n",
                "it:2: expected only elements that have a line of their own; found `c`",
            ),
            (
                "2 2 2\na 1 END\nb 1 END\nc 1 END\n",
                "it:4: expected no more than 2 elements; found `c 1 END`",
            ),
        ] {
            assert_eq!(said(text), error);
        }
        let wide = said("2 65537 2\n");
        assert!(
            wide.starts_with("it:1: there must be at least 1 column and row"),
            "{wide}"
        );
    }
}
