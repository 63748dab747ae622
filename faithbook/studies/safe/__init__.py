"""Which metric is safe? A declared grid of models in closed form."""
