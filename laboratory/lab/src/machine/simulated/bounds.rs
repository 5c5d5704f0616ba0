//! Checks that simulated costs are near those that were measured on the real machines.

use super::PresetErrors;
use super::measure;
use super::published::{self, Compared, Errors};
use super::stream::{self, Kernel};
use manycore_chip::config::Config;

fn report(preset: &str) -> super::SimulatedReport {
    let config = Config::preset(preset).unwrap();
    measure(&config, &[], &mut |_| ()).unwrap()
}

#[test]
fn accesses_cost_what_the_sosp13_paper_measured() {
    for (preset, rows) in [
        ("opteron-6172", 44),
        ("westmere-ex", 33),
        ("niagara-2", 22),
        ("tilegx-36", 22),
    ] {
        let errors = report(preset).latency_errors.unwrap();
        assert_eq!(errors.compared, rows, "{preset}");
        assert!(
            errors.median <= 0.10 && errors.worst <= 0.30,
            "{preset}: {errors:?}"
        );
    }
}

#[test]
fn contended_increments_cost_what_downs_measured() {
    for (preset, rows) in [
        ("skylake-6700hq", 6),
        ("icelake-1035g4", 6),
        ("graviton-a72", 10),
    ] {
        let errors = report(preset).contended_errors.unwrap();
        assert_eq!(errors.compared, rows, "{preset}");
        assert!(errors.worst <= 0.25, "{preset}: {errors:?}");
    }
}

/// Each preset has rows to which no value was fitted. The numbers are the count of these rows, their median error and
/// their worst error.
#[test]
fn rows_that_no_fit_has_seen_are_near_what_was_measured() {
    for (preset, rows, median, worst) in [
        ("opteron-6172", 3, 0.05, 0.10),
        ("westmere-ex", 3, 0.15, 0.20),
        ("skylake-6700hq", 2, 0.15, 0.20),
        ("icelake-1035g4", 2, 0.15, 0.20),
        ("graviton-a72", 6, 0.20, 0.45),
        ("graviton2-64", 14, 0.10, 0.25),
    ] {
        let report = report(preset);
        // The programs come last.
        let all = report.compared();
        let all = all[..all.len() - report.programs.len()].iter();
        let unseen = all.map(|row| &row.compared).filter(|one| one.is_unseen());
        let errors = Errors::of(unseen).unwrap();
        assert_eq!(errors.compared, rows, "{preset}");
        assert!(
            errors.median <= median && errors.worst <= worst,
            "{preset}: {errors:?}"
        );
    }
}

/// Messages, stores to a line of all cores, and a contended lock. No value was fitted to their times.
#[test]
fn programs_take_at_most_twice_and_at_least_half_of_what_was_measured() {
    for (preset, rows) in [
        ("opteron-6172", 10),
        ("westmere-ex", 7),
        ("niagara-2", 4),
        ("tilegx-36", 1),
    ] {
        let programs = report(preset).programs;
        assert_eq!(programs.len(), rows, "{preset}");
        for cost in &programs {
            let error = cost.ns.error.unwrap();
            assert!(
                cost.ns.is_unseen() && (-0.5..1.0).contains(&error),
                "{preset}: {cost:?}"
            );
        }
    }
}

/// These presets have a price for a core that waits for a word. They are compared with results of other programs on the
/// same machines.
#[test]
fn words_are_handed_over_as_measured_and_single_accesses_are_near() {
    let names = ["tr3970x", "kunpeng-920", "dahu", "milan-7r13x2"];
    let mut configs = names.map(|name| Config::preset(name).unwrap());
    // Separate tests check the bandwidths of the presets.
    configs
        .iter_mut()
        .for_each(|config| config.core.overlap = None);
    for errors in PresetErrors::measure(&configs, &mut |_| ()).unwrap() {
        let fitted = errors.rows.iter().filter(|row| !row.compared.is_unseen());
        let handovers: Vec<_> = fitted
            .filter(|row| row.what.starts_with("handover"))
            .collect();
        assert!(!handovers.is_empty(), "{}", errors.preset);
        for row in handovers {
            assert!(row.size() < 0.03, "{}: {row:?}", errors.preset);
        }
        if let Some(unseen) = errors.unseen {
            assert_eq!(unseen.compared, 4, "{}", errors.preset);
            assert!(
                unseen.median < 0.10 && unseen.worst < 0.22,
                "{}: {unseen:?}",
                errors.preset
            );
        }
    }
}

/// Checks a bandwidth that was measured on the real machine. No value was fitted to it.
fn triad_is_within_15_percent(preset: &str, kernel: Kernel, cores: usize) {
    let config = Config::preset(preset).unwrap();
    let found = stream::measure(&config, kernel, cores).unwrap().value;
    let known = published::server(preset, kernel.name(), &cores.to_string());
    let compared = Compared::new(found, known);
    assert!(compared.is_unseen(), "{preset}");
    assert!(
        compared.error.unwrap().abs() < 0.15,
        "{preset}: {compared:?}"
    );
}

#[test]
fn the_triad_of_sapphire_rapids_is_within_15_percent_of_the_published() {
    triad_is_within_15_percent("sapphire-rapids-8470x2", Kernel::SchoenauerTriad, 20);
}

#[test]
fn the_triad_of_graviton4_is_within_15_percent_of_the_published() {
    triad_is_within_15_percent("graviton4-96", Kernel::Triad, 96);
}

#[test]
fn the_triad_of_milan_is_within_15_percent_of_the_published() {
    triad_is_within_15_percent("milan-7r13x2", Kernel::Triad, 96);
}

#[test]
fn a_report_is_the_same_again_and_says_what_it_is_of() {
    let first = report("skylake-6700hq");
    assert_eq!(report("skylake-6700hq").hash, first.hash);
    let text = first.to_string();
    let label = format!("simulated (preset skylake-6700hq, hash {})", first.hash);
    assert!(text.starts_with(&label), "{text}");
    assert_eq!(
        Config::from_toml(&first.config, "echo").unwrap().name,
        first.preset
    );
}

#[test]
fn an_unmeasured_machine_has_no_errors() {
    let report = report("kunpeng-920");
    assert_eq!(
        (report.latency_errors, report.contended_errors),
        (None, None)
    );
    assert!(!report.to_string().contains("Error of"));
}
