"""Random choices that a seed repeats."""

import numpy as np


class Chooser:
    """What makers of random things choose by."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def chance(self, of_100):
        return bool(self.random.integers(100) < of_100)

    def pick(self, choices):
        return choices[self.random.integers(len(choices))]

    def number(self, low, high):
        """Any from `low` to `high`, both included."""
        return int(self.random.integers(low, high + 1))
