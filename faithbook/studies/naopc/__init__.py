"""Study 4: Edin et al. (2025), normalised AOPC."""
