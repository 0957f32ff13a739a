//! Held against SciPy and statsmodels (`tests/fixtures/statistics/`), against arithmetic, and against simulation.

mod edges;
mod reference;
mod simulation;
