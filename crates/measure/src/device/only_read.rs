//! A device that may be written, but of which only reads show the media.

use super::{Access, Device, DeviceInfo, Window};
use crate::MeasureError;
use headstack_units::Nanos;

/// A device as one that must not be written.
pub(crate) struct OnlyRead<'a> {
    device: &'a mut dyn Device,
    info: DeviceInfo,
}

impl<'a> OnlyRead<'a> {
    pub(crate) fn new(device: &'a mut dyn Device) -> Self {
        let info = DeviceInfo { writable: false, ..device.info().clone() };
        Self { device, info }
    }
}

impl Device for OnlyRead<'_> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn made_by(&self) -> Option<&str> {
        self.device.made_by()
    }

    fn now(&self) -> Nanos {
        self.device.now()
    }

    fn wait_until(&mut self, at: Nanos) -> Result<(), MeasureError> {
        self.device.wait_until(at)
    }

    fn access(&mut self, access: Access) -> Result<Window, MeasureError> {
        self.device.access(access)
    }

    fn queued(&mut self, accesses: &[Access], depth: u32) -> Result<Vec<Window>, MeasureError> {
        self.device.queued(accesses, depth)
    }

    fn flush(&mut self) -> Result<(), MeasureError> {
        self.device.flush()
    }
}
