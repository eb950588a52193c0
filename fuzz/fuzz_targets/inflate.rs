#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| isotach_testkit::hostile::inflate(data));
