"""Claims about Optimal Client Sampling."""
