//! What a campaign leaves behind: a directory of raw figures and of all that produced them.
//!
//! ```text
//! campaign.json          Campaign: what was asked, of whom, on which host, in which order
//! cells/0007.json        Cell: one server, started once, under one load
//! cells/0007.hlog        its latencies, second by second (HdrHistogram interval log, V2)
//! peers/nginx.tuned/     the files that the peer was started with, and their difference to the
//!                        packaged ones
//! report.html            drawn from the above, and from nothing else
//! ```
//!
//! Nothing here is judged: what a gate says about a cell is worked out when it is read. Times are
//! in seconds, latencies in microseconds, sizes in bytes, and the unit ends the name.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format, raised when a reader of the old one would misread the new one.
pub const FORMAT: u32 = 1;

/// What was asked and how it was carried out: `campaign.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Campaign {
    /// See [`FORMAT`].
    pub format: u32,
    /// The campaign's name, as on the command line.
    pub name: String,
    /// A line for people.
    pub title: String,
    /// What was measured and for what it stands; it heads the report.
    pub scope: String,
    /// When it began, RFC 3339 in UTC.
    pub started_at: String,
    /// How long it took; absent while it runs or when it died.
    pub took_s: Option<f64>,
    /// Where all randomness of this campaign comes from.
    pub seed: u64,
    /// Version of the lab.
    pub lab_version: String,
    /// SHA-256 of the lab's own binary, in hexadecimal.
    pub lab_sha256: String,
    /// The command line that repeats it.
    pub command: String,
    /// How many times each cell is measured.
    pub rounds: u32,
    /// What was asked of each peer.
    pub scenarios: Vec<Scenario>,
    /// Who was asked.
    pub peers: Vec<PeerFacts>,
    /// Which peers or features were wanted and why they are not here.
    pub missing: Vec<Missing>,
    /// The pair of peers that are the same program twice.
    pub twins: Option<(PeerId, PeerId)>,
    /// The built-in null server among the peers, the floor of every cost.
    pub null: Option<PeerId>,
    /// The cells in the order in which they were measured.
    pub order: Vec<CellId>,
    /// The machine.
    pub host: HostFacts,
    /// Published figures that the report draws beside the new ones, by their name in
    /// `campaigns/published`.
    pub published: Option<String>,
    /// Why it ended early, if it did.
    pub interrupted: Option<String>,
}

/// Names a peer in one of its versions, as `nginx.tuned`. Twins end in `#2`.
pub type PeerId = String;

/// A cell's number, which names its files.
pub type CellId = u32;

/// A peer or feature that was wanted and is not here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Missing {
    /// What is missing: a peer's name, or a peer and a scenario.
    pub what: String,
    /// Why, and what would change it.
    pub why: String,
}

/// One workload, measured at several points.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scenario {
    /// Short name, unique in the campaign: `small`, `jquery-gzip`.
    pub id: String,
    /// A line for people.
    pub title: String,
    /// Why anyone would measure this.
    pub why: String,
    /// What is asked for, in words of HTTP: `GET /index.html, 102 bytes, keep-alive, plain`.
    pub request: String,
    /// What the flaws of this measurement are, where it repeats a published one.
    pub flaws: Vec<String>,
    /// Whether connections are kept, so that as many are opened as there are in the point.
    pub keep_alive: bool,
    /// Where it is measured, from light to heavy.
    pub points: Vec<Point>,
}

/// How hard a cell pushes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Connections in parallel.
    pub connections: u32,
    /// Requests per second that are offered, whether or not the server keeps up; absent in a
    /// closed loop, where each connection asks again when it has its answer.
    pub rate: Option<f64>,
    /// What the point is for.
    pub purpose: Purpose,
}

/// What a point is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// One of a curve over connections.
    Sweep,
    /// Latency at a rate that every peer can serve.
    Latency,
    /// Cost per response at a comfortable load.
    Cost,
}

/// A peer as it was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PeerFacts {
    /// `nginx.tuned`.
    pub id: PeerId,
    /// `nginx`.
    pub name: String,
    /// `packaged` or `tuned`; `only` for those that have one version.
    pub variant: String,
    /// Why this version of its configuration is as it is.
    pub why: String,
    /// What the program says of its version.
    pub version: String,
    /// Debian's package and its version, if it belongs to one.
    pub package: Option<String>,
    /// Path of the program.
    pub program: String,
    /// SHA-256 of the program, in hexadecimal.
    pub sha256: String,
    /// The command line.
    pub command: Vec<String>,
    /// Worker processes or threads it was told to have.
    pub workers: u32,
    /// The processors it was pinned to; empty for all.
    pub cpus: Vec<usize>,
    /// The files it was started with, below `peers/`.
    pub files: Vec<String>,
    /// How they differ from the packaged version (unified diff), where both are known.
    pub difference: Option<String>,
    /// What its answers carry, by scenario: parity of meaning.
    pub parity: BTreeMap<String, Parity>,
}

