//! From raw figures to a judgement: medians, intervals, ties, gates and a verdict in words.
//!
//! Reads a [`crate::record::Campaign`] and its cells, and nothing else; it never measures. What it
//! makes is what the report draws and the terminal prints.

use crate::record::{CellId, PeerId, Point};
use serde::{Deserialize, Serialize};

/// What a campaign says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Analysis {
    /// What was measured and for what it stands.
    pub scope: String,
    /// The verdict, a sentence each.
    pub verdict: Vec<String>,
    /// How far two runs of the same program lay apart, by scenario.
    pub noise: Vec<Noise>,
    /// Each scenario's figures.
    pub scenarios: Vec<ScenarioAnalysis>,
    /// Every gate that fired, cell by cell.
    pub fired: Vec<CellGate>,
}

/// What the twins, which are the same program, differ by: no smaller difference counts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Noise {
    /// The scenario.
    pub scenario: String,
    /// The twins' ratio of CPU time per response.
    pub ratio: Estimate,
    /// What differences have to exceed, as a share: 0.02 for 2 %.
    pub floor: f64,
}

/// A scenario's figures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScenarioAnalysis {
    /// The scenario.
    pub scenario: String,
    /// Its points, from light to heavy.
    pub points: Vec<PointAnalysis>,
    /// Where each peer's throughput stops growing.
    pub knees: Vec<Knee>,
}

/// Where a peer's throughput stops growing with the number of connections.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Knee {
    /// The peer.
    pub peer: PeerId,
    /// Connections at the knee.
    pub connections: u32,
    /// Valid responses per second there.
    pub throughput: Estimate,
    /// Whether the generator, not the server, was the limit there.
    pub generator_bound: bool,
}

/// All peers at one point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PointAnalysis {
    /// The point.
    pub point: Point,
    /// A row for each peer, the cheapest first.
    pub rows: Vec<Row>,
    /// Every two peers, compared by CPU time per response.
    pub pairs: Vec<Pair>,
}

/// A peer at one point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The peer.
    pub peer: PeerId,
    /// Cells behind the figures.
    pub rounds: u32,
    /// CPU microseconds per valid response.
    pub cpu_us: Option<Estimate>,
    /// The same, over the null server's in the same round.
    pub times_null: Option<Estimate>,
    /// Valid responses per second.
    pub throughput: Option<Estimate>,
    /// Latency percentiles, as (99.0, us), ascending.
    pub latency_us: Vec<(f64, Estimate)>,
    /// Proportional set size before the load.
    pub idle_bytes: Option<Estimate>,
    /// The largest in the window.
    pub peak_bytes: Option<Estimate>,
    /// Failures, of all rounds.
    pub errors: u64,
    /// Gates that fired in any of its cells.
    pub gates: Vec<Gate>,
}

impl Row {
    /// Whether a gate voids the row: it is shown hollow and never ranked.
    pub fn is_void(&self) -> bool {
        self.gates.iter().any(|gate| gate.severity == Severity::Void)
    }
}

/// A median of rounds, with an interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The median.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Two peers at one point, paired by round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// One.
    pub left: PeerId,
    /// The other.
    pub right: PeerId,
    /// The left one's cost over the right one's.
    pub ratio: Estimate,
    /// Probability of such a difference between equals (Wilcoxon, corrected by Holm's method).
    pub p: f64,
    /// What follows.
    pub outcome: Outcome,
}

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The difference is within the noise, or there are too few rounds to tell.
    Tie,
    /// The left one costs less.
    LeftCheaper,
    /// The right one costs less.
    RightCheaper,
    /// One of them is void.
    Void,
}

/// A check that a cell did not pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Its short name: `little`, `generator-busy`.
    pub name: String,
    /// How bad.
    pub severity: Severity,
    /// What was found, with figures, in a sentence.
    pub reason: String,
}

/// How bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The figure stands, with a mark.
    Warn,
    /// The figure is shown and not ranked.
    Void,
}

/// A gate and the cell it fired in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellGate {
    /// The cell.
    pub cell: CellId,
    /// Its peer.
    pub peer: PeerId,
    /// Its scenario.
    pub scenario: String,
    /// Its point.
    pub point: Point,
    /// Its round.
    pub round: u32,
    /// What fired.
    pub gate: Gate,
}
