#![no_main]

#[path = "../../tests/common/sim_disk.rs"]
mod sim_disk;
#[path = "../../tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (targets::named("session").run)(bytes));
