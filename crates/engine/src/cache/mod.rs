//! Decoded chunks within one budget.
