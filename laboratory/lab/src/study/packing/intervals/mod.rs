//! How the cost of running more ranks (threads of a program) than cores depends on the time between two barriers. This
//! is the poster's question (`packing/mod.rs`), for a program of equal intervals.

mod config;
mod results;

use super::case::PackingCase;
use crate::report::section::{Block, Captioned};
use crate::study::Study;
use crate::study::settings::{Key, keys};
use crate::study::trial::{Answer, Extra, Inquiry, Setup, Text, Trials};
use config::IntervalsConfig;
use results::{IntervalsResults, IntervalsRow};

/// The study `intervals`.
pub(in crate::study) const STUDY: &dyn Study = &Inquiry {
    name: "intervals",
    question: "from which time between two barriers on ranks on fewer cores take no longer than fewer threads",
    home: "e5-2640x2",
    keys: KEYS,
    text: TEXT,
    is_brief: false,
    brief_orders: 0,
    has_intervals: true,
    sentence: None,
    ask: IntervalsConfig::new,
};

const KEYS: &[Key] = keys![
    "threads" [2, 1024]
        "ranks with which the program starts [16]",
    "lengths" [1, 1_000_000]
        "work of a rank between two barriers, a list in us \
         [2,5,10,20,50,100,200,500,1000,2000,5000]",
    "barriers"
        "barriers of the threads under tp, names of study barrier, a list; tr has the first \
         [default]",
    "intervals" [1, 1_000_000]
        "least number of barriers that count; a run goes on until it is steady [12]",
];

const TEXT: Text = Text {
    title: "Time between barriers",
    lead: "A program has a rank for each core, and the ranks meet at barriers. Then it loses some of its cores. \
     This study compares three ways to go on: tr, a start with only as many threads as cores; tp, with a thread \
     for each rank, which the system places; and ours, with the ranks on a team of manycore, which switches them at \
     user level. The shorter the ranks work between two barriers, the more a barrier and a switch weigh.",
    how: &[
        "All ranks work equally long between two barriers, and do nothing else. Under tr the same work is divided \
         among fewer threads, so without any cost all ways could take the same time. tr and tp wait at the barrier \
         that the table names, ours at the barrier of its team. default is the barrier that manycore chooses; its \
         members spin, or yield if they share cores. futex is the C library's; its members sleep at once.",
        "Runs and their ends are as in study packing, but under tp at most 500 barriers do not count. With --orders N each way runs \
         under N orders of events, which small random delays decide. A ratio is the geometric mean over orders, with \
         Student's interval for its logarithm; both times of a ratio are of the same order.",
    ],
};

const CAPTION: &str = "The time from one barrier to the next, divided by the time under tr. A band is a 95% interval \
     over orders of events.";

impl Trials for IntervalsConfig {
    type Trial = PackingCase;
    type Row = IntervalsRow;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<PackingCase> {
        self.cases()
    }

    fn answer(results: IntervalsResults<'_>) -> anyhow::Result<Answer<IntervalsRow>> {
        let tables = results.tables().into_iter();
        Ok(Answer {
            figures: Captioned::new(results.figure(), CAPTION)
                .into_iter()
                .collect(),
            blocks: tables.map(Block::Table).collect(),
            rows: results.rows(),
            extra: Extra::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::files::OutFolder;
    use crate::study::Request;
    use crate::study::settings::Settings;
    use crate::world::World;
    use manycore_chip::config::Config;

    fn findings(orders: Option<&str>) -> crate::study::Findings {
        let set = ["threads=4", "lengths=200,20", "barriers=futex"];
        let settings = Settings::parse(&set.map(String::from), KEYS).unwrap();
        let machine = Config::preset("e5-2640x2").unwrap();
        let request = Request {
            orders: orders.map(|orders| orders.parse().unwrap()),
            cores: vec![3.try_into().unwrap()],
            ..Request::plain(World::Simulated(Box::new(machine)), settings)
        };
        let home = tempfile::tempdir().unwrap();
        let out = OutFolder::prepare(home.path()).unwrap();
        STUDY.plan(&request).unwrap().measure(&out).unwrap()
    }

    #[test]
    fn each_way_is_compared_with_reduction_under_the_same_order() {
        let [one, two] = [None, Some("2")].map(findings);
        assert!(one.summary().contains("(one order of events)"));
        assert!(
            two.summary().contains("On 3 cores 4 ranks"),
            "{}",
            two.summary()
        );
        assert!(two.summary().contains("(95% intervals of 2 orders)"));
        // Two lengths of three ways.
        assert_eq!(two.csv.lines().count(), 1 + 2 * 3, "{}", two.csv);
        let of = |findings: &crate::study::Findings, name: &str| -> Vec<String> {
            let mut rows = findings
                .csv
                .lines()
                .map(|row| row.split(',').map(str::to_owned));
            let at = rows
                .next()
                .unwrap()
                .position(|column| column == name)
                .unwrap();
            rows.map(|mut row| row.nth(at).unwrap()).collect()
        };
        assert_eq!(of(&two, "work_us"), ["20", "20", "20", "200", "200", "200"]);
        assert_eq!(of(&two, "mode")[..3], ["tr", "ours", "tp"]);
        assert!(
            of(&two, "over_tr_low")[1..3]
                .iter()
                .all(|low| !low.is_empty())
        );
        assert!(of(&one, "over_tr_low").iter().all(String::is_empty));
        assert_ne!(of(&one, "interval_us"), of(&two, "interval_us"));
    }
}
