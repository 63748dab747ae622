"""Study 3: Zaman and Belinkov (2022), faithfulness across languages."""
