//! Carries a campaign out: plans the cells, starts peers, loads them, records.
