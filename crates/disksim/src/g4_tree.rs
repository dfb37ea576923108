//! The tree of a `dm_layout_g4`: track patterns (`TP`), and nodes (`IDX`) that repeat patterns and other nodes.

use crate::error::ImportError;
use crate::fields::{Fields, list, whole, wrong};
use crate::tree::{At, Kind, Value};

pub(crate) const PATTERNS: &str = "TP";
pub(crate) const NODES: &str = "IDX";

/// Deeper trees are refused; protects the stack.
const MAX_DEPTH: usize = 64;
const MAX_BLOCKS: u64 = 1 << 50;
const MAX_CYLINDER: u64 = 100_000_000;

/// The sectors of a track that hold data.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) low: u32,
    /// Sectors that hold data, from `low` on.
    pub(crate) sectors: u32,
    /// Sectors of the track.
    pub(crate) slots: u32,
}

/// What an entry repeats, as the file has it: by name, or by number (whether it is 1).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    Node,
    Pattern,
    Code(bool),
}

/// Children of one kind, one behind the other.
#[derive(Clone, Debug)]
struct Entry {
    at: At,
    /// Of the first child, from the node's.
    cylinder: i64,
    /// How many children.
    count: u64,
    /// Blocks of a child.
    length: u64,
    /// Cylinders from child to child.
    step: i64,
    of: Type,
    child: usize,
    /// Of a pattern, where the file tells it.
    head: Option<u32>,
}

#[derive(Clone, Debug)]
struct Node {
    at: At,
    entries: Vec<Entry>,
    /// Blocks of all entries.
    length: u64,
}

/// The whole tree, its last node the root.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) patterns: Vec<Pattern>,
    nodes: Vec<Node>,
    /// Of the numbers 0 and 1 for a child's type, whether 1 means a pattern.
    one_is_pattern: bool,
    /// Nodes that the root leads to.
    used: Vec<bool>,
    /// Rows have columns for angles and heads.
    is_wide: bool,
}

/// A track that the tree leads to.
#[derive(Clone, Copy)]
pub(crate) struct Track<'a> {
    pub(crate) cylinder: i64,
    /// The number of its pattern.
    pub(crate) pattern: usize,
    /// Where the file tells it.
    pub(crate) head: Option<u32>,
    /// Its entry.
    pub(crate) at: &'a At,
}

/// Where a child is.
enum Child {
    Node(usize),
    Pattern(usize),
}

impl Tree {
    /// Reads the lists and checks that the tree is one: every child is there, is as long as its entry says and does not
    /// contain itself.
    pub(crate) fn new(fields: &Fields<'_>) -> Result<Self, ImportError> {
        fields.need(PATTERNS)?;
        let patterns = rows(PATTERNS, fields.list(PATTERNS)?, PATTERN)?.map(pattern);
        let patterns = patterns.collect::<Result<Vec<_>, _>>()?;
        fields.need(NODES)?;
        let nodes = fields.list(NODES)?.iter().map(node).collect::<Result<Vec<_>, _>>()?;
        if nodes.is_empty() {
            return Err(ImportError::at(fields.at(NODES), "there is no node, so no root"));
        }
        let used = vec![false; nodes.len()];
        let is_wide = fields.list(NODES)?.iter().any(|value| list(NODES, value).is_ok_and(is_wide));
        let mut tree = Self { patterns, nodes, one_is_pattern: true, used, is_wide };
        let Err(problem) = tree.check() else { return Ok(tree) };
        // Which of the two numbers means what is not certain; lengths that fit tell.
        tree.one_is_pattern = false;
        tree.check().map_err(|_| problem)?;
        Ok(tree)
    }

    /// Blocks of the whole tree, slipped ones included.
    pub(crate) fn blocks(&self) -> u64 {
        self.nodes[self.root()].length
    }

