//! The output of a binary.

use super::sample::PeersSample;

/// Parses lines `KIND,CALL,NS`, and the line `right`, which states that the result is verified.
pub(super) fn parse(text: &str) -> Result<PeersSample, String> {
    let mut sample = PeersSample::default();
    let mut is_right = false;
    for line in text.lines() {
        if line == "right" {
            is_right = true;
            continue;
        }
        let mut parts = line.split(',');
        let (kind, ns) = (parts.next(), parts.nth(1));
        let calls = match kind {
            Some("first") => &mut sample.first,
            Some("steady") => &mut sample.steady,
            Some("gap") => &mut sample.gap,
            _ => return Err(format!("the binary printed `{line}`")),
        };
        match ns.and_then(|ns| ns.parse().ok()) {
            Some(ns) => calls.push(ns),
            None => return Err(format!("the binary printed `{line}`")),
        }
    }
    match is_right && !sample.steady.is_empty() {
        true => Ok(sample),
        false => Err("the binary did not print that its result is right".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_sorted_by_kind() {
        let sample = parse("first,0,9\nsteady,1,5\nsteady,2,6\ngap,3,7\nright\n").unwrap();
        assert_eq!(
            (sample.first, sample.steady, sample.gap),
            (vec![9], vec![5, 6], vec![7])
        );
    }

    #[test]
    fn output_without_a_verified_result_is_refused() {
        let told = |text| parse(text).unwrap_err();
        assert!(told("steady,0,5\n").contains("right"));
        assert!(told("first,0,x\nright\n").contains("first,0,x"));
        assert!(told("what\nright\n").contains("what"));
    }
}
