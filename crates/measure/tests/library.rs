//! Every drive of the library, simulated and measured.

mod common;

#[test]
fn look() {
    let Ok(names) = std::env::var("LOOK") else { return };
    for name in names.split(',') {
        common::report(name);
    }
}
