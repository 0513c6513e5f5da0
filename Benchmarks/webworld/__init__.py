"""A small web on one machine, and the programs that download photos from it: see Benchmarks/README.md."""
