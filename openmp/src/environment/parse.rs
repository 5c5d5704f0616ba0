//! Reads environment variables. An invalid value is reported on standard error and ignored.

use super::icv::{Bind, Kind, Schedule};
use super::places::Places;
use crate::system::report::line;
use std::time::Duration;

/// An environment variable and its value.
pub(super) struct Variable {
    /// The name of the variable that has the value.
    name: String,
    value: Option<String>,
}

/// Variables for the host. Each has a variable with `_ALL` behind its name, for the host and all devices. If the
/// variable for the host is not set, the other variable counts.
const FOR_ALL: [&str; 10] = [
    "OMP_DYNAMIC",
    "OMP_MAX_ACTIVE_LEVELS",
    "OMP_NUM_TEAMS",
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OMP_SCHEDULE",
    "OMP_STACKSIZE",
    "OMP_TEAMS_THREAD_LIMIT",
    "OMP_THREAD_LIMIT",
    "OMP_WAIT_POLICY",
];

impl Variable {
    pub(super) fn new(name: &'static str) -> Self {
        let value = |name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned());
        let (name, for_all) = (name.to_owned(), format!("{name}_ALL"));
        match value(&name) {
            None if FOR_ALL.contains(&name.as_str()) => Self {
                value: value(&for_all),
                name: for_all,
            },
            value => Self { name, value },
        }
    }

    pub(super) fn raw(&self) -> Option<String> {
        self.value.clone()
    }

    /// The value in lower case, without blanks around it.
    pub(super) fn text(&self) -> Option<String> {
        Some(self.value.as_ref()?.trim().to_ascii_lowercase())
    }

    pub(super) fn complain(&self, expected: &str) {
        let value = self.value.as_deref().unwrap_or_default();
        line(format_args!(
            "{}={value}: expected {expected}; ignored",
            self.name
        ));
    }

    /// The result of `read` for the value. If that result is `None`, complains.
    pub(super) fn read<T>(
        &self,
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text()?;
        let result = read(&text);
        if result.is_none() {
            self.complain(expected);
        }
        result
    }

    pub(super) fn truth(&self) -> Option<bool> {
        self.read("true or false", |text| match text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        })
    }

    pub(super) fn number(&self, least: i64, most: i64) -> Option<i64> {
        let expected = format!("a number from {least} to {most}");
        self.read(&expected, |text| {
            text.parse()
                .ok()
                .filter(|number| (least..=most).contains(number))
        })
    }

    /// Positive numbers, separated by commas.
    pub(super) fn positives(&self) -> Option<Vec<u32>> {
        self.read("numbers from 1 to 2147483647, such as 4 or 4,2", |text| {
            let number = |part: &str| {
                part.trim()
                    .parse()
                    .ok()
                    .filter(|n| (1..1 << 31).contains(n))
            };
            text.split(',').map(number).collect()
        })
    }
}

/// `OMP_PROC_BIND`: the binding for each level of nesting, and whether the variable has a valid value.
pub(super) fn binds() -> (Vec<Bind>, bool) {
    let variable = Variable::new("OMP_PROC_BIND");
    let expected = "true, false, or some of primary, master, close and spread between commas";
    let binds = variable.read(expected, |text| match text {
        "true" => Some(vec![Bind::True]),
        "false" => Some(vec![Bind::False]),
        _ => text
            .split(',')
            .map(|part| match part.trim() {
                "primary" | "master" => Some(Bind::Primary),
                "close" => Some(Bind::Close),
                "spread" => Some(Bind::Spread),
                _ => None,
            })
            .collect(),
    });
    let said = binds.is_some();
    (binds.unwrap_or_default(), said)
}

/// `OMP_PLACES`, or `GOMP_CPU_AFFINITY` if `OMP_PLACES` has no usable value.
pub(super) fn places() -> Option<Places> {
    let listed = || {
        Variable::new("GOMP_CPU_AFFINITY").read(
            "CPUs of this machine, with blanks or commas between them, such as 0 3 1-2 4-15:2",
            Places::parse_list,
        )
    };
    named_places().or_else(listed)
}

fn named_places() -> Option<Places> {
    Variable::new("OMP_PLACES").read(
        "threads, cores, sockets, ll_caches or numa_domains, perhaps with a number in brackets, \
         or places of this machine's CPUs such as {0:4},{4:4} or {0}:4:2",
        Places::parse,
    )
}

/// `OMP_WAIT_POLICY`: whether to wait actively.
pub(super) fn wait_policy() -> Option<bool> {
    Variable::new("OMP_WAIT_POLICY").read("active or passive", |text| match text {
        "active" => Some(true),
        "passive" => Some(false),
        _ => None,
    })
}

