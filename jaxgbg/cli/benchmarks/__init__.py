"""How fast: training, and the rules alone."""
