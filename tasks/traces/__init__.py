"""Physics families, typed traces, perturbations, preference pairs, splits and release gates (paper 2, section 5)."""
