//! `topology`: what hangs below what.

use super::instances::{Instance, Instances};
use crate::error::ImportError;
use crate::tree::{At, Item, Kind, Value};

/// A disk, and the buses and controllers between it and the driver, the driver's end first.
#[derive(Clone, Debug)]
pub(super) struct Path<'a> {
    pub(super) disk: Instance<'a>,
    pub(super) buses: Vec<Instance<'a>>,
    pub(super) controllers: Vec<Instance<'a>>,
}

/// The disks in order of the file.
pub(super) fn read<'a>(
    items: &[Item],
    instances: &Instances<'a>,
    whole: &At,
) -> Result<Vec<Path<'a>>, ImportError> {
    let roots = items.iter().filter_map(|item| match item {
        Item::Wiring(Value { kind: Kind::List(parts), at }) => match parts.first() {
            Some(Value { kind: Kind::Text(head), .. }) if head.starts_with("topology") => Some((at, parts)),
            _ => None,
        },
        _ => None,
    });
    let roots: Vec<_> = roots.collect();
    let [(at, parts)] = roots.as_slice() else {
        let message = format!("there must be one `topology`, but there are {}", roots.len());
        return Err(ImportError::at(whole, message).hint("to import a drive alone, name its .diskspecs file"));
    };
    let Some(Value { kind: Kind::Text(head), .. }) = parts.first() else { return Ok(Vec::new()) };
    let driver = head.trim_start_matches("topology").trim();
    if !driver.starts_with("disksim_iodriver") {
        return Err(ImportError::at(at, format!("a topology begins with a driver, not with `{driver}`")));
    }
    let mut walk = Walk { instances, buses: Vec::new(), controllers: Vec::new(), found: Vec::new() };
    walk.below(parts.get(1))?;
    if walk.found.is_empty() {
        return Err(ImportError::at(at, "the topology has no disk"));
    }
    Ok(walk.found)
}

struct Walk<'a, 'i> {
    instances: &'i Instances<'a>,
    buses: Vec<Instance<'a>>,
    controllers: Vec<Instance<'a>>,
    found: Vec<Path<'a>>,
}

impl<'a> Walk<'a, '_> {
    fn below(&mut self, list: Option<&Value>) -> Result<(), ImportError> {
        let Some(Value { kind: Kind::List(entries), .. }) = list else { return Ok(()) };
        for entry in entries {
            let Kind::List(parts) = &entry.kind else { continue };
            let Some(Value { kind: Kind::Text(head), at }) = parts.first() else { continue };
            let (kind, name) = head.split_once(char::is_whitespace).unwrap_or((head, ""));
            let instance = self.instances.find(name.trim(), at)?.clone();
            if instance.block.kind != kind {
                let is = &instance.block.kind;
                return Err(ImportError::at(at, format!("`{}` is a `{is}`, not a `{kind}`", instance.name)));
            }
            self.enter(instance, at, parts.get(1))?;
        }
        Ok(())
    }

    fn enter(&mut self, instance: Instance<'a>, at: &At, list: Option<&Value>) -> Result<(), ImportError> {
        match instance.block.kind.as_str() {
            "disksim_bus" => {
                self.buses.push(instance);
                self.below(list)?;
                self.buses.pop();
            }
            "disksim_ctlr" => {
                self.controllers.push(instance);
                self.below(list)?;
                self.controllers.pop();
            }
            "disksim_disk" | "disksim_simpledisk" => {
                if self.buses.is_empty() {
                    return Err(ImportError::at(at, format!("`{}` hangs on no bus", instance.name)));
                }
                let (buses, controllers) = (self.buses.clone(), self.controllers.clone());
                self.found.push(Path { disk: instance, buses, controllers });
            }
            other => {
                let message = format!("`{}` is a `{other}`: component not built yet", instance.name);
                return Err(ImportError::at(at, message));
            }
        }
        Ok(())
    }
}
