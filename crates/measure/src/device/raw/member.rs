//! Members of devices made of several: by what stands on them.

use std::os::fd::OwnedFd;

/// Where to look, from the beginning (or, below zero, from the end), and what stands there.
struct Signature {
    of: &'static str,
    at: i64,
    magic: &'static [u8],
}

const MD: &[u8] = &0xa92b_4efc_u32.to_le_bytes();
const BCACHE: &[u8] =
    &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81];

/// The numbers are those of the formats' own documentation, and of libblkid.
const SIGNATURES: [Signature; 11] = [
    Signature { of: "LVM", at: 0, magic: b"LABELONE" },
    Signature { of: "LVM", at: 512, magic: b"LABELONE" },
    Signature { of: "LVM", at: 1024, magic: b"LABELONE" },
    Signature { of: "LVM", at: 1536, magic: b"LABELONE" },
    Signature { of: "Linux software RAID (md)", at: 0, magic: MD },
    Signature { of: "Linux software RAID (md)", at: 4096, magic: MD },
    Signature { of: "Linux software RAID (md)", at: -8192, magic: MD },
    Signature { of: "Linux software RAID (md)", at: -65536, magic: MD },
    Signature { of: "btrfs", at: 0x1_0040, magic: b"_BHRfS_M" },
    Signature { of: "bcache", at: 4096 + 24, magic: BCACHE },
    Signature { of: "Ceph", at: 0, magic: b"bluestore block device" },
];

/// ZFS's uberblocks: 128 of them, 1 KiB apart, in the first label; the magic number in either order of bytes.
const UBERBLOCKS: u64 = 128 << 10;
const UBERBLOCK: u32 = 0x00ba_b10c;

/// What a device of this many bytes is a member of.
pub(super) fn of(device: &OwnedFd, bytes: u64) -> Option<&'static str> {
    let found = SIGNATURES.iter().find(|signature| {
        // md's superblocks at the end lie at multiples of 4 KiB and 64 KiB.
        let at = match signature.at {
            from_end @ ..0 => {
                let step = from_end.unsigned_abs();
                let grid = if step == 8192 { 4096 } else { step };
                (bytes / grid * grid).saturating_sub(step)
            }
            from_start => from_start.unsigned_abs(),
        };
        let mut read = [0_u8; 32];
        let read = &mut read[..signature.magic.len()];
        rustix::io::pread(device, &mut *read, at) == Ok(read.len()) && read == signature.magic
    });
    found.map(|signature| signature.of).or_else(|| has_uberblocks(device).then_some("ZFS"))
}

fn has_uberblocks(device: &OwnedFd) -> bool {
    let mut ring = vec![0_u8; 128 << 10];
    let read = rustix::io::pread(device, &mut ring, UBERBLOCKS).unwrap_or(0);
    let starts = |block: &[u8], magic: [u8; 8]| block.starts_with(&magic);
    ring[..read].chunks(1024).any(|block| {
        let magic = u64::from(UBERBLOCK);
        starts(block, magic.to_le_bytes()) || starts(block, magic.to_be_bytes())
    })
}
