//! A program that can be timed.

use std::time::{Duration, Instant};

/// A program with a name, its input, and a check of its result.
pub struct Program {
    pub name: String,
    once: Box<dyn Fn() -> Duration + Send + Sync>,
    from_outside: bool,
}

impl Program {
    /// `run` is timed on a thread of the pool: how a caller enters is another program's matter.
    /// `input` and `check` are not timed.
    pub fn new<I: Send, O: Send>(
        name: impl Into<String>,
        input: impl Fn() -> I + Send + Sync + 'static,
        run: impl Fn(I) -> O + Send + Sync + 'static,
        check: impl Fn(O) + Send + Sync + 'static,
    ) -> Self {
        let once = move || {
            let input = input();
            let start = Instant::now();
            let output = run(input);
            let elapsed = start.elapsed();
            check(output);
            elapsed
        };
        Self {
            name: name.into(),
            once: Box::new(once),
            from_outside: false,
        }
    }

    /// A program without input and with a constant result.
    pub fn giving<O: Send + Sync + PartialEq + std::fmt::Debug + 'static>(
        name: impl Into<String>,
        run: impl Fn() -> O + Send + Sync + 'static,
        expected: O,
    ) -> Self {
        let check = move |output| assert_eq!(output, expected);
        Self::new(name, || (), move |()| run(), check)
    }

    /// Timed on a thread outside of the pool.
    pub fn from_outside(mut self) -> Self {
        self.from_outside = true;
        self
    }

    /// Runs it once, and says how long that took.
    ///
    /// # Panics
    ///
    /// If the result is wrong.
    pub fn run(&self) -> Duration {
        if self.from_outside {
            (self.once)()
        } else {
            rayon::scope(|_| (self.once)())
        }
    }
}

/// Programs that are set up together: running one of them makes their inputs and expected results.
pub struct Kind {
    /// The names of what `set_up` makes, in order.
    pub names: &'static [&'static str],
    pub set_up: fn() -> Vec<Program>,
}

impl Kind {
    /// The program `name`, if it is of this kind.
    ///
    /// # Panics
    ///
    /// If the kind names a program that it does not make.
    pub fn program(&self, name: &str) -> Option<Program> {
        let at = self.names.iter().position(|other| *other == name)?;
        let program = (self.set_up)().swap_remove(at);
        assert_eq!(
            program.name, name,
            "the kinds' names are of an older version"
        );
        Some(program)
    }
}
