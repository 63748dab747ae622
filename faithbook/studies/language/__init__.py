"""Study 5: language models."""
