"""Games in pages: every answer that a player can ask for, and what a page shows of them."""
