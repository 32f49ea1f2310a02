"""Numerical kernels: arrays in, arrays out. They know nothing of estimators."""
