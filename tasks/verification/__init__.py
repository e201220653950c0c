"""The trace verifier: reads a stated world, solves its physics again, and says what cannot be true (paper 2, section 4)."""
