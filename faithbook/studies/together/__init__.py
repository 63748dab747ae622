"""All metrics side by side: agreement, planted truth, advice; the games and a reader's own model."""
