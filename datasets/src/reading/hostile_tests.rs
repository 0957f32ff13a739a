//! Replies that nobody wrote to be read.
