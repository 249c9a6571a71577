//! Targets and their compact events: one store per process.
