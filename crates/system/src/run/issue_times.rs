//! When a replay of one request after the other issues a request.

use headstack_trace::Request;
use headstack_units::Nanos;

use super::Replay;
use crate::SystemError;

/// A request with the instant the device gets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issued {
    pub(super) id: u64,
    pub(super) at: Nanos,
    pub(super) request: Request,
}

/// The request before.
#[derive(Clone, Copy, Debug)]
struct Previous {
    model_finish: Nanos,
    measured_finish: Option<Nanos>,
}

/// Decides when devices get their requests.
pub(super) struct IssueTimes {
    replay: Replay,
    /// Per device in measured replay, one for all in closed replay.
    previous: Vec<Option<Previous>>,
    /// Requests whose instant had to be moved.
    pub(super) clamped: u64,
}

impl IssueTimes {
    pub(super) fn new(replay: Replay, devices: usize) -> Self {
        let previous = vec![None; if replay == Replay::Closed { 1 } else { devices }];
        Self { replay, previous, clamped: 0 }
    }

    /// When the device gets a request.
    pub(super) fn issue(&mut self, id: u64, mut request: Request) -> Result<Issued, SystemError> {
        if self.replay == Replay::Closed {
            let start = request.start.present().unwrap_or(request.arrival);
            let at = match self.previous[0] {
                None => start,
                Some(Previous { model_finish, measured_finish: None }) => model_finish,
                Some(Previous { model_finish, measured_finish: Some(measured) }) => {
                    self.clamped += u64::from(start < measured);
                    model_finish + start.saturating_sub(measured)
                }
            };
            request.arrival = at;
            return Ok(Issued { id, at, request });
        }
        let (Some(start), Some(_)) = (request.start.present(), request.finish.present()) else {
            return Err(SystemError::Request {
                id,
                problem: "has no measured start and completion, which a measured replay needs".to_owned(),
                hint: "use `--replay closed` or `--replay open`".to_owned(),
            });
        };
        let earliest = self.previous[request.device as usize].and_then(|previous| previous.measured_finish);
        let at = earliest.map_or(start, |earliest| earliest.max(start));
        self.clamped += u64::from(at > start);
        request.arrival = request.arrival.min(at);
        Ok(Issued { id, at, request })
    }

    /// In a measured replay: when a request was really complete. One that the trace completes before the one ahead of it does not turn
    /// time back.
    pub(super) fn measured_finish(&self, issued: &Issued) -> Option<Nanos> {
        let finish = issued.request.finish.present().filter(|_| self.replay == Replay::Measured)?;
        Some(finish.max(issued.at))
    }

    /// A request is complete, in the model at `model_finish`.
    pub(super) fn complete(&mut self, issued: &Issued, model_finish: Nanos) {
        let is_measured = self.replay == Replay::Measured;
        let previous = if is_measured { issued.request.device as usize } else { 0 };
        let measured_finish = self.measured_finish(issued).or(issued.request.finish.present());
        self.previous[previous] = Some(Previous { model_finish, measured_finish });
    }
}
