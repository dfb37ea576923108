//! A drive with a layout of the fourth generation, as numbers, as a file, and block by block.

use super::{Files, MODEL};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The lists of a layout. Child types are 0 for nodes and 1 for patterns.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    pub(crate) heads: u32,
    pub(crate) cylinders: u32,
    pub(crate) blocks: u64,
    pub(crate) patterns: Vec<[i64; 3]>,
    pub(crate) nodes: Vec<Vec<[i64; 8]>>,
    pub(crate) slips: Vec<[i64; 2]>,
    pub(crate) remaps: Vec<[i64; 6]>,
    /// Further parameters, as text.
    pub(crate) more: String,
}

/// Cylinder, head, sector, sectors on the track.
pub(crate) type Place = (u32, u32, u32, u32);

/// Groups of three cylinders with 20 sectors, then of two cylinders with 8 of 10 sectors, all read in on head 0 and out
/// on head 1. Three blocks are slipped; one block is remapped to a sector without data, three to a spare track.
pub(crate) fn small() -> Lists {
    Lists {
        heads: 2,
        cylinders: 14,
        blocks: 333,
        patterns: vec![[0, 19, 20], [1, 8, 10]],
        nodes: vec![
            vec![[0, 0, 60, 3, 20, 1, 1, 0], [60, 2, 60, 3, 20, -1, 1, 0]],
            vec![[0, 0, 16, 2, 8, 1, 1, 1], [16, 1, 16, 2, 8, -1, 1, 1]],
            vec![[0, 0, 240, 6, 120, 3, 0, 0], [240, 6, 96, 6, 32, 2, 0, 1]],
        ],
        slips: vec![[5, 2], [250, 1]],
        remaps: vec![[7, 1, 11, 0, 9, 10], [100, 3, 12, 0, 4, 10]],
        more: String::new(),
    }
}

impl Lists {
    /// The layout block, each row of a list on a line.
    pub(crate) fn block(&self) -> String {
        let mut text = "dm_layout_g4 {\n".to_owned();
        let _ = write!(text, "TP = [\n{}],\nIDX = [\n", rows(&self.patterns));
        for node in &self.nodes {
            let _ = writeln!(text, "[\n{}],", rows(node));
        }
        let _ = write!(text, "],\nSlips = [\n{}],\n", rows(&self.slips));
        let _ = write!(text, "Remaps = [\n{}]{}\n}}", rows(&self.remaps), self.more);
        text
    }

    /// The small drive's model with this layout.
    pub(crate) fn model(&self) -> String {
        let mechanics = &MODEL[MODEL.find("   Mechanical").unwrap()..];
        let (heads, cylinders, blocks, block) = (self.heads, self.cylinders, self.blocks, self.block());
        format!(
            "dm_disk SMALL_model {{\nNumber of data surfaces = {heads},\nNumber of cylinders = {cylinders},\n\
             Block count = {blocks},\nLayout Model = {block},\n{mechanics}"
        )
    }

    /// The files of a drive with this layout; seek times go far enough.
    pub(crate) fn files(&self) -> Files {
        let files = Files::new();
        files.write("small.model", &self.model());
        files
    }

    /// Where every block is, found by going down the tree for each; `None` if a cylinder has more tracks than heads.
    pub(crate) fn places(&self) -> Option<Vec<Place>> {
        let (mut visits, mut head) = (BTreeMap::<i64, u32>::new(), 0);
        let mut raw = Vec::new();
        for block in 0..length(self.nodes.last().unwrap()) {
            let (cylinder, pattern, within) = self.down(self.nodes.len() - 1, block, 0);
            if within == 0 {
                let visits = visits.entry(cylinder).or_default();
                head = *visits;
                *visits += 1;
            }
            let [low, _, slots] = self.patterns[pattern];
            raw.push((cylinder as u32, head, (low + within) as u32, slots as u32));
        }
        if visits.values().any(|&visits| visits > self.heads) {
            return None;
        }
        let slipped = |block: i64| self.slips.iter().any(|&[at, count]| (at..at + count).contains(&block));
        let mut places: Vec<Place> =
            (0..).zip(raw).filter(|&(block, _)| !slipped(block)).map(|(_, place)| place).collect();
        for &[block, count, cylinder, head, sector, slots] in &self.remaps {
            for more in 0..count {
                places[(block + more) as usize] =
                    (cylinder as u32, head as u32, (sector + more) as u32, slots as u32);
            }
        }
        Some(places)
    }

    /// Cylinder, pattern and number within the pattern of a block of a node.
    fn down(&self, node: usize, block: i64, cylinder: i64) -> (i64, usize, i64) {
        let inside = |entry: &&[i64; 8]| (entry[0]..entry[0] + entry[2]).contains(&block);
        let &[first, relative, _, _, each, step, kind, child] = self.nodes[node].iter().find(inside).unwrap();
        let (instance, within) = ((block - first) / each, (block - first) % each);
        let cylinder = cylinder + relative + instance * step;
        if kind == 1 {
            (cylinder, child as usize, within)
        } else {
            self.down(child as usize, within, cylinder)
        }
    }
}

pub(crate) fn length(node: &[[i64; 8]]) -> i64 {
    node.last().map_or(0, |entry| entry[0] + entry[2])
}

fn rows<const N: usize>(rows: &[[i64; N]]) -> String {
    let row = |row: &[i64; N]| row.map(|value| value.to_string()).join(", ") + ",\n";
    rows.iter().map(row).collect()
}
