"""The studies, one folder each: what a study computes and reads (`study.py`) and the logic of its pages."""