    /// Where the nodes go, and how the numbers of child types were read.
    pub(crate) fn reading(&self) -> &'static str {
        if self.one_is_pattern {
            "layout.run (child type 0 being IDX, 1 being TP)"
        } else {
            "layout.run (child type 0 being TP, 1 being IDX, which alone fits the lengths)"
        }
    }

    /// Whether rows tell heads, and angles of an unknown unit.
    pub(crate) fn is_wide(&self) -> bool {
        self.is_wide
    }

    /// How many nodes the root does not lead to.
    pub(crate) fn unused_nodes(&self) -> usize {
        self.used.iter().filter(|used| !**used).count()
    }

    /// Hands over every track in the order of blocks.
    pub(crate) fn walk(
        &self,
        sink: &mut impl FnMut(Track<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        self.walk_node(self.root(), 0, sink)
    }

    fn walk_node(
        &self,
        node: usize,
        cylinder: i64,
        sink: &mut impl FnMut(Track<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        for entry in &self.nodes[node].entries {
            let mut at = cylinder.saturating_add(entry.cylinder);
            for _ in 0..entry.count {
                match self.child(entry) {
                    Child::Node(child) => self.walk_node(child, at, sink)?,
                    Child::Pattern(pattern) => {
                        sink(Track { cylinder: at, pattern, head: entry.head, at: &entry.at })?;
                    }
                }
                at = at.saturating_add(entry.step);
            }
        }
        Ok(())
    }

    fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    fn child(&self, entry: &Entry) -> Child {
        let is_pattern = match entry.of {
            Type::Node => false,
            Type::Pattern => true,
            Type::Code(code) => code == self.one_is_pattern,
        };
        if is_pattern { Child::Pattern(entry.child) } else { Child::Node(entry.child) }
    }

    fn check(&mut self) -> Result<(), ImportError> {
        let mut states = vec![State::Unseen; self.nodes.len()];
        self.check_node(self.root(), &mut states, 0)?;
        self.used = states.iter().map(|&state| state != State::Unseen).collect();
        Ok(())
    }

    /// Checks a node and, once each, those below it.
    fn check_node(&self, node: usize, states: &mut [State], depth: usize) -> Result<(), ImportError> {
        if depth > MAX_DEPTH {
            let message = format!("the tree of nodes is more than {MAX_DEPTH} deep");
            return Err(ImportError::at(&self.nodes[node].at, message));
        }
        states[node] = State::Open;
        for entry in &self.nodes[node].entries {
            self.check_length(entry)?;
            let Child::Node(child) = self.child(entry) else { continue };
            match states[child] {
                State::Open => {
                    let message = format!("node {child} contains itself through this entry");
                    return Err(ImportError::at(&entry.at, message));
                }
                State::Unseen => self.check_node(child, states, depth + 1)?,
                State::Done => {}
            }
        }
        states[node] = State::Done;
        Ok(())
    }

    /// Whether the child is there and as long as its entry says.
    fn check_length(&self, entry: &Entry) -> Result<(), ImportError> {
        let (length, name) = match self.child(entry) {
            Child::Pattern(child) => {
                let length = self.patterns.get(child).map(|pattern| u64::from(pattern.sectors));
                (length, format!("track pattern {child}"))
            }
            Child::Node(child) => (self.nodes.get(child).map(|node| node.length), format!("node {child}")),
        };
        let problem = match length {
            Some(length) if length == entry.length => return Ok(()),
            Some(length) => {
                format!("the entry says {} LBNs per instance, but {name} has {length}", entry.length)
            }
            None => format!(
                "the entry repeats {name}, but there are {} patterns and {} nodes, counted from 0",
                self.patterns.len(),
                self.nodes.len()
            ),
        };
        Err(ImportError::at(&entry.at, problem))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Unseen,
    Open,
    Done,
}

const PATTERN: [&str; 3] = ["low sector", "high sector", "sectors per track"];

const ENTRY: [&str; 8] = [
    "relative LBN",
    "relative cylinder",
    "LBNs covered",
    "cylinders covered",
    "LBNs per instance",
    "cylinders per instance",
    "child type",
    "child index",
];

/// Files as DiskSim's own tools write them have two columns more for angles and, for tracks, the head.
const WIDE: [&str; 11] =
    ["lbn", "cyl", "off", "len", "cyllen", "alen", "runlen", "cylrunlen", "TRACK or IDX", "child", "head"];

/// The column of the child's type in these.
const WIDE_TYPE: usize = 8;

/// What such files may call a track pattern as a child.
const TRACK: &str = "TRACK";

/// The rows of a flat list.
pub(crate) fn rows<'a, const N: usize>(
    name: &str,
    values: &'a [Value],
    columns: [&str; N],
) -> Result<impl Iterator<Item = &'a [Value; N]> + use<'a, N>, ImportError> {
    let (rows, rest) = values.as_chunks::<N>();
    if let Some(value) = rest.first() {
        let message = format!(
            "`{name}` has {} values, but they come in groups of {N}: {}",
            values.len(),
            columns.join(", ")
        );
        return Err(ImportError::at(&value.at, message));
    }
    Ok(rows.iter())
}

fn pattern(row: &[Value; 3]) -> Result<Pattern, ImportError> {
    let column = |at: usize, low| whole(&format!("{PATTERNS}: {}", PATTERN[at]), &row[at], low, 1_000_000);
    let (low, high, slots) = (column(0, 0)?, column(1, 0)?, column(2, 1)?);
    if low > high || high >= slots {
        let message =
            format!("sectors {low} to {high} are not sectors of a track of {slots}, counted from 0");
        return Err(ImportError::at(&row[0].at, message));
    }
    Ok(Pattern { low: low as u32, sectors: (high - low + 1) as u32, slots: slots as u32 })
}

fn node(value: &Value) -> Result<Node, ImportError> {
    let mut length = 0;
    let mut entries = Vec::new();
    for row in entries_of(list(NODES, value)?)? {
        let (entry, first) = entry(&row)?;
        if first != length {
            let message = format!(
                "the entry begins at LBN {first} of its node, but the entries before it cover {length}: each begins \
                 where the one before ends"
            );
            return Err(ImportError::at(&row.columns[0].at, message));
        }
        length += entry.count * entry.length;
        if length > MAX_BLOCKS {
            return Err(ImportError::at(&row.columns[2].at, "more than 2^50 LBNs is beyond belief"));
        }
        entries.push(entry);
    }
    if entries.is_empty() {
        return Err(ImportError::at(&value.at, "the node has no entries, so it covers no LBN"));
    }
    Ok(Node { at: value.at.clone(), entries, length })
}

/// A row as [`ENTRY`] has it, and the head where it tells one.
struct EntryRow<'a> {
    columns: [&'a Value; 8],
    head: Option<&'a Value>,
}

/// Whether rows have two columns more for angles, and tracks one for the head.
fn is_wide(values: &[Value]) -> bool {
    values.get(WIDE_TYPE).is_some_and(|value| matches!(value.kind, Kind::Text(_)))
}

/// The rows of a node: of eight columns, or of ten, and eleven for tracks.
fn entries_of(values: &[Value]) -> Result<Vec<EntryRow<'_>>, ImportError> {
    if !is_wide(values) {
        return Ok(rows(NODES, values, ENTRY)?.map(plain_row).collect());
    }
    let mut found = Vec::new();
    let mut rest = values;
    while let Some(first) = rest.first() {
        let is_node =
            rest.get(WIDE_TYPE).is_some_and(|value| matches!(&value.kind, Kind::Text(text) if text == NODES));
        let width = if is_node { WIDE.len() - 1 } else { WIDE.len() };
        let Some((row, behind)) = rest.split_at_checked(width) else {
            let message = format!(
                "the row has {} values, but rows of this form have 11 ({}) or, where the child is an `IDX`, the first 10",
                rest.len(),
                WIDE.join(", ")
            );
            return Err(ImportError::at(&first.at, message));
        };
        found.push(wide_row(row));
        rest = behind;
    }
    Ok(found)
}

