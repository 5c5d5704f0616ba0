//! Changes values of a machine from the command line.

use toml::{Table, Value};

use super::error::Problem;
use super::{Config, ConfigError, load};

impl Config {
    /// Applies `key=value`. The key is dotted as in TOML, with the number of a list's element
    /// (`network.groups.classes.0.cycles=50`). The value is TOML, but text needs no quotes. The
    /// key's source becomes "set by hand".
    ///
    /// # Errors
    ///
    /// The error is one line with the key and what was expected. The machine is unchanged.
    pub fn set(&mut self, setting: &str) -> Result<(), ConfigError> {
        self.set_all(&[setting])
    }

    /// Applies several settings in order. The values need to suit each other only after all settings are applied.
    ///
    /// ```
    /// use manycore_chip::config::Config;
    ///
    /// let mut chip = Config::preset("graviton2-64")?;
    /// chip.set_all(&["cores=256", "group-cores=256"])?;
    /// assert_eq!((chip.cores, chip.groups()), (256, 1));
    /// # Ok::<(), manycore_chip::config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error is one line with the wrong setting, its key and what was expected. The machine is
    /// unchanged.
    pub fn set_all<S: AsRef<str>>(&mut self, settings: &[S]) -> Result<(), ConfigError> {
        let settings: Vec<&str> = settings.iter().map(AsRef::as_ref).collect();
        let refused = |at: usize, problem: Problem| ConfigError::InSetting {
            setting: settings[at].to_owned(),
            problem: problem.to_string(),
        };
        let mut root = table_of(self);
        // The machine before each setting, and after the last.
        let mut machines = Vec::with_capacity(1 + settings.len());
        for (at, setting) in settings.iter().enumerate() {
            machines.push(root.clone());
            apply(&mut root, setting).map_err(|problem| refused(at, problem))?;
        }
        if settings.is_empty() {
            return Ok(());
        }
        *self = parsed(&root).map_err(|problem| {
            let at = at_fault(&settings, &machines, &problem.key);
            refused(at, problem)
        })?;
        Ok(())
    }
}

fn table_of(machine: &Config) -> Table {
    Table::try_from(machine).expect("a machine is tables, numbers and text")
}

fn parsed(root: &Table) -> Result<Config, Problem> {
    let text = toml::to_string(root).expect("it came from a machine");
    load::parse(&text).map_err(|(_line, problem)| problem)
}

/// The index of the setting that caused the problem with the value at `key`. This is the last setting of the value. If
/// no setting sets the value, it is the first setting that left no valid machine. `machines` has the machine before
/// each setting.
fn at_fault(settings: &[&str], machines: &[Table], key: &str) -> usize {
    let is_in = |outer: &str, inner: &str| {
        let rest = inner.strip_prefix(outer);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let sets = |setting: &&str| {
        let own = setting.split_once('=').map_or(*setting, |(own, _)| own);
        let own = own.trim();
        !key.is_empty() && (is_in(own, key) || is_in(key, own))
    };
    let was_a_machine = |machine: &Table| parsed(machine).is_ok();
    let setter = settings.iter().rposition(sets);
    let last = setter.or_else(|| machines.iter().rposition(was_a_machine));
    last.unwrap_or(0)
}

fn apply(root: &mut Table, setting: &str) -> Result<(), Problem> {
    let (key, value) = setting
        .split_once('=')
        .map(|(key, value)| (key.trim(), value_of(value.trim())))
        .ok_or_else(|| Problem {
            key: String::new(),
            what: "expected key=value".to_owned(),
        })?;
    let (parent_key, last) = key.rsplit_once('.').unwrap_or(("", key));
    match table_at(root, parent_key)? {
        Place::Table(table) => {
            // If the key is unknown, the later parsing of the whole table refuses it.
            table.insert(last.to_owned(), value);
        }
        Place::List(list) => *element(list, last, parent_key)? = value,
    }
    if parent_key != "sources"
        && let Some(Value::Table(sources)) = root.get_mut("sources")
    {
        let source = Value::String("set by hand".to_owned());
        sources.insert(key.to_owned(), source);
    }
    Ok(())
}

/// A container of keys or numbered elements.
enum Place<'a> {
    Table(&'a mut Table),
    List(&'a mut Vec<Value>),
}

fn table_at<'a>(root: &'a mut Table, key: &str) -> Result<Place<'a>, Problem> {
    let mut place = Place::Table(root);
    let mut above = String::new();
    for part in key.split('.').filter(|part| !part.is_empty()) {
        let value = match place {
            Place::Table(table) => {
                let known = table.keys().cloned().collect::<Vec<_>>().join("`, `");
                table.get_mut(part).ok_or_else(|| Problem {
                    key: above.clone(),
                    what: format!("unknown key `{part}`, expected one of `{known}`"),
                })?
            }
            Place::List(list) => element(list, part, &above)?,
        };
        if !above.is_empty() {
            above.push('.');
        }
        above.push_str(part);
        place = match value {
            Value::Table(table) => Place::Table(table),
            Value::Array(list) => Place::List(list),
            _ => {
                let what = "expected a table, this is a value".to_owned();
                return Err(Problem { key: above, what });
            }
        };
    }
    Ok(place)
}

