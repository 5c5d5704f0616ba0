use super::*;
use manycore_platform::Native;
#[test]
fn hm() {
  for input in Input::ALL {
    let s = Streamcluster::<Native>::alone(input);
    eprintln!("{input} {} {:?} {} {}", s.offers(), s.barrier_waits(), s.cost(), s.centres().len());
    if true { std::fs::write(format!("/tmp/sc-{input}"), s.output()).unwrap(); }
  }
}
