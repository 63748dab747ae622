"""The pages of the book as a whole: verdicts of all studies, calibration, status."""