/// What an answer carries; servers that answer less do less work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parity {
    /// Status code.
    pub status: u16,
    /// Bytes of the head, with the empty line.
    pub head_bytes: u64,
    /// Bytes of the body as sent.
    pub body_bytes: u64,
    /// `ETag` as sent.
    pub etag: Option<String>,
    /// Whether `Last-Modified` is there.
    pub last_modified: bool,
    /// Whether `Date` is there.
    pub date: bool,
    /// `Server` as sent.
    pub server: Option<String>,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// `Content-Encoding` as sent.
    pub content_encoding: Option<String>,
    /// Whether `Vary` is there.
    pub vary: bool,
    /// Whether it wrote an access log.
    pub access_log: bool,
    /// Names of all fields, in the order sent.
    pub fields: Vec<String>,
}

/// One server, started once, under one load: `cells/NNNN.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// Its number.
    pub id: CellId,
    /// The round it belongs to, from 0.
    pub round: u32,
    /// Who was asked.
    pub peer: PeerId,
    /// What was asked: a scenario's id.
    pub scenario: String,
    /// How hard.
    pub point: Point,
    /// When the measured window began, in seconds since the campaign did.
    pub began_s: f64,
    /// How long it was loaded before that.
    pub warmup_s: f64,
    /// Requests per second in each second of the warm-up.
    pub warmup_rates: Vec<f64>,
    /// What the generator saw; absent if the cell failed before it was loaded.
    pub load: Option<LoadResult>,
    /// What the server used in the window.
    pub server: Option<ServerUse>,
    /// What the machine did in the window.
    pub host: Option<HostUse>,
    /// Whether the server was started anew for this cell.
    pub fresh_server: bool,
    /// Why the cell could not be measured.
    pub failure: Option<String>,
}

/// What the load generator saw in its window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadResult {
    /// Length of the window.
    pub window_s: f64,
    /// Complete responses, right or wrong.
    pub responses: u64,
    /// Responses whose status, length and bytes were right.
    pub valid: u64,
    /// How many of the valid ones had every byte of their body compared.
    pub bodies_compared: u64,
    /// Requests that were sent in the window.
    pub sent: u64,
    /// Requests that were due in the window, sent or not; open loop only.
    pub offered: Option<u64>,
    /// Requests that were due and never sent, as no connection was free.
    pub unsent: u64,
    /// Requests that were cut off by the end of the window.
    pub aborted: u64,
    /// Connections that were opened in the window, and before it for the window.
    pub connections_opened: u64,
    /// Handshakes that resumed a TLS session.
    pub tls_resumed: u64,
    /// Full TLS handshakes.
    pub tls_full: u64,
    /// Bytes written, above TCP and TLS.
    pub bytes_written: u64,
    /// Bytes read, above TCP and TLS.
    pub bytes_read: u64,
    /// Bytes of the heads of complete responses.
    pub head_bytes: u64,
    /// Bytes of the bodies of complete responses.
    pub body_bytes: u64,
    /// Failures by class. They have no part in the latencies.
    pub errors: BTreeMap<ErrorClass, u64>,
    /// Complete responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Of valid responses: from the send in a closed loop, from the intended send in an open one.
    pub latency: Latencies,
    /// Of responses that were not valid.
    pub error_latency: Latencies,
    /// From the intended to the actual send; open loop only.
    pub send_lag: Option<Latencies>,
    /// From the actual send; open loop only.
    pub service_time: Option<Latencies>,
    /// To open a connection, with its TLS handshake.
    pub connect_time: Latencies,
    /// Second by second.
    pub seconds: Vec<Second>,
    /// What the generator itself used.
    pub generator: Generator,
    /// Whether it was stopped before its time.
    pub interrupted: bool,
}

/// What went wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// The connection was refused.
    ConnectRefused,
    /// The connection could not be opened for another reason.
    Connect,
    /// No local port was left.
    NoPort,
    /// The TLS handshake failed.
    Tls,
    /// The server closed before or within a response.
    Closed,
    /// The connection was reset.
    Reset,
    /// No complete response in time.
    Timeout,
    /// The response was not HTTP.
    Protocol,
    /// Another status than expected.
    Status,
    /// Another length than expected.
    Length,
    /// The right length, but other bytes than expected.
    Body,
    /// Another encoding of the content than expected.
    Encoding,
    /// Bytes came that belong to no response.
    Excess,
    /// Another error of the operating system.
    Os,
}

