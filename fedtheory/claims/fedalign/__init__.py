"""Claims about FedALIGN."""
