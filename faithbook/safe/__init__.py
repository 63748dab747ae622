"""Which metric of faithfulness is safe? A grid of models whose true explanations are known in closed form."""
