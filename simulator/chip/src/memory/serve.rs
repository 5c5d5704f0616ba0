//! Serves requests: changes the word, the directory and all tags in one step, and computes the time
//! of the answer.

use super::Memory;
use super::cache::State;
use super::operation::Operation;
use super::request::{Class, Data, Request, Served, Stage};
use crate::config::{Coherence, Writes};

impl Memory {
    /// The time when the directory has been read for a request that is served from `now` on.
    fn looked_up(&self, request: &Request, now: u64) -> u64 {
        match request.stage {
            Stage::Group => now,
            Stage::Home => now + self.config.coherence.latency,
        }
    }

    pub(super) fn serve_read(&mut self, request: &Request, now: u64) -> Served {
        let value = self.apply(request);
        let Coherence {
            occupancy, writes, ..
        } = self.config.coherence;
        let at = self.looked_up(request, now);
        let tile = self.places.tile(request.core);
        let mine = self.places.group_of_tile(tile);
        let line = self.lines.line(request.line);
        let owner = line.owner;
        if owner == Some(tile) || line.sharers.contains(tile) {
            // Another hardware thread that shares the tile's caches has fetched the line since the
            // request left.
            return Served {
                done: now + self.places.reply_latency(),
                execution: 0,
                class: Class::Group,
                value,
                stored: true,
                taken: 0,
            };
        }
        let alone = owner.is_none()
            && line.sharers.is_empty()
            && line.groups.iter().all(|group| group == mine);
        let data = match owner {
            Some(owner) => {
                let dirty = self.downgrade(request.line, owner, at);
                self.fetch_from_owner(request, owner, dirty, at)
            }
            None => self.fetch_clean(request, at),
        };
        let done = data.at + self.places.reply_latency();
        let exclusive = alone && self.mesi() && writes == Writes::Back;
        let line = self.lines.line(request.line);
        if exclusive {
            line.owner = Some(tile);
        } else {
            let known = owner.is_some() || line.sharers.is_empty() || !line.overflowed;
            line.sharers.insert(tile);
            line.overflowed = !known || line.sharers.len() > self.config.coherence.pointers;
        }
        if exclusive
            || owner.is_some()
            || data.class == Class::Memory && writes == Writes::Back && alone
        {
            line.busy_until = done;
        } else {
            line.busy_until = now + occupancy;
            line.readers_until = line.readers_until.max(done);
        }
        let state = if exclusive {
            State::Exclusive
        } else {
            State::Shared
        };
        self.fill(request.line, tile, state, done);
        Served {
            done,
            execution: 0,
            class: data.class,
            value,
            stored: true,
            taken: owner.is_some().into(),
        }
    }

    pub(super) fn serve_write(&mut self, request: &Request, now: u64) -> Served {
        let at = self.looked_up(request, now);
        if self.is_far(request) {
            return self.serve_far(request, at);
        }
        let value = self.apply(request);
        let tile = self.places.tile(request.core);
        let execution = request.operation.execution(&self.config.atomics);
        let line = self.lines.line(request.line);
        // Readers get their data before a core writes.
        let readers_until = line.readers_until;
        let owner = line.owner.filter(|&owner| owner != tile);
        if self.config.coherence.writes == Writes::Through {
            return self.write_through(request, at, value, readers_until);
        }
        let (ready, class) = match owner {
            Some(owner) => {
                let dirty = self.tiles[owner as usize].is_modified(request.line);
                let data = self.fetch_from_owner(request, owner, dirty, at);
                (data.at, data.class)
            }
            None => {
                let line = self.lines.line(request.line);
                let had_it = line.sharers.contains(tile) || line.owner == Some(tile);
                let mine = self.places.group_of_tile(tile);
                let others = line.sharers.iter().any(|one| one != tile)
                    || line.groups.iter().any(|one| one != mine);
                let data = if had_it || request.operation == Operation::TouchFill {
                    // Only the permission to write travels, from the place of the request's stage.
                    let stage = self.stage_place(request);
                    let at = self.permission_from(request, stage, at);
                    Data {
                        at,
                        class: Class::Group,
                    }
                } else {
                    self.fetch_clean(request, at)
                };
                let shared = others || self.probes_blindly(request.line);
                let (acked, class) = if shared {
                    self.invalidation(request, at)
                } else {
                    (0, Class::Group)
                };
                (data.at.max(acked), data.class.max(class))
            }
        };
        let done = (ready + self.places.reply_latency()).max(readers_until) + execution;
        let taken = self.take_from_all(request.line, tile);
        // Threads that share the writer's caches must see the write too.
        self.disturb(request.line, tile);
        let hold = self.keeps(request.operation);
        let line = self.lines.line(request.line);
        line.owner = Some(tile);
        line.busy_until = done + hold;
        self.fill(request.line, tile, State::Modified, done);
        Served {
            done,
            execution,
            class,
            value,
            stored: true,
            taken,
        }
    }

    /// Does a write at the line's home (the place that serialises the line's requests). Private
    /// caches keep only clean copies.
    pub(super) fn write_through(
        &mut self,
        request: &Request,
        at: u64,
        value: u64,
        readers_until: u64,
    ) -> Served {
        let tile = self.places.tile(request.core);
        let execution = request.operation.execution(&self.config.atomics);
        let llc = self.config.llc.as_ref();
        let (write, invalidate) = llc.map_or((0, 0), |llc| (llc.dirty, llc.invalidate));
        let group = self.places.group_of_tile(tile);
        let at_home = self.places.tile_of_slice(group, request.line);
        let record = self.lines.line(request.line);
        // The copy in the home's own tile is dropped without a message.
        let others = record
            .sharers
            .iter()
            .any(|one| one != tile && Some(one) != at_home);
        let cached = record.groups.contains(group);
        let data = if cached {
            Data {
                at,
                class: Class::Group,
            }
        } else {
            let home = self.places.home(request.line, group);
            let (controller, _) = self.places.controller(home, request.line);
            Data {
                at: self.transfer(controller, request.line, at),
                class: Class::Memory,
            }
        };
        let atomic = execution > 0;
        let own = if atomic { execution } else { write };
        let executed = data.at + own + if others { invalidate } else { 0 };
        let executed = executed.max(readers_until);
        let stage = self.stage_place(request);
        let done = self.permission_from(request, stage, executed) + self.places.reply_latency();
        let keeps = !atomic && self.lines.line(request.line).sharers.contains(tile);
        let taken = self.take_from_all(request.line, tile);
        if keeps {
            self.lines.line(request.line).sharers.insert(tile);
            self.disturb(request.line, tile);
        } else {
            self.take_from(request.line, tile);
        }
        self.fill_group(request.line, group, State::Modified, executed);
        self.lines.line(request.line).busy_until = executed;
        Served {
            done,
            execution: if atomic { execution } else { 0 },
            class: data.class,
            value,
            stored: true,
            taken,
        }
    }
}
