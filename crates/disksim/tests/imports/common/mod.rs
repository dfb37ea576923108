//! A small drive in DiskSim's form, and ways to change it.

pub(crate) mod g4;

use headstack_disksim::{Import, ImportError, Options, import};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Controller side; line 1 is the block's.
pub(crate) const DISK: &str = "\
disksim_disk SMALL {
   Model = source small.model,
   Scheduler = disksim_ioqueue { Scheduling policy = 1 },
   Max queue length = 1,
   Bulk sector transfer time = 0.1,
   Time scale for overheads = 1.0,
   Read miss over. after read = 0.5,
   Write miss over. after read = 0.75,
   Read hit over. after read = 0.25,
   Number of buffer segments = 2,
   Segment size (in blks) = 64,
   Enable caching in buffer = 1,
   Buffer continuous read = 3,
   Low (write) water mark = 0.5,
   High (read) water mark = 0.5,
   Set watermark by reqsize = 0,
   Fast write level = 0, Read completion overhead = 0.0, Write completion overhead = 0.0, \
   Data preparation overhead = 0.0, First reselect overhead = 0.0, Other reselect overhead = 0.0, \
   Write disconnect overhead = 0.0, Extra write disconnect = 0, Extradisc seek delta = 0.0, Minimum seek delay = 0.0, \
   Maximum read-ahead (blks) = 0, Read-ahead over requested = 0, Read-ahead on idle hit = 0, Read any free blocks = 0, \
   Use separate write segment = 0, Allow read hits on write data = 1, Maximum number of write segments = 1, \
   Read hit over. after write = 0.0, Read miss over. after write = 0.0, \
   Write hit over. after read = 0.0, Write hit over. after write = 0.0, Write miss over. after write = 0.0
} # the end
";

/// Two zones of four heads: cylinders 0 to 4 with 20 sectors, 6 to 9 with 10. No spares.
pub(crate) const MODEL: &str = "\
dm_disk SMALL_model {
   Number of data surfaces = 4,
   Number of cylinders = 10,
   Block count = 560,
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 0,
      Sparing scheme used = 0,
      Rangesize for sparing = 1,
      Zones = [
         dm_layout_g1_zone {
            First cylinder number = 0,
            Last cylinder number = 4,
            Blocks per track = 20,
            Offset of first block = 0,
            Empty space at zone front = 0,
            Skew for track switch = 3,
            Skew for cylinder switch = 5,
            Number of spares = 0,
            slips = [],
            defects = []
         },
         dm_layout_g1_zone {
            First cylinder number = 6,
            Last cylinder number = 9,
            Blocks per track = 10,
            Offset of first block = 2.5,
            Empty space at zone front = 0,
            Skew for track switch = 1,
            Skew for cylinder switch = 2,
            Number of spares = 0,
            slips = [],
            defects = []
         }
      ]
   },
   Mechanical Model = dm_mech_g1 {
      Access time type = trackSwitchPlusRotation,
      Seek type = extracted,
      Full seek curve = small.seek,
      Add. write settling delay = 0.25,
      Head switch time = 1.0,
      Rotation speed (in rpms) = 6000,
      Percent error in rpms = 0.0
   }
}
";

/// Three points.
pub(crate) const SEEK: &str = "Seek distances measured: 3\n1,\t1.0\n4, 2.0\n9, 3.0\n";

/// The three files in a folder.
pub(crate) struct Files {
    /// Where they are.
    pub(crate) folder: TempDir,
}

impl Files {
    /// As they stand above.
    pub(crate) fn new() -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        files.write("small.diskspecs", DISK);
        files.write("small.model", MODEL);
        files.write("small.seek", SEEK);
        files
    }

    /// The model with texts replaced; each must occur, the first occurrence changes.
    pub(crate) fn with_model(changes: &[(&str, &str)]) -> Self {
        Self::with("small.model", MODEL, changes)
    }

    /// The controller side with texts replaced.
    pub(crate) fn with_disk(changes: &[(&str, &str)]) -> Self {
        Self::with("small.diskspecs", DISK, changes)
    }

    fn with(name: &str, text: &str, changes: &[(&str, &str)]) -> Self {
        let files = Self::new();
        let mut text = text.to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "`{from}` does not occur");
            text = text.replacen(from, to, 1);
        }
        files.write(name, &text);
        files
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Where a file is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Imports the drive.
    pub(crate) fn import(&self) -> Result<Import, ImportError> {
        import(&[self.path("small.diskspecs")], &Options::default())
    }

    /// Imports the drive and goes on where that makes sense.
    pub(crate) fn import_leniently(&self) -> Result<Import, ImportError> {
        import(&[self.path("small.diskspecs")], &Options { lenient: true, ..Options::default() })
    }

    /// The error: file and line, then the message, then the hint.
    pub(crate) fn refused(&self) -> String {
        let error = self.import().expect_err("must be refused");
        let name = error.file.rsplit('/').next().unwrap().to_owned();
        format!("{name}:{} {} | {}", error.line, error.message, error.hint.unwrap_or_default())
    }
}
