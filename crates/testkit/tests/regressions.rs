//! Every input that once was a finding of a fuzz target is survived.

use isotach_testkit::Work;
use isotach_testkit::hostile::TARGETS;
use std::path::Path;

#[test]
fn former_findings_are_survived() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    let mut replayed = 0;
    for (name, target) in TARGETS {
        let Ok(inputs) = folder.join(name).read_dir() else { continue };
        for input in inputs.map(|entry| entry.unwrap().path()) {
            println!("{}", input.display());
            let work = Work::begin();
            target(&std::fs::read(&input).unwrap());
            let seconds = work.done().as_secs();
            assert!(seconds < 20, "{} took {seconds} s", input.display());
            replayed += 1;
        }
    }
    assert!(replayed > 0, "no former findings in {}", folder.display());
}

#[test]
fn each_target_has_a_program_and_survives_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let mut programs: Vec<_> = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    programs.sort();
    assert_eq!(programs, TARGETS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (_, target) in TARGETS {
        for len in 0..64 {
            target(&vec![0; len]);
            target(&vec![0xff; len]);
        }
    }
}
