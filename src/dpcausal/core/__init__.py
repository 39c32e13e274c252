"""Values every room shares: errors, neighbouring relations, randomness, proofs. Imports nothing of ours."""