fn element<'a>(
    list: &'a mut [Value],
    index: &str,
    list_key: &str,
) -> Result<&'a mut Value, Problem> {
    let length = list.len();
    index
        .parse()
        .ok()
        .and_then(|index: usize| list.get_mut(index))
        .ok_or_else(|| Problem {
            key: list_key.to_owned(),
            what: format!("no element `{index}`, expected a number below {length}"),
        })
}

/// Parses TOML. Anything else is text, so `--set l1.x=mesi` needs no quotes inside the shell's
/// quotes.
fn value_of(text: &str) -> Value {
    toml::from_str::<Table>(&format!("value = {text}"))
        .ok()
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(machine: &str, setting: &str) -> String {
        let mut config = Config::preset(machine).unwrap();
        let before = config.clone();
        let error = config.set(setting).unwrap_err().to_string();
        assert_eq!(config, before);
        error
    }

    #[test]
    fn the_thesis_chip_scales() {
        for cores in [2, 16, 64, 128, 256, 1024, 4096] {
            let mut chip = Config::preset("atac-64").unwrap();
            chip.set(&format!("cores={cores}")).unwrap();
            assert_eq!(
                (chip.cores, chip.nodes(), chip.controllers()),
                (cores, cores, cores)
            );
            assert_eq!(chip.sources["cores"], "set by hand");
        }
    }

    #[test]
    fn settings_that_suit_each_other_may_come_in_any_order() {
        let orders = [
            ["cores=256", "group-cores=256"],
            ["group-cores=256", "cores=256"],
        ];
        let machines = orders.map(|order| {
            let mut chip = Config::preset("graviton2-64").unwrap();
            chip.set_all(&order).unwrap();
            chip
        });
        assert_eq!(machines[0], machines[1]);
        assert_eq!((machines[0].cores, machines[0].groups()), (256, 1));
        assert_eq!(machines[0].sources["group-cores"], "set by hand");
        let mut chip = Config::preset("graviton2-64").unwrap();
        chip.set_all(&["ghz=3", "sources.ghz=me"]).unwrap();
        assert_eq!(chip.sources["ghz"], "me");
        chip.set_all::<&str>(&[]).unwrap();
    }

    #[test]
    fn an_error_names_the_wrong_setting() {
        let graviton = Config::preset("graviton2-64").unwrap();
        for (settings, expected) in [
            (
                vec!["cores=256", "group-cores=100"],
                "--set group-cores=100: group-cores: 100, expected a divisor of cores = 256",
            ),
            (
                vec!["group-cores=100", "cores=256"],
                "--set group-cores=100: group-cores: 100, expected a divisor of cores = 256",
            ),
            (
                vec!["ghz=3", "cores=100", "line=128"],
                "--set cores=100: group-cores: 64, expected a divisor of cores = 100",
            ),
            (
                vec!["cores=256", "l1.latency=soon", "group-cores=256"],
                "--set l1.latency=soon: l1.latency: invalid type: string \"soon\", expected u64, from 1 to 1000000",
            ),
            (
                vec!["cores=256", "cores=5000", "group-cores=256"],
                "--set cores=5000: cores: 5000, expected from 1 to 4096",
            ),
            (vec!["cores=256", "ghz"], "--set ghz: expected key=value"),
        ] {
            let mut chip = graviton.clone();
            let error = chip.set_all(&settings).unwrap_err().to_string();
            assert_eq!(error, expected);
            assert_eq!(chip, graviton);
        }
    }

    #[test]
    fn values_of_any_kind_can_be_set() {
        let mut chip = Config::preset("w3225r").unwrap();
        chip.set("coherence.protocol=msi").unwrap();
        chip.set("coherence.directory = \"broadcast\"").unwrap();
        chip.set("ghz=4").unwrap();
        chip.set("title=a faster one").unwrap();
        chip.set(
            "optical={transport=5, controller=10, check=3, filter=1, adder=1, bytes-per-cycle=8}",
        )
        .unwrap();
        assert_eq!(chip.coherence.protocol, super::super::Protocol::Msi);
        assert_eq!(chip.coherence.directory, super::super::Directory::Broadcast);
        assert_eq!((chip.ghz, chip.title.as_str()), (4.0, "a faster one"));
        assert_eq!(chip.optical.as_ref().unwrap().controller, 10);
        chip.set("sources.title=me").unwrap();
        assert_eq!(chip.sources["title"], "me");
        let mut two = Config::preset("gold5225r").unwrap();
        two.set("network.groups.classes.0.cycles=1").unwrap();
        assert_eq!(Config::from_toml(&two.to_toml(), "echo").unwrap(), two);
    }

    #[test]
    fn pointers_need_a_directory_of_tiles() {
        let mut config = Config::preset("graviton2-64").unwrap();
        let settings = ["coherence.pointers=4", "coherence.directory=ackwise"];
        let error = config.set_all(&settings).unwrap_err();
        assert!(error.to_string().contains("coherence.directory"), "{error}");
    }

    #[test]
    fn refusals_name_the_key_and_what_was_expected() {
        for (machine, setting, expected) in [
            ("atac-64", "cores", "--set cores: expected key=value"),
            (
                "atac-64",
                "l1.latencyy=2",
                "--set l1.latencyy=2: l1.latencyy: unknown key `latencyy`, expected one of `size`, `ways`, `latency`",
            ),
            (
                "atac-64",
                "network.mesh.flits=2",
                "--set network.mesh.flits=2: network.mesh.flits: unknown key flits, expected one of router, link, flit-bits, contention, broadcast-tree, sockets",
            ),
            (
                "atac-64",
                "l1.latency=soon",
                "--set l1.latency=soon: l1.latency: invalid type: string \"soon\", expected u64, from 1 to 1000000",
            ),
            (
                "atac-64",
                "l1.latency=-1",
                "--set l1.latency=-1: l1.latency: -1, expected from 1 to 1000000",
            ),
            (
                "atac-64",
                "coherence.protocol=moesi",
                "--set coherence.protocol=moesi: coherence.protocol: unknown value `moesi`, expected `msi` or `mesi`",
            ),
            (
                "atac-64",
                "cores=5000",
                "--set cores=5000: cores: 5000, expected from 1 to 4096",
            ),
            (
                "gold5225r",
                "cores=96",
                "--set cores=96: network.groups.distance: 2 rows, expected one for each of 4 groups",
            ),
            (
                "gold5225r",
                "network.groups.classes.3.cycles=1",
                "--set network.groups.classes.3.cycles=1: network.groups.classes: no element `3`, expected a number below 1",
            ),
            (
                "gold5225r",
                "ghz.base=1",
                "--set ghz.base=1: ghz: expected a table, this is a value",
            ),
        ] {
            assert_eq!(refusal(machine, setting), expected);
        }
        let mut large = Config::preset("atac-64").unwrap();
        large.set("cores=128").unwrap();
        assert_eq!(
            large.set("os.tick=10000").unwrap_err().to_string(),
            "--set os.tick=10000: os.tick: 10000, expected at least 12800 on 128 cores"
        );
        assert!(
            refusal("atac-64", "lll.size=1")
                .starts_with("--set lll.size=1: unknown key `lll`, expected one of `atomics`, `")
        );
    }
}
