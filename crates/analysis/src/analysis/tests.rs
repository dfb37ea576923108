use super::*;
use headstack_trace::{Request, RequestFlags};
use headstack_units::Lba;

struct Made(Vec<Io>);

impl IoSource for Made {
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        *batch = std::mem::take(&mut self.0);
        Ok(())
    }

    fn notes(&self) -> Notes {
        Notes::default()
    }

    fn sector_bytes(&self) -> u32 {
        512
    }
}

/// 1,000 reads of 10 ms, of which so many lost their queueing.
fn analysed(lost: u64) -> Analysis {
    let read = |k: u64| {
        let start = Nanos(20_000_000 * k);
        let request = Request {
            start,
            finish: Nanos(start.0 + 10_000_000),
            ..Request::new(start, Op::Read, Lba(8 * k), 8)
        };
        let flags = if k < lost { request.flags.with(RequestFlags::ARRIVAL_UNKNOWN) } else { request.flags };
        Io::new(Request { flags, ..request })
    };
    let mut made = Made((0..1000).map(read).collect());
    analyse(&mut made, &AnalysisOptions::default(), &mut |_| true).unwrap()
}

/// Long responses lose an event more often than short ones, and the mean of the rest was told as that of all.
#[test]
fn responses_of_a_few_stand_for_none() {
    let about = analysed(100);
    assert_eq!((about.response.unwrap().count, about.service.unwrap().count), (900, 1000));
    let about = analysed(101);
    assert_eq!((about.response, about.wait, about.service.unwrap().count), (None, None, 1000));
    let groups = [about.by_device, about.by_size, about.by_kind].concat();
    assert!(groups.iter().all(|group| group.response.is_none()));
    assert!(about.by_response.is_empty() && about.heat.is_empty() && about.effects.is_empty());
    assert_eq!((about.bursts, about.fleet, about.by_start), (None, None, Vec::new()));
}