fn plain_row(row: &[Value; 8]) -> EntryRow<'_> {
    EntryRow { columns: row.each_ref(), head: None }
}

/// Of a length and a length of the run, one is of an instance and one of all: that of all is not the shorter.
fn wide_row(row: &[Value]) -> EntryRow<'_> {
    let amount = |at: usize| match row[at].kind {
        Kind::Integer(found) => found,
        _ => 0,
    };
    let (one, all) = if amount(3) > amount(6) { ([6, 7], [3, 4]) } else { ([3, 4], [6, 7]) };
    let columns = [0, 1, all[0], all[1], one[0], one[1], WIDE_TYPE, WIDE_TYPE + 1].map(|at| &row[at]);
    EntryRow { columns, head: row.get(WIDE_TYPE + 2) }
}

/// An entry, and its first block in the node.
fn entry(EntryRow { columns: row, head }: &EntryRow<'_>) -> Result<(Entry, u64), ImportError> {
    let name = |at: usize| format!("{NODES}: {}", ENTRY[at]);
    let blocks = |at: usize, low| whole(&name(at), row[at], low, MAX_BLOCKS);
    let cylinders = |at: usize| signed(&name(at), row[at]);
    let (first, covered, length) = (blocks(0, 0)?, blocks(2, 1)?, blocks(4, 1)?);
    if !covered.is_multiple_of(length) {
        let message =
            format!("{covered} LBNs covered are not a whole number of instances of {length} LBNs each");
        return Err(ImportError::at(&row[2].at, message));
    }
    // That many follow from the children.
    cylinders(3)?;
    let of = match &row[6].kind {
        Kind::Integer(code @ 0..=1) => Type::Code(*code == 1),
        Kind::Text(text) if text == NODES => Type::Node,
        Kind::Text(text) if text == PATTERNS || text == TRACK => Type::Pattern,
        _ => return Err(wrong(&name(6), row[6], "IDX, TP, 0 or 1 (TRACK means TP)")),
    };
    let entry = Entry {
        at: row[0].at.clone(),
        cylinder: cylinders(1)?,
        count: covered / length,
        length,
        step: cylinders(5)?,
        of,
        child: whole(&name(7), row[7], 0, u64::from(u32::MAX))? as usize,
        head: head
            .map(|head| whole(&format!("{NODES}: head"), head, 0, 255))
            .transpose()?
            .map(|head| head as u32),
    };
    Ok((entry, first))
}

/// A number of cylinders, which may be negative.
fn signed(name: &str, value: &Value) -> Result<i64, ImportError> {
    match value.kind {
        Kind::Integer(found) if found.unsigned_abs() <= MAX_CYLINDER => Ok(found),
        _ => {
            let expected = format!("a whole number between -{MAX_CYLINDER} and {MAX_CYLINDER}");
            Err(wrong(name, value, &expected))
        }
    }
}