/// `GOMP_SPINCOUNT`: how often a waiting thread looks at its condition. A look takes some 20 ns.
pub(super) fn spin_count() -> Option<Duration> {
    const LOOK: u64 = 20;
    let expected = "a number, perhaps with k, m or g behind it, or infinite";
    Variable::new("GOMP_SPINCOUNT").read(expected, |text| {
        if matches!(text, "infinite" | "infinity") {
            return Some(Duration::from_secs(10));
        }
        let (digits, unit) = match text.as_bytes().last()? {
            b'k' => (&text[..text.len() - 1], 1_000),
            b'm' => (&text[..text.len() - 1], 1_000_000),
            b'g' => (&text[..text.len() - 1], 1_000_000_000),
            _ => (text, 1),
        };
        let looks = digits.trim().parse::<u64>().ok()?.checked_mul(unit)?;
        Some(Duration::from_nanos(looks.saturating_mul(LOOK)).min(Duration::from_secs(10)))
    })
}

/// `OMP_SCHEDULE`: `[modifier:]kind[,chunk]`.
pub(super) fn schedule() -> Option<Schedule> {
    let expected = "static, dynamic, guided or auto, perhaps with monotonic: or nonmonotonic: \
                    before it, and a comma and a chunk from 1 on behind it";
    Variable::new("OMP_SCHEDULE").read(expected, |text| {
        let (modifier, rest) = match text.split_once(':') {
            Some((modifier, rest)) => (Some(modifier.trim()), rest),
            None => (None, text),
        };
        let (kind, chunk) = match rest.split_once(',') {
            Some((kind, chunk)) => (kind.trim(), Some(chunk.trim().parse::<i32>().ok()?)),
            None => (rest.trim(), None),
        };
        let kind = match kind {
            "static" => Kind::Static,
            "dynamic" => Kind::Dynamic,
            "guided" => Kind::Guided,
            "auto" => Kind::Auto,
            _ => return None,
        };
        let monotonic = match modifier {
            None => kind == Kind::Static,
            Some("monotonic") => true,
            Some("nonmonotonic") => false,
            Some(_) => return None,
        };
        let chunk = match chunk {
            Some(chunk) if chunk < 1 => return None,
            Some(chunk) => chunk,
            None => i32::from(matches!(kind, Kind::Dynamic | Kind::Guided)),
        };
        Some(Schedule {
            kind,
            monotonic,
            chunk,
        })
    })
}

/// The larger of `OMP_STACKSIZE` (or its older name `GOMP_STACKSIZE`) and LLVM's `KMP_STACKSIZE`, in bytes. LLVM's
/// library prefers its own variable.
pub(super) fn stack_size() -> Option<usize> {
    let example = "a size of at least 16k such as 512 (in KiB), 64m or 1g";
    let size = |name| Variable::new(name).read(example, |text| bytes(text, 10));
    let own = size("OMP_STACKSIZE").or_else(|| size("GOMP_STACKSIZE"));
    let example = "a size of at least 16k such as 524288 (in bytes), 64m or 1g";
    own.max(Variable::new("KMP_STACKSIZE").read(example, |text| bytes(text, 0)))
}

/// A stack size. A number without a unit is multiplied by 2 to the power of `shift`.
fn bytes(text: &str, shift: u32) -> Option<usize> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'b' => (&text[..text.len() - 1], 0),
        b'k' => (&text[..text.len() - 1], 10),
        b'm' => (&text[..text.len() - 1], 20),
        b'g' => (&text[..text.len() - 1], 30),
        b't' => (&text[..text.len() - 1], 40),
        _ => (text, shift),
    };
    let size = digits.trim().parse::<usize>().ok()?;
    let bytes = size.checked_mul(1_usize.checked_shl(shift)?)?;
    (bytes >= 16 << 10).then_some(bytes)
}

/// The predefined allocators, in the order of their numbers from 1 on.
const ALLOCATORS: [&str; 8] = [
    "omp_default_mem_alloc",
    "omp_large_cap_mem_alloc",
    "omp_const_mem_alloc",
    "omp_high_bw_mem_alloc",
    "omp_low_lat_mem_alloc",
    "omp_cgroup_mem_alloc",
    "omp_pteam_mem_alloc",
    "omp_thread_mem_alloc",
];

/// `OMP_ALLOCATOR`: a predefined allocator. Traits are refused, as in GCC 12.
pub(super) fn allocator() -> Option<usize> {
    let expected = format!("one of {}", ALLOCATORS.join(", "));
    Variable::new("OMP_ALLOCATOR").read(&expected, |text| {
        let at = ALLOCATORS.iter().position(|&name| name == text)?;
        Some(at + 1)
    })
}

pub(super) fn name_of_allocator(number: usize) -> &'static str {
    let name = number.checked_sub(1).and_then(|at| ALLOCATORS.get(at));
    name.copied().unwrap_or("the program's own")
}

/// `OMP_TARGET_OFFLOAD`: whether a construct for a missing device is an error.
pub(super) fn target_mandatory() -> bool {
    let expected = "mandatory, disabled or default";
    let policy = Variable::new("OMP_TARGET_OFFLOAD").read(expected, |text| match text {
        "mandatory" => Some(true),
        "disabled" | "default" => Some(false),
        _ => None,
    });
    policy.unwrap_or(false)
}
