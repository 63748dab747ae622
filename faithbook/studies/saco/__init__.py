"""Study 2: Wu et al. (2024), salience in vision transformers."""
