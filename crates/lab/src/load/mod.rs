//! The load generator: a schedule says when to ask, sessions speak the protocol, every answer is
//! checked, and latencies are kept in histograms of bounded size.