/// Latencies in brief; the whole of them is in the cell's interval log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// How many.
    pub count: u64,
    /// Arithmetic mean.
    pub mean_us: f64,
    /// Standard deviation.
    pub stdev_us: f64,
    /// Smallest.
    pub min_us: f64,
    /// Largest.
    pub max_us: f64,
    /// Percentiles that enough samples stand behind, as (50.0, us), ascending.
    pub percentiles: Vec<(f64, f64)>,
}

/// One second of a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Its start, in seconds since the window's.
    pub at_s: f64,
    /// Its length: 1, but for the last.
    pub length_s: f64,
    /// Complete responses.
    pub responses: u64,
    /// Valid responses.
    pub valid: u64,
    /// Failures.
    pub errors: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Median latency.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    /// Largest latency.
    pub max_us: f64,
}

/// What the generator itself used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// CPU time of each thread in the window, in seconds.
    pub thread_cpu_s: Vec<f64>,
    /// The processors it was pinned to; empty for all.
    pub cpus: Vec<usize>,
    /// Share of the window that the busiest thread was on a processor, 0 to 1.
    pub busiest: f64,
    /// Peak resident memory of the generator's process, in bytes.
    pub rss_bytes: u64,
    /// Times that a thread had to give up its processor against its will.
    pub involuntary_switches: u64,
}

/// What a server used in a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerUse {
    /// CPU time of all its processes.
    pub cpu_s: f64,
    /// Of that in user space; indicative.
    pub user_s: f64,
    /// Of that in the kernel; indicative.
    pub system_s: f64,
    /// Where the CPU time comes from: `cgroup` (exact) or `proc` (ticks of 10 ms).
    pub source: String,
    /// Proportional set size before the load.
    pub idle_pss_bytes: u64,
    /// The largest seen in the window.
    pub peak_pss_bytes: u64,
    /// Processes and threads at the end of the window.
    pub threads: u32,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Bytes written to disk (`write_bytes` of /proc/PID/io).
    pub disk_bytes_written: u64,
}

/// What the machine did in a window: the differences of its counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostUse {
    /// Share of all processor time that a hypervisor took away, 0 to 1.
    pub steal: f64,
    /// Share of all processor time spent in other processes than server and generator, 0 to 1.
    pub others: f64,
    /// TCP segments sent again.
    pub retransmits: u64,
    /// TCP segments sent.
    pub segments: u64,
    /// Connections that found the server's queue full (ListenOverflows and ListenDrops).
    pub listen_drops: u64,
    /// Sockets in TIME_WAIT at the window's end.
    pub time_wait: u64,
    /// Pressure: share of time in which some task waited for a processor, 0 to 1.
    pub cpu_pressure: Option<f64>,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// `Linux 6.18.5`.
    pub kernel: String,
    /// The kernel's command line.
    pub kernel_command_line: String,
    /// The distribution's name.
    pub distribution: String,
    /// Processor model.
    pub cpu_model: String,
    /// Processors the lab may use.
    pub cpus: Vec<usize>,
    /// Groups of processors that share a core.
    pub siblings: Vec<Vec<usize>>,
    /// Name of the hypervisor, if there is one.
    pub hypervisor: Option<String>,
    /// Frequency governor, where the kernel tells.
    pub governor: Option<String>,
    /// Clock source of the kernel.
    pub clock_source: String,
    /// Mitigations in force, by vulnerability.
    pub mitigations: BTreeMap<String, String>,
    /// All memory.
    pub memory_bytes: u64,
    /// MTU of the link used.
    pub mtu: u32,
    /// Whether connection tracking is loaded.
    pub conntrack: bool,
    /// Open-file limit of the lab.
    pub open_files_max: u64,
    /// Kernel settings that bear on a measurement.
    pub sysctls: Vec<Sysctl>,
    /// Whether CPU time comes from control groups, and of which version: `v1`, `v2`, `none`.
    pub cgroup: String,
    /// Whether interrupt time is accounted apart (`IRQ_TIME_ACCOUNTING`), where known.
    pub irq_time_accounting: Option<bool>,
    /// What the lab was linked with for TLS.
    pub tls_library: String,
}

/// A kernel setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sysctl {
    /// `net.core.somaxconn`.
    pub name: String,
    /// In force.
    pub value: String,
    /// What the kernel comes with, where that is one value.
    pub default: Option<String>,
    /// Why the value in force is known to spoil measurements or connections.
    pub warning: Option<String>,
}
