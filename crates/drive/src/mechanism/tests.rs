use super::*;
use crate::spec::DriveSpec;

/// A mechanism with two arms that share a channel.
fn mechanism(seed: u64) -> Mechanism {
    let text = include_str!("../../../../drives/hp-97560.toml");
    let arms = [("arms.count", "2"), ("arms.design", "multi-moving")];
    let arms = arms.map(|(path, value)| (path.to_owned(), value.to_owned()));
    let spec = DriveSpec::from_toml_with("hp-97560", text, &arms).unwrap();
    Mechanism::new(&DriveModel::new(&spec).unwrap(), seed)
}

/// One thing that happens to a mechanism.
type Happens = fn(&mut Mechanism);

#[test]
fn mechanisms_that_differ_in_one_thing_go_on_in_different_ways() {
    let one = mechanism(1);
    assert!(one.has_same_future(&mechanism(1)));
    let happens: [(&str, Happens); 11] = [
        ("the disk was shifted", |it| it.spindle.relock(Nanos::ZERO, Angle(1 << 60))),
        ("the arm is elsewhere", |it| it.arm.cylinder += 1),
        ("another head is selected", |it| it.arm.head += 1),
        ("it is busy", |it| it.free_at = Nanos(1)),
        ("it reads ahead", |it| it.last_work = Work::ReadAhead),
        ("it recalibrates sooner", |it| it.recalibration_due = Nanos(1)),
        ("another delay is drawn next", |it| it.draws += 1),
        ("other delays are drawn", |it| it.seed += 1),
        ("other commands are retried", |it| it.retries = Retries::new(2)),
        ("another arm is at work", |it| {
            it.arms.change(Arm::default(), Nanos::ZERO, 1);
        }),
        ("the channel is taken", |it| it.leave_channel(Nanos(5))),
    ];
    for (what, happens) in happens {
        let mut other = mechanism(1);
        happens(&mut other);
        assert!(!one.has_same_future(&other), "{what}");
        assert!(!other.has_same_future(&one), "{what}");
    }
    // What it did before is over.
    let mut other = mechanism(1);
    other.note(Work::Command, Nanos(1), Nanos(2), (0, 5));
    assert!(one.has_same_future(&other));
}
