//! Storage that counts, fails and crashes on command; fixtures; oracles.
