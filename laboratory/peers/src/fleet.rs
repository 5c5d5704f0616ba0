//! The peers' processes. All but the measured process are stopped. Otherwise threads that spin
//! after a loop would disturb the next peer.

use crate::output::Output;
use crate::peer::Variant;
use crate::process;
use crate::protocol::{Answer, Hello, Order, Outcome, Request};
use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// One process for each runtime, all with the same number of threads.
pub struct Fleet {
    members: BTreeMap<&'static str, Member>,
}

struct Member {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    version: Option<String>,
}

impl Fleet {
    /// Starts the runtimes of `variants`. Also returns the runtimes that cannot run here, each with
    /// the reason.
    ///
    /// # Errors
    ///
    /// If a process cannot be started.
    pub fn start(variants: &[Variant], threads: usize) -> Result<(Self, Vec<String>)> {
        let (mut members, mut missing) = (BTreeMap::new(), BTreeMap::new());
        for &Variant { runtime, .. } in variants {
            if members.contains_key(runtime) || missing.contains_key(runtime) {
                continue;
            }
            match Member::start(runtime, threads)? {
                Ok(member) => drop(members.insert(runtime, member)),
                Err(why) => drop(missing.insert(runtime, why)),
            }
        }
        let missing = missing
            .into_iter()
            .map(|(name, why)| format!("{name}: {why}"))
            .collect();
        Ok((Self { members }, missing))
    }

    pub fn has(&self, variant: &Variant) -> bool {
        self.members.contains_key(variant.runtime)
    }

    /// The `variants` with a running runtime.
    pub fn present(&self, variants: &[Variant]) -> Vec<Variant> {
        let present = variants.iter().filter(|variant| self.has(variant));
        present.cloned().collect()
    }

    /// Prints the versions that are not in `Cargo.lock`, and the missing runtimes.
    pub fn report(&self, missing: &[String], output: &Output) {
        for (name, member) in &self.members {
            if let Some(version) = &member.version {
                output.say(&format!("{name}: {version}"));
            }
        }
        for missing in missing {
            output.say(&format!("skipped: {missing}"));
        }
    }

    /// Resumes the variant's process, sends it the order, and stops it after the answer.
    ///
    /// # Errors
    ///
    /// The peer's error, or the early end of its process, which then leaves the fleet.
    pub fn order(&mut self, variant: &Variant, order: Order) -> Result<Outcome> {
        let member = self
            .members
            .get_mut(variant.runtime)
            .ok_or_else(|| anyhow!("{} is not running", variant.runtime))?;
        match member.carry_out(&Request {
            policy: variant.policy.clone(),
            order,
        }) {
            Ok(answer) => answer.map_err(|why| anyhow!("{}: {why}", variant.name)),
            Err(error) => {
                self.members.remove(variant.runtime);
                Err(error.context(format!("the process of {} ended early", variant.runtime)))
            }
        }
    }
}

impl Member {
    fn start(runtime: &str, threads: usize) -> Result<Result<Self, String>> {
        let mut command = process::of_peer("fleet", runtime, &threads.to_string())?;
        if runtime == "gomp-passive" {
            command.env("OMP_WAIT_POLICY", "passive");
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start the process of {runtime}"))?;
        let orders = process.stdin.take().expect("piped");
        let mut answers = BufReader::new(process.stdout.take().expect("piped"));
        let mut line = String::new();
        answers.read_line(&mut line)?;
        // A runtime that cannot be loaded can end its process.
        let hello = serde_json::from_str(&line)
            .unwrap_or_else(|_| Hello::Err("the process ended before it was ready".to_owned()));
        let version = match hello {
            Ok(version) => version,
            Err(why) => {
                process.wait()?;
                return Ok(Err(why));
            }
        };
        let member = Self {
            process,
            orders,
            answers,
            version,
        };
        member.stop()?;
        Ok(Ok(member))
    }

    fn carry_out(&mut self, request: &Request) -> Result<Answer> {
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        kill_process(self.pid(), Signal::CONT)?;
        self.orders.write_all(line.as_bytes())?;
        line.clear();
        if self.answers.read_line(&mut line)? == 0 {
            bail!("the process has closed its output");
        }
        self.stop()?;
        Ok(serde_json::from_str(&line)?)
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Returns when every thread of the process has stopped.
    fn stop(&self) -> Result<()> {
        kill_process(self.pid(), Signal::STOP)?;
        match waitpid(Some(self.pid()), WaitOptions::UNTRACED)? {
            Some((_, status)) if status.stopped() => Ok(()),
            _ => bail!("the process did not stop"),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // The process may have ended already, and it has no data to save.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
