//! The work of one case, for a tool that counts instructions: `count list`, `count prepare FOLDER`,
//! `count run CASE LENGTH FOLDER`.
#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use headstack_benches::cases::cases;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["list"] => {
            for case in cases() {
                println!("{}\t{}\t{}", case.name, case.lengths[0], case.lengths[1]);
            }
        }
        ["prepare", folder] => cases().iter().for_each(|case| case.prepare(Path::new(folder))),
        ["run", name, length, folder] => {
            let cases = cases();
            let Some((case, length)) = cases.iter().find(|case| case.name == *name).zip(length.parse().ok())
            else {
                return ExitCode::from(2);
            };
            case.run(length, Path::new(folder));
        }
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}
