"""Study 1: Zhao and Aletras (2023), soft erasure."""
