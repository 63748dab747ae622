"""faithbook: everything that makes the book - sources, models, engine, results - and what belongs to one paper alone.

The library that a reader installs is `faithlib`; nothing there imports anything here.
"""
