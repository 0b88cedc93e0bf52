//! What the server is to do. What was typed, on the command line today, is resolved into a
//! [`plan::Plan`]; workers see nothing else.

pub mod plan;
