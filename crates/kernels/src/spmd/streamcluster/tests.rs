use super::*;
use manycore_platform::Native;
#[test]
fn hm() {
  for input in [Input::Test, Input::SimDev, Input::SimSmall] {
    let s = Streamcluster::<Native>::alone(input);
    eprintln!("{input} {} {:?} {} {}", s.offers(), s.barrier_waits(), s.cost(), s.centres().len());
    if input < Input::SimSmall { std::fs::write(format!("/tmp/sc-{input}"), s.output()).unwrap(); }
  }
}
