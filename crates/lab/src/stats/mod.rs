//! Statistics: histograms, bootstrap intervals, rank tests, change points.
