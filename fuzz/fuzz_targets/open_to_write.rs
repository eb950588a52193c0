#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| isotach_testkit::hostile::open_to_write(data));
