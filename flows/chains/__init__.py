"""The chains: one file each, with the chain's parameters, its steps and what each step reads."""
