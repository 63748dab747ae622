"""The data sets of Zhao & Aletras (2023), and which of ours stand in for them."""

from __future__ import annotations

# A stand-in is another data set of the same kind of task, not a sample of the paper's.
STAND_INS = {"movie": "sst", "bbc": "ag", "section": "evinf", "pair": "multirc"}
