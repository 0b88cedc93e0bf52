//! The lab: measures web servers on the machine it runs on, in ways that cannot be fooled.
//!
//! It knows Serval only as one peer among others, and never depends on the server's code. Raw
//! figures are recorded ([`record`]), judged later ([`analysis`]), and drawn ([`report`]): each
//! step reads what the one before wrote, so that old runs can be judged and drawn again.

pub mod analysis;
pub mod cli;
pub mod experiment;
pub mod load;
pub mod measure;
pub mod peer;
pub mod record;
pub mod report;
pub mod scenario;
pub mod stats;
