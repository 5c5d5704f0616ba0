//! Far atomics: operations that are done at the line's home (the place that serialises the line's requests).
//!
//! The request carries the operation to the home. The home fetches a modified line, makes all
//! caches drop their copies, executes the operation, and keeps the line in the last-level cache.
//! Then the line is free for the next request. Unlike with near atomics, the next request does not
//! wait for the line to travel.
//!
//! If a core's private cache may write to a line, the core executes the operation there, as Arm's cores do. A core that
//! requests operations on a line twice in a row gets the line, if there are no other copies. So a counter that only one
//! thread uses stays in that thread's cache.

use super::Memory;
use super::cache::State;
use super::line::TileId;
use super::operation::Operation;
use super::request::{CONTROL_BITS, Class, Data, Request, Served, Stage};
use crate::config::{AtomicKind, SharedCache, Writes};

impl Memory {
    /// Whether the request's operation is done at its line's home and not in the core.
    pub(super) fn is_far(&mut self, request: &Request) -> bool {
        if self.config.atomics.kind != AtomicKind::Far
            || self.config.coherence.writes == Writes::Through
            || !request.operation.is_read_modify_write()
            || self.keeps(request.operation) > 0
        {
            return false;
        }
        let tile = self.places.tile(request.core);
        let line = self.lines.line(request.line);
        let another = |one: TileId| one != tile;
        let shared = line.owner.is_some_and(another) || line.sharers.iter().any(another);
        let alone = !shared && line.last_far == Some(tile);
        line.last_far = Some(tile);
        !alone
    }

    /// The cycles for which a core keeps the line after `operation`.
    pub(super) fn keeps(&self, operation: Operation) -> u64 {
        let near = self.config.atomics.kind == AtomicKind::Near;
        match operation {
            Operation::CompareExchange { .. } | Operation::Persistent(_) => {
                self.config.atomics.hold.unwrap_or(0)
            }
            _ if near && operation.is_read_modify_write() => self.config.atomics.hold.unwrap_or(0),
            _ => 0,
        }
    }

    pub(super) fn serve_far(&mut self, request: &Request, at: u64) -> Served {
        let value = self.apply(request);
        let tile = self.places.tile(request.core);
        let stage = self.stage_place(request);
        let atomics = &self.config.atomics;
        let execution = atomics
            .at_home
            .unwrap_or_else(|| request.operation.execution(atomics));
        let posted = atomics.posted == Some(true) && is_posted(request.operation);
        let data = self.gather(request, at);
        let readers_until = self.lines.line(request.line).readers_until;
        let executed = data.at.max(readers_until) + execution;
        let done = if posted {
            // The core continues as if it had sent the request earlier: earlier by the time of the request's way to the
            // home.
            let from = self.places.tile_place(tile);
            let way = self.network.latency(from, stage, CONTROL_BITS);
            let way = way + self.places.request_latency();
            at.max(executed.saturating_sub(way))
        } else {
            self.permission_from(request, stage, executed) + self.places.reply_latency()
        };
        let taken = self.take_from_all(request.line, tile);
        self.take_from(request.line, tile);
        let group = self.executing_group(request);
        let mine = self.places.group_of_tile(tile);
        if group != mine {
            self.drop_from_group(request.line, mine);
        }
        self.fill_group(request.line, group, State::Modified, executed);
        self.lines.line(request.line).busy_until = executed;
        Served {
            done,
            execution: if posted { 0 } else { execution },
            class: data.class,
            value,
            stored: true,
            taken,
        }
    }

    /// The group whose last-level cache executes a far operation: the home, or the requester's
    /// group if that can answer without the home.
    fn executing_group(&mut self, request: &Request) -> u32 {
        let mine = self.places.group_of_tile(self.places.tile(request.core));
        match request.stage {
            Stage::Group => mine,
            Stage::Home => self.places.home(request.line, mine),
        }
    }

    /// The source of the line, and the time when the home has it and all other copies are dropped.
    fn gather(&mut self, request: &Request, at: u64) -> Data {
        let tile = self.places.tile(request.core);
        let mine = self.places.group_of_tile(tile);
        let stage = self.stage_place(request);
        let here = self.executing_group(request);
        let line = self.lines.line(request.line);
        let sharers: Vec<TileId> = line.sharers.iter().filter(|&one| one != tile).collect();
        let owner = line.owner.filter(|&owner| owner != tile);
        let cached = !line.groups.is_empty();
        let in_here = line.groups.contains(here);
        let elsewhere: Vec<u32> = line.groups.iter().filter(|&one| one != here).collect();
        let had_it = line.owner == Some(tile) || line.sharers.contains(tile);
        let Some(SharedCache {
            snoop,
            dirty: written,
            invalidate,
            ..
        }) = self.config.llc
        else {
            unreachable!("far atomics need a last-level cache");
        };
        if let Some(owner) = owner {
            let dirty = self.tiles[owner as usize].is_modified(request.line);
            let place = self.places.asked_place(owner, request.line);
            let asked = self.travel(stage, place, CONTROL_BITS, at);
            let answered = asked + snoop + if dirty { written } else { 0 };
            let bits = self.data_bits();
            return Data {
                at: self.travel(place, stage, bits, answered),
                class: self.class_of(owner, mine),
            };
        }
        let mut data = Data {
            at,
            class: Class::Group,
        };
        for sharer in sharers {
            let place = self.places.asked_place(sharer, request.line);
            let told = self.travel(stage, place, CONTROL_BITS, at) + invalidate;
            data.at = data.at.max(self.travel(place, stage, CONTROL_BITS, told));
            data.class = data.class.max(self.class_of(sharer, mine));
        }
        if here != mine {
            data.class = data.class.max(Class::Remote);
        }
        for group in elsewhere {
            // Another group's cache drops the line. It sends the data if this cache lacks them.
            let place = self.places.group_place(group, request.line);
            let asked = self.travel(stage, place, CONTROL_BITS, at) + snoop;
            let bits = if in_here {
                CONTROL_BITS
            } else {
                self.data_bits()
            };
            data.at = data.at.max(self.travel(place, stage, bits, asked));
            data.class = data.class.max(Class::Remote);
        }
        if !cached && !had_it && data.at == at {
            let home = self.places.home(request.line, mine);
            let (controller, place) = self.places.controller(home, request.line);
            let asked = self.travel(stage, place, CONTROL_BITS, at);
            let read = self.transfer(controller, request.line, asked);
            let bits = self.data_bits();
            data = Data {
                at: self.travel(place, stage, bits, read),
                class: Class::Memory,
            };
        }
        data
    }

    fn class_of(&self, tile: TileId, mine: u32) -> Class {
        if self.places.group_of_tile(tile) == mine {
            Class::Group
        } else {
            Class::Remote
        }
    }
}

/// Whether the core may continue before it has the old value.
fn is_posted(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Add(_) | Operation::And(_) | Operation::Or(_)
    )
}
